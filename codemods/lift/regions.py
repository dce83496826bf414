"""Decides whether statements of a handler can become a pass, and what the pass needs from the handler.

A pass reads a view, and what it declares is applied only when it ends. So nothing may look at the record itself
between a declaration and the end of the pass, and no ``return``, ``break`` or the like may lead out of the pass.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from codemods.lift.handler import Handler
from codemods.lift.live import Later, bound_unnamed, is_bound_first, is_read, may_unbind
from codemods.reading.callees import passes_run
from codemods.reading.facts import Effects
from codemods.runtime.names import RUNS_PASSES
from harness.source.scopes import parameters_of, times_bound

_REFUSED: dict[type[ast.AST], str] = {
    # A return out of a pass would not return from the handler.
    ast.Return: "it returns from the handler",
    ast.Yield: "it yields",
    ast.YieldFrom: "it yields",
    ast.Await: "it waits",
    # Such a function may be called after the pass has ended. It must then read what was set since, and the view does
    # not show that: "if c: self.look = lambda: self.alpha".
    ast.Lambda: "it makes a function that would hold the view",
    ast.FunctionDef: "it makes a function that would hold the view",
    ast.AsyncFunctionDef: "it makes a function that would hold the view",
    ast.ClassDef: "it makes a class",
    ast.Global: "it binds a global name",
    ast.Nonlocal: "it binds a name of another function",
    # A view cannot delete a field ("del self.alpha"), and a pass cannot unbind a local of the handler.
    ast.Delete: "it deletes something",
    ast.AsyncFor: "it loops",
    # When it is left, the context manager may read the record, where alpha is not applied yet:
    # "with logged(self): declare(self, 'h', alpha=1)".
    ast.With: "it enters a context manager",
    ast.AsyncWith: "it enters a context manager",
    # A record may refuse a value: "try: declare(self, 'h', alpha=-1)", then "except ValueError: ...", catches that.
    # A pass sets the value only when it ends, so the exception would be raised outside of the ``try``.
    ast.Try: "it catches exceptions, which would see declarations that are not applied yet",
    ast.TryStar: "it catches exceptions, which would see declarations that are not applied yet",
}
_LEAVES_LOOP: dict[type[ast.AST], str] = {
    ast.Break: "it leaves a loop around it",
    ast.Continue: "it goes on with a loop around it",
}
# In a pass, "super().alpha" has no class around it, and "locals()" gives other names.
_LOOKS_AROUND = {"super", "__class__", "locals", "vars", "exec", "eval", "dir", "globals"}


class CannotLift(Exception):
    """The statements stay where they are; the message says why."""


class Needs(NamedTuple):
    """The arguments that a pass takes besides the view, and the fields that it declares, in order."""

    arguments: tuple[str, ...]
    declares: tuple[str, ...]


class Regions:
    """Decides which statements of ``handler`` can become a pass.

    ``unbinds`` are the locals that the handler deletes somewhere; one cannot be sure that they are bound.
    """

    def __init__(self, handler: Handler) -> None:
        node = handler.node
        self._handler = handler
        self._facts = handler.facts
        self.unbinds = may_unbind(node)
        # The locals that get a value in another way than by an ``ast.Name``.
        self._unnamed = parameters_of(node).keys() | bound_unnamed(node)
        inside = [item for item in ast.walk(node) if item is not node]
        nested = [item for item in inside if isinstance(item, _SCOPES)]
        # In this order: the functions and classes inside; the names shared by ``global`` or ``nonlocal``; the names
        # that functions and classes inside mention; and each mention of a name in the whole handler.
        self._inner = {item.name for item in nested if not isinstance(item, ast.Lambda)}
        shared = [item for item in inside if isinstance(item, (ast.Global, ast.Nonlocal))]
        self._shared = {name for item in shared for name in item.names}
        self._seen_inside = {item.id for scope in nested for item in ast.walk(scope) if isinstance(item, ast.Name)}
        self._mentions = [item.id for item in inside if isinstance(item, ast.Name)]

    def judge(self, body: Sequence[ast.stmt], certain: Collection[str], later: Later) -> Needs:
        """Return what a pass made of ``body`` needs; raises CannotLift if ``body`` cannot become one.

        ``certain`` are the locals that are certainly bound before ``body``; ``later`` is what may run after it.
        """
        inside = [node for statement in body for node in ast.walk(statement)]
        for node in inside:
            if type(node) in _REFUSED:
                raise CannotLift(_REFUSED[type(node)])
        _check_loops(body)
        own = times_bound(ast.FunctionDef("region", _NO_ARGUMENTS, list(body), [], None, lineno=1, col_offset=0))
        mentioned = [node.id for node in inside if isinstance(node, ast.Name)]
        # After "nonlocal x" or "global x", another function may read or bind x while the pass runs.
        for name in sorted(self._shared & {*own, *mentioned}):
            raise CannotLift(f"it uses {name!r}, which is shared with other functions")
        kept = [name for name in sorted(own) if self._is_handed(name, body, mentioned, certain, later)]
        free = sorted(
            {name for name in mentioned if name in self._handler.locals} - own.keys() - set(self._handler.records)
        )
        for name in free:
            if name in self._inner:
                raise CannotLift(f"it calls {name!r}, a function inside the handler")
            # A pass gets the locals as arguments, so all must be bound when it is called. "if c: x = 1", then
            # "if c: declare(self, 'h', alpha=x)", never reads an unbound x; run_pass(self, the_pass, x) would, if c
            # is false.
            if name not in certain:
                raise CannotLift(f"it reads {name!r}, which may be unbound there")
        if _LOOKS_AROUND & set(mentioned):
            raise CannotLift("it looks at its own surroundings")
        for name in [*mentioned, *(node.attr for node in inside if isinstance(node, ast.Attribute))]:
            # In a class, "self.__x" means "self._Args__x"; in a pass, a function of the module, it means "self.__x".
            if name.startswith("__") and not name.endswith("__"):
                raise CannotLift(f"it uses the private name {name!r}")
        seen: set[str] = set()
        for statement in body:
            self._check(statement, seen)
        return Needs(tuple(sorted([*free, *kept])), self._handler.declares(body))

    def _is_handed(
        self, name: str, body: Sequence[ast.stmt], mentioned: list[str], certain: Collection[str], later: Later
    ) -> bool:
        """Return whether a pass must get the local ``name``, which ``body`` binds, as an argument.

        It must if ``body`` may read the value from before. Raises CannotLift if that value may not be there, or if
        something outside of the pass may read the value that the pass binds.
        """
        if name in self._handler.records:
            raise CannotLift(f"it assigns {name!r}, which holds the record")
        if is_read(name, later) or name in self._seen_inside:
            raise CannotLift(f"it assigns {name!r}, which is used outside as well")
        if is_bound_first(name, body):
            return False
        if name in certain:
            return True
        # If nothing outside of the region mentions the name, there is no value from before, unless the name got one
        # without an ``ast.Name``, as in "if a: import x", then "if c: x = x.y; declare(self, ..., alpha=x)".
        if self._mentions.count(name) != mentioned.count(name) or name in self._unnamed:
            raise CannotLift(f"it may read {name!r}, which may be unbound there")
        return False

    def _hazard(self, message: str) -> None:
        """Raise CannotLift for what can be written as a pass but may behave differently, unless lifting is forced."""
        if not self._handler.force:
            raise CannotLift(message)

    # -- the record inside

    def _check(self, node: ast.AST, declared: set[str]) -> None:
        """Check what ``node`` does with the record, in the order in which it runs; raises CannotLift.

        ``declared`` are the fields that the region declares before ``node``; those that ``node`` declares are added.
        """
        keywords = self._handler.declared(node)
        if keywords:
            if any(keyword.arg is None for keyword in keywords):
                raise CannotLift("it declares fields by computed names")
            for keyword in keywords:
                self._check(keyword.value, declared)
            declared |= {keyword.arg for keyword in keywords if keyword.arg}
        elif isinstance(node, ast.If):
            self._check(node.test, declared)
            # Neither branch runs after the other, so each sees only what was declared before both.
            branches = [set(declared), set(declared)]
            for block, seen in zip((node.body, node.orelse), branches, strict=True):
                for statement in block:
                    self._check(statement, seen)
            declared |= branches[0] | branches[1]
        elif isinstance(node, (ast.For, ast.While)):
            # Twice, because a round of the loop may read what the round before it declared:
            # "for x in y: self.look(); declare(self, 'h', alpha=x)".
            for _ in range(2):
                for child in _in_order(node):
                    self._check(child, declared)
        elif isinstance(node, ast.Attribute) and self._handler.is_record(node.value):
            self._check_attribute(node, declared)
        elif isinstance(node, ast.Call):
            self._check_call(node, declared)
        elif self._handler.is_record(node):
            raise CannotLift("it hands on the record itself")
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            raise CannotLift(f"it writes {ast.unparse(node)}")
        else:
            for child in _in_order(node):
                self._check(child, declared)

    def _check_attribute(self, node: ast.Attribute, declared: set[str]) -> None:
        if node.attr.startswith("__"):
            # A view has another class, and a dict of its own.
            raise CannotLift(f"it looks at {node.attr!r} of the record itself")
        if not isinstance(node.ctx, ast.Load):
            raise CannotLift(f"it writes {node.attr!r}, which is not declared")
        effects = self._facts.effects.get(node.attr)
        if effects is not None:
            self._check_effects(f"{node.attr}", effects, declared)

    def _check_effects(self, name: str, effects: Effects, declared: set[str], handed: bool = False) -> None:
        """Check a call: of a method, which runs on the record, or, if ``handed``, of a function given the view."""
        # A function cannot write to a view. A method can write to the record; but if the pass declares the same
        # field, it overwrites that when it ends.
        written = effects.writes if handed else effects.writes & self._facts.fields.keys()
        if written and handed:
            raise CannotLift(f"it calls {name!r}, which writes {', '.join(sorted(written)[:3])}")
        if written:
            self._hazard(f"it calls {name!r}, which writes {', '.join(sorted(written)[:3])}")
        if effects.unknown and (handed or declared):
            self._hazard(f"it calls {name!r}, which hands the record to something that is not followed")
        # "declare(self, 'h', alpha=2); self.look()": the method reads the record, where alpha is not 2 yet.
        late = (effects.reads | effects.writes) & declared
        if late:
            self._hazard(f"it calls {name!r}, which would read {', '.join(sorted(late))} before it is applied")

    def _check_pass(self, node: ast.Call, declared: set[str]) -> None:
        """Check the call ``node``, which runs another pass inside this one.

        That pass gets a view of this pass's view, so it reads what is declared so far, and adds to it. But the
        methods that it calls read the record itself, which does not have these values yet.
        """
        for name in passes_run(node):
            effects = self._facts.effects.get(f"{self._handler.module.path}:{name}")
            if effects is None or effects.unknown:
                raise CannotLift(f"it runs the pass {name!r}, which is not followed")
            late = effects.behind & declared
            if late:
                self._hazard(f"it runs {name!r}, which would read {', '.join(sorted(late))} before it is applied")
            declared |= effects.writes

    def _check_call(self, node: ast.Call, declared: set[str]) -> None:
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if isinstance(node.func, ast.Name) and node.func.id.lstrip("_") in RUNS_PASSES and given:
            self._check_pass(node, declared)
            for item in given[1:]:
                self._check(item, declared)
            return
        handed = any(self._handler.is_record(item) for item in given)
        if handed and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr"):
            name = node.args[1] if len(node.args) > 1 else None
            if not isinstance(name, ast.Constant) or name.value not in self._facts.fields:
                raise CannotLift("it reads an attribute by a name that is no field")
        elif handed:
            self._check_handed(node.func, declared)
        self._check(node.func, declared)
        for item in given:
            if not self._handler.is_record(item):
                self._check(item, declared)

    def _check_handed(self, func: ast.expr, declared: set[str]) -> None:
        name = func.id if isinstance(func, ast.Name) else ""
        effects = self._facts.effects.get(f"{self._handler.module.path}:{name}")
        module, original = self._handler.module.imports.get(name, ("", None))
        # The effects of an imported function are listed under its own file: the imported module, or a module of the
        # imported package.
        if effects is None and original is not None:
            folder = module.replace(".", "/")
            found = [
                effect
                for key, effect in self._facts.effects.items()
                if key.endswith(f":{original}") and key.startswith((f"{folder}.py", f"{folder}/"))
            ]
            effects = found[0] if len(found) == 1 else None
        if effects is None:
            raise CannotLift(f"it hands the record to {ast.unparse(func)}, which is not followed")
        self._check_effects(name, effects, declared, handed=True)


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_NO_ARGUMENTS = ast.arguments([], [], None, [], [], None, [])


def _check_loops(body: Sequence[ast.AST], in_loop: bool = False) -> None:
    """Raise CannotLift for a ``break`` or ``continue`` whose loop is not part of ``body``."""
    for node in body:
        if type(node) in _LEAVES_LOOP and not in_loop:
            raise CannotLift(_LEAVES_LOOP[type(node)])
        if isinstance(node, (ast.For, ast.While)):
            _check_loops(node.body, True)
            _check_loops(node.orelse, in_loop)
        else:
            _check_loops(list(ast.iter_child_nodes(node)), in_loop)


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the children of ``node``, the value of an assignment before its targets."""
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        children.sort(key=lambda child: child is not node.value)
    yield from children
