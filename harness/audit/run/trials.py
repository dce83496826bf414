"""Makes the trials of an audit: the cases of a gate, each with the original's outcome."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from harness.audit.mutants.package import MutablePackage
from harness.audit.run.trial import Trial, explained_by
from harness.common.errors import UsageError
from harness.engine.search.guide import STREAMS, Guide
from harness.engine.search.news import Newsroom
from harness.engine.search.pair import Pair
from harness.engine.search.plan import Request
from harness.engine.search.planning import make_plan
from harness.generate.cases import CHUNK, CaseMaker
from harness.world.case import Case

# A trial is held in memory, so a larger budget of cases is split into several trials.
_TRIAL_CASES: Final = 80 * CHUNK


class TrialMaker:
    """Makes trials of the gate that ``request`` asks for; the faults go into its second subject. A context manager.

    Raises UsageError if the second subject is not one of our own packages, and whatever planning a campaign raises.
    """

    def __init__(self, request: Request) -> None:
        if not request.second.own:
            raise UsageError(
                f"an audit seeds faults into a package of this repository (legacy, dir:PATH#legacy, ...), which "
                f"{request.second.label} is not: name the one to be tried as the second subject"
            )
        self.package = MutablePackage(request.second.tree.root / request.second.package)
        self._pair = Pair(request.first, request.second)
        try:
            plan = make_plan(request, self._pair).plan
            self.domains = plan.domains
            self._maker = CaseMaker(plan.domains, plan.launches)
            self._names = plan.compared
            self._ledger = plan.ledger
            self._pair.compare_fields(self._names, ledger=self._ledger)
        except BaseException:
            self._pair.close()
            raise

    def __enter__(self) -> TrialMaker:
        return self

    def __exit__(self, *exception: object) -> None:
        self._pair.close()

    def rounds(self, seed: int, count: int) -> Iterator[Trial]:
        """Yield the first ``count`` cases of a seed, in several trials if there are many. Call it only once.

        They are the cases of a campaign with that seed over both subjects without a fault. Both have to run, because
        some later cases of a campaign are variations of those that reached something new.
        """
        guide, newsroom = Guide(seed), Newsroom()
        cases: list[Case] = []
        expected: list[bytes] = []
        for number in range(-(-count // CHUNK)):
            some = self._maker.chunk(seed, number, guide.bases(number))[: count - number * CHUNK]
            ran = self._pair.run(some, number % STREAMS)
            guide.take(number, newsroom.of(number % STREAMS, some, ran.frames, ran.found, self._pair.reach()))
            cases += some
            expected += [frame for frame, _ in ran.frames]
            if len(cases) >= _TRIAL_CASES:
                yield self._trial(cases, expected)
                cases, expected = [], []
        if cases:
            yield self._trial(cases, expected)

    def trial_of(self, cases: Sequence[Case]) -> Trial:
        """Return a trial of the given cases, which only the original runs here."""
        return self._trial(cases, self._pair.first.resolve(cases))

    def further(self, seed: int, count: int) -> Iterator[Trial]:
        """Yield trials with ``count`` more cases in all: the first cases of this seed, then of the next, and so on.

        They are drawn without a campaign, so that only the original has to run them.
        """
        while count > 0:
            yield self.trial_of(list(self._maker.cases(seed, min(_TRIAL_CASES, count))))
            seed, count = seed + 1, count - _TRIAL_CASES

    def _trial(self, cases: Sequence[Case], expected: Sequence[bytes]) -> Trial:
        return Trial(
            cases,
            expected,
            self._names,
            messages=self._pair.compares_messages,
            explained=explained_by(self._ledger),
            rule=msgspec.json.encode(self._ledger, order="deterministic").decode(),
        )
