"""One source file: bytes to a syntax tree and back, so that what no codemod changes comes back byte for byte."""

from __future__ import annotations

import ast
import re
from functools import cached_property

import libcst as cst


class Unreadable(Exception):
    """The file cannot be read as Python, or would not come back as it was; the message says why, in a few words."""


class SourceFile:
    """A file by its path in the tree (with forward slashes) and its bytes.

    `module` and `tree` raise Unreadable for a file that no codemod may touch.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data

    @classmethod
    def of(cls, path: str, module: cst.Module) -> SourceFile:
        """Return the file that ``module`` is the tree of; raises Unreadable when it is no Python any more."""
        made = cls(path, encoded(module))
        made.module = module
        return made

    @cached_property
    def module(self) -> cst.Module:
        """The concrete syntax tree, which holds every character."""
        try:
            module = cst.parse_module(self.data)
        except (UnicodeDecodeError, LookupError) as error:
            raise Unreadable(f"it cannot be decoded: {error}") from error
        except cst.ParserSyntaxError as error:
            raise Unreadable(f"it does not parse: line {error.raw_line}") from error
        except (RecursionError, ValueError, TypeError, SyntaxError) as error:
            raise Unreadable(f"it does not parse: {error}") from error
        # A form feed between lines, two byte order marks: such files are left rather than tidied.
        if encoded(module) != self.data:
            raise Unreadable("it would not come back byte for byte")
        return module

    @cached_property
    def tree(self) -> ast.Module:
        """The abstract syntax tree, which has line numbers."""
        try:
            return ast.parse(self.data)
        except (SyntaxError, ValueError, RecursionError) as error:
            raise Unreadable(f"it does not parse: {error}") from error


def encoded(module: cst.Module) -> bytes:
    """Return the bytes of ``module`` in its own encoding.

    Raises Unreadable when a codemod brought in what that encoding has no bytes for.
    """
    try:
        return module.bytes
    except UnicodeEncodeError as error:
        raise Unreadable(f"the result cannot be encoded: {error}") from error


def mentions(data: bytes, words: tuple[str, ...]) -> bool:
    """Return whether ``data`` holds one of ``words`` as a whole word; a cheap test before any parsing.

    A file in an encoding that does not extend ASCII is never a match: Python itself reads none.
    """
    if not words:
        return False
    return (
        re.search(rb"(?<!\w)(?:" + b"|".join(re.escape(word.encode()) for word in words) + rb")(?!\w)", data)
        is not None
    )


_USUAL_LIMITS = (88, 100, 118, 120)


def line_limit(text: str) -> int:
    """Return how long lines of code may be: the smallest usual limit that 99 % of the lines of ``text`` keep.

    Lines with strings or comments do not count, because formatters do not break them.
    """
    lengths = sorted(len(line) for line in text.splitlines() if line.strip() and not re.search("[\"'#]", line))
    if len(lengths) < 20:
        return max(88, max((len(line) for line in text.splitlines() if len(line) <= 118), default=0))
    usual = lengths[int(len(lengths) * 0.99)]
    return next((limit for limit in _USUAL_LIMITS if usual <= limit), 120)


def usual_quote(text: str) -> str:
    """Return the quotation mark for new strings: the single one where ``text`` has clearly more of them."""
    return "'" if text.count("'") > 2 * text.count('"') else '"'
