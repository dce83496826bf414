"""What runs while a record is resolved: plain facts, which `codemods.reading.readers` finds."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from codemods.reading.index import Place


class Hidden(NamedTuple):
    """A place in the resolution where a field may be read or written and nothing shows whether, and why.

    ``fields`` are the fields concerned; None where it may be any. ``callee`` is what the record is handed to, as it
    is written there, where it is.
    """

    file: str
    line: int
    what: str
    reason: str
    fields: frozenset[str] | None = None
    callee: str = ""


@dataclass(frozen=True)
class Resolution:
    """The functions that run from the call of ``entry`` until it returns, as far as they can get at the record.

    ``entry`` is a method of the record, or a function that is handed it; None where the tree shows none. ``reached``
    are the functions, each with the parameters that it is handed the record as, besides those whose names or
    annotations say so; ``passes`` those that only ever get a view of it. ``names`` are the texts that a function's
    parameter is given where it is reached, all of them written out. ``hidden`` is what is not known.
    """

    entry: Place | None = None
    reached: Mapping[Place, frozenset[str]] = field(default_factory=dict)
    passes: frozenset[Place] = frozenset()
    names: Mapping[tuple[Place, str], frozenset[str]] = field(default_factory=dict)
    hidden: tuple[Hidden, ...] = ()

    def in_the_way(self, name: str, known: Collection[str] = ()) -> tuple[Hidden, ...]:
        """Return where the field ``name`` may be read or written and nothing shows whether.

        What ``known`` callees do counts as known.
        """
        return tuple(
            item for item in self.hidden if (item.fields is None or name in item.fields) and item.callee not in known
        )
