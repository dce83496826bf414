"""Decides which writes of a callable's tree write a field of its outcome.

The fields are known only after the tree has been imported, so all writes are recorded at first.

A field is written by an assignment, as an item or in a declaration. It is also written by a keyword of a call that
makes a changed copy (``replace(config, port=80)``) or the result itself (``Resolved(port=80)``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ....source.sites import Site
from ....source.writes import CodeWrite, copies_of, writes_of


class CallWrites:
    """Finds every write of a name; `counts` then picks the writes of fields, once `learn` has set the fields."""

    def __init__(self) -> None:
        self._fields: frozenset[str] = frozenset()
        self._classes: frozenset[str] = frozenset()

    def written(self, node: ast.AST) -> list[tuple[str, CodeWrite]]:
        """Return ``(name, write)`` for each write of ``node`` itself, except names such as ``__all__``."""
        own = [write for write in writes_of(node) if write.form != "deleted" and not write.name.startswith("__")]
        return [(write.name, write) for write in (*own, *copies_of(node))]

    def learn(self, fields: Iterable[str], classes: Iterable[str]) -> None:
        """Set the names of the fields, and of the classes that hold them."""
        self._fields, self._classes = frozenset(fields), frozenset(classes)

    def counts(self, site: Site) -> bool:
        """Return whether a write site writes a field. A keyword of a class that holds no fields does not count."""
        maker = "" if site.write is None else site.write.maker
        return (
            site.field in self._fields
            and site.write is not None
            and (not maker[:1].isupper() or maker in self._classes)
        )
