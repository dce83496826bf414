"""Before and after of `migrate_readers`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from examples import Example

_ARGS = """\
from app.arg import A, Arg


class Args:
    page_size: A[int, Arg(help="")] = 1
    attention_backend: A[str, Arg(help="")] = ""

    def _handle(self):
        hook(self)
        return self.page_size


def hook(server_args):
    return server_args.page_size


def get_server_args() -> Args:
    return _args
"""
_OPTIONS = {"fields": ("page_size", "attention_backend"), "flags": "app.context:get_flags"}


def _example(
    title: str,
    before: str,
    after: str | None = None,
    left: tuple[str, ...] = (),
    options: Mapping[str, Any] | None = None,
) -> Example:
    return Example(
        title,
        before,
        after,
        left=left,
        options={**_OPTIONS, **(options or {})},
        file="app/worker.py",
        others={"app/args.py": _ARGS},
    )


EXAMPLES = (
    _example(
        "A parameter, an attribute, the process's record",
        """\
from app.args import Args, get_server_args


class Worker:
    def __init__(self, server_args: Args):
        self.server_args = server_args
        self.page_size = server_args.page_size

    def run(self):
        if self.server_args.attention_backend == "fa4":
            return get_server_args().page_size
""",
        """\
from app.args import Args, get_server_args
from app.context import get_flags


class Worker:
    def __init__(self, server_args: Args):
        self.server_args = server_args
        self.page_size = get_flags().page_size

    def run(self):
        if get_flags().attn.backend == "fa4":
            return get_flags().page_size
""",
    ),
    _example(
        "A local name for it, in a function inside as well",
        """\
import os

from app.args import get_server_args


def run():
    args = get_server_args()
    return lambda: args.page_size + args.other
""",
        """\
import os

from app.args import get_server_args
from app.context import get_flags


def run():
    args = get_server_args()
    return lambda: get_flags().page_size + args.other
""",
    ),
    _example(
        "Listed: a copy, a read by name, a name that is assigned twice",
        """\
from app.args import Args


def run(server_args: Args, flag):
    draft_server_args = copy(server_args)
    size = draft_server_args.page_size
    size = getattr(server_args, "page_size", 1)


def other(server_args: Args):
    server_args = changed(server_args)
    return server_args.page_size
""",
        left=("not known", "by its name", "not known"),
    ),
    _example(
        "Listed: a field that something writes after the resolution; a write is no read",
        """\
from app.args import Args


def run(server_args: Args):
    server_args.attention_backend = "triton"
    return server_args.attention_backend
""",
        left=("app/model.py:7",),
        options={"written_outside": {"attention_backend": "app/model.py:7"}},
    ),
    _example(
        "Listed: no annotation, an attribute that is set elsewhere; a class that only has the record's name",
        """\
from other.args import Args, get_server_args


def run(server_args):
    return server_args.page_size


def typed(server_args: Args):
    return server_args.page_size + get_server_args().page_size


class Mixin:
    def run(self):
        return self.server_args.page_size
""",
        left=("not known", "not known", "not known", "not known"),
    ),
    _example("Another object", "def run(pool):\n    return pool.page_size\n"),
    Example("The resolution itself", _ARGS, options=_OPTIONS),
)
