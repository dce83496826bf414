"""A read of too much: a provider, which is to see what the user gave, sees what earlier steps made of it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.operator import Edit, Example, Operator, Place
from harness.audit.stages import RESOLVED
from harness.audit.walk import is_read_of_parameter, outer_function


class ResolvedReads(Operator):
    """A field that another function writes is read by a provider as it is resolved so far."""

    examples = (
        Example(
            "def f(x):\n    return {'a': 1}\n@provider(writes=())\ndef g(x):\n    return x.a\n",
            (f"def f(x):\n    return {{'a': 1}}\n@provider(writes=())\ndef g(x):\n    return {RESOLVED}.a\n",),
        ),
    )
    unchanged = (
        "def f(x):\n    return {'a': 1}\ndef g(x):\n    return x.a\n",
        "@provider(writes=())\ndef g(x):\n    return x.a\n",
    )

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the read ``node`` of the value resolved so far."""
        if not is_read_of_parameter(place.here, provider=True):
            return
        assert isinstance(node, cst.Attribute)
        if place.vocabulary.is_written_elsewhere(node.attr.value, outer_function(place.here)):
            yield place.becomes(node, f"{RESOLVED}.{node.attr.value}")
