"""The wrong object: the config of the checkpoint where the derived one is needed, or the other way."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.operator import Edit, Example, Operator, Place
from harness.audit.walk import last_name


class WrongObjects(Operator):
    """One config of an object becomes another of those that the package reads from such objects."""

    examples = (
        Example(
            "x = m.config.a\ny = n.m.hf_config.b\n",
            ("x = m.hf_config.a\ny = n.m.hf_config.b\n", "x = m.config.a\ny = n.m.config.b\n"),
        ),
    )
    unchanged = ("x = m.hf_config.a\n", "x = m.config.a\ny = other.hf_config.b\n", "x = m.a.b + m.c.d\n")

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the other configs in the place of ``node``."""
        if not isinstance(node, cst.Attribute) or not isinstance(place.here.parent, cst.Attribute):
            return
        for other in place.vocabulary.other_configs(last_name(node.value), node.attr.value):
            yield place.becomes(node.attr, other)
