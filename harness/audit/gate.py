"""The gate that an audit tries: the cases of a campaign, and what the original makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Final

import msgspec

from harness.audit.mutants import Package
from harness.audit.trial import Trial, explained_by
from harness.engine.pair import Pair
from harness.engine.plan import Request
from harness.engine.planning import make_plan
from harness.errors import UsageError
from harness.generate.cases import CHUNK, CaseMaker
from harness.world.case import Case

# A trial is held in memory: more cases than these go by rounds.
_ROUND: Final = 80 * CHUNK


class Gate:
    """The gate of ``request``, whose second subject gets the faults. Use it as a context manager.

    Raises UsageError for a second subject that is none of our own packages, and what planning a campaign raises.
    """

    def __init__(self, request: Request) -> None:
        if not request.second.own:
            raise UsageError(
                f"an audit seeds faults into a package of this repository (legacy, dir:PATH#legacy, ...), which "
                f"{request.second.label} is not: name the one to be tried as the second subject"
            )
        self.package = Package(request.second.tree.root / request.second.package)
        self._pair = Pair(request.first, request.second)
        try:
            plan = make_plan(request, self._pair).plan
            self.domains = plan.domains
            self._maker = CaseMaker(plan.domains, plan.launches)
            self._names = plan.compared
            self._ledger = plan.ledger
            self._pair.first.choose(self._names)
        except BaseException:
            self._pair.close()
            raise

    def __enter__(self) -> Gate:
        return self

    def __exit__(self, *exception: object) -> None:
        self._pair.close()

    def rounds(self, seed: int, count: int) -> Iterator[Trial]:
        """Yield the first ``count`` cases of a seed with the original's outcomes, so many at a time."""
        for start in range(0, count, _ROUND):
            yield self._trial(seed, start, min(_ROUND, count - start))

    def _trial(self, seed: int, start: int, count: int) -> Trial:
        first = start // CHUNK
        chunks = (self._maker.chunk(seed, number) for number in range(first, first + -(-count // CHUNK)))
        return self.trial_of(list(islice(chain.from_iterable(chunks), count)))

    def trial_of(self, cases: Sequence[Case]) -> Trial:
        """Return any cases with the original's outcomes."""
        return Trial(
            cases,
            self._pair.first.resolve(cases),
            self._names,
            messages=self._pair.compares_messages,
            explained=explained_by(self._ledger),
            rule=msgspec.json.encode(self._ledger, order="deterministic").decode(),
        )

    def further(self, seed: int, count: int) -> Iterator[Trial]:
        """Yield ``count`` cases of this seed and those after it, each seed's first."""
        while count > 0:
            yield self._trial(seed, 0, min(_ROUND, count))
            seed, count = seed + 1, count - _ROUND
