"""What the codemods know of a tree's record: its classes, its fields, and the functions that are handed one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from codemods.reading.emptied import empty_handlers
from codemods.reading.index import Place, TreeIndex, dotted_name
from codemods.reading.resolution import Resolution
from codemods.reading.tree import Tree
from harness.common.errors import UsageError, hint

RUNTIME = "overrides_runtime"
"""The module that `add_runtime` places beside the record."""


class Effects(NamedTuple):
    """What a function does to a record: fields it reads and writes, and whether it hands it to something unknown.

    ``behind`` are the fields that it does not read itself: what it calls does.
    """

    reads: frozenset[str]
    writes: frozenset[str]
    unknown: bool
    behind: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RecordFacts:
    """Plain facts about one tree.

    ``classes`` are the record, its ancestors within the tree (mixins of handlers included) and its descendants;
    ``fields`` says which class annotates each field. ``names`` are parameters that hold a record wherever they are
    not annotated as something else; ``passed`` are the parameters that the resolution hands one to, by function.
    ``arg`` is the class of a field's metadata, with ``arg_parameters``. ``attributes`` are what methods assign
    besides fields, ``tagged`` the fields that are resolvable already, ``test_files`` the files that pin them,
    ``empty`` the methods that do nothing, with what keeps each.
    ``exports`` are the (module, name) under which packages offer the record besides its own module, and ``getters``
    the functions, as (module, name), that say that they return one. ``effects`` says what methods of the record do to
    its fields, by name, and functions that are handed one, by file and name. ``constants`` are the collections of
    strings that names of the resolution's files stand for, by file and name. ``resolution`` is what runs until the
    record is resolved.
    """

    record: Place
    classes: frozenset[Place]
    fields: Mapping[str, Place]
    names: tuple[str, ...] = ("server_args",)
    passed: Mapping[Place, frozenset[str]] = field(default_factory=dict)
    arg: Place | None = None
    arg_parameters: tuple[str, ...] = ()
    attributes: frozenset[str] = frozenset()
    tagged: frozenset[str] = frozenset()
    test_files: frozenset[str] = frozenset()
    empty: Mapping[str, str] = field(default_factory=dict)
    exports: frozenset[tuple[str, str]] = frozenset()
    getters: frozenset[tuple[str, str]] = frozenset()
    effects: Mapping[str, Effects] = field(default_factory=dict)
    constants: Mapping[Place, tuple[str, ...]] = field(default_factory=dict)
    resolution: Resolution = field(default_factory=Resolution)

    @property
    def runtime_file(self) -> str:
        """Where `add_runtime` puts the runtime: beside the record's own module."""
        folder, _, _ = self.record.file.rpartition("/")
        return f"{folder}/{RUNTIME}.py" if folder else f"{RUNTIME}.py"

    @property
    def runtime_module(self) -> str:
        """The dotted name of the runtime."""
        return dotted_name(self.runtime_file)

    def check_field(self, name: str) -> None:
        """Raise UsageError when the record has no field ``name``."""
        if name in self.fields:
            return
        where = f"{self.record.name} in {self.record.file}"
        if name in self.attributes:
            raise UsageError(f"{where} assigns {name!r}, but has no such field: add the field first")
        raise UsageError(f"{where} has no field {name!r}{hint(name, self.fields)}")

    def check_written(self, name: str) -> None:
        """Raise UsageError when ``name`` is neither a field nor an attribute that a method assigns."""
        if name not in self.attributes:
            self.check_field(name)


def read_facts(
    tree: Tree, record: str, names: Iterable[str] = ("server_args",), entry: str = "__post_init__"
) -> RecordFacts:
    """Return the facts about the record ``module:Class`` of ``tree``; ``entry`` is the method that resolves it.

    Raises UsageError when there is no such class, or when its file does not parse.
    """
    return facts_of(TreeIndex(tree), record, names, entry)


def facts_of(
    index: TreeIndex, record: str, names: Iterable[str] = ("server_args",), entry: str = "__post_init__"
) -> RecordFacts:
    """Return the facts about the record ``module:Class`` of the tree that ``index`` reads; see `read_facts`."""
    place = _record_place(index, record)
    ancestors = list(_ancestors(index, place))
    classes = frozenset([*ancestors, *_descendants(index, place)])
    fields = {name: ancestor for ancestor in reversed(ancestors) for name in _field_names(_class(index, ancestor))}
    arg = next((found for ancestor in ancestors if (found := _arg_class(index, ancestor))), None)
    facts = RecordFacts(
        record=place,
        classes=classes,
        fields=fields,
        names=tuple(names),
        arg=arg,
        arg_parameters=tuple(_field_names(_class(index, arg))) if arg else (),
        tagged=frozenset(name for ancestor in ancestors for name in _tagged(_class(index, ancestor))),
        test_files=frozenset(path for path in index.tree.names() if b"PINNED" in index.tree.read(path)),
        empty=empty_handlers(index, classes, place),
        exports=frozenset(_exports(index, place)),
        getters=frozenset(_getters(index, place)),
        attributes=frozenset(
            [
                *(name for item in classes for name in _assigned(_class(index, item))),
                *_declared(index, classes),
            ]
        )
        - fields.keys(),
    )
    # Imported here because it reads functions with the facts found so far.
    from codemods.reading.constants import constants_of
    from codemods.reading.effects import effects_of
    from codemods.reading.passing import passed_parameters
    from codemods.reading.readers import resolution_of

    facts = replace(facts, passed=passed_parameters(index, facts))
    return replace(
        facts,
        effects=effects_of(index, facts),
        constants=constants_of(index, facts),
        resolution=resolution_of(index, facts, entry),
    )


