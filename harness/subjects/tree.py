"""A real source tree as a subject."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.common.errors import UsageError
from harness.subjects.batch import encode_batch
from harness.subjects.part import NO_PART, Part
from harness.subjects.process import Process, tree_command
from harness.subjects.profile import answer_example
from harness.subjects.subject import Subject
from harness.world.case import Case


class TreeSubject(Subject):
    """sglang, as a release, a revision or a folder holds it."""

    def _process_of(self) -> Process:
        return Process(tree_command(self.spec.python))

    def _load_request(self) -> dict[str, Any]:
        spec = self.spec
        return {
            "root": str(spec.tree.root),
            "profile": spec.profile,
            "slice": spec.slice,
            "record": spec.record,
        }

    def _load_error(self, answer: dict[str, Any]) -> UsageError:
        return _load_error(self.spec.label, answer)

    def _encode(self, cases: Sequence[Case], *, part: Part = NO_PART, operation: str = "resolve") -> bytes:
        return encode_batch(cases, part=part, operation=operation)


def _load_error(label: str, answer: dict[str, Any]) -> UsageError:
    at = f" at {answer['frame']}" if answer.get("frame") else ""
    if answer["error"] == "unanswered":
        return unanswered(label, answer["path"], answer["how"], f"while the tree was being imported{at}")
    if answer["error"] == "slice":
        return UsageError(f"{label}: there is no such slice here: {answer['detail']}; leave '#slice' off")
    return UsageError(f"{label}: importing the tree failed{at}: {answer['detail']}")


def unanswered(label: str, path: str, how: str, when: str) -> UsageError:
    """Return the error for a stand-in observed without an answer; its example are the lines that give one."""
    example = answer_example(path, how)
    if not example:
        return UsageError(f"{label}: {path} {how} {when}, which a resolution may not do: no case can answer for it")
    return UsageError(f"{label}: {path} {how} {when} and no case answers it: give --answers a file with", example)
