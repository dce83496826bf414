"""The arguments of a server in 0.5.14, from one table of which `legacy` and `declarative` make their records.

The table, ``data/arguments.toml``, has the arguments that the resolution slice reads or writes, those that a
generated case sets, and those of the real launches. Values that are set before the slice begins are in
`harness.world.slice`.
"""

from __future__ import annotations

import tomllib
from dataclasses import MISSING
from importlib.resources import files
from typing import Any, Final, NamedTuple

from harness.world import choices
from harness.world.cuda_graph import CudaGraphConfig
from harness.world.fields import FieldSpec
from harness.world.records import field_spec

_TYPES: Final = {"bool": bool, "int": int, "float": float, "str": str, "CudaGraphConfig": CudaGraphConfig}


class Argument(NamedTuple):
    """One argument: its name in the record, its type as a Python hint, and what the command line shows.

    ``default`` is `dataclasses.MISSING` for an argument that is required, and for one whose default ``is_made`` anew
    for each record because a resolution changes it. ``flags`` begin with the one that the name gives.
    """

    name: str
    hint: Any
    default: Any
    is_made: bool
    help: str
    choices: tuple[str, ...]
    flags: tuple[str, ...]


def argument_specs() -> dict[str, FieldSpec]:
    """Return the description of each argument by name, in the order of the table."""
    return {
        name: field_spec(name, hint, default, choices=choices, flags=flags, is_made=is_made)
        for name, hint, default, is_made, _, choices, flags in ARGUMENTS
    }


def _argument(name: str, row: dict[str, Any]) -> Argument:
    word, optional, _ = row["type"].partition("?")
    kind = _TYPES[word]
    return Argument(
        name=name,
        hint=kind | None if optional else kind,
        default=row.get("default", None if optional else MISSING),
        is_made=kind is CudaGraphConfig,
        help=row["help"],
        choices=getattr(choices, row["choices"]) if "choices" in row else (),
        flags=("--" + name.replace("_", "-"), *row.get("aliases", ())),
    )


_TABLE: Final = tomllib.loads(files("harness.world").joinpath("data/arguments.toml").read_text(encoding="utf-8"))
ARGUMENTS: Final = tuple(_argument(name, row) for name, row in _TABLE.items())
