"""Turns one assignment into statements that do the same in the same order, but declare the fields of the record.

As in Python, the value is evaluated once, before any target. Targets are assigned from left to right, and a tuple is
unpacked when its turn comes. An augmented assignment reads the target, evaluates the value, operates in place, and
stores the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from codemods.writing.emit import assignment, declaration, fresh, is_literal, names_in

_LOOKS_AT_LOCALS = {"locals", "vars", "exec", "eval", "dir"}


class CannotStore(Exception):
    """The assignment cannot be turned into declarations; the message says why."""


@dataclass
class Stores:
    """Makes the statements that replace assignments in one function."""

    field_of: Callable[[cst.BaseExpression], str | None]
    """Returns the field that a target is, if the field is one of those that move; else None."""
    source: str
    """The name of the outermost function around, which the declarations give as their source."""
    taken: set[str]
    """The names in use; temporary names are added to them."""
    quote: str = '"'
    declare: str = "declare"
    """The name of ``declare`` in the file."""
    goes_on: bool = False
    """True if the function contains a ``try`` or ``with``, and so may continue after setting a field failed."""
    made: list[str] = field(default_factory=list)
    """The field of each declared write so far."""

    def fields_in(self, target: cst.BaseExpression) -> list[str]:
        """Return the fields to declare among what ``target`` assigns, inside tuples and lists too."""
        return [name for item in leaves(target) if (name := self.field_of(item)) is not None]

    def assign(self, node: cst.Assign) -> list[cst.BaseSmallStatement]:
        """Return the statements that replace ``node``; raises CannotStore."""
        targets = [item.target for item in node.targets]
        together = self._all_at_once(targets, node.value)
        if together is not None:
            return [together]
        if len(targets) == 1:
            return self._store(targets[0], node.value)
        if is_literal(node.value):
            return self._merged([(target, node.value) for target in targets])
        # ``x = self.a = value``: if no later target uses x, x serves as the temporary name.
        first, value = targets[0], node.value
        if isinstance(first, cst.Name) and not any(first.value in names_in(target) for target in targets[1:]):
            rest: list[tuple[cst.BaseAssignTargetExpression, cst.BaseExpression]]
            rest = [(target, cst.Name(first.value)) for target in targets[1:]]
            return [assignment(first, value), *self._merged(rest)]
        held = self._temporary(self._wanted(targets))
        return [assignment(cst.Name(held), value), *self._merged([(item, cst.Name(held)) for item in targets])]

    def annotated(self, node: cst.AnnAssign) -> list[cst.BaseSmallStatement]:
        """Return the statements that replace ``node``, which has a value; functions do not evaluate annotations."""
        assert node.value is not None
        return self._store(node.target, node.value)

    def augmented(self, node: cst.AugAssign) -> list[cst.BaseSmallStatement]:
        """Return the statements that replace ``node``: read into a temporary name, operate on it, declare it."""
        name = self.field_of(node.target)
        assert name is not None
        held = self._temporary(name)
        operated = node.with_changes(target=cst.Name(held))
        return [
            assignment(cst.Name(held), node.target),
            operated,
            self._declared(node.target, [(name, cst.Name(held))]),
        ]

    def received(
        self, target: cst.BaseExpression
    ) -> tuple[cst.BaseAssignTargetExpression, list[cst.BaseSmallStatement]]:
        """Return a temporary name to use instead of ``target``, and the statements that assign it to ``target``."""
        held = self._temporary(self._wanted([target]))
        assert isinstance(target, cst.BaseAssignTargetExpression)
        return cst.Name(held), self._store(target, cst.Name(held))

    # -- the parts

    def _declared(self, owner: cst.BaseExpression, values: Sequence[tuple[str, cst.BaseExpression]]) -> cst.Expr:
        assert isinstance(owner, cst.Attribute)
        self.made += [name for name, _ in values]
        return cst.Expr(
            declaration(owner.value, self.source, values, quote=self.quote, declare=self.declare),
        )

    def _store(
        self, target: cst.BaseAssignTargetExpression, value: cst.BaseExpression
    ) -> list[cst.BaseSmallStatement]:
        name = self.field_of(target)
        if name is not None:
            return [self._declared(target, [(name, value)])]
        if isinstance(target, (cst.Tuple, cst.List)) and self.fields_in(target):
            return self._unpacked(target, value)
        return [assignment(target, value)]

    def _all_at_once(
        self, targets: Sequence[cst.BaseAssignTargetExpression], value: cst.BaseExpression
    ) -> cst.Expr | None:
        """Return one declaration for ``self.a, self.b = x, y``, or None for any other form.

        The declaration evaluates the values and sets the fields in the same order.
        """
        if len(targets) != 1:
            return None
        pairs = _pairs(targets[0], value)
        names = [self.field_of(target) for target, _ in pairs]
        owners = {_owner(target) for target, _ in pairs}
        if not pairs or None in names or len(set(names)) < len(names) or len(owners) > 1:
            return None
        return self._declared(pairs[0][0], [(name, item[1]) for name, item in zip(names, pairs, strict=True) if name])

    def _merged(
        self, pairs: Sequence[tuple[cst.BaseAssignTargetExpression, cst.BaseExpression]]
    ) -> list[cst.BaseSmallStatement]:
        """Return the stores of ``pairs``, in order; neighbouring fields of one record share a declaration."""
        made: list[cst.BaseSmallStatement] = []
        waiting: list[tuple[str, cst.BaseExpression]] = []
        holder: cst.BaseAssignTargetExpression | None = None
        for target, value in pairs:
            name = self.field_of(target)
            fits = holder is not None and _owner(target) == _owner(holder) and name not in dict(waiting)
            if holder is not None and (name is None or not fits):
                made.append(self._declared(holder, waiting))
                waiting, holder = [], None
            if name is None:
                made += self._store(target, value)
            else:
                holder = holder or target
                waiting.append((name, value))
        if holder is not None:
            made.append(self._declared(holder, waiting))
        return made

    def _unpacked(self, target: cst.Tuple | cst.List, value: cst.BaseExpression) -> list[cst.BaseSmallStatement]:
        pairs = _pairs(target, value)
        if pairs and all(is_literal(item) for _, item in pairs):
            return self._merged(pairs)
        elements: list[cst.BaseElement] = []
        later: list[cst.BaseSmallStatement] = []
        moving = False
        for element in target.elements:
            inner = element.value
            moving = moving or bool(self.fields_in(inner))
            # "a.field, x = 1, 2" does not assign x if setting a.field fails. If the function may continue then, x is
            # assigned after the field. Otherwise it is assigned at once, which is easier to read.
            if not moving or (isinstance(inner, cst.Name) and not self.goes_on):
                elements.append(element)
                continue
            held = self._temporary(self._wanted([inner]))
            elements.append(element.with_changes(value=cst.Name(held)))
            assert isinstance(inner, cst.BaseAssignTargetExpression)
            later += self._store(inner, cst.Name(held))
        return [assignment(target.with_changes(elements=elements), value), *later]

    def _temporary(self, wanted: str) -> str:
        if self.taken & _LOOKS_AT_LOCALS:
            raise CannotStore("it needs a local name of its own, and the function looks at its own locals")
        name = fresh(wanted, self.taken)
        self.taken.add(name)
        return name

    def _wanted(self, targets: Sequence[cst.BaseExpression]) -> str:
        return next((name for target in targets for name in self.fields_in(target)), "value")


def leaves(target: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the single targets in ``target``: itself, or the elements of a tuple or list, at any depth."""
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from leaves(element.value)
    else:
        yield target


def _pairs(
    target: cst.BaseExpression, value: cst.BaseExpression
) -> list[tuple[cst.BaseAssignTargetExpression, cst.BaseExpression]]:
    """Return each target with its value, if both sides are tuple or list displays of one length, else nothing.

    Nothing is returned for nested or starred targets and starred values, either.
    """
    if not isinstance(target, (cst.Tuple, cst.List)) or not isinstance(value, (cst.Tuple, cst.List)):
        return []
    if len(target.elements) != len(value.elements):
        return []
    pairs = []
    for left, right in zip(target.elements, value.elements, strict=True):
        if isinstance(left, cst.StarredElement) or isinstance(right, cst.StarredElement):
            return []
        if isinstance(left.value, (cst.Tuple, cst.List)):
            return []
        assert isinstance(left.value, cst.BaseAssignTargetExpression)
        pairs.append((left.value, right.value))
    return pairs


def _owner(target: cst.BaseExpression) -> str:
    if isinstance(target, cst.Attribute) and isinstance(target.value, cst.Name):
        return target.value.value
    return ""
