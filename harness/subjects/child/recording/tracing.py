"""Resolves a case once more and reports what it decides, which variables it sets, and where it raises."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType
from typing import Any

from ..world import chance
from .reach import RecordedReach


def traced(
    reach: RecordedReach | None,
    runs: Sequence[Callable[[], object]],
    root: str,
    accessors: str = "",
    raises: bool = True,
) -> list[dict[str, Any]]:
    """Call each of ``runs`` and return what it did, as one dictionary for each run.

    - ``asked``: the branches that were taken, numbered as in `RecordedReach.following`; empty without ``reach``.
    - ``variables``: for each variable that was set or removed a dictionary in the form of a write, whose place is the
      innermost line in the folder ``root`` outside of the file ``accessors``.
    - ``raised``: the place where the last exception was raised, in the innermost named function in ``root``; None if
      there is none, or without ``raises``, which makes a run several times slower.
    """
    cases: list[dict[str, Any]] = []
    variables: list[dict[str, Any]] = []
    inside = os.path.join(root, "")
    following: contextlib.AbstractContextManager[Callable[[], list[int]]] = contextlib.nullcontext(list)
    if reach is not None:
        following = reach.following()
    with _variables(variables, inside, accessors), following as asked:
        for run in runs:
            raised: list[dict[str, Any]] = []
            chance.renew()
            with _raises(raised, inside) if raises else contextlib.nullcontext():
                run()
            cases.append({"asked": asked(), "variables": variables[:], "raised": raised[-1] if raised else None})
            variables.clear()
    return cases


@contextlib.contextmanager
def _variables(variables: list[dict[str, Any]], root: str, accessors: str) -> Iterator[None]:
    """Within the block append to ``variables`` each variable that code in ``root`` sets or removes.

    The file ``accessors`` does not count: it sets variables for its callers, and the caller is the place wanted.
    """
    put, remove = os.putenv, os.unsetenv

    def note(name: bytes, value: bytes | None) -> None:
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            file = frame.f_code.co_filename
            if file.startswith(root) and file != accessors:
                place = {"source": frame.f_code.co_name, "file": file.removeprefix(root), "line": frame.f_lineno}
                variables.append({"field": os.fsdecode(name), "value": value and os.fsdecode(value), **place})
                return
            frame = frame.f_back

    def putenv(name: Any, value: Any) -> None:
        note(name, value)
        put(name, value)

    def unsetenv(name: Any) -> None:
        note(name, None)
        remove(name)

    # ``os.environ`` calls these two functions for every assignment and deletion.
    os.putenv, os.unsetenv = putenv, unsetenv
    try:
        yield
    finally:
        os.putenv, os.unsetenv = put, remove


@contextlib.contextmanager
def _raises(raised: list[dict[str, Any]], root: str) -> Iterator[None]:
    """Within the block append to ``raised`` where each exception first reached a named function in ``root``.

    The last of them is the exception that refuses the case: all that the tree caught were raised before it.
    """
    known: list[BaseException] = []

    def local(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "exception" and not any(argument[1] is error for error in known):
            known.append(argument[1])
            code = frame.f_code
            raised.append(
                {"source": code.co_name, "file": code.co_filename.removeprefix(root), "line": frame.f_lineno}
            )
        return local

    inside: dict[CodeType, bool] = {}

    def called(frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        follow = inside.get(code)
        if follow is None:
            # Computed once for each function, since this runs at every call.
            follow = inside[code] = code.co_filename.startswith(root) and not code.co_name.startswith("<")
        if not follow:
            return None
        frame.f_trace_lines = False
        return local

    usual = sys.gettrace()
    sys.settrace(called)
    try:
        yield
    finally:
        sys.settrace(usual)
