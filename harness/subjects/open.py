"""From the text that names a subject to everything needed to run it."""

from __future__ import annotations

import shutil
from pathlib import Path

from harness.errors import UsageError
from harness.subjects.names import parse_subject
from harness.subjects.profile import load_profile
from harness.subjects.sources import locate
from harness.subjects.subject import Limits, SubjectSpec


def open_spec(
    text: str,
    *,
    answers: Path | None,
    python: str,
    case_seconds: float,
    memory_mib: int,
    cwd: Path | None = None,
) -> SubjectSpec:
    """Return the subject that ``text`` names (``sglang==X``, ``git:REV`` or ``dir:PATH``, perhaps ``#slice``).

    A release is downloaded and a revision unpacked if the user's cache lacks them. ``python`` is the interpreter
    that will run it, ``answers`` a file of further answers. Raises UsageError for whatever does not exist.
    """
    interpreter = shutil.which(python)
    if interpreter is None:
        raise UsageError(f"--python {python}: there is no such interpreter, give a path or a name on PATH")
    profile = load_profile(answers)
    name = parse_subject(text)
    return SubjectSpec(
        tree=locate(name, cwd=cwd or Path.cwd()),
        slice=name.slice,
        profile=profile,
        python=interpreter,
        limits=Limits(memory_mib=memory_mib, case_seconds=case_seconds),
    )
