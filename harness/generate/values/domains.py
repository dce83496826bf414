"""The domains of a campaign: which values to try for each input, taken from the descriptions of both subjects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from harness.generate.chance.draw import Draw
from harness.subjects.description import WORLD, Aims, Condition, Description, Variable
from harness.world.fields import FieldSpec
from harness.world.profiles import model_profiles

# Counts and sizes that servers are started with. Other values that matter are those that the code compares with.
_COUNTS: Final = (1, 2, 4, 8, 16)
_SIZES: Final = (1, 64, 256, 1024, 4096, 8192, 16384)
# An argument whose defaults and compared values are all at most this is a count, so no sizes are tried.
_SMALL: Final = 64
# A text that is none of those that the code compares with.
_SOME_TEXT: Final = "something-else"
_FRACTIONS: Final = (0.1, 0.5, 0.9, 1.0)
_NO_AIMS: Final = Aims()
# A resolved field is drawn this many times as often as any other input: it is what a gate compares.
_RESOLVED_WEIGHT: Final = 4
# The operations of conditions that compare an input with constants of the source.
_COMPARISONS: Final = ("is", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Domain:
    """The values of an argument, in a fixed order.

    ``compared`` are those that the code compares the argument with. ``default`` is the value that the argument has in
    a case that leaves it out. ``nullable`` is true if None may be given.
    """

    values: tuple[Any, ...]
    compared: tuple[Any, ...] = ()
    default: Any = None
    nullable: bool = False

    def drawn(self, draw: Draw) -> Any:
        """Return one of the values; half the time one that the code compares with, if there is any."""
        return draw.pick(self.compared) if self.compared and draw.chance(50) else draw.pick(self.values)


@dataclass(frozen=True)
class Domains:
    """All inputs of a campaign.

    - ``args`` maps each argument to its domain.
    - ``pool`` has the names of the arguments to draw from, each as often as its weight.
    - ``environment`` maps each variable to the texts to try, ``variables`` to how the code parses it.
    - ``architectures`` and ``quantizations`` are names to make models with.
    - ``foreign`` are arguments that a resolution reads and that only one subject has; they are not drawn.
    - ``unknown`` are arguments for which no value is known; they are not drawn either.
    - ``aims`` are those of both subjects.
    - ``from_machine`` maps an argument to the probe that gives its value in a case that leaves it out.
    - ``takes`` are the parts of the world (machine, model) that at least one subject takes; only these vary.
    - ``siblings`` maps an argument to the others with the same choices, such as the backend of each phase: code may
      confuse one with another.
    """

    args: dict[str, Domain]
    pool: tuple[str, ...]
    environment: dict[str, tuple[str, ...]]
    architectures: tuple[str, ...]
    quantizations: tuple[str, ...]
    foreign: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    aims: Aims = _NO_AIMS
    variables: dict[str, Variable] = field(default_factory=dict)
    from_machine: dict[str, str] = field(default_factory=dict)
    takes: tuple[str, ...] = WORLD
    siblings: dict[str, tuple[str, ...]] = field(default_factory=dict)


def domains_of(
    first: Description,
    second: Description,
    structured: dict[str, list[Any]] | None = None,
    not_drawn: Sequence[str] = (),
    entry: Mapping[str, Any] | None = None,
    prefix: str = "SGLANG_",
) -> Domains:
    """Return the domains of the inputs that both subjects have and at least one of them reads.

    ``structured`` has values for arguments whose type no metadata describes (nested configurations). ``entry`` maps
    an argument to the answer of a profile that replaces its default: it has ``value``, or ``from = "probe.NAME"``. Of
    the variables, those whose names begin with ``prefix`` are drawn, except ``not_drawn``.
    """
    entry = entry or {}
    starts = {name: answer["value"] for name, answer in entry.items() if "value" in answer}
    structured = structured or {}
    resolved = {*first.resolved, *second.resolved}
    tested = _tested(first.aims, second.aims)
    reads = {*first.reads, *second.reads}
    args: dict[str, Domain] = {}
    pool: list[str] = []
    unknown: list[str] = []
    for name in first.fields:
        if name not in second.fields or name not in reads:
            continue
        domain = _domain(
            [first.fields[name], second.fields[name]], structured.get(name, ()), starts, tested["arg", name]
        )
        if domain is None:
            unknown.append(name)
        else:
            args[name] = domain
            pool += [name] * (_RESOLVED_WEIGHT if name in resolved else 1)
    environment = {
        name: _texts([d.environment[name] for d in (first, second) if name in d.environment], tested["env", name])
        for name in sorted({*first.environment, *second.environment})
        if name.startswith(prefix) and name not in not_drawn
    }
    profiled = [name for model in model_profiles() for name in model.architectures]
    architectures = _unique([*first.architectures, *second.architectures, *profiled])
    quantization = args.get("quantization", Domain(()))
    return Domains(
        args=args,
        pool=tuple(pool),
        environment=environment,
        architectures=tuple(architectures),
        quantizations=tuple(value for value in quantization.values if isinstance(value, str)),
        foreign=tuple(name for name in sorted(set(first.fields) ^ set(second.fields)) if name in reads),
        unknown=tuple(unknown),
        aims=_united(first.aims, second.aims),
        variables={name: (first.environment.get(name) or second.environment[name]) for name in environment},
        from_machine={
            name: answer["from"].removeprefix("probe.")
            for name, answer in entry.items()
            if str(answer.get("from", "")).startswith("probe.")
        },
        takes=tuple(part for part in WORLD if part in first.takes or part in second.takes),
        siblings=_siblings({name: first.fields[name].choices for name in args}),
    )


def _siblings(choices: Mapping[str, tuple[Any, ...]]) -> dict[str, tuple[str, ...]]:
    """Return, for each argument with choices, the other arguments with the same choices."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    for name, listed in choices.items():
        if listed:
            groups.setdefault(listed, []).append(name)
    return {
        name: tuple(other for other in names if other != name)
        for names in groups.values()
        if len(names) > 1
        for name in names
    }


