"""Parses one source file and writes it back; text that no codemod changes stays the same, byte for byte."""

from __future__ import annotations

import ast
import re
from functools import cached_property

import libcst as cst


class Unreadable(Exception):
    """No codemod may change the file: it is not valid Python, or cannot be written back; the message says why."""


class SourceFile:
    """A file: its path in the tree, with forward slashes, and its bytes.

    `module` and `tree` parse it when they are first used, and raise Unreadable if no codemod may change the file.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data

    @classmethod
    def of(cls, path: str, module: cst.Module) -> SourceFile:
        """Return the file whose syntax tree is ``module``.

        Raises Unreadable if the file's encoding lacks a character of the changed text.
        """
        made = cls(path, encoded(module))
        made.module = module
        return made

    @cached_property
    def module(self) -> cst.Module:
        """The concrete syntax tree of libcst, which keeps comments and white space."""
        try:
            module = cst.parse_module(self.data)
        except (UnicodeDecodeError, LookupError) as error:
            raise Unreadable(f"it cannot be decoded: {error}") from error
        except cst.ParserSyntaxError as error:
            raise Unreadable(f"it does not parse: line {error.raw_line}") from error
        except (RecursionError, ValueError, TypeError, SyntaxError) as error:
            raise Unreadable(f"it does not parse: {error}") from error
        # libcst does not keep everything, for example not a second byte order mark, nor every form feed. Such a file
        # stays as it is, since a codemod would change it in places that have nothing to do with the codemod.
        if encoded(module) != self.data:
            raise Unreadable("it would not come back byte for byte")
        return module

    @cached_property
    def tree(self) -> ast.Module:
        """The abstract syntax tree of ``ast``: it is parsed much faster than `module`, and has line numbers."""
        try:
            return ast.parse(self.data)
        except (SyntaxError, ValueError, RecursionError) as error:
            raise Unreadable(f"it does not parse: {error}") from error


def encoded(module: cst.Module) -> bytes:
    """Return the bytes of ``module`` in its own encoding.

    Raises Unreadable if that encoding lacks a character that a codemod has added.
    """
    try:
        return module.bytes
    except UnicodeEncodeError as error:
        raise Unreadable(f"the result cannot be encoded: {error}") from error


def mentions(data: bytes, words: tuple[str, ...]) -> bool:
    """Return whether ``data`` holds one of ``words`` as a whole word: a cheap test, so that fewer files are parsed.

    A file in an encoding that does not extend ASCII, such as UTF-16, never matches; Python cannot read it either.
    """
    if not words:
        return False
    return (
        re.search(rb"(?<!\w)(?:" + b"|".join(re.escape(word.encode()) for word in words) + rb")(?!\w)", data)
        is not None
    )


_USUAL_LIMITS = (88, 100, 118, 120)


def line_limit(text: str) -> int:
    """Return how long lines of code may be: the smallest usual limit that 99 % of the lines of ``text`` keep to.

    Lines with strings or comments do not count, because formatters do not shorten them.
    """
    lengths = sorted(len(line) for line in text.splitlines() if line.strip() and not re.search("[\"'#]", line))
    if len(lengths) < 20:
        # Too few lines to judge by: take the longest line of at most 118 columns, and at least 88.
        return max(88, max((len(line) for line in text.splitlines() if len(line) <= 118), default=0))
    usual = lengths[int(len(lengths) * 0.99)]
    return next((limit for limit in _USUAL_LIMITS if usual <= limit), 120)


def usual_quote(text: str) -> str:
    """Return the quotation mark for new strings: the single one if ``text`` has more than twice as many of them."""
    return "'" if text.count("'") > 2 * text.count('"') else '"'
