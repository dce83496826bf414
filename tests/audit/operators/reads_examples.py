"""What the operators of `harness.audit.operators.reads` make of an example, and what they leave alone."""

from operator_examples import Change, Examples

from harness.audit.stages import GIVEN, RESOLVED

EXAMPLES = {
    "pristine_reads": Examples(
        changes=(
            Change(
                "def f(x):\n    x.a = 1\ndef g(x):\n    return x.a\n",
                (f"def f(x):\n    x.a = 1\ndef g(x):\n    return {GIVEN}.a\n",),
            ),
            Change(
                "def f(x):\n    return {'a': 1}\n@post\ndef g(x):\n    if x.a.b:\n        c()\n",
                (f"def f(x):\n    return {{'a': 1}}\n@post\ndef g(x):\n    if {GIVEN}.a.b:\n        c()\n",),
            ),
            Change(
                "def f(x):\n    d = {}\n    d['a'] = 1\n    return d\ndef g(x, y):\n    y(x.a)\n",
                (f"def f(x):\n    d = {{}}\n    d['a'] = 1\n    return d\ndef g(x, y):\n    y({GIVEN}.a)\n",),
            ),
            Change(
                "def f(x):\n    x.a = 1\ndef g(x):\n    return x.a\nSLOTS = (f, g)\n",
                (f"def f(x):\n    x.a = 1\ndef g(x):\n    return {GIVEN}.a\nSLOTS = (f, g)\n",),
            ),
        ),
        unchanged=(
            # Whoever writes it comes later.
            "def f(x):\n    x.a = 1\ndef g(x):\n    return h(x)\ndef h(x):\n    return x.a\nSLOTS = (g, f)\n",
            # What nobody writes, or nobody else, is what the case gave.
            "def f(x):\n    return x.a\n",
            "def f(x):\n    x.a = x.a or 1\n",
            "def f(x):\n    x.a = 1\ndef g(x):\n    x.a()\n    x.a = 2\n    y.a\n",
            # That is what a provider reads anyway.
            "def f(x):\n    return {'a': 1}\n@provider(writes=())\ndef g(x):\n    return x.a\n",
        ),
    ),
    "resolved_reads": Examples(
        changes=(
            Change(
                "def f(x):\n    return {'a': 1}\n@provider(writes=())\ndef g(x):\n    return x.a\n",
                (f"def f(x):\n    return {{'a': 1}}\n@provider(writes=())\ndef g(x):\n    return {RESOLVED}.a\n",),
            ),
        ),
        unchanged=(
            "def f(x):\n    return {'a': 1}\ndef g(x):\n    return x.a\n",
            "@provider(writes=())\ndef g(x):\n    return x.a\n",
        ),
    ),
}
