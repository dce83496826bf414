"""Declared writes of a record's fields: recorded in order, and applied at once, or when the resolution ends.

``declare`` does what the assignments that it replaces did, and remembers who asked for which value. Fields that
``applies_at_end`` names are set when the function it decorates ends; until then ``view_of`` reads them.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, get_args, get_type_hints

_STASH = "_declared"
_WAITING = "_waiting"
_Provider = TypeVar("_Provider", bound=Callable[..., None])
_Resolution = TypeVar("_Resolution", bound=Callable[..., Any])


class Declaration(NamedTuple):
    """One declared write: the field, the value, and the function that declared it."""

    field: str
    value: Any
    source: str


def declare(record: Any, source: str, /, **values: Any) -> None:
    """Set each field of ``record`` to its value, in the order given, and append each to the record's stash.

    A field that is applied at the end of the resolution is set then. Where ``record`` is the view of a pass, that
    pass declares them. Raises whatever setting the attribute raises; what comes after is neither set nor recorded
    then.
    """
    if type(record) is View:
        record.declare(**values)
        return
    for field, value in values.items():
        waiting = _waiting_in(record)
        if waiting is not None and field in waiting.fields:
            waiting.values[field] = value
        else:
            setattr(record, field, value)
        try:
            attributes = record.__dict__
            # A new tuple each time: a shallow copy of the record must not write into the stash of the first.
            attributes[_STASH] = (*attributes.get(_STASH, ()), Declaration(field, value, source))
        except (AttributeError, TypeError):
            # A record without a dict of its own takes the value and keeps no stash.
            continue


class _Waiting(NamedTuple):
    """The fields that are applied when the resolution ends, the values that wait for it, and what reads them."""

    fields: frozenset[str]
    values: dict[str, Any]
    view: Any = None


def _waiting_in(record: Any) -> _Waiting | None:
    return None if type(record) is View else getattr(record, "__dict__", {}).get(_WAITING)


def applies_at_end(*fields: str) -> Callable[[_Resolution], _Resolution]:
    """Make the function that resolves its first argument apply what is declared of ``fields`` when it ends.

    It applies the last value of each, also when it raises. A call inside the call, for the same record, applies
    nothing.
    """

    def mark(resolution: _Resolution) -> _Resolution:
        @functools.wraps(resolution)
        def resolve(*arguments: Any, **named: Any) -> Any:
            record = arguments[0] if arguments else named[resolution.__code__.co_varnames[0]]
            attributes = getattr(record, "__dict__", None)
            if attributes is None or _WAITING in attributes:
                return resolution(*arguments, **named)
            attributes[_WAITING] = waiting = _Waiting(frozenset(fields), {})
            attributes[_WAITING] = waiting._replace(view=View(record))
            try:
                return resolution(*arguments, **named)
            finally:
                applied_now(record)
                del attributes[_WAITING]

        return resolve  # type: ignore[return-value]

    return mark


def applied_now(record: Any) -> Any:
    """Return ``record`` with the values that wait for the end of its resolution set: for code that knows no view."""
    waiting = _waiting_in(record)
    while waiting is not None and waiting.values:
        field = next(iter(waiting.values))
        setattr(record, field, waiting.values.pop(field))
    return record


def view_of(record: Any) -> Any:
    """Return what reads ``record`` as it is with the values that wait for the end of its resolution."""
    waiting = _waiting_in(record)
    return record if waiting is None or not waiting.values else waiting.view


class View:
    """A record, to read only: what a pass has declared so far lies on top of the record's own attributes.

    Values that wait for the end of the resolution lie between the two.
    """

    # Until something is declared its dict is the record's own, so that a read costs what it costs there. From then
    # on it holds what is declared, and what it does not hold is asked of the record.
    __slots__ = ("__dict__", "_pending", "_record")

    def __init__(self, record: Any) -> None:
        _set_record(self, record)
        _set_pending(self, None)
        waiting = _waiting_in(record)
        if waiting is not None:
            _set_dict(self, waiting.values)
        elif _is_plain(record):
            _set_dict(self, record.__dict__)

    def declare(self, **values: Any) -> None:
        """Declare each field's value; it is applied, in order, when the pass ends."""
        if self._pending is None:
            _set_pending(self, [])
            _set_dict(self, {})
        self._pending.extend(values.items())
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        # Before anything is declared the dict is that of the values that wait, or the record's own.
        waiting = None if self._pending is None else _waiting_in(self._record)
        if waiting is not None and name in waiting.values:
            return waiting.values[name]
        return getattr(self._record, name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a pass reads: declare {name!r} instead of assigning it")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a pass reads: {name!r} cannot be deleted")


