"""Opens a subject: from the text that names it to all that is needed to run it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from harness.common.errors import UsageError
from harness.formats.subjectname import parse_subject
from harness.subjects.kinds import CallableSubject, PackageSubject, TreeSubject
from harness.subjects.profile import callable_profile, load_profile
from harness.subjects.sources import locate
from harness.subjects.spec import Limits, SubjectSpec
from harness.subjects.subject import Subject

# Earlier versions lack ``sys.stdlib_module_names``, by which a child knows the modules of the standard library.
_OLDEST: Final = (3, 10)


def open_spec(
    text: str,
    *,
    answers: Path | None,
    python: str,
    case_seconds: float,
    memory_mib: int,
    cwd: Path | None = None,
    domains: Mapping[str, Sequence[Any]] | None = None,
) -> SubjectSpec:
    """Return the subject that ``text`` names (see `harness.formats.subjectname.parse_subject`).

    A release is downloaded and a revision is unpacked if the user's cache lacks it. ``python`` is the interpreter
    that will run the subject, ``answers`` a file of further answers, and ``domains`` has values for a callable's
    arguments that the user lists by hand. Raises UsageError if the subject or one of the files does not exist.
    """
    interpreter = checked_interpreter(python)
    name = parse_subject(text)
    profile = callable_profile(domains or {}) if name.target else load_profile(answers)
    return SubjectSpec(
        tree=locate(name, cwd=cwd or Path.cwd()),
        slice=name.slice,
        profile=profile,
        python=interpreter,
        limits=Limits(memory_mib=memory_mib, case_seconds=case_seconds),
        package=name.package,
        target=name.target,
    )


def open_subject(spec: SubjectSpec) -> Subject:
    """Return the subject of ``spec``; its process starts at the first request."""
    if spec.target:
        return CallableSubject(spec)
    return PackageSubject(spec) if spec.own else TreeSubject(spec)


def checked_interpreter(python: str) -> str:
    """Return the path of the interpreter ``python``. Raises UsageError if it cannot run a subject's process."""
    path = shutil.which(python)
    if path is None:
        raise UsageError(f"--python {python}: there is no such interpreter, give a path or a name on PATH")
    # Absolute, since the process has another working folder. Links are not followed: the python of a virtual
    # environment is a link, and Python finds the environment by the link's folder.
    path = str(Path(path).absolute())
    if path == sys.executable:
        return path
    program = "import sys; print('python', sys.version_info[0], sys.version_info[1])"
    try:
        run = subprocess.run([path, "-S", "-c", program], capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"--python {python}: it cannot be run: {error}") from None
    words = run.stdout.split()
    if len(words) != 3 or words[0] != b"python":
        raise UsageError(f"--python {python}: this is not a Python interpreter")
    version = (int(words[1]), int(words[2]))
    if version < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        raise UsageError(
            f"--python {python}: this is Python {version[0]}.{version[1]}, and a tree needs {oldest} or later"
        )
    return path
