"""Gates a migrated tree against the original, and sums up the result."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import msgspec

from codemods.reading.facts import RecordFacts
from codemods.reading.index import TreeIndex
from codemods.stack.excuses import carried_over
from codemods.stack.plan import PlannedStep, StackPlan
from harness.common.errors import UsageError
from harness.engine.campaign import run_campaign
from harness.engine.ledger.entries import Ledger, load_ledger
from harness.engine.options import GateOptions
from harness.engine.result.events import Finished, Listener, Verdict
from harness.engine.store import Store
from harness.subjects.open import open_subject
from harness.subjects.profile import Profile
from harness.subjects.spec import SubjectSpec


class GateVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a gate in one mode.

    ``mode`` is the mode, or "against" with the subject of one of the last gates. ``against`` is the first subject's
    name. ``sites`` counts the places in the migrated tree that write a gated field. ``reached`` counts those that
    ran, and ``excused`` those that did not run and have an excuse.
    """

    mode: str
    against: str
    verdict: Verdict
    reason: str
    cases: int
    seed: int
    reached: int
    sites: int
    excused: int

    @property
    def words(self) -> str:
        """The verdict as a line."""
        apart = f", {self.excused} cannot be" if self.excused else ""
        return (
            f"{self.mode}: {self.verdict}, {self.reason}, seed {self.seed};"
            f" {self.reached} of {self.sites} write sites reached{apart}"
        )


class NotImported(Exception):
    """The migrated tree cannot be imported; the message says why."""


def migrated_spec(
    plan: StackPlan, mode: str, place: str, cwd: Path, options: GateOptions, index: TreeIndex, facts: RecordFacts
) -> SubjectSpec:
    """Return the subject of the migrated tree in the folder ``place`` under ``cwd``.

    It really imports the runtime that `add_runtime` added, and it knows the places of the migrated code that no case
    can reach. ``index`` reads the tree there, ``facts`` are of its record.
    """
    spec = options.spec(f"dir:{place}{plan.suffix(mode)}", cwd)
    if spec.own:
        return spec
    profile: Profile = dict(spec.profile)
    profile["real"] = list(dict.fromkeys([*profile["real"], facts.runtime_module]))
    known = profile["slice"].get("unreachable", [])
    profile["slice"] = {**profile["slice"], "unreachable": [*known, *carried_over(known, index, facts)]}
    return dataclasses.replace(spec, profile=profile)


def check_import(spec: SubjectSpec) -> None:
    """Import the tree of ``spec``; raises NotImported."""
    try:
        with open_subject(dataclasses.replace(spec, record=False)) as subject:
            subject.load()
    except UsageError as error:
        raise NotImported(str(error)) from None


def run_gate(
    original: SubjectSpec,
    migrated: SubjectSpec,
    plan: StackPlan,
    ledger: Ledger,
    options: GateOptions,
    listener: Listener,
    corpus: Path,
) -> Finished:
    """Run a gate with the plan's cases and seed; return its result.

    The cases in ``corpus`` run first, and those that reach something new are added to it. While the only fault is
    that some places did not run, a further round with the next seed follows, up to the plan's number of rounds.
    ``options`` say how to run; ``ledger`` lists the intended differences. Raises UsageError as the campaign does.
    """
    gate = plan.gate
    for number in range(gate.rounds):
        store = Store(corpus)
        asked = dataclasses.replace(
            options,
            fields=(),
            all_fields=gate.all_fields,
            cases=gate.cases,
            seconds=None,
            seed=gate.seed + number,
        )
        request = asked.request(original, migrated, ledger=ledger, corpus=store.cases)
        finished = run_campaign(request, listener, store)
        if finished.verdict != "inconclusive" or finished.interrupted or finished.counts.failed:
            break
    return finished


def verdict_of(finished: Finished, mode: str) -> GateVerdict:
    """Return the summary of a gate's result."""
    gated = set(finished.started.gated)
    sites = [site for site in finished.covered[1].writes if site.writer.field in gated]
    return GateVerdict(
        mode=mode,
        against=finished.started.first,
        verdict=finished.verdict,
        reason=finished.reason,
        cases=finished.counts.cases,
        seed=finished.started.seed,
        reached=sum(site.count > 0 for site in sites),
        sites=len(sites),
        excused=sum(not site.count and bool(site.excuse) for site in sites),
    )


def ledger_for(plan: StackPlan, steps: Sequence[PlannedStep], original: str, migrated: str) -> Ledger:
    """Return the ledgers of ``steps`` as one ledger between the subjects ``original`` and ``migrated``.

    In the files, the subjects are called by these two words. Raises UsageError for a file that cannot be read or is
    not valid, and for an id that two files have.
    """
    total = Ledger()
    for step in steps:
        if not step.ledger:
            continue
        path = plan.folder / step.ledger
        read = load_ledger(path, {"original": original, "migrated": migrated})
        repeated = {entry.id for entry in total.entries} & {entry.id for entry in read.entries}
        if repeated:
            raise UsageError(
                f"ledger {path}: another step's ledger has the id {min(repeated)!r} too, give it its own"
            )
        total = Ledger(entries=total.entries + read.entries, unreached=total.unreached + read.unreached)
    return total
