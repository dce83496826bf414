"""The declarative engine: what a resolution is made of, without knowing what is resolved.

- `arg`: a field's metadata, and the whitelist of resolvable fields that follows from it.
- `steps`: passes and providers, each with the names that it may write.
- `registry`: which providers an architecture has.
- `view`: the read-only objects that passes and providers get.
- `order`: which steps must come before which.
- `pipeline`: slots in execution order; runs one resolution.
- `exchange`: the slots with two steps in each other's place.
- `stash`: what was declared about a record before its resolution starts.
- `gate`: the one place where declarations become flags; its result is the provenance.
- `flags`: the resolved flags, in typed groups.
- `context`: what a process has published.

It imports the standard library only, and itself by relative names, so that it can be copied into any tree.
"""

from __future__ import annotations

from .arg import Arg, resolvable_fields
from .context import RuntimeContext
from .errors import DeclarationError, FlagDriftError, FlagError, FrozenFlagsError, PublishError
from .exchange import exchanged
from .flags import LEAF_MAP, Flags, leaf_of
from .gate import Provenance, apply_model_overrides
from .order import check_order, constraints_of
from .pipeline import DISPATCH, Pipeline, Resolution, Slot
from .registry import Registry
from .stash import declare_before_resolution
from .steps import Pass, Provider, check, post_process, provider
from .view import ReadOnly, ReadOnlyView, RecordingView, ResolvedView

__all__ = [
    "DISPATCH",
    "LEAF_MAP",
    "Arg",
    "DeclarationError",
    "FlagDriftError",
    "FlagError",
    "Flags",
    "FrozenFlagsError",
    "Pass",
    "Pipeline",
    "Provenance",
    "Provider",
    "PublishError",
    "ReadOnly",
    "ReadOnlyView",
    "RecordingView",
    "Registry",
    "Resolution",
    "ResolvedView",
    "RuntimeContext",
    "Slot",
    "apply_model_overrides",
    "check",
    "check_order",
    "constraints_of",
    "declare_before_resolution",
    "exchanged",
    "leaf_of",
    "post_process",
    "provider",
    "resolvable_fields",
]
