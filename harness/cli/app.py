"""The command line's frame: the app that commands register with, and how an error becomes a status.

0 equivalent (or done), 1 different, 2 wrong usage or a broken set-up, 3 inconclusive. A crash of ours is 70.
"""

from __future__ import annotations

import errno
import importlib.metadata
import os
import sys
import traceback
from collections.abc import Callable
from typing import Annotated, Any

import typer

from harness.errors import UsageError

EQUIVALENT, DIFFERENT, WRONG_USAGE, INCONCLUSIVE, OUR_BUG, STOPPED = 0, 1, 2, 3, 70, 130
STATUS = {"equivalent": EQUIVALENT, "different": DIFFERENT, "inconclusive": INCONCLUSIVE}
"""The exit status of each verdict."""

_FULL_OR_FORBIDDEN = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)

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
    except UsageError as error:
        print(f"stackproof: {error}", file=sys.stderr)
        if error.example:
            print(f"\n{error.example}", file=sys.stderr)
        return WRONG_USAGE
    except _CommandLineError as error:
        message = " ".join(error.format_message().split())
        if "No such option" in message and "resolve" in sys.argv[1:2]:
            message += "; flags of the launch go behind '--'"
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message(), file=sys.stderr)
            return WRONG_USAGE
        print(f"stackproof: {message} (see stackproof --help)", file=sys.stderr)
        return WRONG_USAGE
    except (KeyboardInterrupt, typer.Abort):
        return STOPPED
    except BrokenPipeError:
        # Whoever read our output has enough of it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return STOPPED
    except OSError as error:
        if error.errno not in _FULL_OR_FORBIDDEN:
            return _our_bug()
        print(f"stackproof: the system does not let it write: {error}", file=sys.stderr)
        return WRONG_USAGE
    except Exception:
        return _our_bug()
    return status if isinstance(status, int) else EQUIVALENT


def _our_bug() -> int:
    traceback.print_exc()
    print("stackproof: this is a bug in stackproof; please report the lines above", file=sys.stderr)
    return OUR_BUG
