"""The command line's frame: the app that commands register with, and how an error becomes a status.

0 equivalent (or done), 1 different, 2 wrong usage or a broken set-up, 3 inconclusive. A crash of ours is 70.
"""

from __future__ import annotations

import contextlib
import errno
import importlib.metadata
import os
import shutil
import sys
import traceback
from collections.abc import Callable
from typing import Annotated, Any, TextIO

import typer

from harness.common.errors import UsageError

EQUIVALENT, DIFFERENT, WRONG_USAGE, INCONCLUSIVE, OUR_BUG, STOPPED = 0, 1, 2, 3, 70, 130
STATUS = {"equivalent": EQUIVALENT, "different": DIFFERENT, "inconclusive": INCONCLUSIVE}
"""The exit status of each verdict."""

_FULL_OR_FORBIDDEN = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG)

_NO_PATH = (errno.ENAMETOOLONG, errno.ELOOP)

# Typer has click inside since 0.25 and beside it before; either way this is the base of its errors.
_CommandLineError: type[Any] = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Land a stacked refactor with proof: two configuration resolutions, run side by side on the same cases.",
)


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=lambda asked: _show_version(asked), is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    """Options before a command."""


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"stackproof {importlib.metadata.version('stackproof')}")
        raise typer.Exit


def guarded(run: Callable[[], object]) -> int:
    """Return the status of ``run``; errors become one sentence, ours say so."""
    try:
        status = run()
        # What cannot be written is an error here, and not only when Python ends.
        if sys.stdout is not None:
            sys.stdout.flush()
    except UsageError as error:
        _tell(f"stackproof: {error}")
        if error.example:
            _tell(f"\n{error.example}")
        return WRONG_USAGE
    except _CommandLineError as error:
        # As long, and as harmless to a terminal, as any other.
        message = str(UsageError(error.format_message()))
        if "No such option" in message and "resolve" in sys.argv[1:2]:
            message += "; flags of the launch go behind '--'"
        if type(error).__name__ == "NoArgsIsHelpError":
            _tell(error.format_message())
            return WRONG_USAGE
        _tell(f"stackproof: {message} (see stackproof --help)")
        return WRONG_USAGE
    except (KeyboardInterrupt, typer.Abort) as error:
        # Typer takes every end of a file for a user who leaves; we ask for nothing, so it is a fault.
        return _our_bug() if isinstance(error.__context__, EOFError) else STOPPED
    except BrokenPipeError:
        # Whoever read our output has enough of it.
        _drop(sys.stdout)
        return STOPPED
    except OSError as error:
        if error.errno in _NO_PATH:
            _tell(f"stackproof: {UsageError(f'give another path: {error.strerror}: {str(error.filename)[:200]!r}')}")
            return WRONG_USAGE
        # Of many files that were not copied, the error has no number.
        if error.errno not in _FULL_OR_FORBIDDEN and not isinstance(error, shutil.Error):
            return _our_bug()
        _drop(sys.stdout)
        _tell(f"stackproof: the system does not let it write: {error}")
        return WRONG_USAGE
    except Exception:
        return _our_bug()
    return status if isinstance(status, int) else EQUIVALENT


def _our_bug() -> int:
    _tell(f"{traceback.format_exc()}stackproof: this is a bug in stackproof; please report the lines above")
    return OUR_BUG


def _tell(text: str) -> None:
    """Print ``text`` on standard error; where that cannot be written, the status alone says it."""
    try:
        print(text, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        _drop(sys.stderr)


def _drop(stream: TextIO | None) -> None:
    """Let nothing more reach ``stream``: what is left would fail when Python ends, which makes the status 120."""
    if stream is None:
        return
    # Within tests it may have no file beneath.
    with contextlib.suppress(OSError, ValueError):
        stream.flush()
        return
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
