"""The app that commands register with, and the rules by which an error becomes an exit status.

The statuses: 0 equivalent (or done), 1 different, 2 wrong usage or a broken set-up, 3 inconclusive, 70 a bug in
stackproof, 130 stopped by Ctrl-C or because the reader of our output left.
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

# The system does not let us write: the disk is full, or something is read-only or forbidden.
_FULL_OR_FORBIDDEN = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG)

# The user gave a text that cannot be a path: it is too long, or its links form a loop.
_NO_PATH = (errno.ENAMETOOLONG, errno.ELOOP)

# The base class of all errors of Typer. It has no fixed import path, because Typer has its own copy of click since
# 0.25.
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
    """Run a command and return its exit status.

    An error of the user is printed as one sentence; a bug of ours is printed with its traceback.
    """
    try:
        status = run()
        # Flush now, so that an error such as a full disk can still be reported. When Python closes its files at its
        # end, that would be too late.
        if sys.stdout is not None:
            sys.stdout.flush()
    except UsageError as error:
        _tell(f"stackproof: {error}")
        if error.example:
            _tell(f"\n{error.example}")
        return WRONG_USAGE
    except _CommandLineError as error:
        # UsageError cuts a message to a length and escapes the characters that a terminal would act on.
        message = str(UsageError(error.format_message()))
        if "No such option" in message and "resolve" in sys.argv[1:2]:
            message += "; flags of the launch go behind '--'"
        if type(error).__name__ == "NoArgsIsHelpError":
            # Its message is the whole help, of which no line break may be lost.
            _tell(error.format_message())
            return WRONG_USAGE
        _tell(f"stackproof: {message} (see stackproof --help)")
        return WRONG_USAGE
    except (KeyboardInterrupt, typer.Abort) as error:
        # Typer turns an EOFError into Abort, as if a user had left a prompt. We have no prompts, so it is a bug.
        return _our_bug() if isinstance(error.__context__, EOFError) else STOPPED
    except BrokenPipeError:
        # The reader of our output, such as head or less, has left.
        _drop(sys.stdout)
        return STOPPED
    except OSError as error:
        if error.errno in _NO_PATH:
            _tell(f"stackproof: {UsageError(f'give another path: {error.strerror}: {str(error.filename)[:200]!r}')}")
            return WRONG_USAGE
        # A shutil.Error has no error number, because it is about several files.
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
    """Print ``text`` on standard error. If that is closed, only the exit status reports the error."""
    try:
        print(text, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        _drop(sys.stderr)


def _drop(stream: TextIO | None) -> None:
    """Flush ``stream``, or, if that fails, send the rest of it nowhere.

    If Python could not write the rest when it ends, the exit status would be 120 instead of ours.
    """
    if stream is None:
        return
    # A stream may have no file descriptor, for example under pytest.
    with contextlib.suppress(OSError, ValueError):
        stream.flush()
        return
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
