"""Cuts the slice out of a tree: the handlers that write a resolved field, in the tree's own order.

The order comes from the tree's entry method (``__post_init__``), so that a release or a step of a stack that moves a
handler runs as it is written. A statement of the entry method is kept if it calls a listed handler, or writes a
resolved field or one of the listed flags. Of a function that is listed as ``partial``, only the statements are kept
that write a resolved field or mention a listed name, with the imports and assignments that these need.
"""

from __future__ import annotations
import __future__ as future

import ast
import copy
import importlib
import inspect
import textwrap
from collections.abc import Callable, Iterable
from typing import Any

from ....source.calls import called_name
from ....source.nodes import IMPORTS, mentions
from ....source.scopes import bound_in
from ....source.writes import declared, writes_in
from ..recording.recorder import Recorder
from ..serve.adapter import NotASubject

ENTRY = "__slice_entry"


class SliceError(NotASubject):
    """The profile's slice cannot be cut out of this tree; the message names what is missing."""

    kind = "slice"


def build(
    cls: Any, spec: dict[str, Any], recorder: Recorder | None = None
) -> tuple[Callable[[Any], object], list[str], list[ast.stmt]]:
    """Return the slice of ``cls``: a function that runs it on an instance, the names of its slots, its statements.

    The slots are in order. The statements are as in the tree, without recording. With a ``recorder`` the function
    itself is recorded; the recorder knows it as `ENTRY`.

    ``spec`` is the ``slice`` table of a profile: ``entry``, ``handlers``, ``flags``, ``calls``, ``partial`` and
    the resolved ``fields``.
    """
    namespace = inspect.unwrap(getattr(cls, spec["entry"])).__globals__
    entry, file = _definition(getattr(cls, spec["entry"]))
    cutter = _SliceCutter(cls, spec, namespace, recorder)
    body, slots = cutter.cut_entry(entry)
    if not any(slot in spec["handlers"] for slot in slots):
        raise SliceError(
            f"{cls.__name__}.{spec['entry']} calls none of the {len(spec['handlers'])} handlers of the slice"
        )
    namespace.update(cutter.made)
    run = _compile(entry, body, file, namespace, recorder, ENTRY)
    return run, slots, [*body, *cutter.statements]


def labelled(statements: Iterable[ast.stmt], entry: str) -> list[tuple[str, ast.stmt]]:
    """Return ``(label, statement)`` for each statement of the method ``entry``, except imports.

    The label is the name of what the statement calls, or else the method and the line.
    """
    return [(_called(one) or f"{entry}:{one.lineno}", one) for one in statements if not isinstance(one, IMPORTS)]


def _definition(function):
    function = inspect.unwrap(function)
    file = inspect.getsourcefile(function) or function.__code__.co_filename
    lines, start = inspect.getsourcelines(function)
    node = ast.parse(textwrap.dedent("".join(lines))).body[0]
    ast.increment_lineno(node, start - 1)
    return node, file


def _compile(node, body, file, namespace, recorder, called):
    """Compile ``body`` as a function with the name and arguments of ``node``; line numbers stay those of the tree.

    The recorder knows the function as ``called``. Its globals are ``namespace`` itself and not a copy, so that it
    sees what the tree changes there later.
    """
    kept = copy.copy(node)
    kept.body, kept.decorator_list, kept.returns = body, [], None
    module = ast.fix_missing_locations(ast.Module(body=[kept], type_ignores=[]))
    if recorder is not None:
        # A copy is recorded: the statements themselves are returned, and are read without the recorder's calls.
        module = recorder.instrumented(copy.deepcopy(module), file)
        recorder.sites.functions[called] = module.body
    made = {}
    code = compile(module, file, "exec", flags=future.annotations.compiler_flag, dont_inherit=True)
    exec(code, namespace, made)  # noqa: S102
    return made[node.name]


