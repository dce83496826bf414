"""Makes expressions and statements, laid out as a formatter would: on one line, or with one argument a line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst
import libcst.matchers as m

from codemods.runtime.names import DECLARE

_STEP = "    "
_BLANK = cst.Module(body=[])


def name(text: str) -> cst.BaseExpression:
    """Return the dotted name ``text`` as an expression."""
    return cst.parse_expression(text)


def code(node: cst.CSTNode) -> str:
    """Return the text of ``node``."""
    return _BLANK.code_for_node(node)


class _Names(cst.CSTVisitor):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def visit_Name(self, node: cst.Name) -> None:
        self.found.add(node.value)


def names_in(node: cst.CSTNode) -> set[str]:
    """Return every name in ``node``, those of attributes, keywords and imports included."""
    visitor = _Names()
    node.visit(visitor)
    return visitor.found


def is_literal(node: cst.BaseExpression) -> bool:
    """Return whether ``node`` is a constant, so that evaluating it twice or later makes no difference."""
    if isinstance(node, cst.UnaryOperation):
        return is_literal(node.expression)
    if isinstance(node, cst.Name):
        return node.value in ("None", "True", "False")
    if isinstance(node, cst.ConcatenatedString):
        return is_literal(node.left) and is_literal(node.right)
    return isinstance(node, (cst.SimpleString, cst.Integer, cst.Float, cst.Ellipsis))


def as_argument(value: cst.BaseExpression) -> cst.BaseExpression:
    """Return ``value`` as it is written after ``keyword=``: in parentheses only if they are needed."""
    if isinstance(value, (cst.Tuple, cst.Yield, cst.NamedExpr, cst.GeneratorExp)):
        if value.lpar:
            return value
        return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    if len(value.lpar) == 1 and "\n" not in code(value):
        return value.with_changes(lpar=[], rpar=[])
    return value


def declaration(
    owner: cst.BaseExpression,
    source: str,
    values: Sequence[tuple[str, cst.BaseExpression]],
    *,
    quote: str = '"',
    declare: str = DECLARE,
) -> cst.Call:
    """Return ``declare(owner, "source", field=value, ...)``; only the values may take several lines."""
    arguments = [
        cst.Arg(owner.with_changes(lpar=[], rpar=[])),
        cst.Arg(cst.SimpleString(f"{quote}{source}{quote}")),
        *(keyword_argument(field, as_argument(value)) for field, value in values),
    ]
    arguments[:-1] = [item.with_changes(comma=comma()) for item in arguments[:-1]]
    return cst.Call(cst.Name(declare), arguments)


def laid_out(call: cst.Call, width: int) -> cst.Call:
    """Return ``call`` in the first of these forms that fits in ``width`` columns.

    They are: all on one line; all arguments on one line of their own; one argument a line.
    """
    broken = isinstance(call.whitespace_before_args, cst.ParenthesizedWhitespace)
    flat = call.with_changes(
        whitespace_before_args=cst.SimpleWhitespace(""),
        args=[item.with_changes(value=_flat(item.value)) for item in call.args],
    )
    for candidate in (flat, _hanging(flat), exploded(flat)):
        if fits(candidate, width) and not _needs_lines(candidate, candidate is not flat):
            return candidate
    # The arguments of a call that starts them on a new line are indented already.
    if broken:
        return exploded(call)
    return exploded(call.with_changes(args=[item.with_changes(value=deeper(item.value)) for item in call.args]))


def comma() -> cst.Comma:
    """Return a new comma with a space after it: a node may be in a tree only once."""
    return cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


def keyword_argument(name: str, value: cst.BaseExpression) -> cst.Arg:
    """Return ``name=value``."""
    bare = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Arg(value, keyword=cst.Name(name), equal=bare)


def fits(node: cst.CSTNode, width: int) -> bool:
    """Return whether no line of ``node`` is longer than ``width``."""
    return all(len(line) <= width for line in code(node).splitlines())


def _needs_lines(call: cst.Call, broken: bool) -> bool:
    """Return whether ``call``, if not ``broken``, is clearer with one argument a line: one has several lines."""
    return any("\n" in code(item.value) for item in call.args) and not broken


def newline(indent: str) -> cst.ParenthesizedWhitespace:
    """Return a line break inside brackets; the next line starts ``indent`` further in than the statement."""
    return cst.ParenthesizedWhitespace(
        first_line=cst.TrailingWhitespace(), indent=True, last_line=cst.SimpleWhitespace(indent)
    )


def _hanging(call: cst.Call) -> cst.Call:
    """Return ``call`` with all its arguments on one line of their own."""
    last = call.args[-1].with_changes(whitespace_after_arg=newline(""))
    return call.with_changes(whitespace_before_args=newline(_STEP), args=[*call.args[:-1], last])


def exploded(call: cst.Call, inner: str = _STEP, outer: str = "") -> cst.Call:
    """Return ``call`` with one argument a line, indented by ``inner``; ``outer`` indents the closing bracket."""
    arguments = [
        item.with_changes(
            comma=cst.Comma(whitespace_after=newline(inner)), whitespace_after_arg=cst.SimpleWhitespace("")
        )
        for item in call.args
    ]
    arguments[-1] = arguments[-1].with_changes(comma=cst.Comma(whitespace_after=newline(outer)))
    return call.with_changes(whitespace_before_args=newline(inner), args=arguments)


def name_of(node: cst.CSTNode) -> str:
    """Return the name, or the last part of a dotted name; the empty string for anything else."""
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""


def _has_comment(node: cst.CSTNode) -> bool:
    return bool(m.findall(node, m.Comment()))


def _flat(value: cst.BaseExpression) -> cst.BaseExpression:
    return as_argument(_joined(value))


def _joined(value: cst.BaseExpression) -> cst.BaseExpression:
    """Return ``value`` on one line, unless it has a comment, a trailing comma or a string of several lines."""
    lines = code(value).split("\n")
    if len(lines) == 1 or _has_comment(value) or _has_long_string(value):
        return value
    text = lines[0].rstrip().removesuffix("\\").rstrip()
    for line in lines[1:]:
        part = line.strip().removesuffix("\\").rstrip()
        if text.endswith(",") and part[:1] in (")", "]", "}"):
            return value
        text += ("" if text[-1:] in ("(", "[", "{") or part[:1] in (")", "]", "}", ".") else " ") + part
    try:
        return cst.parse_expression(text)
    except cst.ParserSyntaxError:
        return value


def _has_long_string(value: cst.BaseExpression) -> bool:
    has_break = m.MatchIfTrue(_has_break)
    return bool(m.findall(value, m.SimpleString(value=has_break) | m.FormattedStringText(value=has_break)))


def _has_break(text: str) -> bool:
    return "\n" in text


class _Deeper(cst.CSTTransformer):
    def leave_ParenthesizedWhitespace(
        self, original_node: cst.ParenthesizedWhitespace, updated_node: cst.ParenthesizedWhitespace
    ) -> cst.ParenthesizedWhitespace:
        indent = _STEP + updated_node.last_line.value
        lines = [
            line.with_changes(whitespace=cst.SimpleWhitespace(_STEP + line.whitespace.value))
            if line.comment
            else line
            for line in updated_node.empty_lines
        ]
        return updated_node.with_changes(last_line=cst.SimpleWhitespace(indent), empty_lines=lines)


def deeper(value: cst.BaseExpression) -> cst.BaseExpression:
    """Return ``value`` with the lines inside its brackets indented one step more, except inside strings."""
    moved = value.visit(_Deeper())
    assert isinstance(moved, cst.BaseExpression)
    return moved


def assignment(target: cst.BaseAssignTargetExpression, value: cst.BaseExpression) -> cst.Assign:
    """Return ``target = value``."""
    return cst.Assign([cst.AssignTarget(target)], value)


def fresh(wanted: str, taken: Iterable[str]) -> str:
    """Return ``wanted``, or the first of ``new_wanted``, ``new_wanted_2``, ... that is not ``taken``."""
    used = set(taken)
    candidate, number = wanted, 1
    while candidate in used:
        candidate = f"new_{wanted}" if number == 1 else f"new_{wanted}_{number}"
        number += 1
    return candidate
