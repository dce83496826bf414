"""What a field of the record says about itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Arg:
    """A field's metadata, inside ``Annotated``.

    The flag is the field's name with hyphens; ``aliases`` are further ones. ``no_cli`` fields have no flag.
    """

    help: str
    choices: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    no_cli: bool = False
