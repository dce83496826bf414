"""Makes the plan of a campaign from the request and the descriptions of both subjects."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from harness.common.errors import UsageError, hint
from harness.engine.ledger.conditions import field_names
from harness.engine.ledger.entries import Ledger
from harness.engine.result.events import Drawn, Started
from harness.engine.search.interactions import space_of
from harness.engine.search.pair import Pair
from harness.engine.search.plan import Plan, Planned, Request
from harness.formats.launch import LaunchFlags
from harness.generate.covering.parameters import parameters_of
from harness.generate.values.domains import domains_of
from harness.subjects.description import Description
from harness.subjects.profile import entry_of
from harness.subjects.spec import SubjectSpec
from harness.world.case import Case
from harness.world.fields import check_args
from harness.world.profiles import hardware_names, real_launches


def make_plan(request: Request, pair: Pair) -> Planned:
    """Load and describe the subjects; return the first event for the listeners, and the plan for the jobs.

    Raises UsageError when a subject cannot be loaded, a field is unknown, or nothing is left to compare.
    """
    descriptions = pair.describe()
    if bool(request.first.target) != bool(request.second.target):
        raise UsageError(
            f"{request.first.label} and {request.second.label} do not take the same arguments: a callable is compared"
            " with a callable"
        )
    if request.first.slice != request.second.slice:
        whole = request.second if request.first.slice else request.first
        raise UsageError(
            f"{whole.label} is the whole construction and the other a slice: put '#slice' behind both or neither"
        )
    compared, absent = _fields(request, descriptions)
    ledger = request.ledger
    if ledger.entries or ledger.unreached:
        ledger = ledger.between(request.first.label, request.second.label)
        _check_ledger(ledger, descriptions)
    launches, notes = _launches(pair, descriptions)
    stored, more = _stored(request.corpus, descriptions)
    launches, notes = (*launches, *stored), [*notes, *more]
    values = {**request.second.values, **request.first.values}
    if request.first.target:
        _check_domains(values, descriptions)
    silent = entry_of(request.first.profile, sliced=request.first.slice)
    domains = domains_of(*descriptions, values, request.first.not_drawn, silent, request.first.drawn_prefix)
    if domains.foreign:
        notes.append(f"never set, since only one of the two has them: {', '.join(domains.foreign)}")
    if request.first.target and domains.unknown:
        what = "since neither a type nor the source tells their values: list some under [tool.stackproof.domains]"
        notes.append(f"never set: {', '.join(domains.unknown)}, {what}")
    common = [name for name in descriptions[0].fields if name in descriptions[1].fields]
    chosen = request.fields or request.all_fields or request.moved is not None
    if not request.first.slice and not chosen and len(compared) < len(common):
        notes.append(f"of {len(common)} fields of the record {len(compared)} are compared; --all-fields compares all")
    plan = Plan(
        compared=compared,
        fields_alone=bool(request.fields),
        ledger=ledger,
        seed=request.seed,
        domains=domains,
        launches=launches,
    )
    started = Started(
        first=request.first.label,
        second=request.second.label,
        identities=(request.first.tree.identity, request.second.tree.identity),
        compared=compared,
        absent=absent,
        seed=request.seed,
        jobs=request.jobs,
        cases=request.budget.cases,
        seconds=request.budget.seconds,
        notes=(*request.notes, *notes),
        flags=flags_of(request.first, descriptions[0]),
        ledger=ledger,
        absent_explained={name: entry for name in absent if (entry := ledger.explains_absent(name)) is not None},
        writers=(descriptions[0].writers, descriptions[1].writers),
        decisions=(descriptions[0].decisions, descriptions[1].decisions),
        gated=_gated(request, compared),
        drawable=Drawn(
            architectures=set(domains.architectures) if "model" in domains.takes else set(),
            machines=set(hardware_names()) if "hardware" in domains.takes else set(),
        ),
        space=space_of(parameters_of(domains)),
        folders=(request.first.tree.folder, request.second.tree.folder),
        moved=request.moved,
    )
    return Planned(started, plan)


def _fields(
    request: Request, descriptions: tuple[Description, Description]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the fields to compare, and each requested field that one subject lacks, with that subject's name."""
    has = [dict.fromkeys((*d.resolved, *d.fields)) for d in descriptions]
    every = has[0] | has[1]
    usual = dict.fromkeys((*descriptions[0].resolved, *descriptions[1].resolved))
    wanted = request.fields
    if request.all_fields:
        wanted = tuple(every)
    elif not wanted:
        # A change may touch fields by mistake, so all are compared. A slice resolves its own fields only.
        changed = request.moved is not None and not request.first.slice
        wanted = tuple(_whole(every) if changed else usual)
    labels = request.first.label, request.second.label
    for name in wanted:
        if name not in every:
            raise UsageError(f"--field {name}: neither {labels[0]} nor {labels[1]} has this field{hint(name, every)}")
    absent = {name: label for label, names in zip(labels, has, strict=True) for name in wanted if name not in names}
    compared = tuple(name for name in wanted if name not in absent)
    if not compared:
        lacking = ", ".join(f"{name} (not in {label})" for name, label in absent.items())
        raise UsageError(f"--field: nothing is left to compare, since both subjects must have a field: {lacking}")
    return compared, absent


