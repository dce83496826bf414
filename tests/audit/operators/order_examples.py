"""What the operators of `harness.audit.operators.order` make of an example, and what they leave alone."""

from operator_examples import Change, Examples

EXAMPLES = {
    "dropped_entries": Examples(
        changes=(
            Change(
                "SLOTS = (\n    Slot(0, a),\n    Slot(1, b),\n)\n",
                ("SLOTS = (\n    Slot(1, b),\n)\n", "SLOTS = (\n    Slot(0, a),\n)\n"),
            ),
            Change(
                "PASSES: Final = [one, other.two]\n", ("PASSES: Final = [other.two]\n", "PASSES: Final = [one]\n")
            ),
        ),
        unchanged=("x = (1, 2)\n", "def f():\n    return (a, b)\n", "f(a, b)\n", "x = ()\n"),
    ),
    "moved_entries": Examples(
        changes=(
            Change(
                "PASSES = [\n    one,\n    # why\n    two,\n    three,\n]\n",
                (
                    "PASSES = [\n    two,\n    # why\n    three,\n    one,\n]\n",
                    "PASSES = [\n    three,\n    # why\n    one,\n    two,\n]\n",
                ),
            ),
            Change(
                "PASSES = one, a.two, three, four\n",
                (
                    "PASSES = a.two, three, four, one\n",
                    "PASSES = one, three, four, a.two\n",
                    "PASSES = three, one, a.two, four\n",
                    "PASSES = four, one, a.two, three\n",
                ),
            ),
        ),
        unchanged=("PASSES = [one, two]\n", "x = (1, 2, 3)\n", "def f():\n    return (a, b, c)\n"),
    ),
    "swapped_checks": Examples(
        changes=(
            Change(
                "def f(x):\n    assert x.a, 'text'\n    if x.b:\n        raise ValueError('text')\n",
                ("def f(x):\n    if x.b:\n        raise ValueError('text')\n    assert x.a, 'text'\n",),
            ),
            Change(
                "if a:\n    raise KeyError\nif b:\n    raise ValueError\n",
                ("if b:\n    raise ValueError\nif a:\n    raise KeyError\n",),
            ),
        ),
        unchanged=(
            # Which of the two it was is in the text alone.
            "assert a\nassert b\n",
            "assert a\nif b:\n    c()\n",
            "assert a\nif b:\n    raise ValueError\nelse:\n    c()\n",
        ),
    ),
    "swapped_entries": Examples(
        changes=(
            Change(
                "SLOTS = (\n    Slot(0, a),\n    # why\n    Slot(1, b),\n)\n",
                ("SLOTS = (\n    Slot(1, b),\n    # why\n    Slot(0, a),\n)\n",),
            ),
            Change("PASSES = [one, two, three]\n", ("PASSES = [two, one, three]\n", "PASSES = [one, three, two]\n")),
        ),
        unchanged=("x = (1, 2)\n", "def f():\n    return (a, b)\n", "PASSES = [one]\n"),
    ),
    "swapped_statements": Examples(
        changes=(
            Change("def f(x):\n    x.a = x.b\n    x.b = 1\n", ("def f(x):\n    x.b = 1\n    x.a = x.b\n",)),
            Change(
                "def f(x):\n    one(x)  # first\n\n    # why\n    if x.a:\n        x.b = 1\n    y = 1\n",
                ("def f(x):\n    if x.a:\n        x.b = 1  # first\n\n    # why\n    one(x)\n    y = 1\n",),
            ),
            Change(
                "def f(x):\n    x.a = 1\n    x.a = 2\n",
                ("def f(x):\n    x.a = 2\n    x.a = 1\n",),
            ),
            Change(
                "def f(d):\n    d['a'] = 1\n    if d['a']:\n        d['b'] = 2\n",
                ("def f(d):\n    if d['a']:\n        d['b'] = 2\n    d['a'] = 1\n",),
            ),
            Change(
                "def f(d):\n    d['a'] = 1\n    if d.e:\n        d['a'] = 2\n",
                ("def f(d):\n    if d.e:\n        d['a'] = 2\n    d['a'] = 1\n",),
            ),
        ),
        unchanged=(
            # Neither can see the other.
            "def f(x):\n    x.a = 1\n    x.b = 2\n",
            "def f(x):\n    d = {}\n    if x.a:\n        d['a'] = x.b\n    d['b'] = g(x)\n    return d\n",
            "def f(x):\n    envs.A.set(True)\n    envs.B.set(True)\n",
            "def f(x):\n    y = x.a\n    x.a = 1\n",
            "def f(x):\n    logger.info('text')\n    x.a = 1\n",
            "x.a = x.b\nx.b = 1\n",
        ),
    ),
}
