"""Finds the fields that two trees resolve by different text, and says what differs.

A field has moved if one of these differs between the trees:

- its declaration in the record (type, choices, default, a tag such as ``resolvable``; but not its help);
- a function that writes it, a function on the way to one, or what these use;
- the order in which its writers run, or a list of them;
- the entry of a table for it, or the flag that it becomes.

Different texts may well resolve alike: only the gate finds that out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple, get_args

import msgspec

from harness.moves.cuts import CutLine
from harness.moves.definitions import DefinedName, Definitions
from harness.source.nodes import FUNCTIONS, is_text, last_name, without_docstring
from harness.subjects.spec import SubjectSpec

ReasonKind = Literal["tag", "pass", "writer", "order", "calls", "leaf", "table", "uses"]
"""What differs about a field.

- ``tag``: its declaration in the record
- ``pass``: a registered function that declares it
- ``writer``: another function that writes it
- ``order``: what its writers come before and after
- ``calls``: a function on the way to one that writes it
- ``leaf``: the flag that it becomes
- ``table``: an entry of a table
- ``uses``: a function or constant that one of the functions above uses
"""

KINDS: Final[tuple[ReasonKind, ...]] = get_args(ReasonKind)
"""All kinds, in the order in which reasons are listed."""

_HELP: Final = "help"


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that differs: its name, how it differs, and its place on both sides (``file:line``, or empty)."""

    kind: ReasonKind
    name: str
    change: Literal["new", "gone", "differs"]
    detail: str = ""
    first: str = ""
    second: str = ""


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """A field that moved, and why: in the order of the kinds, then by name."""

    field: str
    reasons: tuple[Reason, ...]


class _Unit(NamedTuple):
    """One thing that decides a field on one side. If its lines are equal on both, it does not move the field."""

    lines: tuple[CutLine, ...]
    file: str

    @property
    def texts(self) -> list[tuple[int, str]]:
        return [(line.depth, line.text) for line in self.lines]


_Units = Mapping[tuple[ReasonKind, str], _Unit]


def moved_fields(first: SubjectSpec, second: SubjectSpec) -> tuple[Moved, ...]:
    """Return the fields that moved from the first to the second subject, in the record's order.

    Raises UsageError for a file of either that cannot be parsed.
    """
    sides = Definitions(first), Definitions(second)
    moved = []
    for field in dict.fromkeys((*sides[1].fields, *sides[0].fields)):
        reasons = [
            *_declared(field, *sides),
            *_differing(_units(sides[0], field), _units(sides[1], field)),
            *_reordered(field, *sides),
        ]
        if reasons:
            reasons.sort(key=lambda reason: (KINDS.index(reason.kind), reason.name))
            moved.append(Moved(field=field, reasons=tuple(reasons)))
    return tuple(moved)


# -- the declaration ---------------------------------------------------------------------------------------------


def _declared(field: str, first: Definitions, second: Definitions) -> Iterator[Reason]:
    """Yield a reason for each part of the field's declaration in the record that differs."""
    sides = first.record.get(field), second.record.get(field)
    places = [side.place if side is not None else "" for side in sides]
    if sides[0] is None or sides[1] is None:
        if sides[0] is not sides[1]:
            change: Literal["new", "gone"] = "new" if sides[0] is None else "gone"
            yield Reason(kind="tag", name="field", change=change, first=places[0], second=places[1])
        return
    parts = [_parts(side.node) for side in sides if side is not None]
    for name in dict.fromkeys((*parts[0], *parts[1])):
        values = [side.get(name) for side in parts]
        if values[0] != values[1]:
            yield Reason(
                kind="tag",
                name=name,
                change="new" if values[0] is None else "gone" if values[1] is None else "differs",
                detail=" → ".join(value if value is not None else "(none)" for value in values),
                first=places[0],
                second=places[1],
            )


def _parts(node: Any) -> dict[str, str]:
    """Return the parts of a declaration in the record by name: its type, default and tags, but not its help."""
    parts = {"default": ast.unparse(node.value)} if node.value is not None else {}
    annotation, metadata = node.annotation, []
    if isinstance(annotation, ast.Subscript) and _is_annotated(annotation):
        annotation, *metadata = annotation.slice.elts  # type: ignore[attr-defined]
    parts["type"] = ast.unparse(annotation)
    for number, entry in enumerate(metadata):
        if is_text(entry):
            continue
        if not isinstance(entry, ast.Call):
            parts[f"metadata {number}"] = ast.unparse(entry)
            continue
        for place, argument in enumerate(entry.args):
            if not is_text(argument):
                parts[f"argument {place}"] = ast.unparse(argument)
        parts |= {word.arg or "**": ast.unparse(word.value) for word in entry.keywords if word.arg != _HELP}
    return parts


def _is_annotated(node: ast.Subscript) -> bool:
    return last_name(node.value) in ("A", "Annotated") and isinstance(node.slice, ast.Tuple)


# -- what decides it ---------------------------------------------------------------------------------------------