def _whole(names: Collection[str]) -> list[str]:
    """Return the names without those that have parts ("a" if there is "a.b").

    The parts are compared instead: if one side had a new part, the whole would differ in every case.
    """
    with_parts = {name.partition(".")[0] for name in names if "." in name}
    return [name for name in names if name not in with_parts]


def _gated(request: Request, compared: tuple[str, ...]) -> tuple[str, ...]:
    """Return the fields whose write sites must all run; of a callable, every field."""
    if request.fields:
        return compared
    if request.moved is None:
        wanted = request.first.resolved or compared
        return tuple(name for name in compared if name in wanted)
    moved = {one.field for one in request.moved}
    return tuple(name for name in compared if name in moved)


def flags_of(spec: SubjectSpec, description: Description) -> LaunchFlags:
    """Return how to write a case of the subject as a launch line."""
    fields = description.fields.items()
    return LaunchFlags(
        program=spec.program,
        names={name: field.flags[0] for name, field in fields if field.flags},
        off={
            name: field.flags[1]
            for name, field in fields
            if field.type == "bool" and len(field.flags) > 1 and field.flags[1].startswith("--no-")
        },
        takes=description.takes,
    )


def _check_domains(values: Mapping[str, object], descriptions: tuple[Description, Description]) -> None:
    """Raise UsageError if the user lists values of an argument that neither subject has."""
    known = {name for description in descriptions for name in description.fields}
    for name in values:
        if name not in known:
            raise UsageError(f"domains: neither subject takes the argument {name!r}{hint(name, known)}")


def _check_ledger(ledger: Ledger, descriptions: tuple[Description, Description]) -> None:
    """Raise UsageError for an entry that names a field which neither subject has."""
    known = {name for description in descriptions for name in (*description.resolved, *description.fields)}
    for entry in ledger.entries:
        conditions = [*entry.when, *(condition for group in entry.any for condition in group)]
        asked = field_names(conditions)
        for name in (*entry.fields, *entry.absent, *asked):
            if name not in known:
                raise UsageError(
                    f"ledger entry {entry.id}: neither {entry.named[0]} nor {entry.named[1]} has the field "
                    f"{name!r}{hint(name, known)}"
                )


def _stored(
    corpus: Sequence[Case], descriptions: tuple[Description, Description]
) -> tuple[tuple[Case, ...], list[str]]:
    """Return the cases of a corpus that both subjects accept, and notes on these and on the others."""
    cases, refused = [], []
    for case in corpus:
        try:
            for description in descriptions:
                check_args(case.args, description.fields, case.id)
        except UsageError as error:
            refused.append(str(error))
        else:
            cases.append(case)
    notes = []
    if cases:
        many = f"{len(cases)} {'case' if len(cases) == 1 else 'cases'}"
        notes.append(f"first came {many} of the corpus: without it the seed gives other cases")
    if refused:
        notes.append(
            f"left out of the corpus: {refused[0]}" + (f"; and {len(refused) - 1} more" if refused[1:] else "")
        )
    return tuple(cases), notes


def _launches(pair: Pair, descriptions: tuple[Description, Description]) -> tuple[tuple[Case, ...], list[str]]:
    """Return the real launches as cases, and a note on each that one of the subjects cannot take."""
    cases: list[Case] = []
    notes: list[str] = []
    if pair.first.spec.target:
        return (), notes
    for launch in real_launches():
        try:
            case = pair.first.launch_case(launch)
        except UsageError as error:
            notes.append(f"left out: {error}")
            continue
        strange = [name for name in case.args if name not in descriptions[1].fields]
        if strange:
            label = pair.second.spec.label
            notes.append(f"left out: real launch {launch.id} sets {strange[0]}, which {label} does not have")
            continue
        cases.append(case)
    return tuple(cases), notes
