"""What of a file is code that can be at fault, and what each part of it is there for.

Left out are docstrings and other text for people (what is raised, an assert's message, f-strings, logging, the help
texts of ``Arg(...)``), annotations and type aliases, imports, bases of classes, ``__all__``, and blocks for type
checkers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from harness.audit.mutant import Role

_TEXT_CALLS: Final = ("Arg", "NewType", "ParamSpec", "TypeVar", "cast", "print", "warn")
_LOGGERS: Final = ("logger", "logging", "log", "LOGGER")
_TYPE_ALIASES: Final = ("Annotated", "Callable", "ClassVar", "Final", "Literal", "Optional", "Union")
_PROVIDER: Final = "provider"
_SAID_OF_CLASSES: Final = ("dataclass", "final", "overload", "runtime_checkable")


@dataclass(frozen=True)
class Node:
    """One node of code: what it stands in, outermost first, and what it is there for."""

    node: cst.CSTNode
    ancestors: tuple[cst.CSTNode, ...]
    role: Role

    @property
    def parent(self) -> cst.CSTNode:
        """The node directly around this one; the module is its own."""
        return self.ancestors[-1] if self.ancestors else self.node

    def in_function(self) -> bool:
        """Return whether the node stands in a function, rather than in what runs once at import."""
        return any(isinstance(ancestor, cst.FunctionDef) for ancestor in self.ancestors)


def walk(module: cst.Module) -> Iterator[Node]:
    """Yield every node of ``module`` that is code, parents first, in the order of the text."""
    yield from _walk(Node(module, (), "other"))


def _walk(here: Node) -> Iterator[Node]:
    if _is_left_out(here):
        return
    yield here
    ancestors = (*here.ancestors, here.node)
    left_out = _parts_left_out(here.node)
    for child in here.node.children:
        if not any(child is part for part in left_out):
            yield from _walk(Node(child, ancestors, _role(here, child)))


def last_name(node: cst.CSTNode) -> str:
    """Return the name that an expression ends in: ``c`` of ``a.b.c`` and of ``a.b.c()``, else the empty string."""
    if isinstance(node, cst.Call):
        return last_name(node.func)
    if isinstance(node, cst.Attribute):
        return node.attr.value
    if isinstance(node, cst.Name) and node.value not in ("True", "False", "None"):
        return node.value
    return ""


def first_name(node: cst.CSTNode) -> str:
    """Return the name that an expression starts with: ``a`` of ``a.b().c``, else the empty string."""
    while isinstance(node, cst.Attribute | cst.Call | cst.Subscript):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node.value if isinstance(node, cst.Name) else ""


def is_text_call(node: cst.CSTNode) -> bool:
    """Return whether a call only says something to people or type checkers."""
    return isinstance(node, cst.Call) and (last_name(node) in _TEXT_CALLS or first_name(node) in _LOGGERS)


def is_environment_write(node: cst.CSTNode) -> bool:
    """Return whether a statement's expression sets a variable: ``envs.X.set(...)``, ``os.environ.pop(...)``."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return False
    on_environ = last_name(node.func.value) in ("environ", "os") and first_name(node) in ("os", "environ")
    method = node.func.attr.value
    return method in ("set", "clear", "unset") or (
        on_environ and method in ("pop", "setdefault", "update", "putenv", "unsetenv")
    )


def is_field_write(node: cst.CSTNode) -> bool:
    """Return whether a statement assigns to an attribute or an item, rather than to a local name."""
    if isinstance(node, cst.Assign):
        targets = [target.target for target in node.targets]
    elif isinstance(node, cst.AugAssign | cst.AnnAssign):
        targets = [node.target] if node.value is not None else []
    else:
        return False
    return any(_is_place(target) for target in targets)


def _is_place(target: cst.CSTNode) -> bool:
    if isinstance(target, cst.Tuple | cst.List):
        return any(_is_place(element.value) for element in target.elements)
    return isinstance(target, cst.Attribute | cst.Subscript)


def outer_function(here: Node) -> cst.FunctionDef | None:
    """Return the outermost function that a node stands in, a method being one; None at a module's level."""
    return next((ancestor for ancestor in here.ancestors if isinstance(ancestor, cst.FunctionDef)), None)


