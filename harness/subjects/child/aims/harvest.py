"""Finds, from the source alone, the conditions that a case has to fulfil to reach each place of a resolution.

The walk follows the statements of each root in order, into every function of the tree that they call. A place is a
statement that writes a field or the environment, returns, raises or asserts, or one branch of a condition. The tests
on the way to a place make an *aim*: what a case should be like to get there.

An aim directs the generator and proves nothing. It leaves out every condition that the reader does not understand. It
assumes that a field has the value that the user gave, unless the walk has seen an assignment to it before.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Collection, Iterable
from typing import Any

from ....source.calls import given
from ....source.nodes import decorator_name, last_name, texts_in
from ....source.reads import reads_in
from ....source.writes import stored, targets_of, writes_of
from .collected import CollectedAims, Path
from .demands import NOT_UNDERSTOOD, Term, TestDemand, all_of, conditional
from .names import LocalNames, bounded
from .symbols import Symbols
from .terms import TermReader, assign

# Bounds of the walk. Without them the number of ways doubles with every branch before a call.
# How deep calls nest.
_DEEPEST = 10
# In how many ways a function is entered. If it has more than 20 lines these are fewer, so that ways times lines stay
# within the second number; but every function is entered once.
_MOST_WAYS = 12
_STATEMENTS = 240
# A test with more alternatives than this is not demanded of the statements behind it: see `_past`.
_MOST_WAYS_PAST = 2

ARCHITECTURE = ("model", "architectures.0")


def harvest(
    sources: dict[str, ast.Module],
    roots: Iterable[str],
    fields: Iterable[str],
    *,
    statements: Iterable[ast.stmt] = (),
    registrations: Collection[str] = (),
) -> dict[str, Any]:
    """Return the aims of all places in the functions ``roots`` and in those that these call, as plain data.

    ``sources`` maps module names to their text or parsed tree. ``roots`` are names of functions, which run in this
    order, after the ``statements``. ``fields`` are the names of the record's fields. A function with a decorator
    among ``registrations`` is a root, too; it runs for the architectures that the decorator names.

    The answer refers to conditions, clauses and places by their position in these lists:

    - ``conditions``: each is (kind, name, operation, values, wanted), as `demands` explains.
    - ``clauses``: each is a list of alternatives, and an alternative is a list of numbers of conditions.
    - ``places``: each is a list of aims, one for each way to get there; an aim is a list of numbers of clauses.
    - ``refusals``: the numbers of the places where a case is refused.
    - ``writers`` and ``readers``: pairs of a place's number and a field that is written or read there.

    A case reaches an aim if it fulfils one alternative of each clause.
    """
    trees = {name: ast.parse(source) if isinstance(source, str) else source for name, source in sources.items()}
    walk = PathWalk(TermReader(Symbols(trees), frozenset(fields)))
    walk.statements(statements)
    for root in roots:
        walk.root(root)
    walk.registered(frozenset(registrations))
    return walk.aims.plain()


class PathWalk:
    """Follows statements, and keeps for each place the paths that lead there.

    A path is a tuple of clauses, all of which must hold; a clause is a tuple of alternatives, one of which must.
    A place is a statement, or a pair of a condition and its branch: True or False. The pair of a statement and
    ``"both"`` stands for a case that meets this statement's test and that of the statement before it.
    """

    def __init__(self, reader: TermReader) -> None:
        self._reader = reader
        self._symbols = reader.symbols
        # The roots share their names: a later one may read a field that an earlier one assigned.
        self._scope = LocalNames()
        self._ways: dict[ast.AST, set[Path]] = {}
        self._entered: list[ast.AST] = []
        self.aims = CollectedAims()
        self._returning: dict[ast.AST, bool] = {}

    def statements(self, statements: Iterable[ast.stmt]) -> None:
        """Follow statements that are in no function."""
        with contextlib.suppress(RecursionError):
            self._block(statements, self._scope, ())

    def root(self, name: str) -> None:
        """Follow the functions called ``name``; they run after the roots that were followed before."""
        for node in self._symbols.functions.get(name, ()):
            path = self._declared_path(node)
            if path is not None:
                self._enter(node, None, self._scope, path)

    def _declared_path(self, node: Any) -> Path | None:
        """Return the path to a function's first statement; a decorator's ``when=`` is a demand on that way."""
        path: Path | None = ()
        for decorator in node.decorator_list:
            for word in getattr(decorator, "keywords", ()):
                if word.arg == "when" and path is not None:
                    path = _with(path, self._reader.condition(word.value, LocalNames(node)))
        return path

    def registered(self, decorators: frozenset[str]) -> None:
        """Follow the functions with one of the decorators, each for the architectures that its decorator names."""
        for nodes in list(self._symbols.functions.values()):
            for node in nodes:
                for decorator in node.decorator_list:
                    if decorator_name(decorator) in decorators:
                        call = decorator if isinstance(decorator, ast.Call) else None
                        self._enter(node, None, LocalNames(), self._registration(call))

    def _registration(self, call: ast.Call | None) -> Path:
        """Return the path that a registering decorator's arguments make: they name architectures, or test one."""
        scope = LocalNames()
        arguments = call.args if call else ()
        texts = texts_in(arguments)
        if texts:
            return _with((), [((*ARCHITECTURE, "is", tuple(texts), True),)]) or ()
        if arguments and isinstance(arguments[0], ast.Lambda) and len(arguments[0].args.args) == 1:
            scope.names[arguments[0].args.args[0].arg] = ARCHITECTURE
            return _with((), self._reader.test(arguments[0].body, scope)[0]) or ()
        return ()

    # -- statements ------------------------------------------------------------------------------------------------

    def _block(self, statements: Iterable[ast.stmt], scope: LocalNames, path: Path) -> Path | None:
        """Follow statements; return the path behind them, None if no case gets there."""
        before: TestDemand | None = None
        check: TestDemand | None = None
        start = path
        for statement in statements:
            refused = self._refused(statement, scope)
            if check and refused:
                # The order of two neighbouring checks shows only in a case that both would refuse.
                self.aims.refusals.add((statement, "both"))
                self.aims.add((statement, "both"), _with(start, all_of([check, refused])))
            check, start = refused, path
            follow = _FOLLOWERS.get(type(statement))
            demand = self._reader.test(statement.test, scope)[0] if isinstance(statement, ast.If) else None
            if before and demand:
                # Two neighbouring ``if`` differ from ``if`` and ``elif`` only in a case that takes both.
                self.aims.add((statement, "both"), _with(path, all_of([before, demand])))
            after = follow(self, statement, scope, path) if follow is not None else path
            if after is None:
                return None
            # The path grows if the branch ends early, with a return for example. Then no case takes both.
            before = demand if after == path else None
            path = after
        return path

    def _refused(self, statement: Any, scope: LocalNames) -> TestDemand | None:
        """Return what a case must be like for a check to refuse it, None for a statement that is no check."""
        if isinstance(statement, ast.Assert):
            return self._reader.test(statement.test, scope)[1]
        if isinstance(statement, ast.If) and not statement.orelse and isinstance(statement.body[-1], ast.Raise):
            return self._reader.test(statement.test, scope)[0]
        return None

    def _enter(self, node: Any, call: ast.Call | None, scope: LocalNames, path: Path) -> Path:
        """Follow the body of a function that is called at the end of ``path``; return the path behind the call.

        ``call`` is in ``scope``, which takes over the fields that the function assigns. The answer is ``path`` itself
        if the body was not followed or contains a return, since its end is then only one of its ways out.
        """
        ways = self._ways.setdefault(node, set())
        length = (getattr(node, "end_lineno", None) or node.lineno) - node.lineno + 1
        if node in self._entered or len(self._entered) >= _DEEPEST or path in ways or self._reader.exhausted:
            return path
        if len(ways) >= max(1, min(_MOST_WAYS, _STATEMENTS // length)):
            return path
        ways.add(path)
        self._entered.append(node)
        try:
            names = self._reader.bound(node, call, scope)
            inner = LocalNames(node, {**names, **scope.assigned()})
            after = self._block(node.body, inner, path)
        except RecursionError:
            # The source is nested too deeply for Python's recursion limit: the function is left out.
            return path
        finally:
            self._entered.pop()
        if node not in self._returning:
            self._returning[node] = any(isinstance(child, ast.Return) for child in ast.walk(node))
        if after is None or self._returning[node]:
            return path
        scope.names.update(inner.assigned())
        return after

    def _calls(self, node: Any, scope: LocalNames, path: Path) -> None:
        """Follow the functions that an expression calls or passes on; aim at both sides of each ``a if b else c``."""
        for child in ast.walk(node):
            if isinstance(child, ast.Call):
                self._follow_call(child.func, child, scope, path)
                self._handed(child.args, scope, path)
            elif isinstance(child, ast.Attribute) and child.attr in self._symbols.properties:
                self._follow_call(child, None, scope, path)
            elif isinstance(child, ast.IfExp):
                true, false = self._reader.test(child.test, scope)
                self.aims.add((child, True), _with(path, true))
                self.aims.add((child, False), _with(path, false))

    def _handed(self, arguments: Iterable[ast.expr], scope: LocalNames, path: Path) -> None:
        """Follow the functions among arguments: we assume that a function passed as an argument is called."""
        for argument in arguments:
            if isinstance(argument, (ast.Name, ast.Attribute)):
                self._follow_call(argument, None, scope, path)

    def _follow_call(self, function: Any, call: ast.Call | None, scope: LocalNames, path: Path) -> Path:
        name = last_name(function)
        if call is None and isinstance(function, ast.Name) and function.id in scope.names:
            return path
        ends = [self._enter(node, call, scope, path) for node in self._symbols.called(name, scope.function)]
        return ends[0] if len(ends) == 1 else path

    def _expression(self, statement: Any, scope: LocalNames, path: Path) -> Path:
        call = statement.value
        if not isinstance(call, ast.Call):
            self._calls(call, scope, path)
            return path
        for argument in given(call):
            self._calls(argument, scope, path)
            self._handed([argument], scope, path)
        function = call.func
        if isinstance(function, ast.Attribute):
            self._calls(function.value, scope, path)
            if function.attr == "set" and self._reader.term(function.value, scope)[0] == "env":
                self.aims.add(statement, path)
        # Behind a call, the helper's checks are demanded too: a case that they refuse does not come back.
        return self._follow_call(function, call, scope, path)

    def _assign(self, statement: Any, scope: LocalNames, path: Path) -> Path:
        if statement.value is None:
            return path
        self._calls(statement.value, scope, path)
        targets = [target.node for target in targets_of(statement)]
        places = [place for target in targets for place in stored(target)]
        written = [*(name for place in places for name in self._writes(place)), *self._declared(statement.value)]
        if written:
            self.aims.written[statement] = written
            self.aims.read[statement] = self._reads(statement.value)
            self.aims.add(statement, path)
        if not isinstance(statement, ast.AugAssign):
            term = self._reader.term(statement.value, scope)
            for target in targets:
                assign(target, term, scope, self._reader)
        return path

    def _writes(self, place: Any) -> list[str]:
        """Return the field that an assignment to a name, attribute or item writes, as a list of one; else no field.

        Writing an attribute of a field's value counts as writing the field.
        """
        fields = self._reader.fields
        if isinstance(place, ast.Subscript):
            return [write.name for write in writes_of(place) if write.name in fields]
        while isinstance(place, ast.Attribute):
            if place.attr in fields:
                return [place.attr]
            place = place.value
        return []

    def _declared(self, value: Any) -> list[str]:
        """Return the fields that are keys of a dict display, which may be a declaration."""
        entries = writes_of(value) if isinstance(value, ast.Dict) else ()
        return [write.name for write in entries if write.name in self._reader.fields]

    def _reads(self, value: Any) -> list[str]:
        """Return the fields that an expression reads as attributes."""
        return [
            read.name for read in reads_in(value) if read.form == "attribute" and read.name in self._reader.fields
        ]

    def _return(self, statement: Any, scope: LocalNames, path: Path) -> None:
        if statement.value is not None:
            self._calls(statement.value, scope, path)
            self.aims.written[statement] = self._declared(statement.value)
            self.aims.read[statement] = self._reads(statement.value)
        self.aims.add(statement, path)

    def _raise(self, statement: Any, scope: LocalNames, path: Path) -> None:
        self.aims.refusals.add(statement)
        self.aims.add(statement, path)

    def _assert(self, statement: Any, scope: LocalNames, path: Path) -> Path | None:
        self._calls(statement.test, scope, path)
        true, false = self._reader.test(statement.test, scope)
        if false:
            self.aims.refusals.add(statement)
            self.aims.add(statement, _with(path, false))
        if true:
            # Passing is an aim, too: if the assertion tests for a list of names, each name gets a case.
            self.aims.add((statement, True), _with(path, true))
        return _past(path, true)

    def _if(self, statement: Any, scope: LocalNames, path: Path) -> Path | None:
        self._calls(statement.test, scope, path)
        true, false = self._reader.test(statement.test, scope)
        first, second = scope.copy(), scope.copy()
        ends = []
        for block, demand, inner in ((statement.body, true, first), (statement.orelse, false, second)):
            way = _with(path, demand)
            if way is not None:
                self.aims.add((statement, block is statement.body), way)
            ends.append(self._block(block, inner, way) if way is not None else None)
        if ends[0] is None and ends[1] is None:
            return None
        if ends[0] is None or ends[1] is None:
            scope.names = (second if ends[0] is None else first).names
            return _past(path, false if ends[0] is None else true)
        # Both branches continue: a name that they assign has the term of the branch that was taken.
        for name in {**first.names, **second.names}:
            one, other = (names.get(name, _before(name)) for names in (first.names, second.names))
            before = scope.names.get(name, _before(name))
            scope.names[name] = bounded(conditional(true, false, one, other), before)
        return path

    def _loop(self, statement: Any, scope: LocalNames, path: Path) -> Path | None:
        if isinstance(statement, ast.While):
            return self._if(ast.If(statement.test, statement.body, []), scope, path) or path
        self._calls(statement.iter, scope, path)
        self._block(statement.body, scope, path)
        return path

    def _with_block(self, statement: Any, scope: LocalNames, path: Path) -> Path | None:
        return self._block(statement.body, scope, path)

    def _try(self, statement: Any, scope: LocalNames, path: Path) -> Path | None:
        after = self._block([*statement.body, *statement.orelse], scope, path)
        for handler in statement.handlers:
            self._block(handler.body, scope.copy(), path)
        if statement.finalbody:
            self._block(statement.finalbody, scope, path)
        # If the body never gets to its end, a handler may; then what follows is still reached.
        return after if after is not None or not statement.handlers else path


_FOLLOWERS: dict[type[ast.stmt], Any] = {
    ast.Expr: PathWalk._expression,
    ast.Assign: PathWalk._assign,
    ast.AnnAssign: PathWalk._assign,
    ast.AugAssign: PathWalk._assign,
    ast.Return: PathWalk._return,
    ast.Raise: PathWalk._raise,
    ast.Assert: PathWalk._assert,
    ast.If: PathWalk._if,
    ast.For: PathWalk._loop,
    ast.While: PathWalk._loop,
    ast.With: PathWalk._with_block,
    ast.Try: PathWalk._try,
}


def _before(name: str) -> Term:
    """Return the term of a name that nothing has assigned: a field is itself, any other name an unknown object."""
    return name if isinstance(name, tuple) else ("object", name)


def _past(path: Path, demand: TestDemand) -> Path | None:
    """Return ``path`` behind a statement that only cases with ``demand`` pass; None if no case does.

    A demand with many alternatives is left out: it would make every later aim longer, and most cases meet it anyway.
    """
    return _with(path, demand) if len(demand) <= _MOST_WAYS_PAST else path


def _with(path: Path, demand: TestDemand) -> Path | None:
    """Return ``path`` with ``demand`` as one more clause; None if no case fulfils it."""
    if not demand:
        return None
    clause = tuple(tuple(condition for condition in one if condition != NOT_UNDERSTOOD) for one in demand)
    # If nothing of an alternative was understood, any case may fulfil the clause, so it is left out.
    return path if () in clause or clause in path else (*path, clause)