def _united(first: Aims, second: Aims) -> Aims:
    """Return the places of both subjects, each once: those of the first, then those that only the second has.

    Conditions, clauses and places refer to one another by number, so all are renumbered.
    """
    conditions: dict[str, int] = {}
    kept: list[Condition] = []
    clauses: dict[tuple[tuple[int, ...], ...], int] = {}
    places: dict[tuple[tuple[int, ...], ...], int] = {}
    refusals: dict[int, None] = {}
    writers: dict[tuple[int, str], None] = {}
    readers: dict[tuple[int, str], None] = {}
    for given in (first, second):
        numbers = []
        for condition in given.conditions:
            number = conditions.setdefault(repr(condition), len(kept))
            if number == len(kept):
                kept.append(condition)
            numbers.append(number)
        renumbered = []
        for clause in given.clauses:
            same = tuple(tuple(numbers[number] for number in alternative) for alternative in clause)
            renumbered.append(clauses.setdefault(same, len(clauses)))
        refusing = set(given.refusals)
        numbered: dict[int, int] = {}
        for number, place in enumerate(given.places):
            same_place = tuple(tuple(renumbered[clause] for clause in aim) for aim in place)
            united = places.setdefault(same_place, len(places))
            if number in refusing:
                refusals.setdefault(united)
            numbered[number] = united
        writers |= {(numbered[number], name): None for number, name in given.writers}
        readers |= {(numbered[number], name): None for number, name in given.readers}
    return Aims(
        conditions=tuple(kept),
        clauses=tuple(clauses),
        places=tuple(places),
        refusals=tuple(refusals),
        writers=tuple(writers),
        readers=tuple(readers),
    )


