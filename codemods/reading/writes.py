"""Finds the writes of a record's fields in the files of a resolution: assignments, and declarations in any place.

The files are those of the record's classes and of the functions that the resolution passes the record to.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Literal, NamedTuple

from codemods.reading.facts import RecordFacts
from codemods.reading.index import ModuleIndex, TreeIndex
from codemods.reading.scopes import like_record, record_scopes
from codemods.reading.source import SourceFile
from harness.source.calls import positional
from harness.source.nodes import last_name, mentions, own_nodes
from harness.source.writes import DECLARE, writes_of

WrittenAs = Literal["imperative", "recorded", "lifted"]
"""``imperative``: assigned; ``recorded``: declared in place; ``lifted``: declared through the view of a pass."""


class WriteSite(NamedTuple):
    """One write of one field: its place, and the form in which it is written."""

    file: str
    line: int
    function: str
    field: str
    kind: WrittenAs


def write_sites(index: TreeIndex, facts: RecordFacts, fields: Collection[str]) -> list[WriteSite]:
    """Return the writes of ``fields``, sorted by file and line."""
    wanted = frozenset(fields)
    found: list[WriteSite] = []
    for path in facts.files:
        if path != facts.runtime_file:
            sites = (site for site in _of_module(index.read(path), facts) if site.field in wanted)
            found += sorted(sites, key=lambda site: (site.line, site.field))
    return found


def counted(sites: Iterable[WriteSite], kind: WrittenAs, fields: Collection[str] | None = None) -> int:
    """Return how many of ``sites`` are of ``kind``; if ``fields`` are given, only writes of these count."""
    return sum(site.kind == kind and (fields is None or site.field in fields) for site in sites)


def _of_module(module: ModuleIndex, facts: RecordFacts) -> Iterator[WriteSite]:
    for function, scope in record_scopes(module, facts).items():
        # A pass or provider declares through the view that is its first argument.
        view = positional(function)[:1]
        for node in own_nodes(function):
            for name, owner, kind in _written(node):
                names = view if kind == "lifted" else scope.records
                if isinstance(owner, ast.Name) and owner.id in names and isinstance(node, ast.expr):
                    yield WriteSite(module.path, node.lineno, scope.source, name, kind)


def _written(node: ast.AST) -> Iterator[tuple[str, ast.expr | None, WrittenAs]]:
    """Yield the name, the object and the kind of each write that ``node`` itself makes, to any object."""
    writes = writes_of(node)
    if isinstance(node, ast.Call) and last_name(node.func).lstrip("_") == DECLARE:
        # A name that cannot be a keyword may be declared as ``declare(..., **{"name": value})``.
        writes = [*writes, *(item for word in node.keywords if word.arg is None for item in writes_of(word.value))]
        owner = node.func.value if isinstance(node.func, ast.Attribute) else next(iter(node.args), None)
        kind: WrittenAs = "lifted" if isinstance(node.func, ast.Attribute) else "recorded"
        yield from ((write.name, owner, kind) for write in writes)
    elif isinstance(node, (ast.Attribute, ast.Call)):
        yield from ((write.name, write.owner, "imperative") for write in writes if write.form != "deleted")


def may_write(source: SourceFile, facts: RecordFacts, fields: frozenset[str]) -> bool:
    """Return whether a file may assign or delete one of ``fields``, or set it with ``setattr``.

    Only writes through a name that holds the record, or sounds like it, count. Raises Unreadable.
    """
    # 1,301 files of sglang 0.5.14 mention one of the 28 fields; ``ast`` would parse them in 20 seconds, and libcst is
    # several times slower. So a search in the bytes leaves 289 for ``ast``, and these leave 17 for libcst.
    if not (_may_hold_record(source, facts) and _looks_written(source.data, fields)):
        return False
    owners = [owner for node in ast.walk(source.tree) for owner in _owners_of_writes(node, fields)]
    if not owners:
        return False
    scopes = record_scopes(ModuleIndex(source.path, source.tree), facts)
    records = {name for scope in scopes.values() for name in (*scope.records, *scope.of_class)}
    return any(name in records or like_record(name, facts.names) for name in mentions(owners))


def _may_hold_record(source: SourceFile, facts: RecordFacts) -> bool:
    return source.path in facts.files or any(
        re.search(re.escape(name.encode()), source.data, re.IGNORECASE) for name in (*facts.names, facts.record.name)
    )


def _looks_written(data: bytes, fields: frozenset[str]) -> bool:
    """Return whether the bytes may hold a write of one of ``fields``.

    A write is either an attribute before an operator, a bracket, a comma, a colon, ``in`` or the end of the line, or
    it has one of the words ``del`` and ``setattr``.
    """
    names = "|".join(sorted(map(re.escape, fields)))
    after = rf"\.\s*(?:{names})\b\s*(?:=(?!=)|[-+*/%@&|^<>]{{1,2}}=|[,:)\]]|in\b|$)|\bdel\b|setattr"
    return re.search(after.encode(), data, re.MULTILINE) is not None


def _owners_of_writes(node: ast.AST, fields: frozenset[str]) -> list[ast.expr]:
    """Return the object that ``node`` writes a field of; any ``setattr`` counts, since its name may be computed."""
    if isinstance(node, ast.Call) and last_name(node.func) in ("setattr", "__setattr__"):
        return node.args[:1]
    is_write = isinstance(node, ast.Attribute) and any(write.name in fields for write in writes_of(node))
    return [node.value] if is_write and isinstance(node, ast.Attribute) else []
