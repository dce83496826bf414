"""What is read: attributes, items with constant keys, what ``getattr`` names, and environment variables."""

import ast
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from .nodes import last_name, text_of, texts_in

ReadForm = Literal["attribute", "item", "getattr", "hasattr", "variable"]
"""How a name is read.

``attribute``: ``x.name``; ``item``: ``x["name"]``; ``getattr`` and ``hasattr``: a call with a constant name;
``variable``: an environment variable, by ``getenv("NAME")`` or ``envs.NAME``.
"""

ENVIRONMENT_READERS: Final = ("getenv", "get_bool_env_var", "get_int_env_var")
"""Functions whose first argument names an environment variable."""

ENVIRONMENT_OBJECT: Final = "envs"
"""The object whose attributes are environment variables."""


class CodeRead(NamedTuple):
    """One read of a name: ``node`` reads it, and ``owner`` is the object that is read from, if the read names one."""

    form: ReadForm
    name: str
    node: ast.expr
    owner: ast.expr | None = None


def reads_of(node: ast.AST) -> list[CodeRead]:
    """Return what ``node`` itself reads by name, not what nodes inside it read.

    An augmented assignment reads its target, too, but that counts only as a write.
    """
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        is_variable = isinstance(node.value, ast.Name) and node.value.id == ENVIRONMENT_OBJECT
        return [CodeRead("variable" if is_variable else "attribute", node.attr, node, node.value)]
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        key = text_of(node.slice)
        return [] if key is None else [CodeRead("item", key, node, node.value)]
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if (name == "getattr" or name == "hasattr") and len(node.args) > 1:
            attribute = text_of(node.args[1])
            form: ReadForm = "getattr" if name == "getattr" else "hasattr"
            return [] if attribute is None else [CodeRead(form, attribute, node, node.args[0])]
        if last_name(node.func) in ENVIRONMENT_READERS:
            return [CodeRead("variable", text, node) for text in texts_in(node.args)[:1]]
    return []


def reads_in(root: ast.AST) -> Iterator[CodeRead]:
    """Yield all reads by name under ``root``, itself included, in no order."""
    for node in ast.walk(root):
        yield from reads_of(node)
