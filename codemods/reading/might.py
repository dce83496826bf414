"""Whether a file may write a field of the record: a quick reading that spares most files the slow parse."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from codemods.reading.facts import RecordFacts
from codemods.reading.index import ModuleIndex
from codemods.reading.scopes import record_scopes
from codemods.reading.source import SourceFile


def like_record(name: str, known: Collection[str]) -> bool:
    """Return whether ``name`` reads as that of a record: one of ``known``, or one that ends in it."""
    folded = name.lower()
    return any(folded.endswith((ending, ending.replace("_", ""))) for ending in known)


def may_write(source: SourceFile, facts: RecordFacts, fields: frozenset[str]) -> bool:
    """Return whether the file may write one of ``fields``: by assignment, deletion, or by its name as text.

    What counts is a write through a name that holds the record, or that reads as if it did. Raises Unreadable.
    """
    if not (_may_hold_record(source, facts) and _looks_written(source.data, fields)):
        return False
    stores = [owner for node in ast.walk(source.tree) for owner in [_written_owner(node, fields)] if owner]
    if not stores:
        return False
    scopes = record_scopes(ModuleIndex(source.path, source.tree), facts)
    records = {name for scope in scopes.values() for name in (*scope.records, *scope.of_class)}
    names = {item for owner in stores for node in ast.walk(owner) if (item := _name_of(node))}
    return any(name in records or like_record(name, facts.names) for name in names)


def _may_hold_record(source: SourceFile, facts: RecordFacts) -> bool:
    places = (*facts.classes, *facts.passed)
    return any(place.file == source.path for place in places) or any(
        re.search(re.escape(name.encode()), source.data, re.IGNORECASE) for name in (*facts.names, facts.record.name)
    )


def _looks_written(data: bytes, fields: frozenset[str]) -> bool:
    """Return whether the text has what every write has: an operator, or a bracket or comma of its target."""
    names = "|".join(sorted(map(re.escape, fields)))
    after = rf"\.\s*(?:{names})\b\s*(?:=(?!=)|[-+*/%@&|^<>]{{1,2}}=|[,:)\]]|in\b|$)|\bdel\b|setattr"
    return re.search(after.encode(), data, re.MULTILINE) is not None


def _written_owner(node: ast.AST, fields: frozenset[str]) -> ast.expr | None:
    if isinstance(node, ast.Attribute) and node.attr in fields and not isinstance(node.ctx, ast.Load):
        return node.value
    if isinstance(node, ast.Call) and node.args:
        called = _name_of(node.func)
        if called == "setattr" or called == "__setattr__":
            return node.args[0]
    return None


def _name_of(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
