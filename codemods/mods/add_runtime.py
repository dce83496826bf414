"""Adds the runtime, a module with ``declare``, the view and what runs passes, beside the record's module."""

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
    """Adds one module, which needs only the standard library; code that other codemods write imports from it."""

    summary: ClassVar[str] = "the module that records declared writes is placed beside the record"

    def words(self) -> tuple[str, ...]:
        """Return no words: the codemod changes no file, it only adds one."""
        return ()

    def apply(self, module: cst.Module, source: SourceFile) -> Change:
        """Return ``module`` as it is."""
        return Change(module)

    def files(self) -> Mapping[str, str]:
        """Return the text of the added module by its path."""
        return {self.facts.runtime_file: Path(runtime.__file__).read_text()}
