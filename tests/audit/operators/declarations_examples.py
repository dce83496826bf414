"""What the operators of `harness.audit.operators.declarations` make of an example, and what they leave alone."""

from operator_examples import Change, Examples

EXAMPLES = {
    "dropped_declarations": Examples(
        changes=(
            Change("def f():\n    return {'a': 1, 'b': 2}\n", ("def f():\n    return {}\n",)),
            Change(
                "def f():\n    d: D = {}\n    d['a'] = 1\n    return d\n",
                ("def f():\n    d: D = {}\n    d['a'] = 1\n    return {}\n",),
            ),
            Change(
                "def f(d):\n    d |= {'a': 1}\n    d |= g()\n",
                ("def f(d):\n    d = {'a': 1}\n    d |= g()\n", "def f(d):\n    d |= {'a': 1}\n    d = g()\n"),
            ),
        ),
        unchanged=(
            # A dict without its one key is for another operator.
            "def f():\n    return {'a': 1}\n",
            "def f(d):\n    return d\n",
            "def f(d):\n    d += 1\n",
        ),
    ),
    "dropped_keys": Examples(
        changes=(
            Change("x = {'a': 1, 'b': 2}\n", ("x = {'b': 2}\n", "x = {'a': 1}\n")),
            Change("def f():\n    return {'a': (1)}\n", ("def f():\n    return {}\n",)),
            Change("x = {\n    'a': 1,\n    **more,\n}\n", ("x = {\n    **more,\n}\n", "x = {\n    'a': 1,\n}\n")),
        ),
        unchanged=("x = {}\n", "x = {'a', 'b'}\n", "x = {a: b for a in c}\n"),
    ),
    "dropped_members": Examples(
        changes=(
            Change("x = a in ('b', 'c')\n", ("x = a in ('c',)\n", "x = a in ('b',)\n")),
            Change("x = a not in {'b'}\n", ("x = a not in set()\n",)),
            Change(
                "KNOWN = [\n    'b',\n    'c',\n    *MORE,\n]\nx = a in KNOWN\n",
                (
                    "KNOWN = [\n    'c',\n    *MORE,\n]\nx = a in KNOWN\n",
                    "KNOWN = [\n    'b',\n    *MORE,\n]\nx = a in KNOWN\n",
                    "KNOWN = [\n    'b',\n    'c',\n]\nx = a in KNOWN\n",
                ),
            ),
            Change(
                "for kernel in (envs.A, envs.B):\n    kernel.set(True)\n",
                (
                    "for kernel in (envs.B,):\n    kernel.set(True)\n",
                    "for kernel in (envs.A,):\n    kernel.set(True)\n",
                ),
            ),
        ),
        unchanged=("x = ('b', 'c')\n", "x = a in b\n", "f(('b', 'c'))\n", "x = a in ()\n"),
    ),
}
