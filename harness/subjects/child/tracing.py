"""Follows a case that is resolved once more: what it decides and which environment variables it sets, in order."""

import contextlib
import os
import sys


def traced(reach, runs, root, accessors=""):
    """Return what each of ``runs`` does, with every decision on the way once, as the parent reads it.

    Of a run ``asked`` holds each decision's number in ``decisions`` and its outcome, ``variables`` a dictionary
    like a write's for each variable set. Its place is the innermost function in the folder ``root`` that is not in
    the file ``accessors``; what is set from elsewhere is left out.
    """
    described = reach.decisions()
    numbers, decisions, cases = {}, [], []
    for run in runs:
        asked, variables = [], []
        with _variables(variables, os.path.join(root, ""), accessors):
            taken = reach.taken(run)
        for number, outcome in taken:
            if number not in numbers:
                numbers[number] = len(decisions)
                decisions.append(described[number])
            asked.append((numbers[number], outcome))
        cases.append({"asked": asked, "variables": variables})
    return {"decisions": decisions, "cases": cases}


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
