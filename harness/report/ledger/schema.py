"""The JSON schema of a ledger, for editors.

The text is in ``schemas/ledger-1.template.json``, without the paths that conditions may name. These are filled in
here, because they are made of the attributes of machines and models.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any, Final

import msgspec

from harness.engine.ledger.conditions import HEADS, known_names

_TEMPLATE: Final = "ledger-1.template.json"


def ledger_schema() -> bytes:
    """Return the schema (of draft 7, which TOML editors support) as indented JSON with a line break at the end."""
    body: dict[str, Any] = msgspec.json.decode((files("harness.report") / "schemas" / _TEMPLATE).read_bytes())
    asked = {"$ref": "#/definitions/asked"}
    free = [head for head in HEADS if known_names(head) is None]
    conditions = body["definitions"]["conditions"]
    conditions["properties"] = {f"{head}.{name}": asked for head in HEADS for name in known_names(head) or ()}
    conditions["patternProperties"] = {f"^({'|'.join(free)})\\..+$": asked}
    return msgspec.json.format(msgspec.json.encode(body), indent=2) + b"\n"
