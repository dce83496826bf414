"""The record: the arguments that a user sets. It stays pristine until a resolution writes its result onto it.

The fields come from the table `harness.world.records`, so that port and successor cannot have different ones. The
28 resolved fields are marked ``resolvable``: these marks are the whitelist of what a pass may declare as a flag.
"""

from __future__ import annotations

from dataclasses import field, make_dataclass
from typing import Annotated as A
from typing import Any, Final

from declarative.engine.arg import Arg
from harness.world.records import ARGUMENTS, Argument
from harness.world.slice import FIELDS


def _field_of(argument: Argument) -> tuple[str, Any, Any]:
    metadata = Arg(argument.help, argument.choices, argument.flags[1:], resolvable=argument.name in FIELDS)
    default = field(default_factory=argument.hint) if argument.is_made else field(default=argument.default)
    return argument.name, A[argument.hint, metadata], default


_USES_CACHE: Final = Arg("Whether the prefix cache keeps states too.", no_cli=True, resolvable=True)

ServerArgs: Final[Any] = make_dataclass(
    "ServerArgs",
    [
        *map(_field_of, ARGUMENTS),
        # State that no user sets, so the constructor does not take it.
        ("uses_mamba_radix_cache", A[bool, _USES_CACHE], field(default=False, init=False)),
        ("_quantization_explicitly_unset", bool, field(default=False, init=False)),
    ],
    namespace={"__doc__": "The arguments of a server.", "__module__": __name__},
)
