"""What a process has published: its arguments, the flags that they resolve to, and how each came about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .arg import resolvable_fields
from .errors import FlagDriftError, FrozenFlagsError, PublishError
from .flags import Flags, leaf_of
from .gate import Provenance, apply_model_overrides, validate
from .pipeline import Resolution


class RuntimeContext:
    """What a process has published; it publishes as a whole or not at all.

    New flags are made beside the old ones, which they replace only after every check has passed.
    """

    def __init__(self) -> None:
        self.flags = Flags()
        self.provenance: tuple[Provenance, ...] = ()
        self._arguments: Any = None
        self._pristine: Any = None
        self._declarations: tuple[tuple[str, dict[str, Any]], ...] = ()
        self._terminal: tuple[tuple[str, dict[str, Any]], ...] = ()
        self._reasons: dict[str, str] = {}

    @property
    def arguments(self) -> Any:
        """The published arguments. Raises PublishError before anything was published."""
        if self._arguments is None:
            raise PublishError("no arguments were published: publish() comes first")
        return self._arguments

    def publish(self, resolution: Resolution, *, terminal: Sequence[tuple[str, Mapping[str, Any]]] = ()) -> None:
        """Resolve the flags from a finished ``resolution``, then write its values onto its arguments.

        ``terminal`` declarations are applied last, also after those that `declare_late` adds. Publishing again starts
        anew. Raises FrozenFlagsError after `freeze`, FlagDriftError if a flag differs from the value that the passes
        saw last, and every error of `apply_model_overrides`. After an error nothing has changed, not even the
        arguments.
        """
        self._refuse_frozen("publish")
        arguments = resolution.arguments
        # A copy of the record as it was, because a late declaration resolves all flags again from these values.
        pristine = object.__new__(type(arguments))
        vars(pristine).update(resolution.pristine)
        declarations = tuple((source, dict(declared)) for source, declared in resolution.declarations)
        last = tuple((source, dict(declared)) for source, declared in terminal)
        whitelist, reasons = resolvable_fields(type(arguments)), resolution.reasons
        flags, provenance = _resolved(pristine, whitelist, declarations, last, reasons)
        flags.capture.enable_torch_compile = bool(getattr(arguments, "enable_torch_compile", False))

        enforced = {field: value for _, declared in last for field, value in declared.items()}
        _check_parity(flags, {**resolution.values, **enforced}.__getitem__, whitelist)

        resolution.materialize()
        vars(arguments).update(enforced)
        self.flags, self.provenance = flags, provenance
        self._arguments, self._pristine = arguments, pristine
        self._declarations, self._terminal, self._reasons = declarations, last, reasons

    def declare_late(self, source: str, declared: Mapping[str, Any], *, reason: str = "") -> None:
        """Add a declaration after publishing, for example one that depends on the loaded weights.

        All flags are resolved again, and the arguments get the new values of the declared fields. ``reason`` is one
        sentence for the provenance.

        Raises PublishError before publishing, FrozenFlagsError after `freeze`, and what the gate raises; nothing has
        changed then.
        """
        arguments = self.arguments
        self._refuse_frozen("declare_late")
        whitelist = resolvable_fields(type(arguments))
        validate([(source, declared)], whitelist)
        declarations = (*self._declarations, (source, dict(declared)))
        reasons = {**self._reasons, source: reason}
        flags, provenance = _resolved(self._pristine, whitelist, declarations, self._terminal, reasons)
        flags.capture = self.flags.capture
        for field in declared:
            group, leaf = leaf_of(flags, field)
            vars(arguments)[field] = getattr(group, leaf)
        self.flags, self.provenance = flags, provenance
        self._declarations, self._reasons = declarations, reasons

    def check_parity(self) -> None:
        """Raise FlagDriftError if the flag of a resolvable field is not the argument's value; it names all such."""
        arguments = self.arguments
        _check_parity(self.flags, lambda field: getattr(arguments, field), resolvable_fields(type(arguments)))

    def freeze(self) -> None:
        """Allow no more writes of flags, except of the capture group, and no more publishing."""
        self.flags.freeze()

    def _refuse_frozen(self, what: str) -> None:
        if self.flags.frozen:
            raise FrozenFlagsError(f"{what}() after freeze(): the flags of this process are final")


def _check_parity(flags: Flags, argument_of: Callable[[str], Any], fields: Sequence[str]) -> None:
    apart = []
    for field in fields:
        group, leaf = leaf_of(flags, field)
        flag, argument = getattr(group, leaf), argument_of(field)
        if type(flag) is not type(argument) or flag != argument:
            apart.append(f"{field} (flag {flag!r}, argument {argument!r})")
    if apart:
        raise FlagDriftError(f"flags and arguments differ: {', '.join(apart)}")


def _resolved(
    pristine: Any,
    whitelist: Sequence[str],
    declarations: Sequence[tuple[str, Mapping[str, Any]]],
    terminal: Sequence[tuple[str, Mapping[str, Any]]],
    reasons: Mapping[str, str],
) -> tuple[Flags, tuple[Provenance, ...]]:
    flags = Flags()
    return flags, apply_model_overrides(
        flags, pristine, declarations, whitelist=whitelist, terminal=terminal, reasons=reasons
    )
