"""Collects the facts about a tree's record: its classes, its fields, and the functions that get the record."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from codemods.reading.accesses import effects_of
from codemods.reading.architecture import constants_of
from codemods.reading.callees import Callees
from codemods.reading.emptied import empty_handlers
from codemods.reading.facts import RecordFacts
from codemods.reading.files import SourceTree
from codemods.reading.index import Definition, ModuleIndex, TreeIndex, dotted_name
from codemods.reading.passing import passed_parameters
from codemods.reading.reach import resolution_of
from harness.common.errors import UsageError, hint
from harness.source.calls import calls_in
from harness.source.nodes import last_name
from harness.source.writes import DECLARE, writes_in


def read_facts(
    tree: SourceTree, record: str, names: Iterable[str] = ("server_args",), entry: str = "__post_init__"
) -> RecordFacts:
    """Return the facts about the record ``module:Class`` of ``tree``; ``entry`` is the method that resolves it.

    ``names`` are the parameter names that mean a record (`RecordFacts.names`). Raises UsageError if there is no such
    class, or if its file does not parse.
    """
    return facts_of(TreeIndex(tree), record, names, entry)


def facts_of(
    index: TreeIndex, record: str, names: Iterable[str] = ("server_args",), entry: str = "__post_init__"
) -> RecordFacts:
    """Return the facts about the record ``module:Class`` of the tree that ``index`` reads; see `read_facts`."""
    place = _record_place(index, record)
    ancestors = list(_ancestors(index, place))
    classes = frozenset([*ancestors, *_descendants(index, place)])
    annotated = {ancestor: list(_fields(_class(index, ancestor))) for ancestor in reversed(ancestors)}
    fields = {name: ancestor for ancestor, found in annotated.items() for name, _ in found}
    annotations = [(name, annotation) for found in annotated.values() for name, annotation in found]
    arg = next((found for ancestor in ancestors if (found := _arg_class(index, ancestor))), None)
    facts = RecordFacts(
        record=place,
        classes=classes,
        fields=fields,
        names=tuple(names),
        arg=arg,
        arg_parameters=tuple(name for name, _ in _fields(_class(index, arg))) if arg else (),
        tagged=frozenset(name for name, annotation in annotations if _is_tagged(annotation)),
        test_files=frozenset(path for path in index.tree.names() if b"PINNED" in index.tree.read(path)),
        empty=empty_handlers(index, classes, place),
        exports=frozenset(_exports(index, place)),
        getters=frozenset(_getters(index, place)),
        attributes=frozenset(_attributes(index, classes)) - fields.keys(),
    )
    # `passed` comes first: the others look into the functions that get the record, so these must be known.
    callees = Callees(index, facts)
    facts = replace(facts, passed=passed_parameters(index, facts, callees))
    return replace(
        facts,
        effects=effects_of(index, facts, callees),
        constants=constants_of(index, facts),
        resolution=resolution_of(index, facts, callees, entry),
    )


# -- classes


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
    node = index.class_at(place)
    assert node is not None, "a place is only made of a class that was found"
    return node


def _bases(index: TreeIndex, path: str, node: ast.ClassDef) -> Iterator[Definition]:
    for base in node.bases:
        found = index.resolve(path, base.id) if isinstance(base, ast.Name) else None
        if found is not None and index.class_at(found) is not None:
            yield found


def _ancestors(index: TreeIndex, place: Definition) -> dict[Definition, None]:
    """Return the class and its ancestors in the tree, depth first; the dict is used as an ordered set."""
    found: dict[Definition, None] = {}
    waiting = [place]
    while waiting:
        place = waiting.pop()
        if place not in found:
            found[place] = None
            waiting += reversed(list(_bases(index, place.file, _class(index, place))))
    return found


def _descendants(index: TreeIndex, record: Definition) -> set[Definition]:
    found, before = {record}, 0
    while len(found) > before:
        before = len(found)
        names = b"|".join(re.escape(place.name.encode()) for place in sorted(found))
        # Parsing every file of a tree takes many seconds. So a file is parsed only if its bytes seem to hold a class
        # statement with one of these names among the bases.
        derives = re.compile(rb"^\s*class\s+\w+\s*\([^)]*\b(?:" + names + rb")\b", re.MULTILINE)
        for module in _matching(index, derives):
            for name, node in module.classes.items():
                if found & set(_bases(index, module.path, node)):
                    found.add(Definition(module.path, name))
    return found


def _matching(index: TreeIndex, pattern: re.Pattern[bytes]) -> Iterator[ModuleIndex]:
    return (index.read(path) for path in index.tree.names() if pattern.search(index.tree.read(path)))


# -- fields and attributes


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    """Yield the name and the annotation of each field of a class."""
    for item in node.body:
        if not isinstance(item, ast.AnnAssign) or "ClassVar" in ast.unparse(item.annotation):
            continue
        if isinstance(item.target, ast.Name):
            yield item.target.id, item.annotation


def _is_tagged(annotation: ast.expr) -> bool:
    words = (part for part in ast.walk(annotation) if isinstance(part, ast.keyword))
    return any(word.arg == "resolvable" and ast.unparse(word.value) == "True" for word in words)


def _attributes(index: TreeIndex, classes: frozenset[Definition]) -> Iterator[str]:
    """Yield the attributes that the classes assign, and the names that their files declare.

    A migrated tree declares what it assigned before.
    """
    for place in classes:
        writes = (write for write in writes_in(_class(index, place)) if isinstance(write.node, ast.Attribute))
        yield from (write.name for write in writes if isinstance(write.owner, ast.Name) and write.form == "attribute")
    for path in {place.file for place in classes}:
        for call in calls_in(index.read(path).tree):
            if last_name(call.func).lstrip("_") == DECLARE:
                yield from (keyword.arg for keyword in call.keywords if keyword.arg)


def _arg_class(index: TreeIndex, place: Definition) -> Definition | None:
    """Return the class of the fields' metadata: the class of the tree that the annotations call most often."""
    counts: Counter[str] = Counter()
    for item in _class(index, place).body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.annotation, ast.Subscript):
            inner = item.annotation.slice
            metadata = inner.elts[1:] if isinstance(inner, ast.Tuple) else ()
            called = (part.func for part in metadata if isinstance(part, ast.Call))
            counts.update(func.id for func in called if isinstance(func, ast.Name))
    named = (index.resolve(place.file, name) for name in sorted(counts, key=lambda name: (-counts[name], name)))
    return next((found for found in named if found is not None and index.class_at(found) is not None), None)


# -- packages that re-export the record class, and functions that return the record


def _exports(index: TreeIndex, record: Definition) -> Iterator[tuple[str, str]]:
    """Yield package and name of each re-export of the record class in an ``__init__.py``."""
    for path in index.tree.names():
        if path.endswith("/__init__.py") and record.name.encode() in index.tree.read(path):
            for name, origin in index.read(path).imports.items():
                if origin.name == record.name and index.resolve(path, name) == record:
                    yield dotted_name(path), name


def _getters(index: TreeIndex, record: Definition) -> Iterator[tuple[str, str]]:
    """Yield module and name of each module-level function whose return annotation is the record class.

    Only files with such a function without parameters are parsed.
    """
    for module in _matching(
        index, re.compile(rb"def\s+\w+\(\s*\)\s*->\s*[\"']?" + re.escape(record.name.encode()) + rb"\b")
    ):
        for name, node in module.functions.items():
            returned = ast.unparse(node.returns).strip("'\"") if node.returns else ""
            if returned.isidentifier() and "." not in name and index.resolve(module.path, returned) == record:
                yield dotted_name(module.path), name
