"""Before and after of `end_dual_apply`."""

from __future__ import annotations

from examples import Example

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
    _example(
        "Names that are written out, functions inside, other classes of the tree",
        """\
    def _handle(self):
        for name in ("page_size", "backend"):
            if getattr(self, name, None) == 3:
                declare(self, "_handle", **{name: 4})
        self._is("page_size")
        wide = lambda: self.page_size > 64
        return Config.of(self, wide)

    def _is(self, name):
        return hasattr(self, name)


class Config:
    def __init__(self, page_size):
        self.page_size = page_size

    @classmethod
    def of(cls, args, wide):
        return cls(args.page_size)
""",
        """\
    def _handle(self):
        for name in ("page_size", "backend"):
            if getattr(view_of(self), name, None) == 3:
                declare(self, "_handle", **{name: 4})
        self._is("page_size")
        wide = lambda: view_of(self).page_size > 64
        return Config.of(self, wide)

    def _is(self, name):
        return hasattr(view_of(self), name)


class Config:
    def __init__(self, page_size):
        self.page_size = page_size

    @classmethod
    def of(cls, args, wide):
        return cls(view_of(args).page_size)
""",
    ),
    _example(
        "A pass reads a view already",
        """\
    def _handle(self):
        run_pass(self, _page_size_pass)


def _page_size_pass(view):
    if view.page_size is None:
        view.declare(page_size=1)
""",
        """\
    def _handle(self):
        run_pass(self, _page_size_pass)


def _page_size_pass(view):
    if view.page_size is None:
        view.declare(page_size=1)
""",
        heads=(
            _HEAD.replace("import declare", "import run_pass"),
            _HEAD_AFTER.replace("applies_at_end, declare, view_of", "applies_at_end, run_pass"),
        ),
    ),
    _example(
        "A second field joins the first",
        """\
    def _handle(self):
        declare(self, "_handle", backend=self.backend or view_of(self).page_size)
""",
        """\
    def _handle(self):
        declare(self, "_handle", backend=view_of(self).backend or view_of(self).page_size)
""",
        fields=("page_size", "backend"),
        heads=(_HEAD_AFTER, _HEAD_AFTER.replace('("page_size")', '("page_size", "backend")')),
    ),
    _example(
        "Readers that are not known are in the way",
        """\
    def _handle(self):
        plugin.check(self)
        self.context.args = self
        return getattr(self, self.backend)
""",
        left=("handed on to plugin.check", "it is kept", "a name that is not known"),
    ),
    _example(
        "So are a write in place, and whatever shows the record as a whole",
        """\
    def _handle(self):
        self.page_size = 2
        print(f"{self}", self.__dict__, vars(self))
""",
        left=("record_writes comes first", "looks into the record", "handed on to vars", "printed as a whole"),
    ),
    _example(
        "What somebody vouches for sees what it saw",
        """\
    def _handle(self):
        declare(self, "_handle", page_size=2)
        plugin.check(self)
""",
        """\
    def _handle(self):
        declare(self, "_handle", page_size=2)
        plugin.check(applied_now(self))
""",
        apply_before=("plugin.check",),
        heads=(
            _HEAD,
            _HEAD_AFTER.replace("applies_at_end, declare, view_of", "applied_now, applies_at_end, declare"),
        ),
    ),
)
