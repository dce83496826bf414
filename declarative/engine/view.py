"""What passes and providers read: the arguments, as they are or as they have been declared so far, never to write.

A view's attributes are looked up in one dict that the pipeline owns and extends: reading one costs no more than
reading an attribute of the record itself, and recording what was read costs nothing unless a recording view is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

_MISSING: Final = object()

View = TypeVar("View", bound="ReadOnlyView")


class _WithDict:
    """Only here for the descriptor of its instances' dict, which `ReadOnlyView` hides."""


_DICT: Final[Any] = _WithDict.__dict__["__dict__"]


def view_of(view: type[View], values: dict[str, Any]) -> View:
    """Return ``view(values)``, in less time."""
    made = _NEW(view)
    _SET_DICT(made, values)
    return made


_NEW: Final = object.__new__
_SET_DICT: Final = _DICT.__set__


class ReadOnlyView(_WithDict):
    """Attributes served from a dict that somebody else owns. Assigning one raises AttributeError."""

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
"""The value of a view that holds what was declared under dotted names."""


def with_nested(view: type[View], roots: Sequence[str], objects: frozenset[str]) -> type[View]:
    """Return ``view`` with a read-only view in place of each of ``roots``; ``objects`` are those of `NestedView`."""

    def nested(root: str) -> property:
        # Made when it is read: few passes look inside.
        def show(self: ReadOnlyView) -> NestedView:
            values = _DICT.__get__(self)
            return NestedView(values[root], root, values[NESTED], objects)

        return property(show)

    return type(view.__name__, (view,), {"__slots__": (), **{root: nested(root) for root in roots}})


class RecordingView(ResolvedView):
    """A view that adds the name of each value that is read to ``seen``; nested values under their dotted names."""

    # Beside the dict, which holds the values and nothing else.
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
    """An object inside the arguments, read-only; what was declared under dotted names lies on top of it."""

    __slots__ = ("_parts",)
    _parts: tuple[object, str, Mapping[str, Any], frozenset[str], set[str] | None]

    def __init__(
        self,
        target: object,
        path: str,
        declared: Mapping[str, Any],
        objects: frozenset[str],
        seen: set[str] | None = None,
    ) -> None:
        """``declared`` holds values by dotted name; ``objects`` are the paths of the objects inside others."""
        object.__setattr__(self, "_parts", (target, path, declared, objects, seen))

    def recorded_in(self, seen: set[str]) -> NestedView:
        """Return the same view, adding what is read to ``seen``."""
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
    """Any object, to read only: attributes and methods are its own, assigning one raises AttributeError.

    What an attribute holds is handed out as it is.
    """

    __slots__ = ("_target",)
    _target: object

    def __init__(self, target: object) -> None:
        object.__setattr__(self, "_target", target)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self._target).__name__} is read-only here: {name!r} cannot be assigned")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self._target).__name__} is read-only here: {name!r} cannot be deleted")
