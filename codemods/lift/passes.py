"""Writes passes and providers, which are functions over a view, and the calls that run them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import libcst as cst

from codemods.lift.regions import Needs
from codemods.runtime.names import DECLARE
from codemods.writing.emit import comma, fresh, laid_out, name_of, names_in
from codemods.writing.imports import Imports

RUN = "run_pass"
PROVIDE = "run_provider"
PROVIDES = "provides"
_MOST_NAMED = 2
_KINDS_OF_MODEL = r"(ForCausalLM|ForConditionalGeneration|For[A-Z]\w*|Model)$"


class PassMaker:
    """Makes passes and providers and collects them in ``made``; ``taken`` are the names in use in the file."""

    def __init__(self, taken: set[str], imports: Imports, declare: str, limit: int) -> None:
        self._taken = taken
        self._imports = imports
        self._declare = declare
        self._limit = limit
        self.made: list[cst.FunctionDef] = []

    def a_pass(
        self, handler: str, family: str, needs: Needs, body: Sequence[cst.BaseStatement], records: Collection[str]
    ) -> str:
        """Add a pass made of ``body``, statements of ``handler``, and return its name.

        ``family`` is the family of models for which they run, or empty.
        """
        subject = _family(family) if family else _stem(handler)
        name = self._free(f"_{_about(subject, needs.declares)}_pass")
        self._define(name, needs.arguments, body, records)
        return name

    def a_provider(
        self,
        family: str,
        asked: Sequence[str],
        arguments: Sequence[str],
        body: Sequence[cst.BaseStatement],
        records: Collection[str],
    ) -> str:
        """Add a provider made of ``body`` for models of ``family``, and return its name.

        ``asked`` are the arguments of its decorator, as text: architectures in quotes, or a test.
        """
        name = self._free(f"_{_family(family)}_provider")
        self._define(name, arguments, body, records)
        text = f"{self._imports.of(PROVIDES)}({', '.join(asked)})"
        if len(text) + 1 > self._limit or "\n" in text:
            text = f"{self._imports.of(PROVIDES)}(\n" + "".join(f"    {item},\n" for item in asked) + ")"
        self.made[-1] = self.made[-1].with_changes(decorators=[cst.Decorator(cst.parse_expression(text))])
        return name

    def run(self, record: str, name: str, arguments: Sequence[str], width: int) -> cst.SimpleStatementLine:
        """Return the statement that runs the pass ``name``."""
        return _call(self._imports.of(RUN), [record, name, *arguments], width)

    def run_providers(
        self, record: str, variable: str, providers: Sequence[str], arguments: Sequence[str], width: int
    ) -> cst.SimpleStatementLine:
        """Return the statement that runs whichever of ``providers`` is for the architecture in ``variable``."""
        function = self._imports.of(PROVIDE)
        listed = f"({', '.join(providers)}{',' if len(providers) == 1 else ''})"
        if len(listed) + 5 > width:
            listed = "(\n" + "".join(f"        {name},\n" for name in providers) + "    )"
        return _call(function, [record, variable, listed, *arguments], width)

    # -- the parts

    def _free(self, wanted: str) -> str:
        name, number = wanted, 2
        while name in self._taken:
            name, number = f"{wanted}_{number}", number + 1
        self._taken.add(name)
        return name

    def _define(
        self, name: str, arguments: Sequence[str], body: Sequence[cst.BaseStatement], records: Collection[str]
    ) -> None:
        view = fresh("view", {*arguments, *(found for item in body for found in names_in(item))})
        moved = [item.visit(_ToView(frozenset(records), view, self._declare, self._limit - 4)) for item in body]
        first = moved[0]
        assert not isinstance(first, (cst.FlattenSentinel, cst.RemovalSentinel))
        lines = getattr(first, "leading_lines", ())
        moved[0] = first.with_changes(leading_lines=[line for line in lines if line.comment])
        parameters = [cst.Param(cst.Name(item)) for item in (view, *arguments)]
        self.made.append(
            cst.FunctionDef(cst.Name(name), cst.Parameters(params=parameters), cst.IndentedBlock(moved))  # type: ignore[arg-type]
        )


def _about(subject: str, fields: Sequence[str]) -> str:
    """Return the name of a pass without ``_pass``: ``subject``, its family or handler, and the fields it declares.

    It leaves out fields that ``subject`` already names, and all fields if they are more than two.
    """
    declared = list(dict.fromkeys(name.strip("_") for name in fields))
    others = [name for name in declared if name not in subject]
    if len(declared) > _MOST_NAMED or not others:
        return subject
    return "_and_".join([subject, *others]) if len(others) < len(declared) else f"{subject}_{'_and_'.join(others)}"


def _stem(handler: str) -> str:
    return handler.strip("_").removeprefix("handle_")


def _family(name: str) -> str:
    """Return ``name``, an architecture or a list of them, as part of a function's name: Olmo2ForCausalLM as olmo2."""
    short = re.sub(_KINDS_OF_MODEL, "", name) or name
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", short) if not short.isupper() else short
    return re.sub(r"\W+", "_", words).strip("_").lower() or "family"


def _call(function: str, arguments: Sequence[str], width: int) -> cst.SimpleStatementLine:
    text = f"{function}({', '.join(arguments)})"
    if len(text) > width or "\n" in text:
        text = f"{function}(\n" + "".join(f"    {item},\n" for item in arguments) + ")"
    statement = cst.parse_statement(text)
    assert isinstance(statement, cst.SimpleStatementLine)
    return statement


class _ToView(cst.CSTTransformer):
    """Turns statements of a handler into those of a pass.

    What was read from the record is read from the view, and ``declare(record, ...)`` becomes ``view.declare(...)``.
    """

    def __init__(self, records: frozenset[str], view: str, declare: str, limit: int) -> None:
        super().__init__()
        self._records = records
        self._view = view
        self._declare = declare
        self._limit = limit
        self._depth = 0

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> bool | None:
        self._depth += 1
        return None

    def leave_IndentedBlock(self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock) -> cst.BaseSuite:
        self._depth -= 1
        return updated_node

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return updated_node.with_changes(value=self._view) if updated_node.value in self._records else updated_node

    # An attribute or a keyword keeps its name, even if the record is called the same.
    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Expr(self, original_node: cst.Expr, updated_node: cst.Expr) -> cst.BaseSmallStatement:
        call = updated_node.value
        if not isinstance(call, cst.Call) or name_of(call.func) != self._declare:
            return updated_node
        # The first two arguments, the record and the handler's name, go: ``run_pass`` declares in the pass's name.
        func = cst.Attribute(cst.Name(self._view), cst.Name(DECLARE))
        plain = call.with_changes(func=func, args=call.args[2:])
        spaced = [
            item.with_changes(
                comma=comma(),
                whitespace_after_arg=cst.SimpleWhitespace(""),
            )
            for item in plain.args
        ]
        spaced[-1] = spaced[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return updated_node.with_changes(
            value=laid_out(plain.with_changes(args=spaced), self._limit - 4 * self._depth)
        )
