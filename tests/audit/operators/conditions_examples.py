"""What the operators of `harness.audit.operators.conditions` make of an example, and what they leave alone."""

from operator_examples import Change, Examples

EXAMPLES = {
    "comparisons": Examples(
        changes=(
            Change("x = a == b\n", ("x = a != b\n",)),
            Change("x = a not  in b\n", ("x = a in b\n",)),
            Change("x = (\n    a  # why\n    is not None\n)\n", ("x = (\n    a  # why\n    is None\n)\n",)),
            Change("x = 1 <= a < 2\n", ("x = 1 < a < 2\n", "x = 1 <= a <= 2\n")),
            Change("x = a > b\n", ("x = a >= b\n",)),
        ),
        unchanged=("for a in b:\n    pass\n", "x = not a\n"),
    ),
    "contained_names": Examples(
        changes=(
            Change(
                "x = a == 'fa'\ny = a in ('fa', 'fa_long', None)\n",
                ("x = 'fa' in str(a)\ny = a in ('fa', 'fa_long', None)\n",),
            ),
            Change(
                "x = y.a != 'fa'\ny.a = 'my_fa'\n",
                ("x = 'fa' not in str(y.a)\ny.a = 'my_fa'\n",),
            ),
            Change("x = 'fa' in name\n", ("x = 'fa' == name\n",)),
            Change("x = 'fa' not in name\n", ("x = 'fa' != name\n",)),
        ),
        unchanged=(
            "x = a == 'fa'\n",
            "x = a == 'fa'\na = 'other'\n",
            "x = 'fa' in ('fa', 'other')\n",
            "x = a == 1\n",
            "x = a == '' or a == 'b'\n",
        ),
    ),
    "dropped_operands": Examples(
        changes=(
            Change("x = a and b\n", ("x = b\n", "x = a\n")),
            Change("x = a or b or c\n", ("x = b or c\n", "x = a or c\n", "x = a or b\n")),
            Change(
                "if (\n    a\n    # why\n    and (b or c)\n):\n    d()\n",
                (
                    "if (\n    (b or c)\n):\n    d()\n",
                    "if (\n    a\n):\n    d()\n",
                    "if (\n    a\n    # why\n    and (c)\n):\n    d()\n",
                    "if (\n    a\n    # why\n    and (b)\n):\n    d()\n",
                ),
            ),
            Change("x = a and b or c\n", ("x = c\n", "x = a and b\n", "x = b or c\n", "x = a or c\n")),
        ),
        unchanged=("x = not a\n", "x = a + b\n"),
    ),
    "fallthrough": Examples(
        changes=(
            Change(
                "if a:\n    b()\nelif c:\n    d()\nelse:\n    e()\n",
                (
                    "if a:\n    b()\nif c:\n    d()\nelse:\n    e()\n",
                    "if a:\n    b()\nelif c:\n    d()\nif True:\n    e()\n",
                ),
            ),
            Change(
                "if a:\n    b()\n\n# why\nif c:\n    d()\n",
                ("if a:\n    b()\n\n# why\nelif c:\n    d()\n",),
            ),
        ),
        unchanged=(
            "if a:\n    b()\n",
            # Whoever ran the first branch does not get to the second.
            "def f():\n    if a:\n        return b\n    elif c:\n        raise d\n    else:\n        e()\n",
            "if a:\n    if b:\n        raise c\n    else:\n        raise d\nif e:\n    f()\n",
            "if a:\n    b()\nc()\nif d:\n    e()\n",
            "for a in b:\n    c()\nelse:\n    d()\n",
        ),
    ),
    "fixed_conditions": Examples(
        changes=(
            Change("if a:\n    b()\n", ("if True:\n    b()\n", "if False:\n    b()\n")),
            Change("x = 1 if (a or b) else 2\n", ("x = 1 if (True) else 2\n", "x = 1 if (False) else 2\n")),
            Change("assert a == b, 'text'\n", ("assert True, 'text'\n",)),
            Change("x = [a for a in b if c]\n", ("x = [a for a in b if True]\n", "x = [a for a in b if False]\n")),
        ),
        unchanged=("while a:\n    b()\n", "if True:\n    b()\n", "x = a or b\n"),
    ),
    "negated_conditions": Examples(
        changes=(
            Change("if a:\n    b()\n", ("if not a:\n    b()\n",)),
            Change(
                "if (\n    a  # why\n    or b\n):\n    c()\n", ("if (\n    not (a  # why\n    or b)\n):\n    c()\n",)
            ),
            Change(
                "if not a:\n    b()\nelif not (c and d):\n    e()\n",
                (
                    "if a:\n    b()\nelif not (c and d):\n    e()\n",
                    "if not a:\n    b()\nelif (c and d):\n    e()\n",
                ),
            ),
            Change("x = 1 if a < b else 2\n", ("x = 1 if not (a < b) else 2\n",)),
            Change("assert f(a), 'text'\n", ("assert not f(a), 'text'\n",)),
        ),
        # A comparison with an opposite is turned round by that.
        unchanged=("if a == b:\n    c()\n", "while a not in b:\n    c()\n", "x = not a\n"),
    ),
    "swapped_connectives": Examples(
        changes=(
            Change("x = a and b\n", ("x = a or b\n",)),
            Change("x = a or b or c\n", ("x = a or b and c\n", "x = a and b or c\n")),
            Change("x = (\n    a  # and\n    or b\n)\n", ("x = (\n    a  # and\n    and b\n)\n",)),
        ),
        unchanged=("x = a & b\n",),
    ),
}
