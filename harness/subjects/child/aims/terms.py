"""Reads expressions of a tree as questions about a case's inputs.

An expression becomes a *term*, a tuple that starts with its kind:

- ``field``, ``env``, ``model`` and ``call`` are inputs, by name: a field of the record, an environment variable, an
  attribute of the model's configuration, what a function returns;
- ``isset`` asks whether an environment variable is set;
- ``const`` is a known value and ``items`` a collection of terms;
- ``if`` is one of two terms, depending on a test;
- ``truth`` is a test itself, with what it demands to be true and to be false (see `demands`);
- ``rest`` is the remainder of a division of two inputs;
- ``object`` is an object that is not an input itself, but whose attributes may be inputs;
- ``?`` is an expression that was not understood.
"""

from __future__ import annotations

import ast
from typing import Any

from ....source.calls import arguments_of, positional
from ....source.nodes import Function
from ....source.reads import ENVIRONMENT_OBJECT, ENVIRONMENT_READERS
from .demands import INPUTS, PERHAPS, Term, TestDemand, all_of, any_of, compare, conditional, truth
from .names import LocalNames, bounded
from .symbols import Symbols

UNKNOWN = ("?",)
_RAISES = ("raises",)
# Bounds on nested calls and on the work for a tree. An expression beyond them counts as not understood.
_DEEPEST = 6
_MOST_STEPS = 100_000

# Methods whose result stands for the same input as their object.
_SAME_TEXT = ("lower", "upper", "strip", "casefold", "get_value", "copy")
_COLLECTIONS = ("tuple", "list", "set", "frozenset", "sorted")
_NUMBERS = ("int", "float")
_ARCHITECTURE = ("model", "architectures.0")
_IS_LATENT = ("model", "attention_arch", "is", ("AttentionArch.MLA",))
# Attributes that a package derives from its model's configuration, with what they are derived from.
_DERIVED = {
    "architecture": _ARCHITECTURE,
    "uses_mla": ("truth", [((*_IS_LATENT, True),)], [((*_IS_LATENT, False),)]),
}


