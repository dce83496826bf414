"""The one function that turns declarations into flags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .errors import DeclarationError, FrozenFlagsError, hint
from .flags import LEAF_MAP, Flags, leaf_of


class Provenance(NamedTuple):
    """One declared write: who wrote ``field``, the value that it had, the value that it has now, and the reason.

    ``reason`` is the sentence that the source gives; it is empty for a source that gives none.
    """

    source: str
    field: str
    base: Any
    resolved: Any
    reason: str = ""


def apply_model_overrides(
    flags: Flags,
    arguments: Any,
    declarations: Sequence[tuple[str, Mapping[str, Any]]],
    *,
    whitelist: Iterable[str],
    terminal: Sequence[tuple[str, Mapping[str, Any]]] = (),
    leaf_map: Mapping[str, str] = LEAF_MAP,
    reasons: Mapping[str, str] | None = None,
) -> tuple[Provenance, ...]:
    """Write every field of ``whitelist`` into ``flags``: its last declared value, else that of ``arguments``.

    ``declarations`` are (source, fields) in order; ``terminal`` ones count after all of them. ``reasons`` gives
    the reason of each source. Returns one entry for each declared write, in order. ``arguments`` is only read.

    Everything is checked first, and nothing is written if a check fails. Raises DeclarationError for a declaration
    that is no mapping or has a field off the whitelist, FlagError for a field without a leaf, FrozenFlagsError for
    frozen flags.
    """
    names = tuple(whitelist)
    ordered = (*declarations, *terminal)
    validate(ordered, names)
    leaves = {field: leaf_of(flags, field, leaf_map) for field in names}
    for field, (group, _) in leaves.items():
        if group.frozen:
            raise FrozenFlagsError(f"{type(group).__name__} is frozen: {field!r} cannot be resolved, nothing was")
    resolved = {field: getattr(arguments, field) for field in names}

    log = []
    for source, declared in ordered:
        for field, value in declared.items():
            log.append(Provenance(source, field, resolved[field], value, (reasons or {}).get(source, "")))
            resolved[field] = value
    for field, (group, leaf) in leaves.items():
        setattr(group, leaf, resolved[field])
    return tuple(log)


def validate(declarations: Iterable[tuple[str, Mapping[str, Any]]], whitelist: Sequence[str]) -> None:
    """Raise DeclarationError for the first declaration that is no mapping or has a field off ``whitelist``."""
    for source, declared in declarations:
        if not isinstance(declared, Mapping):
            raise DeclarationError(f"{source} declares {type(declared).__name__}, not a mapping: nothing was written")
        for field in declared:
            if field not in whitelist:
                raise DeclarationError(
                    f"{source} declares {field!r}{hint(str(field), whitelist)}: it is not resolvable, "
                    "nothing was written"
                )
