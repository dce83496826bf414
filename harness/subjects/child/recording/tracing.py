"""Follows a case that is resolved once more: what it decides, which variables it sets, where it raises."""

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
    """Call each of ``runs`` and return what it did, one dictionary a run.

    ``asked`` holds twice the number of each decision in the description, one more where it was true; it is empty
    without ``reach``. ``variables`` has a dictionary like a write's for each variable that was set. ``raised`` is the
    place of the last exception, found only with ``raises``, since that makes a run several times slower. A place is
    the innermost named function in the folder ``root`` that is not in the file ``accessors``; where there is none,
    the variable or exception is left out.
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
    """Within the block note every variable that code in ``root`` sets or removes."""
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

    # ``os.environ`` calls these two for whatever is assigned to it or deleted from it.
    os.putenv, os.unsetenv = putenv, unsetenv
    try:
        yield
    finally:
        os.putenv, os.unsetenv = put, remove


@contextlib.contextmanager
def _raises(raised: list[dict[str, Any]], root: str) -> Iterator[None]:
    """Within the block append to ``raised`` where each exception first left a named function in ``root``.

    The exception that refuses a case is the last of them: those that the tree caught were raised before it.
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
            # Worked out once for each function, since this runs at every call.
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
