"""Before and after of `retire_handler`."""

from __future__ import annotations

from examples import Example

_ARGS = """\
class Args:
    page_size: int = 1
    backend: str = ""

"""


def _example(title: str, before: str, after: str | None = None, left: tuple[str, ...] = ()) -> Example:
    return Example(
        title,
        _ARGS + before,
        None if after is None else _ARGS + after,
        options={"functions": ("_handle", "_handle_empty")},
        left=left,
    )


EXAMPLES = (
    _example(
        "An empty handler goes with its calls",
        '''\
    def __post_init__(self):
        self._handle_empty()
        self._other()

    def _handle_empty(self):
        """Nothing is left."""

    def _other(self):
        self.page_size = 1
''',
        """\
    def __post_init__(self):
        self._other()

    def _other(self):
        self.page_size = 1
""",
    ),
    _example(
        "It goes from a tuple of slots",
        """\
    def _handle_empty(self):
        pass

    def _other(self):
        return 1


SLOTS = (
    Slot(1, "_handle_empty", Args._handle_empty),
    Slot(2, "_other", Args._other),
)
""",
        """\
    def _other(self):
        return 1


SLOTS = (
    Slot(2, "_other", Args._other),
)
""",
    ),
    _example(
        "One that is used otherwise stays",
        """\
    def _handle_empty(self):
        pass

    def _other(self):
        return self._handle_empty
""",
        left=("otherwise",),
    ),
    _example(
        "Dead branches go, from the inside out",
        """\
    def _handle(self):
        if self.backend is None:
            pass
        if self.backend == "fa4":
            self.page_size = 2
        else:
            pass
        if self.backend in ("a", "b"):
            if not self.page_size:
                pass
        if is_cuda():
            pass
        else:
            self.page_size = 3
""",
        """\
    def _handle(self):
        if self.backend == "fa4":
            self.page_size = 2
        if not is_cuda():
            self.page_size = 3
""",
    ),
    _example(
        "A condition that may do something, or fail, stays",
        """\
    def _handle(self):
        if is_cuda():
            pass
        if self.page_size > 1:
            pass
        self.page_size = 2
""",
        left=("may do something", "may do something"),
    ),
    _example(
        "Locals and imports that nothing uses",
        """\
    def _handle(self):
        from app.machine import is_cuda, is_hip

        backend = self.backend
        reason = "none"
        if is_hip():
            self.page_size = 2
        size = compute()
""",
        """\
    def _handle(self):
        from app.machine import is_hip

        if is_hip():
            self.page_size = 2
        size = compute()
""",
    ),
    _example(
        "Functions that are not listed stay as they are",
        """\
    def _other(self):
        unused = None
        if self.backend is None:
            pass


def _handle(other):
    if None:
        pass
""",
    ),
)
