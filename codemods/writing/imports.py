"""Adds and removes imports; a new one goes where a sorted block of imports would have it."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst
import libcst.matchers as m
from libcst.helpers import get_full_name_for_node

from codemods.reading.source import SourceFile, mentions
from codemods.writing.unused import Uses


def with_import(
    module: cst.Module, dotted: str, imported: str, alias: str | None = None, *, limit: int = 88
) -> cst.Module:
    """Return ``module`` with ``from dotted import imported [as alias]``; the same object if it has that import.

    If a line that imports from ``dotted`` has room in ``limit`` columns, the name is added there. Otherwise the
    import becomes a statement among the imports from the same package, in alphabetical order; if there are none, it
    follows the last import, or the docstring. Only imports before the first definition count.
    """
    if imported_as(module, dotted, imported) is not None:
        return module
    joined = _joined(module, dotted, imported, alias, limit)
    if joined is not None:
        return joined
    statement = cst.parse_statement(
        f"from {dotted} import {imported}" + (f" as {alias}" if alias and alias != imported else "")
    )
    assert isinstance(statement, cst.SimpleStatementLine)
    place, opens_block = _place(module.body, dotted)
    body = list(module.body)
    if opens_block:
        statement = statement.with_changes(leading_lines=[cst.EmptyLine(indent=False)])
    elif (
        place < len(body)
        and place > 0
        and _imports_package(body[place], dotted)
        and not _after_same(body, place, dotted)
    ):
        # It becomes the first of its block, so it gets the blank lines that were before the block.
        follower = body[place]
        assert isinstance(follower, cst.SimpleStatementLine)
        statement = statement.with_changes(
            leading_lines=[line for line in follower.leading_lines if not line.comment]
        )
        body[place] = follower.with_changes(leading_lines=[line for line in follower.leading_lines if line.comment])
    body.insert(place, statement)
    if place == 0 and len(body) > 1 and not isinstance(body[1], cst.SimpleStatementLine):
        body[1] = body[1].with_changes(leading_lines=[cst.EmptyLine(indent=False)] * 2)
    return module.with_changes(body=body)


def imported_as(module: cst.Module, dotted: str, imported: str) -> str | None:
    """Return the name under which the top level of the module imports ``imported`` from ``dotted``, or None."""
    for statement in module.body:
        for small in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
            for alias in _names_from(small, dotted):
                if alias.evaluated_name == imported:
                    return alias.evaluated_alias or imported
    return None


class Imports:
    """Collects the names of the module ``dotted`` that a codemod uses; `added` imports them into the changed module.

    ``known`` maps each ``offered`` name to the local name under which the file imports or will import it. If the file
    uses the name for anything else, the local name is the name with an underscore before it.
    """

    def __init__(self, module: cst.Module, source: SourceFile, dotted: str, *offered: str) -> None:
        self._dotted = dotted
        self._used: set[str] = set()
        self.known = {
            name: imported_as(module, dotted, name) or (f"_{name}" if mentions(source.data, (name,)) else name)
            for name in offered
        }

    def of(self, offered: str) -> str:
        """Return the local name for ``offered``, and note that it is used."""
        self._used.add(offered)
        return self.known[offered]

    def added(self, module: cst.Module, limit: int = 88) -> cst.Module:
        """Return ``module`` with the imports of the names that are used."""
        for name in sorted(self._used):
            module = with_import(module, self._dotted, name, self.known[name], limit=limit)
        return module


def without_import(module: cst.Module, dotted: str, name: str) -> cst.Module:
    """Return ``module`` without its import of ``name`` from ``dotted``, if nothing else in it mentions the name."""
    uses = Uses()
    module.visit(uses)
    if uses.counts[name] != 1:
        return module
    body: list[cst.BaseStatement] = []
    for statement in module.body:
        small = _alone(statement, dotted)
        if small is None:
            body.append(statement)
            continue
        names = _names_from(small, dotted)
        kept = [item for item in names if (item.evaluated_alias or item.evaluated_name) != name]
        if len(kept) == len(names):
            body.append(statement)
        elif kept:
            kept[-1] = kept[-1].with_changes(comma=names[-1].comma)
            body.append(statement.with_changes(body=[small.with_changes(names=kept)]))
    return module.with_changes(body=body)


def _alone(statement: cst.CSTNode, dotted: str) -> cst.ImportFrom | None:
    """Return the import in a line that only imports names from ``dotted``, or None for any other line."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) > 1:
        return None
    small = statement.body[0]
    return small if isinstance(small, cst.ImportFrom) and _names_from(small, dotted) else None


