"""The rules for what counts as a write: targets of statements, and the other forms in which a field gets a value.

There are two rules. `writes_of` is for writes by name: an attribute, an item with a constant key, an entry of a dict
display, ``setattr`` with a constant name, a keyword of ``declare``; `writes_in` finds all of them under a node.
`targets_of` is for what a statement binds: each target, by which kind of statement, and from what; `stored` and
`binds` take a target apart.
"""

import ast
from collections.abc import Callable, Collection, Iterator
from typing import Any, Final, Literal, NamedTuple

from .nodes import FUNCTIONS, last_name, text_of

WriteForm = Literal["attribute", "item", "entry", "setattr", "declared", "copied", "deleted"]
"""How a name gets its value.

``attribute``: ``x.name = v`` and every other target; ``item``: ``x["name"] = v``; ``entry``: ``{"name": v}``;
``setattr``: ``setattr(x, "name", v)``; ``declared``: ``declare(x, name=v)``; ``copied``: ``replace(x, name=v)`` or
``Config(name=v)``; ``deleted``: ``del x.name``, ``del x["name"]`` or ``delattr(x, "name")``.
"""

TargetForm = Literal[
    "assigned", "augmented", "annotated", "for", "with", "comprehension", "walrus", "deleted", "bare"
]
"""The kind of statement or expression that binds a target.

``bare`` is for names that are plain texts in the tree: those of imports, functions, classes, ``except`` and patterns.
"""

DECLARE: Final = "declare"
# A codemod writes ``declare(record, source, field=value)`` for an assignment, under a private name if need be.
_DECLARES: Final = (DECLARE, f"_{DECLARE}")
# dataclasses.replace, attrs.evolve, a named tuple's _replace, and the two that fill a mapping.
_COPYING: Final = ("replace", "evolve", "_replace", "dict", "update")


class CodeWrite(NamedTuple):
    """One write of a name.

    ``node`` is the target, or the written value if there is no target. ``owner`` is the object that is written to, if
    the write names one. ``value`` is what is written, if the node itself shows it (for a target see `Target`).
    ``maker`` is the name of the function that makes a ``copied`` object.
    """

    form: WriteForm
    name: str
    node: ast.expr
    owner: ast.expr | None = None
    value: ast.expr | None = None
    maker: str = ""


class Target(NamedTuple):
    """What a statement or expression binds.

    ``node`` is the whole target, or a text for a bare name. ``value`` is the expression that the bound value comes
    from: what is assigned, iterated or entered; None if there is none. An annotation without a value (``x: int``) is
    a target, too, but binds nothing.
    """

    form: TargetForm
    node: ast.expr | str
    value: ast.expr | None = None


def declared(node: ast.AST) -> list[ast.keyword]:
    """Return the keywords of ``node`` if it is a call of ``declare``, else none."""
    return node.keywords if isinstance(node, ast.Call) and last_name(node.func) in _DECLARES else []


def writes_of(node: ast.AST) -> list[CodeWrite]:
    """Return what ``node`` itself writes by name.

    Not included are ``copied`` names (see `copies_of`), and what nodes inside it write.
    """
    rule = _RULES.get(type(node))
    return rule(node) if rule is not None else []


def writes_in(root: ast.AST) -> Iterator[CodeWrite]:
    """Yield all writes by name under ``root``, itself included, in no order."""
    for node in ast.walk(root):
        yield from writes_of(node)


def copies_of(node: ast.AST) -> Iterator[CodeWrite]:
    """Yield what a call writes by its keywords into a changed copy, a mapping or a new instance."""
    if isinstance(node, ast.Call):
        name = last_name(node.func)
        # A name with a capital letter is taken for a class, whose call makes a new instance.
        if name in _COPYING or name[:1].isupper() or name == "cls":
            for keyword in node.keywords:
                if keyword.arg is not None:
                    yield CodeWrite("copied", keyword.arg, keyword.value, None, keyword.value, name)


def _attribute(node: ast.Attribute) -> list[CodeWrite]:
    if isinstance(node.ctx, ast.Load):
        return []
    return [CodeWrite("deleted" if isinstance(node.ctx, ast.Del) else "attribute", node.attr, node, node.value)]


def _subscript(node: ast.Subscript) -> list[CodeWrite]:
    key = None if isinstance(node.ctx, ast.Load) else text_of(node.slice)
    if key is None:
        return []
    return [CodeWrite("deleted" if isinstance(node.ctx, ast.Del) else "item", key, node, node.value)]


def _display(node: ast.Dict) -> list[CodeWrite]:
    pairs = ((text_of(key), value) for key, value in zip(node.keys, node.values, strict=True))
    return [CodeWrite("entry", name, value, None, value) for name, value in pairs if name is not None]