def _record_place(index: TreeIndex, record: str) -> Place:
    dotted, colon, name = record.partition(":")
    if not colon or not name.isidentifier():
        raise UsageError(f"the record {record!r} is not of the form 'package.module:Class'")
    path = index.file_of(dotted)
    if path is None:
        known = (dotted_name(found) for found in index.tree.names())
        raise UsageError(f"the tree has no module {dotted!r}{hint(dotted, known)}")
    module = index.module(path)
    if module is None:
        raise UsageError(f"{path}, where the record {name!r} should be, does not parse")
    found = index.resolve(path, name)
    if found is None or (name not in module.classes and found.file == path):
        raise UsageError(f"{path} defines no class {name!r}{hint(name, module.classes)}")
    return found


def _class(index: TreeIndex, place: Place) -> ast.ClassDef:
    module = index.module(place.file)
    assert module is not None, "a place is only made for a file that parses"
    return module.classes[place.name]


def _ancestors(index: TreeIndex, place: Place, seen: set[Place] | None = None) -> Iterator[Place]:
    seen = set() if seen is None else seen
    if place in seen:
        return
    seen.add(place)
    yield place
    for base in _class(index, place).bases:
        if isinstance(base, ast.Name):
            found = index.resolve(place.file, base.id)
            if found and _is_class(index, found):
                yield from _ancestors(index, found, seen)


def _is_class(index: TreeIndex, place: Place) -> bool:
    module = index.module(place.file)
    return module is not None and place.name in module.classes


def _descendants(index: TreeIndex, record: Place) -> set[Place]:
    found = {record}
    grown = True
    while grown:
        grown = False
        names = b"|".join(re.escape(place.name.encode()) for place in sorted(found))
        derives = re.compile(rb"^\s*class\s+\w+\s*\([^)]*\b(?:" + names + rb")\b", re.MULTILINE)
        for path in index.tree.names():
            if not derives.search(index.tree.read(path)):
                continue
            module = index.module(path)
            for name, node in module.classes.items() if module else ():
                bases = {index.resolve(path, base.id) for base in node.bases if isinstance(base, ast.Name)}
                if bases & found and Place(path, name) not in found:
                    found.add(Place(path, name))
                    grown = True
    return found


def _field_names(node: ast.ClassDef) -> list[str]:
    return [
        item.target.id
        for item in node.body
        if isinstance(item, ast.AnnAssign)
        and isinstance(item.target, ast.Name)
        and "ClassVar" not in ast.unparse(item.annotation)
    ]


def _exports(index: TreeIndex, record: Place) -> Iterator[tuple[str, str]]:
    for path in index.tree.names():
        if path.endswith("/__init__.py") and record.name.encode() in index.tree.read(path):
            module = index.module(path)
            for name, (_, original) in module.imports.items() if module else ():
                if original == record.name and index.resolve(path, name) == record:
                    yield dotted_name(path), name


def _getters(index: TreeIndex, record: Place) -> Iterator[tuple[str, str]]:
    says = re.compile(rb"def\s+\w+\(\s*\)\s*->\s*[\"']?" + re.escape(record.name.encode()) + rb"\b")
    for path in index.tree.names():
        if not says.search(index.tree.read(path)):
            continue
        module = index.module(path)
        for name, node in module.functions.items() if module else ():
            returned = ast.unparse(node.returns).strip("'\"") if node.returns else ""
            if returned.isidentifier() and "." not in name and index.resolve(path, returned) == record:
                yield dotted_name(path), name


def _tagged(node: ast.ClassDef) -> Iterator[str]:
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            for part in ast.walk(item.annotation):
                if isinstance(part, ast.keyword) and part.arg == "resolvable" and ast.unparse(part.value) == "True":
                    yield item.target.id


def _assigned(node: ast.ClassDef) -> Iterator[str]:
    for item in ast.walk(node):
        if isinstance(item, ast.Attribute) and isinstance(item.ctx, ast.Store) and isinstance(item.value, ast.Name):
            yield item.attr


def _declared(index: TreeIndex, classes: frozenset[Place]) -> Iterator[str]:
    """Yield what the files of the classes declare, in handlers and in passes, instead of assigning it."""
    for path in sorted({place.file for place in classes}):
        module = index.module(path)
        for item in ast.walk(module.tree) if module else ():
            if isinstance(item, ast.Call) and isinstance(item.func, (ast.Name, ast.Attribute)):
                called = item.func.id if isinstance(item.func, ast.Name) else item.func.attr
                if called.lstrip("_") == "declare":
                    yield from (keyword.arg for keyword in item.keywords if keyword.arg)


def _arg_class(index: TreeIndex, place: Place) -> Place | None:
    """Return the class whose instances stand in the annotations of ``place``: the one that is called there most."""
    counts: dict[str, int] = {}
    for item in _class(index, place).body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.annotation, ast.Subscript):
            inner = item.annotation.slice
            for part in inner.elts[1:] if isinstance(inner, ast.Tuple) else ():
                if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
                    counts[part.func.id] = counts.get(part.func.id, 0) + 1
    for name in sorted(counts, key=lambda name: (-counts[name], name)):
        found = index.resolve(place.file, name)
        if found is not None and _is_class(index, found):
            return found
    return None
