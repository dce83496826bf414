"""Somebody's own function, or class with fields, as a subject (docs/subjects.md has the contract)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import msgspec

from harness.common.errors import UsageError
from harness.subjects.batch import encode_batch
from harness.subjects.part import NO_PART, Part
from harness.subjects.process import Process, callable_command
from harness.subjects.subject import Subject
from harness.world.case import Case


class CallableSubject(Subject):
    """A callable of a tree, run with the packages of the interpreter that is asked for."""

    def _process_of(self) -> Process:
        return Process(callable_command(self.spec.python))

    def _load_request(self) -> dict[str, Any]:
        return {
            "root": os.path.realpath(self.spec.tree.root),
            "target": self.spec.target,
            "domains": self.spec.values,
            "record": self.spec.record,
            "silent": msgspec.json.decode(self._encode([Case(id="")])),
        }

    def _load_error(self, answer: dict[str, Any]) -> UsageError:
        label, at = self.spec.label, f" at {answer['frame']}" if answer.get("frame") else ""
        if answer["error"] == "unanswered":
            return UsageError(
                f"{label}: {answer['path']} {answer['how']} while the module was being imported{at}, which no module "
                "of a resolution may do"
            )
        if answer["error"] == "callable":
            return UsageError(f"{label}: {answer['detail']}")
        more = ""
        if "ModuleNotFoundError" in answer["detail"]:
            more = "; give --python the interpreter of the environment that has it"
        return UsageError(f"{label}: importing the module failed{at}: {answer['detail']}{more}")

    def _encode(self, cases: Sequence[Case], *, part: Part = NO_PART, operation: str = "resolve") -> bytes:
        return encode_batch(cases, part=part, operation=operation)
