"""Which writes of a callable's tree write a field of its outcome, known only once the tree has been imported.

Besides an assignment, an item and a declaration, a field is written by a keyword of a call that makes a changed copy
(``replace(config, port=80)``) or the result itself (``Resolved(port=80)``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ....source.sites import Site
from ....source.writes import CodeWrite, copies_of, writes_of


class CallWrites:
    """Counts every write of a name, until ``learn`` sets which names are fields."""

    def __init__(self) -> None:
        self._fields: frozenset[str] = frozenset()
        self._classes: frozenset[str] = frozenset()

    def written(self, node: ast.AST) -> list[tuple[str, CodeWrite]]:
        """Return the writes of ``node`` itself, each with the name that it writes, except names of Python itself."""
        own = [write for write in writes_of(node) if write.form != "deleted" and not write.name.startswith("__")]
        return [(write.name, write) for write in (*own, *copies_of(node))]

    def learn(self, fields: Iterable[str], classes: Iterable[str]) -> None:
        """Take the names of the fields, and of the classes that hold them."""
        self._fields, self._classes = frozenset(fields), frozenset(classes)

    def counts(self, site: Site) -> bool:
        """Return whether a write site writes a field: a keyword of some other class does not."""
        maker = "" if site.write is None else site.write.maker
        return (
            site.field in self._fields
            and site.write is not None
            and (not maker[:1].isupper() or maker in self._classes)
        )
