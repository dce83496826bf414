"""Before and after of `lift_writes`."""

from __future__ import annotations

from codemods.codemod import Example

_HEAD = """\
from app.overrides_runtime import declare


class Args:
    page_size: int = 1
    backend: str = ""
    limit: int = 0

    def use_mla(self):
        return self.backend == "mla"

    def is_paged(self):
        return self.page_size > 1

"""
_HEAD_AFTER = _HEAD.replace("import declare\n", "import declare\nfrom app.overrides_runtime import run_pass\n")
_OTHER = """
    def _other(self):
        declare(self, "_other", limit=1)
"""


def _example(title: str, before: str, after: str | None = None, left: tuple[str, ...] = ()) -> Example:
    return Example(
        title,
        _HEAD + before,
        None if after is None else _HEAD_AFTER + after,
        options={"fields": ("page_size", "backend")},
        left=left,
    )


EXAMPLES = (
    _example(
        "A guarded declaration becomes a pass",
        """\
    def _handle_page_size(self):
        # Nobody chose one.
        if self.page_size is None and not self.use_mla():
            declare(self, "_handle_page_size", page_size=1)
            logger.info(f"page size {self.page_size}")
""",
        """\
    def _handle_page_size(self):
        run_pass(self, _page_size_pass)


def _page_size_pass(view):
    # Nobody chose one.
    if view.page_size is None and not view.use_mla():
        view.declare(page_size=1)
        logger.info(f"page size {view.page_size}")
""",
    ),
    _example(
        "Regions that follow one another become one pass, which is handed the locals that it needs",
        """\
    def _handle_backend(self, arch):
        size = compute()

        if arch == "A":
            declare(self, "_handle_backend", backend="a")
        if self.backend == "a":
            declare(self, "_handle_backend", page_size=size)
        self.limit = 2
        if size:
            declare(self, "_handle_backend", page_size=3)
""",
        """\
    def _handle_backend(self, arch):
        size = compute()

        run_pass(self, _backend_pass, arch, size)
        self.limit = 2
        run_pass(self, _backend_pass_2, size)


def _backend_pass(view, arch, size):
    if arch == "A":
        view.declare(backend="a")
    if view.backend == "a":
        view.declare(page_size=size)


def _backend_pass_2(view, size):
    if size:
        view.declare(page_size=3)
""",
    ),
    _example(
        "What cannot be lifted as a whole is looked into",
        """\
    def _handle_all(self):
        if self.limit:
            self.limit = 3
            if self.backend is None:
                declare(self, "_handle_all", backend="b")
        elif self.page_size:
            return
        else:
            declare(self, "_handle_all", page_size=2)
""",
        """\
    def _handle_all(self):
        if self.limit:
            self.limit = 3
            run_pass(self, _all_pass)
        elif self.page_size:
            return
        else:
            declare(self, "_handle_all", page_size=2)


def _all_pass(view):
    if view.backend is None:
        view.declare(backend="b")
""",
        left=("returns",),
    ),
    _example(
        "Left: a method that reads what is not applied yet, or writes; a local that may be unbound, or is used later",
        """\
    def _handle_left(self, other):
        if self.backend:
            declare(self, "_handle_left", page_size=2)
            other(self.is_paged())
        if self.backend:
            self._other()
            declare(self, "_handle_left", page_size=3)
        if other:
            size = 4
        if self.backend:
            declare(self, "_handle_left", page_size=size)
        if self.backend:
            found = 5
            declare(self, "_handle_left", page_size=found)
        print(found)
        if self.backend:
            other(self)
            declare(self, "_handle_left", page_size=6)
"""
        + _OTHER,
        left=("before it is applied", "which writes limit", "unbound", "used outside", "not followed"),
    ),
)
