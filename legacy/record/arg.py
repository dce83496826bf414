"""The metadata of a field of the record."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Arg:
    """A field's metadata, inside ``Annotated``; ``no_cli`` marks a field that no flag sets.

    Help, choices and flags are in the table `harness.world.records`. The codemods add their marks here.
    """

    no_cli: bool = False
