"""Yields the nodes of a file that a fault can change, each with its role: what the node is used for.

Everything that changes no outcome is left out: docstrings and other text for people (a raised error, the message of
an assert, f-strings, logging, the help text of ``Arg(...)``), annotations and type aliases, imports, bases of
classes, ``__all__``, and blocks that only a type checker reads.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

import libcst as cst

from harness.audit.reading.mutant import Role
from harness.source.writes import Target, stored, targets_of, writes_of

_TEXT_CALLS: Final = ("Arg", "NewType", "ParamSpec", "TypeVar", "cast", "print", "warn")
_LOGGERS: Final = ("logger", "logging", "log", "LOGGER")
_TYPE_ALIASES: Final = ("Annotated", "Callable", "ClassVar", "Final", "Literal", "Optional", "Union")
_PROVIDER: Final = "provider"
_DECORATORS_WITHOUT_EFFECT: Final = ("dataclass", "final", "overload", "runtime_checkable")
_NO_CODE: Final = (
    cst.Annotation,
    cst.FormattedString,
    cst.Import,
    cst.ImportFrom,
    cst.Global,
    cst.Nonlocal,
    cst.Raise,
    cst.BaseParenthesizableWhitespace,
)


@dataclass(frozen=True)
class CodeNode:
    """A node of the syntax tree, the nodes around it (outermost first), and its role."""

    node: cst.CSTNode
    ancestors: tuple[cst.CSTNode, ...]
    role: Role

    @property
    def parent(self) -> cst.CSTNode:
        """The node directly around this one; a module is its own parent."""
        return self.ancestors[-1] if self.ancestors else self.node

    def functions(self) -> list[cst.FunctionDef]:
        """Return the functions around the node, outermost first; none for code that runs at import."""
        return [ancestor for ancestor in self.ancestors if isinstance(ancestor, cst.FunctionDef)]


def outer_function(here: CodeNode) -> cst.FunctionDef | None:
    """Return the outermost function (or method) around a node; None for code that runs at import."""
    return next((ancestor for ancestor in here.ancestors if isinstance(ancestor, cst.FunctionDef)), None)


def walk(module: cst.Module) -> Iterator[CodeNode]:
    """Yield every node of ``module`` that a fault can change, parents first, in the order of the text."""
    yield from _walk(CodeNode(module, (), "other"))


def _walk(here: CodeNode) -> Iterator[CodeNode]:
    if _is_left_out(here.node):
        return
    yield here
    ancestors = (*here.ancestors, here.node)
    left_out = _parts_left_out(here.node)
    for child in here.node.children:
        if not any(child is part for part in left_out):
            yield from _walk(CodeNode(child, ancestors, _role(here, child)))


def _is_left_out(node: cst.CSTNode) -> bool:
    """Return whether a node and everything in it is left out."""
    match node:
        case cst.Expr(value=cst.BaseString()):
            return True
        case cst.Subscript():
            return last_name(node.value) in _TYPE_ALIASES
        case cst.Decorator():
            return last_name(node.decorator) in _DECORATORS_WITHOUT_EFFECT
        case cst.Assign() | cst.AugAssign():
            return any(last_name(target) == "__all__" for target in assigned(node))
    return isinstance(node, _NO_CODE) or is_text_call(node)


def _parts_left_out(node: cst.CSTNode) -> list[cst.CSTNode | None]:
    """Return the direct parts of a node that are left out."""
    match node:
        case cst.Assert():
            return [node.msg]
        case cst.ClassDef():
            return [node.name, *node.bases, *node.keywords]
        case cst.FunctionDef():
            return [node.name]
        case cst.If() if last_name(node.test) == "TYPE_CHECKING":
            return [node.test, node.body]
        case cst.Arg():
            return [node.keyword]
        case cst.Attribute():
            return [node.attr]
    return []


def _role(here: CodeNode, child: cst.CSTNode) -> Role:
    """Return the role of ``child``, a direct part of ``here``."""
    node = here.node
    match node:
        case cst.Comparison() | cst.BooleanOperation() | cst.UnaryOperation(operator=cst.Not()):
            return "guard"
    if is_condition(node, child):
        return "guard"
    if here.role in ("guard", "value", "table"):
        return here.role
    if isinstance(node, cst.Assign | cst.AugAssign | cst.AnnAssign) and child is node.value:
        return "value" if here.functions() else "table"
    return "value" if isinstance(node, cst.Return) or is_environment_write(node) else "other"


# -- questions about single nodes ------------------------------------------------------------------------------------


def last_name(node: cst.CSTNode) -> str:
    """Return the last name of an expression: ``c`` of ``a.b.c`` and of ``a.b.c()``, or the empty string."""
    match node:
        case cst.Call():
            return last_name(node.func)
        case cst.Attribute():
            return node.attr.value
        case cst.Name() if node.value not in ("True", "False", "None"):
            return node.value
    return ""


def first_name(node: cst.CSTNode) -> str:
    """Return the first name of an expression: ``a`` of ``a.b().c``, or the empty string."""
    while isinstance(node, cst.Attribute | cst.Call | cst.Subscript):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node.value if isinstance(node, cst.Name) else ""


def is_text_call(node: cst.CSTNode) -> bool:
    """Return whether ``node`` is a call for people or type checkers alone, such as a call of a logger."""
    return isinstance(node, cst.Call) and (last_name(node) in _TEXT_CALLS or first_name(node) in _LOGGERS)


def is_environment_write(node: cst.CSTNode) -> bool:
    """Return whether ``node`` is a call that sets or unsets a variable, such as ``envs.X.set(...)``."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return False
    on_environ = last_name(node.func.value) in ("environ", "os") and first_name(node) in ("os", "environ")
    method = node.func.attr.value
    return method in ("set", "clear", "unset") or (
        on_environ and method in ("pop", "setdefault", "update", "putenv", "unsetenv")
    )


