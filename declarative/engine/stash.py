"""What was declared about a record before its resolution starts, by a launcher for instance.

The stash is kept with the record, under a name that is no field. A resolution only reads it: what was declared early
counts as the first write, and passes can overwrite it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .arg import resolvable_fields
from .errors import DeclarationError, hint

_ATTRIBUTE: Final = "_declared_before_resolution"


def declare_before_resolution(arguments: Any, source: str, declared: Mapping[str, Any]) -> None:
    """Add a declaration to the stash of ``arguments``; ``source`` is the name of whoever declares.

    Raises DeclarationError, and adds nothing, if a field is not on the whitelist.
    """
    whitelist = resolvable_fields(type(arguments))
    for field in declared:
        if field not in whitelist:
            raise DeclarationError(f"{source} declares {field!r}{hint(str(field), whitelist)}: it is not resolvable")
    vars(arguments).setdefault(_ATTRIBUTE, []).append((source, dict(declared)))


def stash_of(arguments: Any) -> Sequence[tuple[str, dict[str, Any]]]:
    """Return the declarations in the stash of ``arguments``, as (source, fields), in order."""
    return tuple(vars(arguments).get(_ATTRIBUTE, ()))