def _tested(*given: Aims) -> Mapping[tuple[str, str], list[Any]]:
    """Return the values that the conditions compare each argument or variable with, by its kind and name.

    The description of an input does not have them all: it misses comparisons with a local variable that holds the
    input.
    """
    tested: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for aims in given:
        for condition in aims.conditions:
            if condition.operation in _COMPARISONS:
                tested[condition.kind, condition.name] += condition.values
    return tested


def _domain(
    specs: Sequence[FieldSpec], structured: Iterable[Any], starts: Mapping[str, Any], tested: Sequence[Any]
) -> Domain | None:
    values = _values(specs, structured)
    known = {repr(value) for value in values or ()}
    missing = [value for value in _unique(tested) if _fits(value, specs[0].type) and repr(value) not in known]
    # Values that only conditions name count as compared values of the field, too.
    if missing:
        specs = [msgspec.structs.replace(spec, compared=(*spec.compared, *missing)) for spec in specs]
        values = _values(specs, structured)
    if values is None:
        return None
    name, default = specs[0].name, specs[0].default
    compared = _unique(value for spec in specs for value in spec.compared if _fits(value, specs[0].type))
    return Domain(
        tuple(_unique(values)),
        tuple(compared) if specs[0].type != "bool" else (),
        default=starts.get(name, default),
        nullable=all(spec.optional or (spec.default is None and not spec.required) for spec in specs),
    )


def _values(specs: Sequence[FieldSpec], structured: Iterable[Any]) -> list[Any] | None:
    kind = specs[0].type
    choices = [value for spec in specs for value in spec.choices]
    compared = [value for spec in specs for value in spec.compared if _fits(value, kind)]
    defaults = [spec.default for spec in specs]
    by_hand = list(structured)
    values: list[Any] = [*choices, *compared, *by_hand]
    if kind == "bool":
        # Setting a flag to its default is the same as leaving it out, unless the two subjects have different
        # defaults.
        return [True, False] if len(set(defaults)) > 1 else [not defaults[0]]
    if kind == "int":
        around = [value + step for value in compared for step in (-1, 1)]
        usual = [default for default in defaults if _fits(default, kind)]
        known = [*compared, *usual]
        # Values that were given by hand take the place of the usual ones.
        counts = () if by_hand else _COUNTS if known and max(known) <= _SMALL else (*_COUNTS, *_SIZES)
        values += [*counts, *around, *usual]
    elif kind == "float":
        values += [*(() if by_hand else _FRACTIONS), *(default for default in defaults if _fits(default, kind))]
    elif kind == "str" and not choices and (compared or any(None in spec.compared for spec in specs)):
        values.append(_SOME_TEXT)
    elif not values:
        # Free text, paths and lists: the code does not show which values matter.
        return None
    return values


def _fits(value: Any, kind: str) -> bool:
    if kind == "int":
        return type(value) is int
    if kind == "float":
        return type(value) in (int, float)
    return kind == "str" and isinstance(value, str)


def _texts(variables: Sequence[Variable], tested: Sequence[Any]) -> tuple[str, ...]:
    """Return the texts to try for a variable."""
    kind = variables[0].type
    compared = [str(value) for variable in variables for value in variable.compared if value is not None]
    if kind == "bool":
        return ("1", "0")
    if kind == "int":
        defaults = [variable.default for variable in variables if type(variable.default) is int]
        usual = [*(str(value + step) for value in defaults for step in (-1, 0, 1)), "0", "1", "2", "-1"]
    else:
        usual = ["0.0", "0.5"] if kind == "float" else ["1", "text"]
    asked = [str(value) for value in tested if value is not None]
    return tuple(_unique([*compared, *usual, *asked]))


def _unique(values: Iterable[Any]) -> list[Any]:
    """Return the values in their order, each once; True and 1 are two values."""
    seen: set[str] = set()
    kept = []
    for value in values:
        key = f"{type(value).__name__}:{value!r}"
        if key not in seen:
            seen.add(key)
            kept.append(value)
    return kept
