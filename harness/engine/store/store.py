"""Writes a campaign's corpus folder: checkpoints while it runs, a trimmed corpus and its failures at the end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from harness.common.errors import UsageError
from harness.engine.judgement.totals import Sums, Totals
from harness.engine.result.events import Finished, Started
from harness.engine.search.crew import Workers
from harness.engine.search.plan import Answer, Compared, Plan, Weigh, Weighed
from harness.engine.store.checkpoint import Checkpoint, campaign_of, load_checkpoint, save_checkpoint
from harness.engine.store.corpus import Corpus, named
from harness.engine.store.trim import trimmed
from harness.generate.cases import CHUNK
from harness.subjects.spec import SubjectSpec

_SECONDS: Final = 10.0


class Store:
    """A corpus folder during one campaign."""

    def __init__(self, folder: Path, *, resume: bool = False) -> None:
        """Read the folder; with ``resume`` the search continues from its checkpoint. Raises UsageError."""
        self._corpus = Corpus(folder)
        left = load_checkpoint(folder)
        if resume and left is None:
            raise UsageError(f"--resume: {folder} holds no search to go on with; leave --resume out to begin one")
        self._left = left if resume else None
        stored = self._corpus.cases()
        if resume and left is not None:
            self.cases = tuple(left.corpus)
        else:
            # A search that was killed has not written its kept cases to files: take them from its checkpoint.
            streams = [] if left is None or left.in_files else left.sums.streams
            kept = [kept.news.case for stream in streams for kept in stream.kept]
            self.cases = tuple({case.id: case for case in (*stored, *map(named, kept))}.values())
        self._saved = time.monotonic()

    def begin(self, started: Started, plan: Plan, subjects: Sequence[SubjectSpec]) -> Sums | None:
        """Return the totals to continue from, None to begin anew.

        Raises UsageError when the checkpoint belongs to another campaign.
        """
        campaign = campaign_of(started, plan, subjects)
        left = self._left
        if left is not None and left.campaign != campaign:
            what = f"of {left.subjects[0]} and {left.subjects[1]}, seed {left.seed}"
            raise UsageError(
                f"--resume: {self._corpus.folder} holds a search {what}, whose sources, limits, cases or fields "
                "are not those of this one; ask for the same, or leave --resume out to begin anew"
            )
        self._began = len(plan.launches)
        names = {case.id for case in self.cases}
        # The other cases set arguments that these subjects do not take. They stay in the corpus for other subjects.
        self._known = [case for case in plan.launches if case.id in names]
        self._head = Checkpoint(
            subjects=(started.first, started.second),
            seed=started.seed,
            campaign=campaign,
            corpus=list(self.cases),
            sums=Totals(started).sums(),
        )
        return None if left is None else left.sums

    def due(self, totals: Totals, answer: Compared) -> bool:
        """Return whether to save before ``answer`` is added: every ten seconds, and before an incomplete chunk.

        A search cannot continue after a part of a chunk, since the next run would make the whole chunk again.
        """
        return answer.counts.cases < CHUNK or time.monotonic() - self._saved > _SECONDS

    def save(self, totals: Totals) -> None:
        """Write a checkpoint, unless the last chunk is incomplete. Raises UsageError if it cannot be written."""
        if totals.counts.cases == totals.chunks * CHUNK:
            save_checkpoint(self._corpus.folder, msgspec.structs.replace(self._head, sums=totals.sums()))
        self._saved = time.monotonic()

    def keep(self, workers: Workers, totals: Totals, finished: Finished) -> None:
        """Remember the failing cases, and put a few cases into the corpus that reach everything that was reached.

        A Ctrl-C meanwhile leaves the corpus unchanged; the checkpoint still holds the kept cases.
        """
        failing = [case for bucket in finished.buckets for case in (bucket.witness, *bucket.others)]
        ran = self._known if not finished.interrupted and totals.counts.cases >= self._began else ()
        self._corpus.remember(failing, ran)
        kept = (one.case for one in totals.guide.kept())
        candidates = {case.id: case for case in map(named, (*self._known, *kept, *failing))}
        reached: dict[str, frozenset[str | int]] = {}

        def take(answer: Answer) -> None:
            assert isinstance(answer, Weighed)
            reached.update((news.case.id, frozenset((*news.reached, *news.checks))) for news in answer.news)

        cases = list(candidates.values())
        try:
            workers.work((Weigh(cases[at : at + CHUNK]) for at in range(0, len(cases), CHUNK)), take)
        except KeyboardInterrupt:
            return
        self._corpus.replace(self._known, [candidates[name] for name in trimmed(reached)])
        if saved := load_checkpoint(self._corpus.folder):
            save_checkpoint(self._corpus.folder, msgspec.structs.replace(saved, in_files=True))
