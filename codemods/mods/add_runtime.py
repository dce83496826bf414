"""Places the runtime of declared writes beside the record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import libcst as cst

import codemods.runtime.overrides_runtime as runtime
from codemods.frame.codemod import Change, Codemod
from codemods.reading.source import SourceFile


@dataclass
class AddRuntime(Codemod):
    """Adds one module, of the standard library only, that `record_writes` and `pin_whitelist` refer to."""

    summary: ClassVar[str] = "the module that records declared writes is placed beside the record"

    def words(self) -> tuple[str, ...]:
        """Return none: no file is changed."""
        return ()

    def apply(self, module: cst.Module, source: SourceFile) -> Change:
        """Return ``module`` as it is."""
        return Change(module)

    def files(self) -> Mapping[str, str]:
        """Return the runtime, by the path where it goes."""
        return {self.facts.runtime_file: Path(runtime.__file__).read_text()}
