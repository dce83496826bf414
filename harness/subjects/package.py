"""One of our own packages as a subject, here or in a copy of this repository."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from harness.errors import UsageError
from harness.subjects.packaged.request import encode_cases
from harness.subjects.process import Process, package_command
from harness.subjects.subject import Subject
from harness.world.case import Case


class PackageSubject(Subject):
    """A package that runs on `harness.world`: it is asked what each case comes to, and has no need of stand-ins.

    It has a process of its own all the same: a copy that somebody has changed may hang or run wild, and two copies
    have modules of the same names.
    """

    def _process_of(self) -> Process:
        return Process(package_command())

    def _load_request(self) -> dict[str, Any]:
        profile = self.spec.profile["slice"]
        return {
            "root": os.path.realpath(self.spec.tree.root),
            "package": self.spec.package,
            "names": [*profile["fields"], *profile["state"]],
            "record": self.spec.record,
        }

    def _load_error(self, answer: dict[str, Any]) -> UsageError:
        at = f" at {answer['frame']}" if answer["frame"] else ""
        return UsageError(f"{self.spec.label}: importing the package failed{at}: {answer['detail']}")

    def _encode(self, cases: Sequence[Case], *, single: bool = False, operation: str = "resolve") -> bytes:
        return encode_cases(cases, single=single, operation=operation)
