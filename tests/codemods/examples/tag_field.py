"""Before and after of `tag_field`."""

from __future__ import annotations

from examples import Example

_ARG_DONE = """\
from dataclasses import dataclass
from typing import Annotated as A


@dataclass(frozen=True)
class Arg:
    help: str = ""
    choices: tuple = ()
    no_cli: bool = False
    resolvable: bool = False
"""
_HEAD = """\
from app.arg import A, Arg


class Args:
    plain: A[int, Arg(help="An argument.")] = 0
"""


def _example(title: str, before: str, after: str | None = None, name: str = "page_size") -> Example:
    return Example(title, _HEAD + before, None if after is None else _HEAD + after, options={"fields": (name,)})


EXAMPLES = (
    _example(
        "The keyword is added to the field's Arg",
        '    page_size: A[int, Arg(help="Tokens of a page.")] = 1\n',
        '    page_size: A[int, Arg(help="Tokens of a page.", resolvable=True)] = 1\n',
    ),
    _example(
        "A bare help text grows into an Arg",
        '    page_size: A[int, "Tokens of a page."] = 1  # small\n',
        '    page_size: A[int, Arg(help="Tokens of a page.", resolvable=True)] = 1  # small\n',
    ),
    _example(
        "An annotation of several lines keeps its shape",
        """\
    page_size: A[
        int,
        Arg(
            help="Tokens of a page.",  # of the KV cache
            choices=(1, 64),
        ),
    ] = 1
""",
        """\
    page_size: A[
        int,
        Arg(
            help="Tokens of a page.",  # of the KV cache
            choices=(1, 64),
            resolvable=True,
        ),
    ] = 1
""",
    ),
    _example(
        "A line that becomes too long is broken up",
        '    page_size: A[int, Arg(help="The number of tokens in a page of the cache.")] = 1\n',
        """\
    page_size: A[
        int,
        Arg(help="The number of tokens in a page of the cache.", resolvable=True),
    ] = 1
""",
    ),
    _example(
        "An annotation whose elements share a line",
        """\
    page_size: A[
        int, Arg(help="Tokens of a page of the cache of keys.", choices=(1, 64, 128))
    ] = 1
""",
        """\
    page_size: A[
        int,
        Arg(
            help="Tokens of a page of the cache of keys.",
            choices=(1, 64, 128),
            resolvable=True,
        ),
    ] = 1
""",
    ),
    _example(
        "A help text of several lines",
        """\
    page_size: A[
        int,
        (
            "The number of tokens "
            "in a page."
        ),
    ] = 1
""",
        """\
    page_size: A[
        int,
        Arg(
            help=(
                "The number of tokens "
                "in a page."
            ),
            resolvable=True,
        ),
    ] = 1
""",
    ),
    _example(
        "A field without metadata gets some, and still no flag",
        "    page_size: int = 1\n",
        '    page_size: A[int, Arg(help="", no_cli=True, resolvable=True)] = 1\n',
    ),
    _example(
        "A field that was tagged as not resolvable",
        '    page_size: A[int, Arg(help="Tokens.", resolvable=False)] = 1\n',
        '    page_size: A[int, Arg(help="Tokens.", resolvable=True)] = 1\n',
    ),
    _example(
        "A field that has the tag stays as it is",
        '    page_size: A[int, Arg(help="Tokens.", resolvable=True)] = 1\n',
    ),
    _example(
        "Only the record's field, not a local of the same name",
        """\
    page_size: A[int, Arg(help="Tokens.", resolvable=True)] = 1

    def _handle(self):
        page_size: int = 1


class Other:
    page_size: int = 1
""",
    ),
    Example(
        "The metadata's class learns the keyword",
        _ARG_DONE.replace("    resolvable: bool = False\n", ""),
        _ARG_DONE,
        options={"fields": ("plain",)},
        file="app/arg.py",
        others={"app/args.py": _HEAD},
    ),
    Example(
        "An attribute becomes a field where it is asked for",
        _HEAD + "\n    def _handle(self):\n        self.paged = True\n",
        _HEAD
        + '    paged: A[bool, Arg(help="", no_cli=True, resolvable=True)] = False\n'
        + "\n    def _handle(self):\n        self.paged = True\n",
        options={"fields": ("paged",), "new": {"paged": ("bool", "False")}},
    ),
)
