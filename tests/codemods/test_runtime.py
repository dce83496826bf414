"""The runtime that codemods place in a tree."""

from __future__ import annotations

import copy
import dataclasses
from typing import Annotated

import pytest

from codemods.runtime.overrides_runtime import (
    View,
    applied_now,
    applies_at_end,
    declarations,
    declare,
    provenance,
    resolvable_fields,
    run_pass,
    view_of,
)


@dataclasses.dataclass(frozen=True)
class Arg:
    resolvable: bool = False


@dataclasses.dataclass
class Record:
    size: Annotated[int, Arg(resolvable=True)] = 1
    name: Annotated[str, Arg()] = ""


def test_a_declaration_is_set_at_once_and_remembered_in_order() -> None:
    record = Record()
    declare(record, "first", size=2, name="a")
    declare(record, "second", size=3)
    assert (record.size, record.name) == (3, "a")
    assert declarations(record) == (("size", 2, "first"), ("name", "a", "first"), ("size", 3, "second"))
    assert [entry.source for entry in provenance(record, "size")] == ["first", "second"]


def test_a_copy_does_not_write_into_the_stash_of_the_first() -> None:
    record = Record()
    declare(record, "first", size=2)
    declare(copy.copy(record), "second", size=3)
    assert len(declarations(record)) == 1
    assert record == Record(2)


def test_a_record_without_a_dict_takes_the_value() -> None:
    class Slotted:
        __slots__ = ("size",)

    record = Slotted()
    declare(record, "first", size=2)
    assert record.size == 2
    assert declarations(record) == ()


def test_a_pass_reads_what_it_has_declared_and_cannot_assign() -> None:
    record, seen = Record(), []

    def a_pass(view: View, more: int) -> None:
        view.declare(size=view.size + more)
        seen.append((view.size, record.size))
        with pytest.raises(AttributeError, match="declare 'size'"):
            view.size = 1

    run_pass(record, a_pass, 4)
    assert seen == [(5, 1)]
    assert declarations(record) == (("size", 5, "a_pass"),)


def test_a_view_reads_as_the_record_does() -> None:
    class Odd:
        kind = "class"

        def __init__(self) -> None:
            self.__dict__.update(declare=1, shown="in the dict", plain=2)

        @property
        def shown(self) -> str:
            return "the property"

        def grow(self) -> int:
            self.plain += 1
            return self.plain

    def a_pass(view: View) -> None:
        seen.append((view.kind, view.shown, view.plain, view.grow(), view.plain))
        view.declare(kind="declared")
        seen.append((view.kind, view.shown, view.plain, view.grow(), view.plain))

    record, seen = Odd(), []
    run_pass(record, a_pass)
    assert seen == [("class", "the property", 2, 3, 3), ("declared", "the property", 3, 4, 4)]
    assert record.kind == "declared"


def test_a_view_of_a_view_adds_to_it() -> None:
    def inner(view: View) -> None:
        seen.append(view.size)
        view.declare(size=view.size + 1)

    def outer(view: View) -> None:
        view.declare(size=5)
        run_pass(view, inner)
        seen.append((view.size, record.size))

    record, seen = Record(), []
    run_pass(record, outer)
    assert seen == [5, (6, 1)]
    assert record.size == 6


def test_what_a_pass_declared_before_it_failed_is_applied() -> None:
    def a_pass(view: View) -> None:
        view.declare(size=2)
        raise ValueError("no")

    record = Record()
    with pytest.raises(ValueError, match="no"):
        run_pass(record, a_pass)
    assert record.size == 2


def test_the_whitelist_follows_from_the_tags() -> None:
    assert resolvable_fields(Record) == ("size",)


def test_a_field_is_set_when_the_resolution_ends_and_the_view_reads_it_before() -> None:
    @applies_at_end("size")
    def resolve(record: Record) -> None:
        declare(record, "first", size=2, name="a")
        seen.append((record.size, record.name, view_of(record).size, view_of(record).name))
        run_pass(record, a_pass)
        seen.append((record.size, view_of(record).size))
        resolve_again(record)
        seen.append((record.size, view_of(record).size))

    @applies_at_end("size")
    def resolve_again(record: Record) -> None:
        declare(record, "again", size=9)

    def a_pass(view: View) -> None:
        before = view.size
        declare(record, "a helper", size=before + 1)
        seen.append((before, view.size))
        view.declare(name="b")
        declare(record, "a helper", size=before + 2)
        seen.append((view.size, view_of(view).name))
        view.declare(size=view.size + 1)

    record, seen = Record(), []
    resolve(record)
    assert seen == [(1, "a", 2, "a"), (2, 3), (4, "b"), (1, 5), (1, 9)]
    assert vars(record) == {"size": 9, "name": "b", "_declared": declarations(record)}
    assert [entry.value for entry in provenance(record, "size")] == [2, 3, 4, 5, 9]
    declare(record, "later", size=3)
    assert record.size == view_of(record).size == 3
    assert view_of(record) is record


def test_what_waits_is_applied_when_the_resolution_fails_and_before_who_knows_no_view() -> None:
    @applies_at_end("size")
    def resolve(record: Record) -> None:
        declare(record, "first", size=2)
        assert applied_now(record).size == 2
        record.size = 5
        seen.append(view_of(record).size)
        declare(record, "second", size=6)
        raise ValueError("no")

    record, seen = Record(), []
    with pytest.raises(ValueError, match="no"):
        resolve(record=record)
    assert seen == [5]
    assert record == Record(6)
    assert "_waiting" not in vars(record)


def test_a_record_without_a_dict_is_set_at_once() -> None:
    class Slotted:
        __slots__ = ("size",)

    @applies_at_end("size")
    def resolve(record: Slotted) -> None:
        declare(record, "first", size=2)
        assert record.size == view_of(record).size == 2

    resolve(Slotted())
