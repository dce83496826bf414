"""Judges every mutant over the cases of a gate: several mutants at once, and one round of cases after another."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass, field

import msgspec

from harness.audit.mutants.package import MutablePackage
from harness.audit.reading.mutant import Mutant
from harness.audit.run.forks import ForkRunner
from harness.audit.run.judge import Result, check_original, judge
from harness.audit.run.reached import reached_by
from harness.audit.run.results import Results
from harness.audit.run.runner import Runner
from harness.audit.run.trial import Trial


def fork_runner(package: MutablePackage, trial: Trial) -> Runner:
    """Return the runner for packages that have ``resolve(case)`` and import this installation's harness."""
    return ForkRunner(package.name, trial)


def _nobody(result: Result) -> None:
    """Do nothing with a result."""


@dataclass(frozen=True)
class Audit:
    """Judges mutants of ``package``, ``jobs`` at once.

    ``results`` has the results of earlier runs, and keeps the new ones. ``listener`` is called whenever a trial has
    judged a mutant, with the mutant's result over all trials so far. ``make_runner`` makes the runner of a trial.
    """

    package: MutablePackage
    jobs: int = 1
    results: Results = field(default_factory=lambda: Results(None))
    listener: Callable[[Result], None] = _nobody
    make_runner: Callable[[MutablePackage, Trial], Runner] = fork_runner

    def judge(self, mutants: Sequence[Mutant], trials: Iterable[Trial]) -> list[Result]:
        """Try each mutant on one trial after another until one catches it; return a result for each, in their order.

        The cases come as several trials because they may not fit in memory together. A result counts the cases of all
        trials that the mutant ran. The results (but not their times) are the same for any number of jobs. Without
        trials every result has no cases. Raises UsageError if the package differs from a trial even without a fault,
        or for a mutant of other sources.
        """
        whole = {mutant: Result(mutant=mutant, catch=None, cases=0, reached=0, seconds=0.0) for mutant in mutants}
        rounds = iter(trials)
        left = list(mutants)
        while left and (trial := next(rounds, None)) is not None:
            # If the listener raises, this ends the processes that still run.
            with closing(self._judged(left, trial)) as judged:
                for result in judged:
                    whole[result.mutant] = _added(whole[result.mutant], result)
                    self.listener(whole[result.mutant])
            left = [mutant for mutant in left if whole[mutant].catch is None]
        return [whole[mutant] for mutant in mutants]

    def _judged(self, mutants: Sequence[Mutant], trial: Trial) -> Generator[Result, None, None]:
        """Yield the result of each mutant in one trial as soon as it is there; those of earlier runs come first."""
        digest = trial.digest(self.package.texts.items())
        missing = []
        for mutant in mutants:
            if (known := self.results.get(digest, mutant)) is None:
                missing.append(mutant)
            else:
                yield known
        if not missing:
            return
        runner = self.make_runner(self.package, trial)
        try:
            reached = reached_by(self.package, runner)
            if reached is None:
                # Otherwise the package, with blocks that report, has just agreed in every case and needs no check.
                check_original(self.package, trial, runner)
            # Threads are enough: they only wait for the runner's processes.
            with ThreadPoolExecutor(self.jobs) as pool:
                waiting = [pool.submit(judge, self.package, mutant, trial, runner, reached) for mutant in missing]
                try:
                    for future in as_completed(waiting):
                        self.results.add(digest, future.result())
                        yield future.result()
                except BaseException:
                    pool.shutdown(wait=False, cancel_futures=True)
                    # Leaving the `with` block waits for the runs under way; to close the runner ends them.
                    runner.close()
                    raise
        finally:
            runner.close()


def _added(before: Result, result: Result) -> Result:
    """Return ``result``, of one trial, with the cases and the time of the earlier trials added."""
    catch = result.catch
    if catch is not None:
        catch = msgspec.structs.replace(catch, cases=before.cases + catch.cases)
    return Result(
        mutant=result.mutant,
        catch=catch,
        cases=before.cases + result.cases,
        reached=before.reached + result.reached,
        seconds=round(before.seconds + result.seconds, 3),
    )
