"""The wrong probe: another question about the machine is asked."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.operator import Edit, Example, Operator, Place
from harness.audit.source import Source


class SwappedProbes(Operator):
    """A call like ``is_this()`` becomes another such call of the same file."""

    examples = (
        Example(
            "x = is_hip()\ny = is_cuda() and is_npu()\n",
            (
                "x = is_npu()\ny = is_cuda() and is_npu()\n",
                "x = is_hip()\ny = is_hip() and is_npu()\n",
                "x = is_hip()\ny = is_cuda() and is_cuda()\n",
            ),
        ),
    )
    unchanged = ("x = is_hip()\n", "x = is_hip(), is_name('a'), get_sm()\n", "x = is_hip() or not y.is_npu()\n")

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the call ``node`` of the next probe by name."""
        name = _probe(node)
        names = sorted(_probes(place.source) - {name}) if name else []
        if names:
            assert isinstance(node, cst.Call)
            yield place.becomes(node.func, next((other for other in names if other > name), names[0]), "guard")


def _probe(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Call) and not node.args and isinstance(node.func, cst.Name):
        return node.func.value if node.func.value.startswith("is_") else ""
    return ""


def _probes(source: Source) -> set[str]:
    return {name for here in source.nodes if (name := _probe(here.node))}