_set_record = View.__dict__["_record"].__set__
_set_pending = View.__dict__["_pending"].__set__
_set_dict = View.__dict__["__dict__"].__set__
_before_dict: dict[type, frozenset[str] | None] = {}


def _is_plain(record: Any) -> bool:
    """Return whether reading an attribute that the record's dict holds gives what it holds there."""
    kind = type(record)
    if kind not in _before_dict:
        plain = hasattr(record, "__dict__") and not any(
            "__getattribute__" in vars(owner) for owner in kind.__mro__[:-1]
        )
        _before_dict[kind] = _looked_up_before_dict(kind) if plain else None
    names = _before_dict[kind]
    return names is not None and record.__dict__.keys().isdisjoint(names)


def _looked_up_before_dict(kind: type) -> frozenset[str]:
    every = {name: value for owner in reversed(kind.__mro__) for name, value in vars(owner).items()}
    return frozenset(("declare", *(name for name, value in every.items() if hasattr(type(value), "__set__"))))


def run_pass(record: Any, a_pass: Callable[..., None], /, *arguments: Any) -> None:
    """Call ``a_pass`` with a view of ``record``, then declare what it declared, in order, in its own name.

    When the pass raises, what it had declared until then is applied all the same, as assignments would have been.
    """
    view = View(record)
    try:
        a_pass(view, *arguments)
    finally:
        for field, value in view._pending or ():
            declare(record, a_pass.__name__, **{field: value})


def provides(*architectures: Any) -> Callable[[_Provider], _Provider]:
    """Make a pass a provider for the architectures that have one of the names given, or fulfil one of the tests."""

    def mark(a_pass: _Provider) -> _Provider:
        a_pass.architectures = architectures  # type: ignore[attr-defined]
        return a_pass

    return mark


def run_provider(
    record: Any, architecture: Any, providers: tuple[Callable[..., None], ...], /, *arguments: Any
) -> None:
    """Run the first of ``providers`` that is for ``architecture``, as a pass; nothing where none is."""
    for provider in providers:
        for asked in provider.architectures:  # type: ignore[attr-defined]
            if asked(architecture) if callable(asked) else asked == architecture:
                run_pass(record, provider, *arguments)
                return


def declarations(record: Any) -> tuple[Declaration, ...]:
    """Return what has been declared about ``record``, in order."""
    stash: tuple[Declaration, ...] = getattr(record, "__dict__", {}).get(_STASH, ())
    return stash


def provenance(record: Any, field: str) -> tuple[Declaration, ...]:
    """Return the declarations of one field, in order; the last one is the value's, unless it was assigned since."""
    return tuple(entry for entry in declarations(record) if entry.field == field)


def resolvable_fields(record_class: type) -> tuple[str, ...]:
    """Return the names of the fields tagged ``resolvable``, in the fields' order.

    Raises TypeError when ``record_class`` is no dataclass.
    """
    hints = get_type_hints(record_class, include_extras=True)
    return tuple(
        field.name
        for field in dataclasses.fields(record_class)
        if any(getattr(item, "resolvable", False) is True for item in get_args(hints[field.name]))
    )
