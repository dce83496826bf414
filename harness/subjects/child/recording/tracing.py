"""Follows a case that is resolved once more: what it decides, which variables it sets, where it raises."""

import contextlib
import os
import sys

from ..world import chance


def traced(reach, runs, root, accessors="", raises=True):
    """Return what each of ``runs`` does, as the parent reads it.

    Of a run ``asked`` holds twice the number of each decision in the description, one more where it was true,
    ``variables`` a dictionary like a write's for each variable set, ``raised`` the place of the last exception (with
    ``raises`` alone, which makes it several times slower). A place is the innermost named function in the folder
    ``root`` that is not in the file ``accessors``; what happens elsewhere is left out. Without ``reach`` no decisions
    are told.
    """
    cases, variables, inside = [], [], os.path.join(root, "")
    following = contextlib.nullcontext(list) if reach is None else reach.following()
    with _variables(variables, inside, accessors), following as asked:
        for run in runs:
            raised = []
            chance.renew()
            with _raises(raised, inside) if raises else contextlib.nullcontext():
                run()
            cases.append({"asked": asked(), "variables": variables[:], "raised": raised[-1] if raised else None})
            variables.clear()
    return cases


@contextlib.contextmanager
def _variables(variables, root, accessors):
    """Within the block note every variable that code in ``root`` sets or removes."""
    put, remove = os.putenv, os.unsetenv

    def note(name, value):
        frame = sys._getframe(2)
        while frame is not None:
            file = frame.f_code.co_filename
            if file.startswith(root) and file != accessors:
                place = {"source": frame.f_code.co_name, "file": file.removeprefix(root), "line": frame.f_lineno}
                variables.append({"field": os.fsdecode(name), "value": value and os.fsdecode(value), **place})
                return
            frame = frame.f_back

    def putenv(name, value):
        note(name, value)
        put(name, value)

    def unsetenv(name):
        note(name, None)
        remove(name)

    # What ``os.environ`` calls when something is assigned to it.
    os.putenv, os.unsetenv = putenv, unsetenv
    try:
        yield
    finally:
        os.putenv, os.unsetenv = put, remove


@contextlib.contextmanager
def _raises(raised, root):
    """Within the block append to ``raised`` where each exception first left a named function in ``root``.

    What a case is refused with is the last of them: whatever was caught before was raised before.
    """
    known = []

    def local(frame, event, argument):
        if event == "exception" and not any(argument[1] is error for error in known):
            known.append(argument[1])
            code = frame.f_code
            raised.append(
                {"source": code.co_name, "file": code.co_filename.removeprefix(root), "line": frame.f_lineno}
            )
        return local

    inside = {}

    def called(frame, event, argument):
        code = frame.f_code
        follow = inside.get(code)
        if follow is None:
            # Asked once of a function: this runs at every call.
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
