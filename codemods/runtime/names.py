"""The names that the runtime offers to a tree.

Codemods write calls of these into a tree, and recognise the calls in a tree that they migrated before.
"""

from __future__ import annotations

from typing import Final

RUNTIME: Final = "overrides_runtime"
"""The name of the module that `add_runtime` puts beside the record."""

DECLARE: Final = "declare"
"""The function that sets a field and records its value and source; also the method of a view that declares."""

VIEW_OF: Final = "view_of"
APPLIED_NOW: Final = "applied_now"
GIVE_RECORD: Final = (VIEW_OF, APPLIED_NOW)
"""The functions that return the record that they get, or a view of it."""

APPLIES_AT_END: Final = "applies_at_end"
"""The decorator of the function that resolves the record, if its declarations are applied when it ends."""

RUNS_PASSES: Final = ("run_pass", "run_provider")
"""The functions that run a pass with a view of their first argument.

The pass is the second argument of ``run_pass``. A tuple of providers is the third argument of ``run_provider``.
"""
