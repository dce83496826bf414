"""Lists a subject's write sites and decisions in slot order, and tells which of them ran."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ....source.sites import Site
from ..world import chance
from .novelty import Novelty
from .recorder import Recorder

Marked = Callable[[Any], Any]
"""A function that returns a value in JSON's types: `serve.values.marked`."""

_NEVER = re.compile(r"#\s*never (true|false|asked):\s*(\S.*)")
_UNREACHABLE = re.compile(r"#\s*unreachable:\s*(\S.*)")


class RecordedReach:
    """The write sites and decisions that the slots of one subject reach.

    ``slots`` are as in ``Sites.in_slot_order``. With ``everything`` the write sites that no slot reaches are listed
    too, without a slot: the whole source of a package is the resolution, so these sites are dead.

    ``unreachable`` has the excuses that the profile lists. Each names a function (``source``), the text of a line in
    it (``code``) and a ``reason``. It says that the line's write sites are never reached; if it has the key
    ``never``, it says instead which result the line's conditions never have.
    """

    def __init__(
        self,
        recorder: Recorder,
        slots: Sequence[tuple[str, Any]],
        everything: bool = False,
        unreachable: Sequence[dict[str, Any]] = (),
    ) -> None:
        self._recorder = recorder
        self._unreachable = unreachable
        sites = recorder.sites
        self._writes, self._decisions = sites.in_slot_order(slots)
        if everything:
            reached = {id(site) for _, site in self._writes}
            self._writes += [("", site) for site in sites.writes if id(site) not in reached]
        position = {id(site): number for number, site in enumerate(sites.writes)}
        self._write_numbers = [position[id(site)] for _, site in self._writes]
        position = {id(site): 2 * number for number, site in enumerate(sites.decisions)}
        self._decision_numbers = [position[id(site)] for site in self._decisions]
        # The recorder's number of each branch -> its number in a trace: see `following`.
        self._asked: dict[int, int] = {}
        for place, number in enumerate(self._decision_numbers):
            self._asked[number], self._asked[number + 1] = 2 * place + 1, 2 * place
        self._reported = [0] * len(self._writes)
        self.novelty = Novelty(recorder, self._write_numbers, self._decision_numbers)
        self._described: list[dict[str, Any]] | None = None

    def writers(self) -> list[dict[str, Any]]:
        """Return the write sites, in slot order."""
        return [
            {
                "field": site.field,
                "slot": slot,
                "source": site.function,
                "file": site.file,
                "line": site.line,
                "excuse": self._excuse(site, lines[site.line - 1].decode(errors="replace")),
            }
            for (slot, site), lines in self._with_lines(self._writes)
        ]

    def decisions(self) -> list[dict[str, Any]]:
        """Return the decisions, in slot order. The list is made once, since that reads the source files."""
        if self._described is None:
            self._described = [
                {
                    "text": site.text(lines),
                    "source": site.function,
                    "file": site.file,
                    "line": site.line,
                    **self._never(site, lines[site.line - 1].decode(errors="replace")),
                }
                for (_, site), lines in self._with_lines([("", site) for site in self._decisions])
            ]
        return self._described

    def _with_lines(self, sites: Iterable[tuple[str, Site]]) -> Iterator[tuple[tuple[str, Site], list[bytes]]]:
        """Yield each ``(slot, site)`` with the lines of its file."""
        lines: dict[str, list[bytes]] = {}
        for slot, site in sites:
            if site.file not in lines:
                lines[site.file] = self._recorder.lines_of(site.file)
            yield (slot, site), lines[site.file]

    def _excuse(self, site: Site, line: str) -> str:
        comment = _UNREACHABLE.search(line)
        if comment is not None:
            return comment[1].strip()
        known = self._known(site, line, decides=False)
        return known["reason"] if known else ""

    def _never(self, site: Site, line: str) -> dict[str, str]:
        """Return which result the line's conditions never have, and why, as a comment or the profile says."""
        comment = _NEVER.search(line)
        if comment is not None:
            return {"never": comment[1], "excuse": comment[2].strip()}
        known = self._known(site, line, decides=True)
        return {"never": known["never"], "excuse": known["reason"]} if known else {}

    def _known(self, site: Site, line: str, decides: bool) -> dict[str, str] | None:
        """Return the profile's excuse for a line's decisions (``decides``) or write sites, None if it has none."""
        for known in self._unreachable:
            if ("never" in known, known["source"], known["code"]) == (decides, site.function, line.strip()):
                return known
        return None

    def fresh(self) -> tuple[list[int], list[int], list[tuple[int, list[int]]]]:
        """Return three lists about what ran.

        - For each write site, how often it ran since the last call.
        - For each decision, which branches were ever taken: 0 for none, 1 for true, 2 for false, 3 for both.
        - The cases since the last call that were the first of their stream to reach something, with what it was.
        """
        reported, counts = self._reported, self._counts()
        self._reported = counts
        seen = self._recorder.seen
        return (
            [now - before for now, before in zip(counts, reported, strict=True)],
            [seen[number] + 2 * seen[number + 1] for number in self._decision_numbers],
            self.novelty.taken(),
        )

    def forget(self) -> None:
        """Forget all that ran."""
        self._reported = self._counts()
        self._recorder.seen[:] = bytes(len(self._recorder.seen))
        self.novelty.forget()

    def _counts(self) -> list[int]:
        counts = self._recorder.counts()
        return [counts[number] for number in self._write_numbers]

    def chain(self, run: Callable[[], object], marked: Marked) -> list[dict[str, Any]]:
        """Return every write that ``run()`` makes, in order, with its value as ``marked`` returns it.

        These writes are not counted.
        """
        recorder = self._recorder
        recorder.drop()
        chance.renew()
        try:
            run()
            return self._reported_writes(recorder.written, recorder.values, marked)
        finally:
            recorder.drop()

    def written(self, positions: Sequence[int], marked: Marked) -> list[list[dict[str, Any]]] | None:
        """Return the chains of these cases of the last batch, None if this process did not resolve all of them."""
        kept = self._recorder.kept
        if any(position not in kept for position in positions):
            return None
        return [self._reported_writes(*kept[position], marked) for position in positions]

    def _reported_writes(self, numbers: Iterable[int], values: Iterable[Any], marked: Marked) -> list[dict[str, Any]]:
        sites = self._recorder.sites.writes
        return [
            {
                "field": site.field,
                "value": marked(value),
                "source": site.function,
                "file": site.file,
                "line": site.line,
            }
            for site, value in ((sites[number], value) for number, value in zip(numbers, values, strict=True))
            if self._recorder.sites.counts(site)
        ]

    @contextlib.contextmanager
    def following(self) -> Iterator[Callable[[], list[int]]]:
        """Within the block count nothing, and give a function that returns the branches taken since its last call.

        They are in order. The branch of decision ``d`` (in the order of `decisions`) is ``2 * d + 1`` if it was true,
        ``2 * d`` if it was false.
        """
        numbers: list[int] = []
        known = self._asked

        def asked() -> list[int]:
            found = [known[number] for number in numbers if number in known]
            numbers.clear()
            return found

        try:
            with self._recorder.following(numbers):
                yield asked
        finally:
            self._recorder.drop()
