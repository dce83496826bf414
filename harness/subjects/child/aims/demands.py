"""Works out what a test demands of a case, as a list of alternatives.

A *condition* is ``(kind, name, operation, values, wanted)``. It says that ``operation`` with ``values`` holds for the
input ``name``, or, if ``wanted`` is False, that it does not hold. An *alternative* is a tuple of conditions, all of
which must hold. A *demand* is a list of alternatives, one of which must hold: ``[()]`` always holds and ``[]`` never.
The condition `NOT_UNDERSTOOD` stands for a test that the reader does not understand; the finished aims leave it out.
`terms` describes terms.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

Term = tuple[Any, ...]
TestAlternative = tuple[Any, ...]
TestDemand = list[TestAlternative]

ALWAYS: TestDemand = [()]
NEVER: TestDemand = []
NOT_UNDERSTOOD = ("?", "", "", (), True)
PERHAPS: TestDemand = [(NOT_UNDERSTOOD,)]
# Further alternatives are left out. One is enough for the generator, and joining tests multiplies their numbers.
_MOST_ALTERNATIVES = 10

INPUTS = ("field", "env", "model", "call")
_KINDS = {"field": "arg"}
_ORDERS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
# Each comparison of two inputs as a relation, and True if its sides change places: ``a > b`` is ``b under a``.
_BETWEEN = {"<": ("under", False), "<=": ("upto", False), ">": ("under", True), ">=": ("upto", True)}


def conditional(true: TestDemand, false: TestDemand, first: Term, second: Term) -> Term:
    """Return a term that equals ``first`` if ``true`` holds, and ``second`` if ``false`` holds."""
    if first == second or not false:
        return first
    if not true:
        return second
    return ("if", true, false, first, second)


def truth(term: Term, wanted: bool) -> TestDemand:
    """Return what ``term`` demands of a case to be true, or to be false if not ``wanted``."""
    kind = term[0]
    if kind == "truth":
        demand: TestDemand = term[1] if wanted else term[2]
        return demand
    if kind == "const":
        return ALWAYS if bool(term[1]) == wanted else NEVER
    if kind == "items":
        return ALWAYS if bool(term[1]) == wanted else NEVER
    if kind == "isset":
        return [(("env", term[1], "set", (), wanted),)]
    if kind == "if":
        return any_of([all_of([term[1], truth(term[3], wanted)]), all_of([term[2], truth(term[4], wanted)])])
    if kind in INPUTS:
        return [((_KINDS.get(kind, kind), term[1], "true", (), wanted),)]
    if kind == "rest":
        return _multiple(term)[0 if not wanted else 1]
    return PERHAPS


def _multiple(rest: Term) -> tuple[TestDemand, TestDemand]:
    """Return the demands for the remainder of a division to be zero, and not to be zero."""
    return _related(rest[1], "multiple", rest[2])


def _related(left: Term, relation: str, right: Term) -> tuple[TestDemand, TestDemand]:
    """Return the demands for two inputs to be in a relation, and not to be in it.

    The right input is given by its name alone if it is a field, otherwise by name and kind.
    """
    return _question(left, relation, (right[1],) if right[0] == "field" else (right[1], right[0]))


def all_of(demands: Iterable[TestDemand]) -> TestDemand:
    """Return the demand that all of ``demands`` hold."""
    made = ALWAYS
    for demand in demands:
        if demand == ALWAYS:
            continue
        if made == ALWAYS:
            made = demand
        else:
            joined = [_joined(one, other) for one in made for other in demand]
            made = _shortest(one for one in joined if one is not None)
        if not made:
            return NEVER
    return made


def any_of(demands: Iterable[TestDemand]) -> TestDemand:
    """Return the demand that one of ``demands`` holds.

    An alternative that was not understood is dropped if there is another one.
    """
    made = [one for demand in demands for one in demand]
    known = [one for one in made if one != PERHAPS[0]]
    return _shortest(known) if known else made[:1]


def _shortest(alternatives: Iterable[TestAlternative]) -> TestDemand:
    """Return the shortest alternatives, without those that contain all conditions of a shorter one."""
    kept: TestDemand = []
    sets: list[frozenset[Any]] = []
    for one in sorted(alternatives, key=len):
        asked = frozenset(one)
        if not any(other <= asked for other in sets):
            kept.append(one)
            sets.append(asked)
            if len(kept) == _MOST_ALTERNATIVES:
                break
    return kept


def _joined(one: TestAlternative, other: TestAlternative) -> TestAlternative | None:
    """Return the conditions of both alternatives without those that follow from another; None if they contradict."""
    made = list(one)
    for condition in other:
        follows = False
        for known in tuple(made):
            if known[1] != condition[1] or known[0] != condition[0]:
                continue
            relation = _relation(known, condition)
            if relation == "clash":
                return None
            if relation == "first":
                follows = True
            elif relation == "second":
                made.remove(known)
        if not follows:
            made.append(condition)
    return tuple(made)


def _relation(first: Any, second: Any) -> str:
    """Return how two conditions on one input relate.

    - ``clash``: they exclude each other.
    - ``first``: the second follows from the first.
    - ``second``: the first follows from the second.
    - "": none of these is known.
    """
    if first[2:4] == second[2:4]:
        return "first" if first[4] == second[4] else "clash"
    if first[2] == "is" and second[2] == "is":
        one, other = ({(type(value), value) for value in condition[3]} for condition in (first, second))
        if first[4] and second[4]:
            return "clash" if not one & other else "first" if one <= other else "second" if other <= one else ""
        if first[4]:
            return "clash" if one <= other else "first" if not one & other else ""
        if second[4]:
            return "clash" if other <= one else "second" if not one & other else ""
        return "first" if one >= other else "second" if other >= one else ""
    for asked, exact, name in ((second, first, "first"), (first, second, "second")):
        if asked[2] == "true" and exact[2] == "is" and exact[4]:
            fits = {bool(value) == asked[4] for value in exact[3]}
            return "clash" if fits == {False} else name if fits == {True} else ""
    return ""


def compare(left: Term, op: ast.cmpop, right: Term) -> tuple[TestDemand, TestDemand]:
    """Return what ``left op right`` demands of a case to be true, and what to be false."""
    for index, side in enumerate((left, right)):
        if side[0] == "if":
            first = compare(*((side[3], op, right) if index == 0 else (left, op, side[3])))
            second = compare(*((side[4], op, right) if index == 0 else (left, op, side[4])))
            true, false = (
                any_of([all_of([side[1], one]), all_of([side[2], other])])
                for one, other in zip(first, second, strict=True)
            )
            return true, false
    if isinstance(op, (ast.NotEq, ast.IsNot, ast.NotIn)):
        plain = {ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In}[type(op)]()
        true, false = compare(left, plain, right)
        return false, true
    if isinstance(op, ast.In):
        return _membership(left, right)
    if isinstance(op, (ast.Eq, ast.Is)):
        return _equality(left, right)
    return _order(left, _ORDERS[type(op)], right) if type(op) in _ORDERS else (PERHAPS, PERHAPS)


def _membership(left: Term, right: Term) -> tuple[TestDemand, TestDemand]:
    """Return what ``left in right`` demands of a case to be true, and what to be false."""
    if right[0] == "items":
        pairs = []
        constants = tuple(value for item in right[1] for value in (_constant(item),) if value is not None)
        if constants:
            pairs.append(_question(left, "is", tuple(value for (value,) in constants)))
        pairs += [_equality(left, item) for item in right[1] if _constant(item) is None]
        return any_of([true for true, _ in pairs]), all_of([false for _, false in pairs])
    value = _constant(left)
    if value is not None and right[0] in INPUTS:
        return _question(right, "contains", value)
    return PERHAPS, PERHAPS


def _equality(left: Term, right: Term) -> tuple[TestDemand, TestDemand]:
    """Return what ``left == right`` demands of a case to be true, and what to be false."""
    if left[0] in INPUTS and right[0] in INPUTS:
        return _related(*((right, "same", left) if right[0] == "field" != left[0] else (left, "same", right)))
    for rest, other in ((left, right), (right, left)):
        if rest[0] == "rest" and other == ("const", 0):
            return _multiple(rest)
    for one, other in ((left, right), (right, left)):
        value = _constant(other)
        if value is not None:
            return _question(one, "is", value)
    return PERHAPS, PERHAPS


def _order(left: Term, operation: str, right: Term) -> tuple[TestDemand, TestDemand]:
    """Return what ``left < right``, or another comparison of order, demands to be true, and what to be false."""
    if left[0] in INPUTS and right[0] in INPUTS:
        between, mirrored = _BETWEEN[operation]
        return _related(*((right, between, left) if mirrored else (left, between, right)))
    value = _constant(right)
    if value is not None:
        return _question(left, operation, value)
    value = _constant(left)
    return _question(right, _MIRRORED[operation], value) if value is not None else (PERHAPS, PERHAPS)


def _question(term: Term, operation: str, values: Any) -> tuple[TestDemand, TestDemand]:
    """Return the demands for an operation with ``values`` to hold for ``term``, and not to hold."""
    known = _constant(term)
    if known is not None:
        holds = _answer(known[0], operation, values)
        return (PERHAPS, PERHAPS) if holds is None else (ALWAYS, NEVER) if holds else (NEVER, ALWAYS)
    if term[0] not in INPUTS:
        return PERHAPS, PERHAPS
    kind = _KINDS.get(term[0], term[0])
    true, false = ([((kind, term[1], operation, values, wanted),)] for wanted in (True, False))
    return true, false


def _answer(value: Any, operation: str, values: Any) -> bool | None:
    """Return whether an operation holds for a constant; None if that cannot be told."""
    if operation == "is":
        return any(type(value) is type(other) and value == other for other in values)
    return None


def _constant(term: Term) -> tuple[Any] | None:
    """Return the value of a constant term in a tuple of one, since the value may be None; None for any other term."""
    if term[0] == "const":
        return (term[1],) if _is_plain(term[1]) else None
    if term[0] == "items" and term[1]:
        values = [value for item in term[1] for value in _constant(item) or ()]
        return (tuple(values),) if len(values) == len(term[1]) else None
    return None


def _is_plain(value: Any) -> bool:
    """Return whether every JSON reader gives back this constant unchanged."""
    if type(value) is str:
        return value.isascii() or value.isprintable()
    if type(value) in (int, float):
        return bool(-(2**53) <= value <= 2**53)
    return value is None or type(value) is bool
