"""The names that the runtime offers to a tree: codemods write calls of them, and read them in a migrated tree."""

from __future__ import annotations

from typing import Final

RUNTIME: Final = "overrides_runtime"
"""The module that `add_runtime` puts beside the record."""

DECLARE: Final = "declare"
"""Records a value of a field and its source; also the method by which a pass declares through its view."""

VIEW_OF: Final = "view_of"
APPLIED_NOW: Final = "applied_now"
GIVE_RECORD: Final = (VIEW_OF, APPLIED_NOW)
"""The functions that return the record they are given, or something that reads as the record does."""

APPLIES_AT_END: Final = "applies_at_end"
"""The decorator of the function that resolves the record, once what it declares waits until it returns."""

RUNS_PASSES: Final = ("run_pass", "run_provider")
"""The functions that run passes over a view of their first argument. A pass, or a tuple of passes, is the second
argument of ``run_pass`` and the third of ``run_provider``."""
