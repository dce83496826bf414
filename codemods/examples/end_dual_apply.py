"""Before and after of `end_dual_apply`."""

from __future__ import annotations

from codemods.codemod import Example

_HEAD = """\
from app.overrides_runtime import declare


class Args:
    page_size: int = 1
    backend: str = ""

    def __post_init__(self):
        self._handle()

"""
_HEAD_AFTER = """\
from app.overrides_runtime import applies_at_end, declare, view_of


class Args:
    page_size: int = 1
    backend: str = ""

    @applies_at_end("page_size")
    def __post_init__(self):
        self._handle()

"""


def _example(
    title: str,
    before: str,
    after: str | None = None,
    left: tuple[str, ...] = (),
    *,
    fields: tuple[str, ...] = ("page_size",),
    apply_before: tuple[str, ...] = (),
    heads: tuple[str, str] = (_HEAD, _HEAD_AFTER),
) -> Example:
    return Example(
        title,
        heads[0] + before,
        None if after is None else heads[1] + after,
        options={"fields": fields, "apply_before": apply_before},
        left=left,
    )


EXAMPLES = (
    _example(
        "What the resolution reaches reads the view; what it does not reach stays",
        """\
    def _handle(self):
        declare(self, "_handle", page_size=self.page_size or 1)
        check(self)

    def serve(self):
        return self.page_size


def check(given):
    assert given.page_size > 0, given.backend
""",
        """\
    def _handle(self):
        declare(self, "_handle", page_size=view_of(self).page_size or 1)
        check(self)

    def serve(self):
        return self.page_size


def check(given):
    assert view_of(given).page_size > 0, given.backend
""",
    ),
)
