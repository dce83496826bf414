"""Splits a launch command into its environment and its flags; what the flags mean is decided elsewhere."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

import msgspec

from harness.common.errors import UsageError
from harness.common.wording import brief

LAUNCH = ("python3", "-m", "sglang.launch_server")
"""The words that a launch of sglang begins with."""

_MODULE = LAUNCH[-1]
_CALLABLE = "python:"

# The longest argument that Linux allows. It also bounds the time of shlex, which is quadratic in a word's length.
_MAX_CHARACTERS = 2**17

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_PYTHON = re.compile(r"python[0-9.]*(\.exe)?")
_PYTHON_SWITCH = re.compile(r"-[BdEIOPqsSuvx]+")
_OPERATOR = re.compile(r"[0-9]*(&&|\|\||&>>?|;|\||&|<<?<?|>>?)(&[0-9]+)?")
_CONTINUATION = re.compile(r"\\\r?\n")
# Only inside single quotes does the shell keep a backslash and the line break after it.
_QUOTED_OR_ESCAPED = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\\r\n|\\.""", re.DOTALL)


class LaunchFlags(msgspec.Struct, frozen=True, kw_only=True):
    """How a case is written as a launch line.

    ``program`` has the first words. ``names`` maps an argument to the flag that sets it, and ``off`` a switch to the
    flag that turns it off. ``takes`` says which parts of the world a launch has: ``hardware``, ``model``, or both.
    """

    program: tuple[str, ...] = LAUNCH
    names: dict[str, str] = {}
    off: dict[str, str] = {}
    takes: tuple[str, ...] = ("hardware", "model")


class LaunchLine(msgspec.Struct, frozen=True):
    """A command in two parts. ``env``: the variables that it sets; ``argv``: the words after the launcher."""

    env: dict[str, str]
    argv: list[str]


def split_launch(command: str, where: str, program: Sequence[str] = LAUNCH) -> LaunchLine:
    """Return the environment and the flags of ``command``, a shell's command line that launches a subject.

    Before the flags may come ``NAME=value`` assignments, ``env NAME=value``, Python by name or path with
    ``-m sglang.launch_server``, ``sglang serve``, ``sglang launch_server`` and ``python:MODULE:CALLABLE``. Lines may
    be continued with a backslash; words are quoted as in a POSIX shell, and variables are not expanded. ``where`` is
    the command's place. ``program`` has the words that launches of the subject begin with, for errors. Raises
    UsageError for another command, a shell operator, open quotes, and a command of more than 128 Ki characters.
    """
    usual = "'python3 -m sglang.launch_server' or 'sglang serve'" if program == LAUNCH else repr(" ".join(program))
    expected = f"expected [NAME=value ...], then {usual}, then flags"
    if len(command) > _MAX_CHARACTERS:
        raise UsageError(
            f"{where}: the command has {len(command)} characters, and a launch at most {_MAX_CHARACTERS}: {expected}"
        )
    try:
        words = shlex.split(_join_lines(command))
    except ValueError as error:
        raise UsageError(
            f"{where}: the command's quoting is broken ({str(error).lower()}): {brief(command)}"
        ) from None

    env: dict[str, str] = {}
    position = _take_assignments(words, 0, env)
    if position < len(words) and words[position] == "env":
        position = _take_assignments(words, position + 1, env)
    start = _after_launcher(words, position)
    if start is None:
        found = "it is empty" if position == len(words) else f"this one runs {brief(words[position])}"
        raise UsageError(
            f"{where}: not a launch of {'sglang' if program == LAUNCH else 'the subject'}, {found}: {expected}"
        )
    for word in words[start:]:
        if _OPERATOR.fullmatch(word):
            raise UsageError(
                f"{where}: the command holds the shell operator {brief(word)}, give one launch alone: {expected}"
            )
    return LaunchLine(env=env, argv=words[start:])


def _join_lines(command: str) -> str:
    """Return ``command`` with continued lines joined, as the shell joins them."""

    def keep_or_join(match: re.Match[str]) -> str:
        return match[0] if match[0].startswith("'") else _CONTINUATION.sub("", match[0])

    return _QUOTED_OR_ESCAPED.sub(keep_or_join, command)


def _take_assignments(words: Sequence[str], position: int, env: dict[str, str]) -> int:
    """Move the assignments from ``position`` on into ``env``; return the position after them."""
    while position < len(words) and (assignment := _ASSIGNMENT.fullmatch(words[position])):
        env[assignment[1]] = assignment[2]
        position += 1
    return position


def _after_launcher(words: Sequence[str], position: int) -> int | None:
    """Return the position after the launcher that starts at ``position``; None if no launcher starts there."""
    if position >= len(words):
        return None
    program = PurePosixPath(words[position]).name
    rest = position + 1
    if program.startswith(_CALLABLE):
        return rest
    if program == "sglang":
        return rest + 1 if words[rest : rest + 1] in (["serve"], ["launch_server"]) else None
    if _PYTHON.fullmatch(program) is None:
        return None
    while rest < len(words) and _PYTHON_SWITCH.fullmatch(words[rest]):
        rest += 1
    return rest + 2 if list(words[rest : rest + 2]) == ["-m", _MODULE] else None
