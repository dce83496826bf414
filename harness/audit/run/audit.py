"""An audit: every mutant judged, over several jobs; and a longer search for those that nothing caught."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

import msgspec

from harness.audit.mutants.package import MutablePackage
from harness.audit.reading.mutant import Mutant
from harness.audit.run.forks import ForkRunner
from harness.audit.run.judge import Catch, Result, check_original, judge
from harness.audit.run.reached import Reached, reached_by
from harness.audit.run.results import Results
from harness.audit.run.runner import RunLimits, Runner
from harness.audit.run.trial import Trial

Listener = Callable[[Result], None]
MakeRunner = Callable[[MutablePackage, Trial, RunLimits], Runner]


def fork_runner(package: MutablePackage, trial: Trial, limits: RunLimits) -> Runner:
    """Return the runner for packages that have ``resolve(case)`` and find this installation's harness."""
    return ForkRunner(package.name, trial, limits)


def run_audit(
    package: MutablePackage,
    mutants: Sequence[Mutant],
    trial: Trial,
    *,
    jobs: int = 1,
    limits: RunLimits | None = None,
    results: Results | None = None,
    listener: Listener | None = None,
    make_runner: MakeRunner = fork_runner,
) -> list[Result]:
    """Judge each mutant and return the results in the order of ``mutants``, the same for any number of ``jobs``.

    ``results`` says what is known already and keeps what is new; ``listener`` gets each result as it comes, also a
    known one. Raises UsageError when the package differs from the trial without a fault, or for mutants of other
    sources.
    """
    kept = results or Results(None)
    digest = trial.digest(package.texts.items())
    found = {mutant: result for mutant in mutants if (result := kept.get(digest, mutant)) is not None}
    listen = listener or _nobody
    for result in found.values():
        listen(result)
    missing = [mutant for mutant in mutants if mutant not in found]
    if missing:
        runner = make_runner(package, trial, limits or RunLimits())
        try:
            reached = reached_by(package, runner)
            if reached is None:
                # With blocks that say that they run it agrees, or it must without.
                check_original(package, trial, runner)
            for result in _judged(package, missing, trial, runner, jobs, reached):
                kept.add(digest, result)
                found[result.mutant] = result
                listen(result)
        finally:
            runner.close()
    return [found[mutant] for mutant in mutants]


def _nobody(result: Result) -> None:
    """Listen to nothing."""


def _judged(
    package: MutablePackage,
    mutants: Sequence[Mutant],
    trial: Trial,
    runner: Runner,
    jobs: int,
    reached: Reached | None,
) -> Iterable[Result]:
    """Yield results as they come. The work is done in the runner's processes: threads only wait for them."""
    with ThreadPoolExecutor(jobs) as pool:
        waiting: list[Future[Result]] = [
            pool.submit(judge, package, mutant, trial, runner, reached) for mutant in mutants
        ]
        try:
            for future in as_completed(waiting):
                yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            # Ends the runs under way, for which leaving the block waits.
            runner.close()
            raise


def run_rounds(
    package: MutablePackage,
    mutants: Sequence[Mutant],
    trials: Iterable[Trial],
    *,
    jobs: int = 1,
    limits: RunLimits | None = None,
    results: Results | None = None,
    listener: Listener | None = None,
    make_runner: MakeRunner = fork_runner,
) -> list[Result]:
    """Judge each mutant over ``trials`` until one of them catches it; a budget whose cases do not fit in memory.

    Return a result for each that says how many cases there were before in all, in the order of ``mutants``; none when
    there is no trial. ``listener`` gets what is known of a mutant after each trial. Raises UsageError as `run_audit`
    does.
    """
    whole: dict[Mutant, Result] = {}
    listen = listener or _nobody
    rounds = iter(trials)
    left = list(mutants)
    while left and (trial := next(rounds, None)) is not None:
        for result in run_audit(
            package, left, trial, jobs=jobs, limits=limits, results=results, make_runner=make_runner
        ):
            whole[result.mutant] = _after(whole.get(result.mutant), result)
            listen(whole[result.mutant])
        left = [mutant for mutant in left if whole[mutant].catch is None]
    return [whole[mutant] for mutant in mutants if mutant in whole]


def _after(before: Result | None, result: Result) -> Result:
    """Return a result that counts what was tried before."""
    if before is None:
        return result
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


class Longer(msgspec.Struct, frozen=True, kw_only=True):
    """A mutant that the gate did not catch, and what ``cases`` further ones showed.

    Without a ``catch`` it is probably equivalent; with one there is a hole in what the gate tries.
    """

    mutant: Mutant
    cases: int
    catch: Catch | None

    @property
    def probably_equivalent(self) -> bool:
        """Whether nothing showed the fault in the longer search either."""
        return self.catch is None


def search_longer(
    package: MutablePackage,
    survivors: Sequence[Mutant],
    trials: Iterable[Trial],
    *,
    jobs: int = 1,
    limits: RunLimits | None = None,
    results: Results | None = None,
    make_runner: MakeRunner = fork_runner,
) -> list[Longer]:
    """Run ``survivors`` over further trials until each is caught or the trials end; return them in their order.

    Raises UsageError as `run_audit` does.
    """
    tried = {
        result.mutant: result
        for result in run_rounds(
            package, survivors, trials, jobs=jobs, limits=limits, results=results, make_runner=make_runner
        )
    }
    return [_longer(mutant, tried.get(mutant)) for mutant in survivors]


def _longer(mutant: Mutant, result: Result | None) -> Longer:
    catch = None if result is None else result.catch
    cases = 0 if result is None else result.cases if catch is None else catch.cases + 1
    return Longer(mutant=mutant, cases=cases, catch=catch)
