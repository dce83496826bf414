"""Descriptions of two made-up subjects."""

from __future__ import annotations

from harness.subjects.description import Description
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
