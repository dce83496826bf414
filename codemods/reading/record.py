"""What the codemods know of a tree's record: its classes, its fields, and the functions that are handed one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from codemods.reading.constants import constants_of
from codemods.reading.effects import effects_of
from codemods.reading.emptied import empty_handlers
from codemods.reading.facts import RecordFacts
from codemods.reading.files import SourceTree
from codemods.reading.index import Definition, TreeIndex, dotted_name
from codemods.reading.passing import passed_parameters
from codemods.reading.reach import resolution_of
from harness.common.errors import UsageError, hint


def read_facts(
    tree: SourceTree, record: str, names: Iterable[str] = ("server_args",), entry: str = "__post_init__"
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
    facts = replace(facts, passed=passed_parameters(index, facts))
    return replace(
        facts,
        effects=effects_of(index, facts),
        constants=constants_of(index, facts),
        resolution=resolution_of(index, facts, entry),
    )


def _record_place(index: TreeIndex, record: str) -> Definition:
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


def _class(index: TreeIndex, place: Definition) -> ast.ClassDef:
    module = index.module(place.file)
    assert module is not None, "a place is only made for a file that parses"
    return module.classes[place.name]


def _ancestors(index: TreeIndex, place: Definition, seen: set[Definition] | None = None) -> Iterator[Definition]:
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


def _is_class(index: TreeIndex, place: Definition) -> bool:
    module = index.module(place.file)
    return module is not None and place.name in module.classes


def _descendants(index: TreeIndex, record: Definition) -> set[Definition]:
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
                if bases & found and Definition(path, name) not in found:
                    found.add(Definition(path, name))
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


def _exports(index: TreeIndex, record: Definition) -> Iterator[tuple[str, str]]:
    for path in index.tree.names():
        if path.endswith("/__init__.py") and record.name.encode() in index.tree.read(path):
            module = index.module(path)
            for name, (_, original) in module.imports.items() if module else ():
                if original == record.name and index.resolve(path, name) == record:
                    yield dotted_name(path), name


def _getters(index: TreeIndex, record: Definition) -> Iterator[tuple[str, str]]:
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


def _declared(index: TreeIndex, classes: frozenset[Definition]) -> Iterator[str]:
    """Yield what the files of the classes declare, in handlers and in passes, instead of assigning it."""
    for path in sorted({place.file for place in classes}):
        module = index.module(path)
        for item in ast.walk(module.tree) if module else ():
            if isinstance(item, ast.Call) and isinstance(item.func, (ast.Name, ast.Attribute)):
                called = item.func.id if isinstance(item.func, ast.Name) else item.func.attr
                if called.lstrip("_") == "declare":
                    yield from (keyword.arg for keyword in item.keywords if keyword.arg)


def _arg_class(index: TreeIndex, place: Definition) -> Definition | None:
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
