"""A runner that opens each mutated package as any other subject: also a source tree, or by another interpreter."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from pathlib import Path
from typing import Final

from harness.audit.run.runner import NotLoaded
from harness.audit.run.trial import Trial, numbers_in
from harness.common.errors import UsageError
from harness.subjects.open import open_subject
from harness.subjects.sources import Tree
from harness.subjects.spec import SubjectSpec
from harness.subjects.wire import is_outcome

# Most faults show early, and what was asked after the first is lost.
_FIRST: Final = 250
_MOST: Final = 4_000


class SubjectRunner:
    """Runs copies of the subject ``spec``; it has the limits that are in there."""

    def __init__(self, spec: SubjectSpec, trial: Trial) -> None:
        self._spec = spec
        self._trial = trial
        self._keys = [agreement_key(frame, trial.messages) for frame in trial.expected]

    def answers(self, folder: Path, cases: int | None = None) -> Generator[tuple[int, bytes], None, None]:
        """Yield what does not agree, as `harness.audit.run.runner.Runner` says. Raises NotLoaded."""
        trial = self._trial
        tree = Tree(folder, label=self._spec.label, identity=f"dir:{folder}")
        subject = open_subject(dataclasses.replace(self._spec, tree=tree))
        try:
            try:
                subject.choose(trial.names)
            except UsageError as error:
                raise NotLoaded(str(error)) from None
            numbers = range(len(trial.cases)) if cases is None else numbers_in(cases)
            done, size = 0, _FIRST
            while done < len(numbers):
                batch = numbers[done : done + size]
                frames = subject.resolve([trial.cases[number] for number in batch])
                for number, frame in zip(batch, frames, strict=True):
                    if not is_outcome(frame) or agreement_key(frame, trial.messages) != self._keys[number]:
                        yield number, frame
                done, size = done + len(batch), min(2 * size, _MOST)
        finally:
            subject.close()

    def ran(self, folder: Path) -> None:
        """Return None: in a child of its own a block has nobody to say it to."""

    def close(self) -> None:
        """Do nothing: each run ends with its answers."""


def agreement_key(frame: bytes, messages: bool) -> bytes:
    """Return what is the same in two frames that agree: of a refusal its check, of other outcomes everything."""
    if not frame.startswith(b"E"):
        return frame
    said = frame.partition(b"\n")[0]
    return said if messages else said[: said.index(b'",')]