class TermReader:
    """Makes terms of the expressions of one tree."""

    def __init__(self, symbols: Symbols, fields: frozenset[str]) -> None:
        self.symbols = symbols
        self.fields = fields
        self._constants: dict[str, Term] = {}
        self._inlining: set[ast.AST] = set()
        self._steps = 0

    @property
    def exhausted(self) -> bool:
        """True once the bound of steps is reached; from then on no expression is understood."""
        return self._steps > _MOST_STEPS

    def term(self, node: Any, scope: LocalNames) -> Term:
        """Return the term of an expression."""
        self._steps += 1
        make = _MAKERS.get(type(node))
        return make(self, node, scope) if make is not None and self._steps <= _MOST_STEPS else UNKNOWN

    def test(self, node: Any, scope: LocalNames) -> tuple[TestDemand, TestDemand]:
        """Return what an expression demands of a case to be true, and what to be false."""
        term = self.term(node, scope)
        return truth(term, True), truth(term, False)

    def _constant(self, node: Any, scope: LocalNames) -> Term:
        return ("const", node.value)

    def _name(self, node: Any, scope: LocalNames) -> Term:
        known = scope.names.get(node.id)
        if known is not None:
            return known
        if node.id not in self._constants:
            # Set before the value is read, because a constant may refer to itself, which would never end.
            self._constants[node.id] = ("object", node.id)
            value = self.symbols.constants.get(node.id)
            if value is not None:
                term = self.term(value, LocalNames())
                if term[0] in ("const", "items"):
                    self._constants[node.id] = term
        return self._constants[node.id]

    def _attribute(self, node: Any, scope: LocalNames) -> Term:
        if isinstance(node.value, ast.Name):
            member = self.symbols.members.get((node.value.id, node.attr))
            if member is not None:
                return ("const", member)
        return self.attribute(self.term(node.value, scope), node.attr, scope)

    def attribute(self, base: Term, name: str, scope: LocalNames) -> Term:
        """Return the term of ``base.name``."""
        kind = base[0]
        if kind == "if":
            return conditional(
                base[1], base[2], self.attribute(base[3], name, scope), self.attribute(base[4], name, scope)
            )
        if kind == "field":
            return ("field", f"{base[1]}.{name}")
        if kind not in ("object", "model", "call"):
            return UNKNOWN
        if base[1] == ENVIRONMENT_OBJECT:
            return ("env", name)
        if name in _DERIVED:
            return _DERIVED[name]
        # A model's configuration may have attributes with the names of fields; these are not the fields.
        if name in self.fields and not base[1].lower().endswith("config"):
            return scope.names.get(("field", name), ("field", name))
        return ("model", name)

    def _subscript(self, node: Any, scope: LocalNames) -> Term:
        index = self.term(node.slice, scope)
        return self.item(self.term(node.value, scope), index[1]) if index[0] == "const" else UNKNOWN

    def item(self, base: Term, index: Any) -> Term:
        """Return the term of ``base[index]``."""
        kind = base[0]
        if kind == "if":
            return conditional(base[1], base[2], self.item(base[3], index), self.item(base[4], index))
        if kind == "items":
            inside = isinstance(index, int) and -len(base[1]) <= index < len(base[1])
            return base[1][index] if inside else ("const", None)
        if kind in ("model", "call", "field"):
            return (kind, f"{base[1]}.{index}")
        if kind == "object" and isinstance(index, str) and base[1].lower().endswith("config"):
            return ("model", index)
        return UNKNOWN

    def _items(self, node: Any, scope: LocalNames) -> Term:
        found: list[Term] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                inner = self.term(element.value, scope)
                found += inner[1] if inner[0] == "items" else (UNKNOWN,)
            else:
                found.append(self.term(element, scope))
        return ("items", tuple(found))

    def _dict(self, node: Any, scope: LocalNames) -> Term:
        return ("items", tuple(self.term(key, scope) if key is not None else UNKNOWN for key in node.keys))

    def _if_expression(self, node: Any, scope: LocalNames) -> Term:
        return conditional(*self.test(node.test, scope), self.term(node.body, scope), self.term(node.orelse, scope))

    def _bool(self, node: Any, scope: LocalNames) -> Term:
        terms = [self.term(value, scope) for value in node.values]
        either = isinstance(node.op, ast.Or)
        if all(term[0] not in ("truth", "?") for term in terms):
            # ``a or b`` is one of its operands, not only a truth value.
            made = terms[-1]
            for term in reversed(terms[:-1]):
                chosen = (term, made) if either else (made, term)
                made = conditional(truth(term, True), truth(term, False), *chosen)
            return made
        true = [truth(term, True) for term in terms]
        false = [truth(term, False) for term in terms]
        return ("truth", any_of(true), all_of(false)) if either else ("truth", all_of(true), any_of(false))

    def _unary(self, node: Any, scope: LocalNames) -> Term:
        term = self.term(node.operand, scope)
        if isinstance(node.op, ast.Not):
            return ("truth", truth(term, False), truth(term, True))
        if isinstance(node.op, ast.USub) and term[0] == "const" and type(term[1]) in (int, float):
            return ("const", -term[1])
        return UNKNOWN

    def _binary(self, node: Any, scope: LocalNames) -> Term:
        sides = self.term(node.left, scope), self.term(node.right, scope)
        if isinstance(node.op, ast.Mod) and all(side[0] in INPUTS for side in sides):
            return ("rest", *sides)
        return _divided(*sides) if isinstance(node.op, ast.FloorDiv) else UNKNOWN

    def _compare(self, node: Any, scope: LocalNames) -> Term:
        terms = [self.term(side, scope) for side in (node.left, *node.comparators)]
        pairs = [compare(left, op, right) for left, op, right in zip(terms[:-1], node.ops, terms[1:], strict=True)]
        return ("truth", all_of([true for true, _ in pairs]), any_of([false for _, false in pairs]))

    def _named(self, node: Any, scope: LocalNames) -> Term:
        scope.names[node.target.id] = term = self.term(node.value, scope)
        return term

    def _call(self, node: Any, scope: LocalNames) -> Term:
        function = node.func
        if isinstance(function, ast.Attribute):
            found = self._method(node, function, scope)
            if found is not None:
                return found
            name = function.attr
        elif isinstance(function, ast.Name):
            name = function.id
        else:
            return UNKNOWN
        if name == "getattr" and len(node.args) > 1:
            attribute = self.term(node.args[1], scope)
            # An attribute of unknown name is not understood: it is not even known whether there is one.
            return (
                self.attribute(self.term(node.args[0], scope), attribute[1], scope)
                if _is_name(attribute)
                else UNKNOWN
            )
        if name in ENVIRONMENT_READERS and node.args:
            variable = self.term(node.args[0], scope)
            return ("env", variable[1]) if _is_name(variable) else UNKNOWN
        if name == "bool" and len(node.args) == 1:
            term = self.term(node.args[0], scope)
            return ("truth", truth(term, True), truth(term, False))
        if name in _COLLECTIONS and len(node.args) == 1:
            return self.term(node.args[0], scope)
        if name in _NUMBERS and len(node.args) == 1:
            number = self.term(node.args[0], scope)
            if number[0] == "env":
                # A number made of a variable stays the variable: its description says that it holds numbers.
                return number
        inner = self._inlined(node, name, scope)
        if (
            inner is None
            and isinstance(function, ast.Name)
            and isinstance(self.symbols.constants.get(name), ast.Call)
        ):
            inner = self._made(self.symbols.constants[name], scope)
        return inner if inner is not None else ("call", name)

    def condition(self, node: Any, scope: LocalNames) -> TestDemand:
        """Return what must hold for a predicate of one argument, given as an expression, to return true."""
        made = self._made(node, scope)
        return PERHAPS if made is None else truth(made, True)

    def _made(self, node: Any, scope: LocalNames) -> Term | None:
        """Return the term of what a function, given as an expression, returns; None if it is not understood."""
        if isinstance(node, ast.Lambda):
            parameters = {arg.arg: ("object", arg.arg) for arg in node.args.args}
            return self.term(node.body, LocalNames(scope.function, {**scope.names, **parameters}, scope.depth + 1))
        if isinstance(node, ast.Name) and isinstance(self.symbols.constants.get(node.id), (ast.Call, ast.Lambda)):
            node = self.symbols.constants[node.id]
        if isinstance(node, ast.Name):
            return self._inlined(ast.Call(node, [], []), node.id, scope)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or scope.depth >= _DEEPEST:
            return None
        # A call that makes a function is understood if its only return statement returns a lambda.
        found = self.symbols.called(node.func.id)
        returned = [one for maker in found for one in maker.body if isinstance(one, ast.Return)]
        if len(found) != 1 or len(returned) != 1 or not isinstance(returned[0].value, ast.Lambda):
            return None
        names = self.bound(found[0], node, scope)
        return self._made(returned[0].value, LocalNames(found[0], names, scope.depth + 1))

    def _method(self, node: Any, function: Any, scope: LocalNames) -> Term | None:
        """Return the term of a call of a method that only reads its object, None for any other method."""
        name = function.attr
        base = self.term(function.value, scope)
        if base[0] == "env":
            return ("isset", base[1]) if name == "is_set" else base if name in ("get", *_SAME_TEXT) else UNKNOWN
        if name in _SAME_TEXT and not node.args:
            return base
        first = self.term(node.args[0], scope) if node.args else UNKNOWN
        if name == "get" and _is_name(first):
            if base == ("model", "environ"):
                return ("env", first[1])
            if base[0] in ("object", "model", "items", "if"):
                return self.item(base, first[1])
        if base[0] == "call":
            return UNKNOWN
        if name in ("startswith", "endswith") and _is_name(first) and base[0] in INPUTS:
            return ("truth", *compare(first, ast.In(), base))
        return None

    def _inlined(self, node: Any, name: str, scope: LocalNames) -> Term | None:
        """Return the term that a small function of the tree returns, None if it is not understood."""
        found = self.symbols.called(name, scope.function)
        if len(found) != 1 or scope.depth >= _DEEPEST or found[0] in self._inlining or len(found[0].body) > 6:
            return None
        callee = found[0]
        self._inlining.add(callee)
        try:
            names = {**self.bound(callee, node, scope), **scope.assigned()}
            term = self._returned(callee.body, LocalNames(callee, names, scope.depth + 1))
            # One that was understood only in part is None: its call then counts as an input of its own.
            return term if term not in (None, _RAISES) and _is_understood(term) else None
        finally:
            self._inlining.discard(callee)

    def bound(self, callee: Function, call: ast.Call | None, scope: LocalNames) -> dict[Any, Term]:
        """Return the parameters of ``callee``, each with the term of the argument that ``call`` gives it.

        A parameter without a known argument is an object of its own name.
        """
        parameters = positional(callee)
        skipped = 1 if parameters[:1] in (["self"], ["cls"]) else 0
        names = {}
        if call is not None:
            given = arguments_of(call, callee, skipped)
            names = {name: self.term(value, scope) for name, value in given.by_name.items()}
            if callee.args.vararg is not None:
                names[callee.args.vararg.arg] = self._items(ast.Tuple(given.rest), scope)
        parameters = parameters[skipped:]
        # Even an unknown parameter must be set: otherwise a constant of the module with its name would be read.
        for name in parameters:
            if names.get(name, UNKNOWN) == UNKNOWN:
                names[name] = ("object", name)
        return names

    def _returned(self, body: list[ast.stmt], scope: LocalNames) -> Term | None:
        """Return the term that a body returns, None if it has more than assignments, branches, raises and returns.

        If one branch raises, the term is that of the other one.
        """
        for position, statement in enumerate(body):
            if isinstance(statement, (ast.Import, ast.ImportFrom)) or _is_text(statement):
                continue
            if isinstance(statement, ast.Return):
                return self.term(statement.value, scope) if statement.value is not None else ("const", None)
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                assign(statement.targets[0], self.term(statement.value, scope), scope, self)
            elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
                assign(statement.target, self.term(statement.value, scope), scope, self)
            elif isinstance(statement, ast.Raise):
                return _RAISES
            elif isinstance(statement, ast.If):
                rest = body[position + 1 :]
                true, false = self.test(statement.test, scope)
                first = self._returned([*statement.body, *rest], scope.copy())
                second = self._returned([*statement.orelse, *rest], scope.copy())
                if _RAISES in (first, second):
                    return second if first == _RAISES else first
                return conditional(true, false, first, second) if first is not None and second is not None else None
            else:
                return None
        return ("const", None)