def _units(package: Definitions, field: str) -> dict[tuple[ReasonKind, str], _Unit]:
    """Return everything of one side that decides ``field``, by its kind and its name."""
    units: dict[tuple[ReasonKind, str], _Unit] = {}
    used: list[DefinedName] = []

    def take(kind: ReasonKind, definition: DefinedName, lines: list[CutLine]) -> None:
        name = definition.qualified
        # Functions of two files may have the same full name.
        if (kind, name) in units:
            name = f"{name} ({definition.file})"
        units[kind, name] = _Unit(tuple(lines), definition.file)

    for definition in package.leading_to(field):
        assert isinstance(definition.node, FUNCTIONS)
        leads = package.names_leading_to(field, definition.file)
        lines, names = package.cutter.cut(definition.node, field, leads)
        take(_kind_of(package, definition, field), definition, lines)
        used += package.meant_by(names, definition.file)
    for definition, table in package.tables:
        if lines := table.entries(field):
            take("leaf" if table.maps_to_texts(package.record) else "table", definition, lines)
        elif lines := table.listed(package.names_leading_to(field, definition.file)):
            take("order", definition, lines)
    for definition in package.leaves.get(field, ()):
        take("leaf", definition, _whole(definition))
    for definition in _closure(package, used, field):
        take("uses", definition, _whole(definition))
    return units


def _kind_of(package: Definitions, definition: DefinedName, field: str) -> ReasonKind:
    if field not in package.writes_in(definition):
        return "calls"
    return "pass" if package.is_registered(definition) else "writer"


def _closure(package: Definitions, used: list[DefinedName], field: str) -> list[DefinedName]:
    """Return ``used`` and all that these use in turn, but not the functions that lead to ``field``: they are cut."""
    found: dict[DefinedName, None] = {}
    wanted = list(used)
    while wanted:
        definition = wanted.pop(0)
        if definition in found or package.leads(definition, field):
            continue
        found[definition] = None
        wanted += package.used_by(definition)
    return list(found)


def _whole(definition: DefinedName) -> list[CutLine]:
    """Return all lines of a definition, except its docstring."""
    node = definition.node
    if not isinstance(node, FUNCTIONS):
        return [CutLine(0, ast.dump(node), node.lineno)]
    heads = [*node.decorator_list, node.args]
    return [
        CutLine(0, "".join(map(ast.dump, heads)), node.lineno),
        *(CutLine(1, ast.dump(statement), statement.lineno) for statement in without_docstring(node.body)),
    ]


# -- what differs ------------------------------------------------------------------------------------------------


def _differing(first: _Units, second: _Units) -> Iterator[Reason]:
    """Yield a reason for each thing that only one side has, or whose lines differ."""
    for key in dict.fromkeys((*first, *second)):
        kind, name = key
        one, other = first.get(key), second.get(key)
        if one is None or other is None:
            change: Literal["new", "gone"] = "new" if one is None else "gone"
            places = [f"{side.file}:{side.lines[0].number}" if side is not None else "" for side in (one, other)]
            yield Reason(kind=kind, name=name, change=change, first=places[0], second=places[1])
        elif one.texts != other.texts:
            lines = _first_difference(one, other)
            places = [f"{side.file}:{line}" for side, line in zip((one, other), lines, strict=True)]
            yield Reason(kind=kind, name=name, change="differs", first=places[0], second=places[1])


def _first_difference(first: _Unit, second: _Unit) -> tuple[int, int]:
    """Return the number of the first line that differs, on each side."""
    texts = first.texts, second.texts
    number = next(
        (number for number, pair in enumerate(zip(*texts, strict=False)) if pair[0] != pair[1]),
        min(map(len, texts)),
    )
    one, other = (side.lines[min(number, len(side.lines) - 1)].number for side in (first, second))
    return one, other


# -- what comes before what --------------------------------------------------------------------------------------


def _reordered(field: str, first: Definitions, second: Definitions) -> Iterator[Reason]:
    """Yield a reason for each function or list in which a writer of ``field`` changed places with another writer.

    The other may write another field: if one of the two reads what the other writes, it now sees another value.
    """
    sides = [{one.qualified: one for one in _naming(package, field)} for package in (first, second)]
    for name in sides[0].keys() & sides[1].keys():
        places = sides[0][name], sides[1][name]
        calls = first.sequence(places[0]), second.sequence(places[1])
        # A writer that only one side mentions is no change of order.
        both = [[call for call in side if call in calls[0] and call in calls[1]] for side in calls]
        for call in both[0]:
            before, after = (frozenset(side[: side.index(call)]) for side in both)
            if before == after or field not in calls[0][call][1] | calls[1][call][1]:
                continue
            other = min(before ^ after, key=both[0].index)
            word = "after" if other in after else "before"
            yield Reason(
                kind="order",
                name=name,
                change="differs",
                detail=f"{call} now runs {word} {other}",
                first=f"{places[0].file}:{calls[0][call][0]}",
                second=f"{places[1].file}:{calls[1][call][0]}",
            )
            break


def _naming(package: Definitions, field: str) -> Iterator[DefinedName]:
    """Yield the functions and lists that name a writer of ``field``."""
    yield from package.leading_to(field)
    for definition, table in package.tables:
        if table.listed(package.names_leading_to(field, definition.file)):
            yield definition
