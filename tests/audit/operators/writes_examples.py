"""What the operators of `harness.audit.operators.writes` make of an example, and what they leave alone."""

from operator_examples import Change, Examples

EXAMPLES = {
    "dropped_calls": Examples(
        changes=(
            Change("self._handle_moe()\n", ("pass\n",)),
            Change("if a:\n    apply(\n        x,\n    )\n", ("if a:\n    pass\n",)),
        ),
        # Another operator drops what is written to the environment; what is only said changes nothing.
        unchanged=("x = f()\n", "envs.X.set(1)\n", "logger.info('text')\n", "raise f()\n"),
    ),
    "dropped_environment_writes": Examples(
        changes=(
            Change("envs.SGLANG_X.set(True)\n", ("pass\n",)),
            Change("if not variable.is_set():\n    variable.set(1)\n", ("if not variable.is_set():\n    pass\n",)),
            Change("os.environ.pop('X', None)\n", ("pass\n",)),
        ),
        unchanged=("envs.SGLANG_X.get()\n", "x.pop('X')\n", "y = envs.SGLANG_X.is_set()\n"),
    ),
    "dropped_writes": Examples(
        changes=(
            Change("x.a = 1\n", ("pass\n",)),
            Change("x.a = (\n    1  # why\n)  # so\n", ("pass  # so\n",)),
            Change("x.a += 1; y = 2\n", ("pass; y = 2\n",)),
            Change("x['a'] = x.b = 1\n", ("pass\n",)),
            Change("x.a: int = 1\n", ("pass\n",)),
        ),
        # Without a local name there is an error at its first use, which shows nothing.
        unchanged=("x = 1\n", "x.a: int\n", "x.a()\n"),
    ),
}