def _call(node: ast.Call) -> list[CodeWrite]:
    if not isinstance(node.func, (ast.Name, ast.Attribute)):
        return []
    called = last_name(node.func)
    if called in _DECLARES:
        owner = node.args[0] if node.args else None
        words = [word for word in node.keywords if word.arg is not None]
        return [CodeWrite("declared", str(word.arg), word.value, owner, word.value) for word in words]
    if isinstance(node.func, ast.Name) and called in ("setattr", "delattr") and len(node.args) > 1:
        name = text_of(node.args[1])
        if name is not None and called == "setattr" and len(node.args) == 3:
            return [CodeWrite("setattr", name, node.args[2], node.args[0], node.args[2])]
        if name is not None and called == "delattr" and len(node.args) == 2:
            return [CodeWrite("deleted", name, node, node.args[0])]
    return []


# The rules run for every node of every file in each child process; a dict by type is the quickest dispatch.
_RULES: Final[dict[type[ast.AST], Callable[[Any], list[CodeWrite]]]] = {
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Dict: _display,
    ast.Call: _call,
}


class Fields:
    """The fields whose writes count, among them dotted ones (``cuda_graph_config.decode.backend``).

    Of a dotted name only the last two parts are compared, because the object before them may be in a variable with a
    shorter name.
    """

    def __init__(self, names: Collection[str]) -> None:
        self.plain = frozenset(name for name in names if "." not in name)
        self._dotted = {tuple(name.split(".")[-2:]): name for name in names if "." in name}

    def of(self, write: CodeWrite) -> str | None:
        """Return the field that a write writes, None if it writes none of them. A deletion gives no field a value."""
        if write.form == "deleted":
            return None
        if write.name in self.plain:
            return write.name
        return self._dotted.get((last_name(write.owner), write.name)) if write.form == "attribute" else None

    def written(self, node: ast.AST) -> list[tuple[str, CodeWrite]]:
        """Return what ``node`` itself writes of the fields, each with the field."""
        rule = _RULES.get(type(node))
        if rule is None:
            return []
        found = [(self.of(write), write) for write in rule(node)]
        return [(field, write) for field, write in found if field is not None]


def targets_of(node: ast.AST) -> list[Target]:
    """Return what a statement or expression binds by itself, in the order in which it does so.

    For a compound statement these are its own targets, not what the statements in it bind. For ``match``, each of its
    patterns has to be passed in by itself.
    """
    if isinstance(node, ast.Assign):
        return [Target("assigned", target, node.value) for target in node.targets]
    if isinstance(node, ast.AugAssign):
        return [Target("augmented", node.target, node.value)]
    if isinstance(node, ast.AnnAssign):
        return [Target("annotated", node.target, node.value)]
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return [Target("for", node.target, node.iter)]
    if isinstance(node, ast.comprehension):
        return [Target("comprehension", node.target, node.iter)]
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return [Target("with", item.optional_vars, item.context_expr) for item in node.items if item.optional_vars]
    if isinstance(node, ast.NamedExpr):
        return [Target("walrus", node.target, node.value)]
    if isinstance(node, ast.Delete):
        return [Target("deleted", target) for target in node.targets]
    return [Target("bare", name) for name in bare_names(node)]


def imported_name(alias: ast.alias) -> str:
    """Return the name that one part of an import binds: ``a`` for ``import a.b``, ``c`` for ``import a.b as c``."""
    return (alias.asname or alias.name).partition(".")[0]


def bare_names(node: ast.AST) -> list[str]:
    """Return the names that ``node`` itself binds and that are plain texts in the tree: ``bare`` in `TargetForm`."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [imported_name(alias) for alias in node.names]
    name = None
    if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        name = node.name
    elif isinstance(node, ast.MatchMapping):
        name = node.rest
    return [] if name is None else [name]


def stored(target: ast.expr | str) -> Iterator[ast.Name | ast.Attribute | ast.Subscript]:
    """Yield the single names, attributes and items of a target, through tuples, lists and stars."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from stored(element)
    elif isinstance(target, ast.Starred):
        yield from stored(target.value)
    elif isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)):
        yield target


def binds(node: ast.AST) -> Iterator[str]:
    """Yield the names that ``node`` itself binds or deletes; a name comes once for each time."""
    for target in targets_of(node):
        if isinstance(target.node, str):
            yield target.node
        elif target.form != "annotated" or target.value is not None:
            yield from (place.id for place in stored(target.node) if isinstance(place, ast.Name))


def root_name(target: ast.AST) -> str:
    """Return the name of the object that an attribute or item belongs to in the end: ``a`` of ``a.b["c"].d``."""
    while isinstance(target, (ast.Attribute, ast.Subscript)):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""