def _names_from(small: cst.BaseSmallStatement, dotted: str) -> Sequence[cst.ImportAlias]:
    """Return the names that a statement imports from ``dotted``; none for any other statement."""
    if not isinstance(small, cst.ImportFrom) or isinstance(small.names, cst.ImportStar) or small.relative:
        return ()
    if small.module is None or get_full_name_for_node(small.module) != dotted:
        return ()
    return small.names


def _joined(module: cst.Module, dotted: str, imported: str, alias: str | None, limit: int) -> cst.Module | None:
    """Return ``module`` with the name added to a line that imports from ``dotted``, or None if no line has room."""
    end = next((n for n, item in enumerate(module.body) if isinstance(item, (cst.FunctionDef, cst.ClassDef))), None)
    for number, statement in enumerate(module.body[:end]):
        small = _alone(statement, dotted)
        if small is None or m.findall(statement, m.Comment() | m.LeftParen()):
            continue
        asname = cst.AsName(cst.Name(alias)) if alias and alias != imported else None
        names = list(_names_from(small, dotted))
        later = (place for place, item in enumerate(names) if item.evaluated_name.lower() > imported.lower())
        names.insert(next(later, len(names)), cst.ImportAlias(cst.Name(imported), asname))
        names = [item.with_changes(comma=cst.MaybeSentinel.DEFAULT) for item in names]
        line = statement.with_changes(body=[small.with_changes(names=names)])
        if len(module.code_for_node(line.with_changes(leading_lines=[])).rstrip()) <= limit:
            return module.with_changes(body=[*module.body[:number], line, *module.body[number + 1 :]])
    return None


def _after_same(body: Sequence[cst.BaseStatement], place: int, dotted: str) -> bool:
    return _imports_package(body[place - 1], dotted)


def _place(body: Sequence[cst.BaseStatement], dotted: str) -> tuple[int, bool]:
    """Return the place of the new import in ``body``, and whether it needs a blank line before it."""
    end = next(
        (number for number, item in enumerate(body) if isinstance(item, (cst.FunctionDef, cst.ClassDef))), len(body)
    )
    package = [number for number in range(end) if _imports_package(body[number], dotted)]
    for number in package:
        if _sort_name(body[number]) > dotted.lower():
            return number, False
    if package:
        return package[-1] + 1, False
    imports = [number for number in range(end) if _module_of(body[number]) is not None]
    if imports:
        last = imports[-1] + 1
        return last, True
    return (1, True) if body and _is_docstring(body[0]) else (0, False)


def _is_docstring(statement: cst.BaseStatement) -> bool:
    return (
        isinstance(statement, cst.SimpleStatementLine)
        and isinstance(statement.body[0], cst.Expr)
        and isinstance(statement.body[0].value, (cst.SimpleString, cst.ConcatenatedString))
    )


def _module_of(statement: cst.CSTNode) -> str | None:
    """Return the first module that an import statement names ("." for a relative one); None for anything else."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return None
    small = statement.body[0]
    if isinstance(small, cst.Import):
        return get_full_name_for_node(small.names[0].name)
    if isinstance(small, cst.ImportFrom):
        return "." if small.relative or small.module is None else get_full_name_for_node(small.module)
    return None


def _imports_package(statement: cst.CSTNode, dotted: str) -> bool:
    if not (isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[0], cst.ImportFrom)):
        return False
    found = _module_of(statement)
    return found is not None and found.partition(".")[0] == dotted.partition(".")[0]


def _sort_name(statement: cst.CSTNode) -> str:
    return (_module_of(statement) or "").lower()
