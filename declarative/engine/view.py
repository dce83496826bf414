"""What passes and providers read: the arguments, read-only, pristine or with the declarations so far on top.

A view has the dict of the pipeline as its own ``__dict__``, so reading an attribute calls no function. A lookup in
``__getattr__`` would be simpler, but it takes 17 times as long (1.4 instead of 0.08 microseconds), and a case reads
some 60 attributes in 0.2 milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

_MISSING: Final = object()

View = TypeVar("View", bound="ReadOnlyView")


class _WithDict:
    """Gives `ReadOnlyView` the descriptor of its instances' dict, which that class hides."""


_DICT: Final[Any] = _WithDict.__dict__["__dict__"]


class ReadOnlyView(_WithDict):
    """An object whose attributes are the items of a dict that its maker may still change.

    Assigning an attribute raises AttributeError.
    """

    def __init__(self, values: dict[str, Any]) -> None:
        _DICT.__set__(self, values)

    # vars(view) must not be a way to write.
    @property
    def __dict__(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The values, read-only."""
        return MappingProxyType(_DICT.__get__(self))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is read-only: declare {name!r} instead of assigning it")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is read-only: {name!r} cannot be deleted")

    if TYPE_CHECKING:
        # The values are attributes that no class lists.
        def __getattr__(self, name: str) -> Any: ...


class ResolvedView(ReadOnlyView):
    """The pristine arguments with all declarations up to now on top; ``view.model`` is the model."""


NESTED: Final = "_nested"
"""The key of a view's dict under which it keeps the values that were declared under dotted names."""


def with_nested(view: type[View], roots: Sequence[str], objects: frozenset[str]) -> type[View]:
    """Return a subclass of ``view`` that shows the objects named ``roots`` through a `NestedView` each.

    ``objects`` are the dotted names of the objects inside them, as in `NestedView`.
    """

    def nested(root: str) -> property:
        # Made only when it is read, because few passes look inside.
        def show(self: ReadOnlyView) -> NestedView:
            values = _DICT.__get__(self)
            return NestedView(values[root], root, values[NESTED], objects)

        return property(show)

    return type(view.__name__, (view,), {root: nested(root) for root in roots})


class RecordingView(ResolvedView):
    """A view that adds the name of each value that is read to ``seen``, dotted for values in nested objects."""

    # The instance's dict holds the values and nothing else, so the set needs a place outside it.
    __slots__ = ("_seen",)
    _seen: set[str]

    def __init__(self, values: dict[str, Any], seen: set[str]) -> None:
        super().__init__(values)
        object.__setattr__(self, "_seen", seen)

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name.startswith("__") or name == "_seen":
            return value
        seen = self._seen
        if isinstance(value, NestedView):
            return value.recorded_in(seen)
        seen.add(name)
        return value


class NestedView:
    """An object inside the arguments, read-only, with the values declared under dotted names on top."""

    _parts: tuple[object, str, Mapping[str, Any], frozenset[str], set[str] | None]

    def __init__(
        self,
        target: object,
        path: str,
        declared: Mapping[str, Any],
        objects: frozenset[str],
        seen: set[str] | None = None,
    ) -> None:
        """Show ``target``, whose dotted name is ``path``.

        ``declared`` holds values by dotted name, ``objects`` the dotted names of objects inside others. The names of
        values that are read are added to ``seen`` unless it is None.
        """
        object.__setattr__(self, "_parts", (target, path, declared, objects, seen))

    def recorded_in(self, seen: set[str]) -> NestedView:
        """Return the same view, which adds the names of values that are read to ``seen``."""
        return NestedView(*self._parts[:4], seen)

    def __getattr__(self, name: str) -> Any:
        target, parent, declared, objects, seen = self._parts
        path = f"{parent}.{name}"
        if path in objects:
            return NestedView(getattr(target, name), path, declared, objects, seen)
        if seen is not None:
            seen.add(path)
        value = declared.get(path, _MISSING)
        return getattr(target, name) if value is _MISSING else value

    def __setattr__(self, name: str, value: object) -> NoReturn:
        path = f"{self._parts[1]}.{name}"
        raise AttributeError(f"{self._parts[1]} is read-only: declare {path!r} instead of assigning it")


class ReadOnly:
    """A read-only stand-in for any object: it has the attributes and methods of ``target``.

    Assigning or deleting an attribute raises AttributeError. The values themselves are not protected: a list can
    still be changed.
    """

    _target: object

    def __init__(self, target: object) -> None:
        object.__setattr__(self, "_target", target)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self._target).__name__} is read-only here: {name!r} cannot be assigned")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self._target).__name__} is read-only here: {name!r} cannot be deleted")
