"""What the operators of `harness.audit.operators.values` make of an example, and what they leave alone."""

from operator_examples import Change, Examples

EXAMPLES = {
    "constants": Examples(
        changes=(
            Change("x.page_size = 64\n", ("x.page_size = 65\n", "x.page_size = 63\n")),
            Change("x.overlap = True\n", ("x.overlap = False\n",)),
            Change("x.ratio = 0.5\n", ("x.ratio = 1.5\n",)),
            # Another value that occurs for the field, not just any text.
            Change(
                "def f(x):\n    x.backend = 'fa3'\n    return x.backend == 'fa4'\n",
                (
                    "def f(x):\n    x.backend = 'fa4'\n    return x.backend == 'fa4'\n",
                    "def f(x):\n    x.backend = 'fa3'\n    return x.backend == 'fa3'\n",
                ),
            ),
            Change(
                "def f(x):\n    if x.backend is None:\n        x.backend = 'fa3'\n",
                ("def f(x):\n    if x.backend is None:\n        x.backend = None\n",),
            ),
            Change("KNOWN = ('a', 'b')\n", ("KNOWN = ('b', 'b')\n", "KNOWN = ('a', 'a')\n")),
            Change("x = {'key': y}\n", ("x = {'key_': y}\n",)),
            Change("def f(x):\n    x.mode = Mode.FULL\n", ("def f(x):\n    x.mode = None\n",)),
            Change("x = Mode.FULL, Mode.OFF\n", ("x = Mode.OFF, Mode.OFF\n", "x = Mode.FULL, Mode.FULL\n")),
        ),
        unchanged=(
            '"""A docstring."""\n__all__ = ["a"]\n',
            "def f(x: Literal['a']) -> Literal[1]:\n    'A docstring.'\n",
            "assert x, f'not {x} but {1}'\n",
            "raise ValueError('text')\n",
            "x: A[int, Arg('help', choices=('a',))]\n",
            "if TYPE_CHECKING:\n    x = 1\n",
            "logger.warning('text')\n",
            # That is for the comparison operators.
            "x = y is None\n",
        ),
    ),
    "swapped_probes": Examples(
        changes=(
            Change(
                "x = is_hip()\ny = is_cuda() and is_npu()\n",
                (
                    "x = is_npu()\ny = is_cuda() and is_npu()\n",
                    "x = is_hip()\ny = is_hip() and is_npu()\n",
                    "x = is_hip()\ny = is_cuda() and is_cuda()\n",
                ),
            ),
        ),
        unchanged=("x = is_hip()\n", "x = is_hip(), is_name('a'), get_sm()\n", "x = is_hip() or not y.is_npu()\n"),
    ),
    "written_values": Examples(
        changes=(
            Change("x.a = y.b\n", ("x.a = None\n",)),
            Change("x.a = (y.b // 2)\n", ("x.a = (None)\n",)),
            Change("x.a = f(y)\n", ("x.a = None\n",)),
            Change("x.a = y if z else (w or 1)\n", ("x.a = None if z else (w or 1)\n", "x.a = y if z else (None)\n")),
        ),
        unchanged=(
            "x.a = 1\n",
            "x.a = None\n",
            "x = y.b\n",
            "x.a = Mode.FULL\n",
            "x.a += y.b\n",
            "x.a = 1 if z else 'b'\n",
        ),
    ),
    "wrong_objects": Examples(
        changes=(
            Change(
                "x = m.config.a\ny = n.m.hf_config.b\n",
                ("x = m.hf_config.a\ny = n.m.hf_config.b\n", "x = m.config.a\ny = n.m.config.b\n"),
            ),
        ),
        unchanged=("x = m.hf_config.a\n", "x = m.config.a\ny = other.hf_config.b\n", "x = m.a.b + m.c.d\n"),
    ),
}
