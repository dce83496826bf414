"""Before and after of `record_writes`."""

from __future__ import annotations

from examples import Example

_HEAD = """\
from app.arg import A, Arg


class Args:
    page_size: A[int, Arg(help="Tokens of a page.")] = 1
    backend: A[str, Arg(help="Kernels.")] = "auto"

"""
_HEAD_AFTER = """\
from app.arg import A, Arg
from app.overrides_runtime import declare


class Args:
    page_size: A[int, Arg(help="Tokens of a page.")] = 1
    backend: A[str, Arg(help="Kernels.")] = "auto"

"""
_ONE = {"fields": ("page_size",)}
_BOTH = {"fields": ("page_size", "backend")}


def _example(
    title: str, before: str, after: str | None = None, both: bool = False, left: tuple[str, ...] = ()
) -> Example:
    return Example(
        title,
        _HEAD + before,
        None if after is None else _HEAD_AFTER + after,
        options=_BOTH if both else _ONE,
        left=left,
    )


EXAMPLES = (
    _example(
        "A handler's write",
        """\
    def _handle_page_size(self):
        if self.backend == "fa4":
            # Pages of one length.
            self.page_size = 128  # tokens
""",
        """\
    def _handle_page_size(self):
        if self.backend == "fa4":
            # Pages of one length.
            declare(self, "_handle_page_size", page_size=128)  # tokens
""",
    ),
    _example(
        "A tuple of fields is declared at once: both values are evaluated before either is set",
        """\
    def _swap(self):
        self.page_size, self.backend = self.backend, self.page_size
""",
        """\
    def _swap(self):
        declare(self, "_swap", page_size=self.backend, backend=self.page_size)
""",
        both=True,
    ),
    _example(
        "A tuple with a local name",
        """\
    def _handle(self):
        self.backend, why = "triton", "nothing else runs"
        self.page_size, rest = divmod(self.total, 2)
""",
        """\
    def _handle(self):
        declare(self, "_handle", backend="triton")
        why = "nothing else runs"
        new_page_size, rest = divmod(self.total, 2)
        declare(self, "_handle", page_size=new_page_size)
""",
        both=True,
    ),
    _example(
        "A chain evaluates its value once",
        """\
    def _handle(self):
        self.page_size = self.block = compute()
        size = self.page_size = compute()
        self.page_size = self.backend = None
""",
        """\
    def _handle(self):
        new_page_size = compute()
        declare(self, "_handle", page_size=new_page_size)
        self.block = new_page_size
        size = compute()
        declare(self, "_handle", page_size=size)
        declare(self, "_handle", page_size=None, backend=None)
""",
        both=True,
    ),
    _example(
        "An augmented assignment operates in place, as it did; an annotated one is a write",
        """\
    def _handle(self):
        self.page_size *= 2
        self.page_size: int = 4
""",
        """\
    def _handle(self):
        new_page_size = self.page_size
        new_page_size *= 2
        declare(self, "_handle", page_size=new_page_size)
        declare(self, "_handle", page_size=4)
""",
    ),
    _example(
        "setattr, with the name written out or taken from a loop over names",
        """\
    def _handle(self):
        setattr(self, "page_size", 64)
        for name in ("backend", "page_size"):
            setattr(self, name, None)
""",
        """\
    def _handle(self):
        declare(self, "_handle", page_size=64)
        for name in ("backend", "page_size"):
            declare(self, "_handle", **{name: None})
""",
    ),
    _example(
        "Hook functions, closures, another name for self, a property",
        """\
    def _handle(this):
        args = this

        def inner():
            args.page_size = 2

        inner()

    @property
    def size(self):
        self.page_size = 3
        return self.page_size


def hook(server_args):
    server_args.page_size = 4


def typed(given: "Args | None", unknown):
    given.page_size = 5
    unknown.page_size = 6
""",
        """\
    def _handle(this):
        args = this

        def inner():
            declare(args, "_handle", page_size=2)

        inner()

    @property
    def size(self):
        declare(self, "size", page_size=3)
        return self.page_size


def hook(server_args):
    declare(server_args, "hook", page_size=4)


def typed(given: "Args | None", unknown):
    declare(given, "typed", page_size=5)
    unknown.page_size = 6
""",
    ),
    _example(
        "Targets of loops and context managers; several statements on a line",
        """\
    def _handle(self):
        for self.page_size in (1, 2):
            print(self.page_size)
        with opened() as self.page_size:
            pass
        if self.backend: self.page_size = 1; self.block = 2
""",
        """\
    def _handle(self):
        for new_page_size in (1, 2):
            declare(self, "_handle", page_size=new_page_size)
            print(self.page_size)
        with opened() as new_page_size_2:
            declare(self, "_handle", page_size=new_page_size_2)
            pass
        if self.backend: declare(self, "_handle", page_size=1); self.block = 2
""",
    ),
    _example(
        "A long value is laid out as a formatter would",
        """\
    def _handle(self):
        self.backend = self._get_default_attention_backend(
            use_latent_attention, model_config
        )
        self.backend = (
            "a rather long name of a backend"
            if is_some_condition_with_a_long_name()
            else "another rather long name of a backend"
        )
""",
        """\
    def _handle(self):
        declare(
            self,
            "_handle",
            backend=self._get_default_attention_backend(
                use_latent_attention, model_config
            ),
        )
        declare(
            self,
            "_handle",
            backend=(
                "a rather long name of a backend"
                if is_some_condition_with_a_long_name()
                else "another rather long name of a backend"
            ),
        )
""",
        both=True,
    ),
    _example(
        "Left, with a reason: a deletion, a computed name, a way around setattr, a comprehension, another object",
        """\
    def _handle(self, name):
        del self.page_size
        setattr(self, name, 1)
        object.__setattr__(self, "page_size", 2)
        [0 for self.page_size in (1, 2)]
        get_server_args().page_size = 3

    @classmethod
    def _preset(cls):
        cls.page_size = 4


class Worker:
    def __init__(self, server_args: Args):
        self.server_args = server_args
        self.page_size = 5

    def run(self):
        self.server_args.page_size = 6
""",
        left=("deletion", "computed", "around", "comprehension", "not known", "not known", "not known"),
    ),
    _example(
        "Not the record: a name that is rebound, a static method, another class",
        """\
    def _handle(self, other):
        self = other
        self.page_size = 1

    @staticmethod
    def _static(self):
        self.page_size = 2


class Other:
    def _handle(self):
        self.page_size = 3
""",
    ),
)
