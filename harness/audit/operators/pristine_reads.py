"""A half-applied read: what an earlier step resolved is not seen, the user's own value is."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.operator import Edit, Example, Operator, Place
from harness.audit.stages import GIVEN
from harness.audit.walk import is_read_of_parameter, outer_function


class PristineReads(Operator):
    """A field that another function writes is read as the case gave it."""

    examples = (
        Example(
            "def f(x):\n    x.a = 1\ndef g(x):\n    return x.a\n",
            (f"def f(x):\n    x.a = 1\ndef g(x):\n    return {GIVEN}.a\n",),
        ),
        Example(
            "def f(x):\n    return {'a': 1}\n@post\ndef g(x):\n    if x.a.b:\n        c()\n",
            (f"def f(x):\n    return {{'a': 1}}\n@post\ndef g(x):\n    if {GIVEN}.a.b:\n        c()\n",),
        ),
        Example(
            "def f(x):\n    d = {}\n    d['a'] = 1\n    return d\ndef g(x, y):\n    y(x.a)\n",
            (f"def f(x):\n    d = {{}}\n    d['a'] = 1\n    return d\ndef g(x, y):\n    y({GIVEN}.a)\n",),
        ),
        Example(
            "def f(x):\n    x.a = 1\ndef g(x):\n    return x.a\nSLOTS = (f, g)\n",
            (f"def f(x):\n    x.a = 1\ndef g(x):\n    return {GIVEN}.a\nSLOTS = (f, g)\n",),
        ),
    )
    unchanged = (
        # Whoever writes it comes later.
        "def f(x):\n    x.a = 1\ndef g(x):\n    return h(x)\ndef h(x):\n    return x.a\nSLOTS = (g, f)\n",
        # What nobody writes, or nobody else, is what the case gave.
        "def f(x):\n    return x.a\n",
        "def f(x):\n    x.a = x.a or 1\n",
        "def f(x):\n    x.a = 1\ndef g(x):\n    x.a()\n    x.a = 2\n    y.a\n",
        # That is what a provider reads anyway.
        "def f(x):\n    return {'a': 1}\n@provider(writes=())\ndef g(x):\n    return x.a\n",
    )

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the read ``node`` of the value that the case gave."""
        if not is_read_of_parameter(place.here, provider=False):
            return
        assert isinstance(node, cst.Attribute)
        if place.vocabulary.is_written_elsewhere(node.attr.value, outer_function(place.here)):
            yield place.becomes(node, f"{GIVEN}.{node.attr.value}")