def is_condition(parent: cst.CSTNode, child: cst.CSTNode) -> bool:
    """Return whether ``child`` is the test on which ``parent`` depends."""
    return isinstance(parent, cst.If | cst.While | cst.IfExp | cst.Assert | cst.CompIf) and child is parent.test


def assigned(node: cst.CSTNode) -> list[cst.BaseExpression]:
    """Return the targets of an assignment; none for any other node."""
    if isinstance(node, cst.Assign):
        return [target.target for target in node.targets]
    return [node.target] if isinstance(node, cst.AugAssign | cst.AnnAssign) else []


@cache
def _targets(node: cst.CSTNode) -> list[Target]:
    """Return the targets of an assignment as `harness.source.writes` reads them; none for any other node."""
    if not isinstance(node, cst.Assign | cst.AugAssign | cst.AnnAssign):
        return []
    return targets_of(ast.parse(cst.Module([]).code_for_node(node).strip()).body[0])


def is_field_write(node: cst.CSTNode) -> bool:
    """Return whether a statement assigns to an attribute or an item, rather than to a local name."""
    targets = [target.node for target in _targets(node) if target.value is not None]
    return any(not isinstance(place, ast.Name) for target in targets for place in stored(target))


def written_names(node: cst.CSTNode) -> list[str]:
    """Return the fields that an assignment or a dict's item writes: attributes, and keys that are literal texts."""
    if isinstance(node, cst.DictElement):
        return [str(node.key.raw_value)] if isinstance(node.key, cst.SimpleString) and node.key.raw_value else []
    targets = [target.node for target in _targets(node) if target.form != "annotated"]
    return [write.name for target in targets if isinstance(target, ast.AST) for write in writes_of(target)]


def is_read_of_parameter(here: CodeNode, *, provider: bool) -> bool:
    """Return whether a node reads an attribute of its function's first parameter, which holds the fields.

    If ``provider`` is true, only reads in providers count; otherwise only reads in other functions.
    """
    node, parent, function = here.node, here.parent, outer_function(here)
    if not isinstance(node, cst.Attribute) or not isinstance(node.value, cst.Name) or function is None:
        return False
    if isinstance(parent, cst.AssignTarget | cst.AugAssign) or (isinstance(parent, cst.Call) and parent.func is node):
        return False
    decorated = any(last_name(decorator.decorator) == _PROVIDER for decorator in function.decorators)
    first = [parameter.name.value for parameter in function.params.params[:1]]
    return decorated is provider and node.value.value in first
