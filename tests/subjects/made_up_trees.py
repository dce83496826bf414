"""Made-up source trees: as small as the built-in profile allows, each with one thing wrong."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.subjects.kinds import TreeSubject
from harness.subjects.profile import Profile, load_profile
from harness.subjects.sources import Tree
from harness.subjects.spec import Limits, SubjectSpec
from harness.world.case import Case, Outcome
from harness.world.hardware import Hardware
from harness.world.model import Model

CUDA = Hardware(platform="cuda", capability=(9, 0), cuda_version="12.9", flashinfer=True)
CPU = Hardware()
FIELDS = ("page_size", "sampling_backend", "cuda_graph_config.decode.backend")

_SERVER_ARGS = """\
import dataclasses
import os
import sys

from sglang.srt.environ import envs
from sglang.srt.model_executor.cuda_graph_config import CudaGraphConfig
from sglang.srt.utils.common import is_cuda
{top}

@dataclasses.dataclass
class ServerArgs:
    model_path: str
    device: str | None = None
    tp_size: int = 1
    chunked_prefill_size: int | None = None
    max_prefill_tokens: int | None = None
    mem_fraction_static: float | None = None
    attention_backend: str | None = None
    page_size: object = None
    sampling_backend: object = None
    cuda_graph_config: object = None

    def __post_init__(self):
        self._handle_page_size()
        self._handle_sampling_backend()

    def _handle_page_size(self):
        if self.page_size is None:
            self.page_size = 64 if is_cuda() else 1
        if self.attention_backend == "bad":
            self._bad()

    def _bad(self):
        {body}

    def _handle_sampling_backend(self):
        if self.tp_size < 1:
            raise ValueError("too few ranks")
        if self.sampling_backend is None:
            {sampling}

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--tp-size", "--tp", type=int)
        parser.add_argument("--page-size", type=int)
"""

_ENVIRON = """\
import os


class Variable:
    def __init__(self, default):
        self.default = default
        self._set_to_none = False

    def __set_name__(self, owner, name):
        self.name = name

    def get(self):
        value = os.getenv(self.name)
        if self._set_to_none:
            assert value == "None"
            return None
        return self.default if value is None else value

    def set(self, value):
        self._set_to_none = value is None
        os.environ[self.name] = str(value)


class EnvStr(Variable):
    pass


class Envs:
    SGLANG_MADE_UP = EnvStr("unset")


envs = Envs()
"""

_CONFIG = """\
class Phase:
    def __init__(self, backend):
        self.backend = backend


class CudaGraphConfig:
    def __init__(self, decode, prefill):
        self.decode, self.prefill = decode, prefill

    @classmethod
    def from_dict(cls, data):
        return cls(**{phase: Phase(**given) for phase, given in data.items()})
"""


_MODEL_CONFIG = """\
import enum


class AttentionArch(enum.Enum):
    MLA = 1
    MHA = 2


class ModelConfig:
    @staticmethod
    def from_server_args(server_args):
        raise RuntimeError("there is no checkpoint here")
"""


def make_tree(
    root: Path,
    *,
    body: str = "pass",
    top: str = "",
    sampling: str = "self.sampling_backend = 'flashinfer' if is_cuda() else 'pytorch'",
    files: Mapping[str, str] | None = None,
) -> Tree:
    """Return a tree under ``root``.

    ``top`` is at the top of server_args.py; ``body`` runs in ``_bad`` for cases with attention_backend "bad",
    ``sampling`` in ``_handle_sampling_backend`` of every case; ``files`` are further files of ``root``, by path.
    """
    server_args = _SERVER_ARGS.format(
        top=textwrap.dedent(top), body=_indented(body, 8), sampling=_indented(sampling, 12)
    )
    for path, text in {
        "sglang/__init__.py": "",
        "sglang/srt/__init__.py": "",
        "sglang/srt/server_args.py": server_args,
        "sglang/srt/environ.py": _ENVIRON,
        "sglang/srt/configs/__init__.py": "",
        "sglang/srt/configs/model_config.py": _MODEL_CONFIG,
        "sglang/srt/model_executor/__init__.py": "",
        "sglang/srt/model_executor/cuda_graph_config.py": _CONFIG,
        **(files or {}),
    }.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")
    return Tree(root, "made-up", f"dir:{root}")


def _indented(text: str, blanks: int) -> str:
    return textwrap.indent(textwrap.dedent(text).strip(), " " * blanks).strip()


def subject_of(tree: Tree, profile: Profile | None = None, *, slice: bool = True, **limits: Any) -> TreeSubject:
    """Return a subject of ``tree`` that reports ``FIELDS``; close it."""
    bounds = Limits(**{"memory_mib": 512, "case_seconds": 5.0, "load_seconds": 20.0, **limits})
    subject = TreeSubject(SubjectSpec(tree, slice, profile or load_profile(), limits=bounds))
    subject.choose(FIELDS)
    return subject


def case(name: str, hardware: Hardware = CUDA, env: Mapping[str, str] | None = None, **args: Any) -> Case:
    """Return a case called ``name`` with the arguments ``args``."""
    model = args.pop("model", None) or Model()
    return Case(id=name, args=args, hardware=hardware, model=model, env=dict(env or {}))


BAD = {"attention_backend": "bad"}


def around(*bad: Case) -> list[Case]:
    """Return good cases, ``bad`` among them: two before, a refusal and two after."""
    before = [case("before-1"), case("before-2", CPU)]
    return [*before, *bad, case("refused", tp_size=0), case("after-1"), case("after-2", CPU)]


def check_the_good(outcomes: list[Outcome]) -> None:
    """Check that the good cases of ``around`` have their outcomes, whatever else is among them."""
    by_id = {outcome.id: outcome for outcome in outcomes}
    for name in ("before-1", "after-1"):
        assert by_id[name].fields == dict(zip(FIELDS, (64, "flashinfer", "full"), strict=True)), by_id[name]
    for name in ("before-2", "after-2"):
        assert by_id[name].fields == dict(zip(FIELDS, (1, "pytorch", "full"), strict=True)), by_id[name]
    refused = by_id["refused"].error
    assert refused is not None
    assert (refused.type, refused.message) == ("ValueError", "too few ranks")
    assert refused.origin == "_handle_sampling_backend"
    for name in ("before-1", "before-2", "refused", "after-1", "after-2"):
        assert by_id[name].env == {}
