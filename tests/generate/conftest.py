"""Domains of a made-up subject."""

from __future__ import annotations

import pytest
from descriptions import description, field

from harness.generate.domains import Domains, domains_of
from harness.subjects.description import Variable


@pytest.fixture
def domains() -> Domains:
    first = description(
        field("backend", "str", choices=("a", "b"), compared=("b", "c", None)),
        field("page_size", "int", optional=True, compared=(32, 64)),
        field("ratio", "float", default=0.8),
        field("flag", "bool", default=False),
        field("label", "str", default="x"),
        environment={"SGLANG_FLAG": Variable(type="bool", default=False), "OTHER": Variable(type="str")},
        architectures=("NewForCausalLM",),
        resolved=("backend", "page_size"),
    )
    return domains_of(first, first)
