"""Descriptions of two made-up subjects."""

from __future__ import annotations

from harness.generate.values.domains import Domains, domains_of
from harness.subjects.description import Description, Variable
from harness.world.fields import FieldSpec


def field(name: str, type: str, **more: object) -> FieldSpec:
    return FieldSpec(name=name, type=type, **more)  # type: ignore[arg-type]


def description(*fields: FieldSpec, reads: tuple[str, ...] = (), **more: object) -> Description:
    return Description(
        fields={spec.name: spec for spec in fields},
        reads=dict.fromkeys(reads or [spec.name for spec in fields], ()),
        environment=more.pop("environment", {}),  # type: ignore[arg-type]
        architectures=more.pop("architectures", ()),  # type: ignore[arg-type]
        **more,  # type: ignore[arg-type]
    )


def made_domains() -> Domains:
    """Return the domains of a made-up subject."""
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
