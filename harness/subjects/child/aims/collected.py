"""Collects the aims that were found, by place, and numbers them for the answer to the parent process."""

from __future__ import annotations

from typing import Any

Path = tuple[Any, ...]
"""The clauses that must all hold on one way to a place. Of the alternatives of a clause at least one must hold."""

_MOST_AIMS = 5000


class CollectedAims:
    """The paths that lead to each place; also which places refuse, and which fields each place writes and reads."""

    def __init__(self) -> None:
        self._places: dict[Any, dict[Path, None]] = {}
        self._count = 0
        self.refusals: set[Any] = set()
        self.written: dict[Any, list[str]] = {}
        self.read: dict[Any, list[str]] = {}

    def add(self, place: Any, path: Path | None) -> None:
        """Add a path to a place, unless it is None (no case gets there) or empty (every case gets there)."""
        if path and self._count < _MOST_AIMS:
            self._count += 1
            self._places.setdefault(place, {}).setdefault(path)

    def plain(self) -> dict[str, Any]:
        """Return the aims in the order they were found, as plain data in the form that `harvest` describes."""
        conditions: dict[Any, int] = {}
        clauses: dict[Any, int] = {}
        places: dict[Any, int] = {}
        refusals: list[int] = []
        writers: dict[tuple[int, str], None] = {}
        readers: dict[tuple[int, str], None] = {}
        for where, ways in self._places.items():
            place = []
            for aim in ways:
                numbers = []
                for clause in aim:
                    alternatives = tuple(
                        tuple(conditions.setdefault(condition, len(conditions)) for condition in alternative)
                        for alternative in clause
                    )
                    numbers.append(clauses.setdefault(alternatives, len(clauses)))
                place.append(tuple(numbers))
            number = places.setdefault(tuple(place), len(places))
            if where in self.refusals and number not in refusals:
                refusals.append(number)
            for numbered, fields in ((writers, self.written), (readers, self.read)):
                for field in fields.get(where, ()):
                    numbered.setdefault((number, field))
        return {
            "conditions": list(conditions),
            "clauses": list(clauses),
            "places": list(places),
            "refusals": refusals,
            "writers": list(writers),
            "readers": list(readers),
        }
