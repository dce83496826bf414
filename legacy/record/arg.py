"""The metadata of a field of the record."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Arg:
    """A field's metadata, inside ``Annotated``.

    If ``no_cli`` is true, no command-line flag sets the field. Help, choices and flags are in the table
    `harness.world.records`. The codemod that tags fields as resolvable adds an attribute for the tag to this class.
    """

    no_cli: bool = False