def _divided(left: Term, right: Term) -> Term:
    """Return the term of ``left // right``: ``left`` if the divisor is 1, else unknown.

    Most divisors are fields with the default 1. For one of unknown value both possibilities are kept.
    """
    if right[0] == "const":
        return left if right[1] == 1 else UNKNOWN
    for index, side in enumerate((left, right)):
        if side[0] == "if":
            parts = [_divided(*((part, right) if index == 0 else (left, part))) for part in side[3:]]
            return ("if", *side[1:3], *parts)
    if left[0] not in INPUTS or right[0] not in INPUTS:
        return UNKNOWN
    return ("if", *compare(right, ast.Eq(), ("const", 1)), left, UNKNOWN)


_MAKERS = {
    ast.Constant: TermReader._constant,
    ast.Name: TermReader._name,
    ast.Attribute: TermReader._attribute,
    ast.Subscript: TermReader._subscript,
    ast.Tuple: TermReader._items,
    ast.List: TermReader._items,
    ast.Set: TermReader._items,
    ast.Dict: TermReader._dict,
    ast.IfExp: TermReader._if_expression,
    ast.BoolOp: TermReader._bool,
    ast.UnaryOp: TermReader._unary,
    ast.BinOp: TermReader._binary,
    ast.Compare: TermReader._compare,
    ast.NamedExpr: TermReader._named,
    ast.Call: TermReader._call,
}


def _is_name(term: Term) -> bool:
    return term[0] == "const" and isinstance(term[1], str)


def _is_understood(term: Term) -> bool:
    return term[0] not in ("?", "object") and (
        term[0] != "if" or (_is_understood(term[3]) and _is_understood(term[4]))
    )


def _is_text(statement: Any) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def assign(target: Any, term: Term, scope: LocalNames, reader: TermReader) -> None:
    """Store in ``scope`` the term that an assignment gives to a name, a field, or each of several of them."""
    if isinstance(target, ast.Name):
        scope.names[target.id] = term if term != UNKNOWN else ("object", target.id)
    elif isinstance(target, ast.Attribute):
        if target.attr in reader.fields:
            # If the term is too large, we assume that the field keeps the value it had before.
            name = ("field", target.attr)
            scope.names[name] = bounded(term, scope.names.get(name, name))
    elif isinstance(target, (ast.Tuple, ast.List)):
        for index, element in enumerate(target.elts):
            assign(element, reader.item(term, index), scope, reader)