def written_names(node: cst.CSTNode) -> list[str]:
    """Return the fields that a statement writes: attributes, and constant keys of what is filled or displayed."""
    if isinstance(node, cst.Assign):
        targets = [target.target for target in node.targets]
    elif isinstance(node, cst.AugAssign):
        targets = [node.target]
    elif isinstance(node, cst.DictElement):
        return [_text(node.key)]
    else:
        return []
    names = [target.attr.value for target in targets if isinstance(target, cst.Attribute)]
    for target in targets:
        if isinstance(target, cst.Subscript) and isinstance(target.slice[0].slice, cst.Index):
            names.append(_text(target.slice[0].slice.value))
    return [name for name in names if name]


def _text(node: cst.CSTNode) -> str:
    return str(node.raw_value) if isinstance(node, cst.SimpleString) else ""


def is_read_of_parameter(here: Node, *, provider: bool) -> bool:
    """Return whether a node reads an attribute of the first parameter, in a provider or in any other function."""
    node, function = here.node, outer_function(here)
    if not isinstance(node, cst.Attribute) or not isinstance(node.value, cst.Name) or function is None:
        return False
    if isinstance(here.parent, cst.AssignTarget | cst.AugAssign) or (
        isinstance(here.parent, cst.Call) and here.parent.func is node
    ):
        return False
    decorated = any(last_name(decorator.decorator) == _PROVIDER for decorator in function.decorators)
    # What is resolved comes first.
    first = [parameter.name.value for parameter in function.params.params[:1]]
    return decorated is provider and node.value.value in first


def _is_left_out(here: Node) -> bool:
    node = here.node
    if isinstance(node, cst.Expr):
        return isinstance(node.value, cst.BaseString)
    if isinstance(node, cst.Subscript):
        return last_name(node.value) in _TYPE_ALIASES
    if isinstance(node, cst.Decorator):
        return last_name(node.decorator) in _SAID_OF_CLASSES
    if isinstance(node, cst.Assign):
        return any(last_name(target.target) == "__all__" for target in node.targets)
    if isinstance(node, cst.AugAssign):
        return last_name(node.target) == "__all__"
    kinds = (cst.Annotation, cst.FormattedString, cst.Import, cst.ImportFrom, cst.Global, cst.Nonlocal, cst.Raise)
    return isinstance(node, (*kinds, cst.BaseParenthesizableWhitespace)) or is_text_call(node)


def _parts_left_out(node: cst.CSTNode) -> list[cst.CSTNode]:
    parts: list[cst.CSTNode | None] = []
    if isinstance(node, cst.Assert):
        parts = [node.msg]
    elif isinstance(node, cst.ClassDef):
        parts = [node.name, *node.bases, *node.keywords]
    elif isinstance(node, cst.FunctionDef):
        parts = [node.name]
    elif isinstance(node, cst.If) and last_name(node.test) == "TYPE_CHECKING":
        parts = [node.test, node.body]
    elif isinstance(node, cst.Arg):
        parts = [node.keyword]
    elif isinstance(node, cst.Attribute):
        parts = [node.attr]
    return [part for part in parts if part is not None]


def is_condition(parent: cst.CSTNode, child: cst.CSTNode) -> bool:
    """Return whether ``child`` decides what ``parent`` does."""
    tested = (cst.If, cst.While, cst.IfExp, cst.Assert, cst.CompIf)
    return isinstance(parent, tested) and child is parent.test


def _role(here: Node, child: cst.CSTNode) -> Role:
    node = here.node
    decides = isinstance(node, cst.Comparison | cst.BooleanOperation) or (
        isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not)
    )
    if decides or is_condition(node, child):
        return "guard"
    if here.role in ("guard", "value", "table"):
        return here.role
    within = here.in_function() or isinstance(node, cst.FunctionDef)
    if isinstance(node, cst.Assign | cst.AugAssign | cst.AnnAssign) and child is node.value:
        return "value" if within else "table"
    if isinstance(node, cst.Return) or is_environment_write(node):
        return "value"
    return "other"