class _SliceCutter:
    """Picks the statements of one tree that belong to the slice.

    ``made`` has the functions that were cut from partial ones, by name, and ``statements`` their statements.
    """

    def __init__(self, cls, spec, namespace, recorder):
        self._cls = cls
        self._recorder = recorder
        self._spec = spec
        self._namespace = namespace
        self._handlers = set(spec["handlers"])
        self._writes = set(spec["fields"]) | set(spec["flags"])
        self._partial = {entry["function"]: set(entry["mentions"]) for entry in spec["partial"]}
        self._calls = set(spec["calls"])
        self.made = {}
        self.statements = []

    def cut_entry(self, entry):
        """Return the kept statements of the entry method and the name of each slot."""
        slots = []
        kept = self._cut_block(entry.body, entry, slots)
        return _with_locals(entry.body, kept), slots

    def _cut_block(self, body, entry, slots):
        """Return the statements of a block to keep, and append the name of each slot among them to ``slots``."""
        kept = []
        for statement in body:
            name = _called(statement)
            if name in self._partial:
                cut = self._cut_partial(name, entry)
                if cut is not None:
                    kept.append(_call(cut, statement))
                    slots.append(name)
            elif name in self._handlers:
                kept.append(statement)
                slots.append(name)
            elif name in self._calls:
                kept.append(statement)
            elif not name and self._calls_of(statement):
                kept.append(self._cut_compound(statement, entry, slots))
            elif not name and self._writes_state(statement):
                kept.append(statement)
                slots.append(f"{entry.name}:{statement.lineno}")
        return kept

    def _calls_of(self, statement):
        """Return whether a statement has inside, in a branch for example, a call that belongs to the slice."""
        ours = self._partial.keys() | self._handlers | self._calls
        return any(isinstance(node, ast.Expr) and _called(node) in ours for node in ast.walk(statement))

    def _cut_compound(self, statement, entry, slots):
        """Return a copy of an ``if``, ``with``, ``try`` or loop with only what belongs to the slice inside."""
        cut = copy.copy(statement)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(statement, name, None)
            if block:
                kept = _with_locals(block, self._cut_block(block, entry, slots))
                setattr(cut, name, kept or [ast.copy_location(ast.Pass(), block[0])])
        if getattr(statement, "handlers", None):
            cut.handlers = [self._cut_compound(handler, entry, slots) for handler in statement.handlers]
        return cut

    def _cut_partial(self, name, entry):
        """Make a function of what is kept of the partial function ``name``; return its name, None if nothing is."""
        function = getattr(self._cls, name, None) or self._imported_in(entry, name)
        if function is None:
            return None
        node, file = _definition(function)
        mentioned = self._partial[name]
        kept = [
            statement
            for statement in node.body
            if self._writes_field(statement)
            or not (isinstance(statement, IMPORTS) or mentioned.isdisjoint(mentions([statement])))
        ]
        if not kept:
            return None
        self.statements += kept
        cut = f"__slice_{name}"
        scope = inspect.unwrap(function).__globals__
        self.made[cut] = _compile(node, _with_locals(node.body, kept), file, scope, self._recorder, cut)
        return cut

    def _imported_in(self, entry, name):
        """Return the object that ``name`` means in the entry method: imported there, or global."""
        for statement in entry.body:
            if isinstance(statement, ast.ImportFrom) and name in {alias.name for alias in statement.names}:
                return getattr(importlib.import_module(statement.module), name)
        return self._namespace.get(name)

    def _writes_state(self, statement):
        return bool(_written(statement) & self._writes)

    def _writes_field(self, statement):
        return bool(_written(statement) & set(self._spec["fields"]))


def _written(statement):
    """Return the attributes that a statement writes, and the fields that it declares, by name."""
    return {write.name for write in writes_in(statement) if write.form in ("attribute", "declared")}


def _called(statement):
    """Return the name of what is called by a statement that is only a call; "" for others and for a declaration."""
    return "" if isinstance(statement, ast.Expr) and declared(statement.value) else called_name(statement)


def _call(name, like):
    """Return the statement ``NAME(self)`` in the line of the statement ``like``, which it replaces."""
    call = ast.Expr(ast.Call(func=ast.Name(name, ast.Load()), args=[ast.Name("self", ast.Load())], keywords=[]))
    return ast.fix_missing_locations(ast.copy_location(call, like))


def _with_locals(body, kept):
    """Return ``kept`` and the imports and plain assignments of ``body`` that it needs, in the order of lines."""
    chosen = set(kept)
    needed = set(mentions(kept))
    for statement in reversed(body):
        plain = isinstance(statement, ast.Assign) and all(isinstance(one, ast.Name) for one in statement.targets)
        if statement in chosen or not (plain or isinstance(statement, IMPORTS)):
            continue
        # Only the targets of an assignment count: a comprehension in its value binds no local of the function.
        bound = bound_in(statement) if not plain else (target.id for target in statement.targets)
        if not needed.isdisjoint(bound):
            chosen.add(statement)
            needed |= mentions([statement])
    # A changed copy of a statement is not in ``body``, but has the line of the statement that it replaces.
    replacing = [statement for statement in kept if statement not in set(body)]
    return sorted(
        [*(statement for statement in body if statement in chosen), *replacing],
        key=lambda statement: statement.lineno,
    )
