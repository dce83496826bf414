"""Reads launch flags with the tree's own argument parser, so that each release reads its own flags."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn


class LaunchError(Exception):
    """The flags do not parse; ``unknown`` is the first flag that the tree does not have, None for other errors."""

    def __init__(self, message: str, unknown: str | None = None) -> None:
        super().__init__(message)
        self.unknown = unknown


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise LaunchError(message)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise LaunchError(message or "the flags ask for help or a version, not for a launch")


def strict_parser() -> argparse.ArgumentParser:
    """Return an empty parser that raises LaunchError when argparse would end the process."""
    return _Parser(prog="launch", add_help=False, allow_abbrev=True)


def parser_of(cls: Any) -> argparse.ArgumentParser:
    """Return the tree's parser without defaults, so that it returns only what the user set."""
    parser = strict_parser()
    cls.add_cli_args(parser)
    for action in parser._actions:
        action.default = argparse.SUPPRESS
        action.required = False
    return parser


def parse(parser: argparse.ArgumentParser, argv: Sequence[str], names: set[str]) -> dict[str, Any]:
    """Return those of the fields ``names`` that ``argv`` sets, with their values; raises LaunchError.

    ``parser`` comes from ``parser_of`` or ``strict_parser``; it can be used again.
    """
    found, unknown = parser.parse_known_args(argv)
    if unknown:
        flags = [token for token in unknown if token.startswith("-")] or unknown
        raise LaunchError(f"unknown flag {flags[0]!r}", flags[0])
    return {name: value for name, value in sorted(vars(found).items()) if name in names}
