"""The analysis of reads and writes in slot order, and of moves: each hazard that a move can cause is seen."""

from __future__ import annotations

import json

import pytest

from codemods.hazards.moves import judge_move
from codemods.hazards.report import as_json, as_text
from codemods.reading.files import MemoryTree
from codemods.reading.index import TreeIndex
from codemods.reading.record import facts_of
from codemods.reading.timeline import Timeline, read_timeline
from harness.common.errors import UsageError

ARGS = '''\
from app.hooks import hook


class Args:
    page_size: int = None
    backend: str = None
    quantization: str = None

    def __post_init__(self):
        """Resolve."""
        if self.quantization == "none":
            self.quantization = None
        self._handle_backend()
        self._handle_cache()
        self._handle_page_size()
        self._finish()

    @property
    def is_paged(self):
        return self.page_size is not None

    def _handle_backend(self):
        if self.backend is None:
            self.backend = "fa4" if self.quantization else "triton"
        hook(self, 1)

    def _handle_cache(self):
        if self.is_paged:
            self.limit = 1

    def _handle_page_size(self):
        size = self.page_size or 1
        if self.backend == "fa4":
            setattr(self, "page_size", 128)
        else:
            declare(self, "_handle_page_size", page_size=size)

    def _finish(self):
        def later():
            self.quantization = "late"

        later()
        Config.of(self)
'''
HOOKS = '''\
def hook(server_args, page):
    """Fill in."""
    if server_args.page_size is None:
        server_args.page_size = page
    server_args.page_size += 1
'''


def traced(args: str = ARGS) -> Timeline:
    tree = MemoryTree({"app/args.py": args.encode(), "app/hooks.py": HOOKS.encode()})
    index = TreeIndex(tree)
    return read_timeline(index, facts_of(index, "app.args:Args"))


def test_slots_are_the_statements_of_the_entry_method() -> None:
    names = [slot.name for slot in traced().slots]
    assert names == ["__post_init__:11", "_handle_backend", "_handle_cache", "_handle_page_size", "_finish"]


def test_events_come_in_the_order_of_evaluation_over_calls() -> None:
    events = [(event.slot, event.kind, event.function, event.line) for event in traced().of(["page_size"])]
    assert events == [
        (2, "read", "hook", 3),
        (2, "write", "hook", 4),
        (2, "read", "hook", 5),
        (2, "write", "hook", 5),
        (3, "read", "Args.is_paged", 20),
        (4, "read", "Args._handle_page_size", 32),
        (4, "write", "Args._handle_page_size", 34),
        (4, "write", "Args._handle_page_size", 36),
        (5, "handed", "Args._finish", 43),
    ]


def test_a_write_knows_its_guards_and_what_it_needs() -> None:
    (write,) = [event for event in traced().of(["backend"], "write") if event.kind == "write"]
    assert write.guards == ("self.backend is None",)
    assert write.needs == {"backend", "quantization"}
    hooked = traced().of(["page_size"], "write")[0]
    assert hooked.through == ("Args.__post_init__", "Args._handle_backend")


def test_a_function_inside_happens_where_it_is_called() -> None:
    late = [event for event in traced().of(["quantization"], "write") if event.slot == 5]
    assert [event.function for event in late if event.kind == "write"] == ["Args._finish.later"]


def test_another_objects_attribute_is_no_read_of_the_field() -> None:
    other = ARGS.replace(
        "        later()\n", "        later()\n        other = Other()\n        other.page_size += 1\n"
    )
    (last,) = [access for access in traced(other).of(["page_size"]) if access.slot == 5]
    assert (last.kind, last.field) == ("handed", "Config.of")


def test_a_move_over_a_read_shows_what_would_see_another_value() -> None:
    move = judge_move(traced(), "page_size", "_handle_page_size", "_handle_cache")
    assert [event.function for event in move.dangers["seen_otherwise"]] == ["Args.is_paged", "Args._handle_page_size"]
    assert not move.dangers["jumped"]
    assert not move.is_safe


def test_a_move_over_a_writer_shows_which() -> None:
    move = judge_move(traced(), "page_size", "_handle_page_size", "_handle_backend")
    assert {event.line for event in move.dangers["jumped"]} == {4, 5}
    assert [event.field for event in move.dangers["changed_inputs"]] == ["backend"]


def test_a_move_past_something_unknown_is_not_safe() -> None:
    later = ARGS.replace("        self._finish()\n", "        self._finish()\n        self._last()\n")
    move = judge_move(traced(later + "\n    def _last(self):\n        pass\n"), "backend", "2", "_last")
    assert [event.field for event in move.dangers["handed"]] == ["Config.of"]
    assert [event.function for event in move.dangers["seen_otherwise"]] == ["Args._handle_page_size"]


def test_a_move_with_nothing_in_between_is_safe() -> None:
    assert judge_move(traced(), "quantization", "__post_init__:11", "_handle_backend").is_safe


def test_unknown_slots_and_fields_that_a_slot_does_not_write_are_errors() -> None:
    with pytest.raises(UsageError, match="did you mean '_handle_cache'"):
        judge_move(traced(), "page_size", "_handle_cach", "_finish")
    with pytest.raises(UsageError, match="slots 2, 4 do"):
        judge_move(traced(), "page_size", "_handle_cache", "_finish")
    with pytest.raises(UsageError, match="no method '__post_init__'"):
        traced(ARGS.replace("__post_init__", "resolve"))


def test_slots_can_be_a_tuple_of_the_package() -> None:
    slots = (
        '\n\nSLOTS = (\n    Slot(1, "first", Args._handle_backend),\n    Slot(2, "second", Args._handle_cache),\n)\n'
    )
    found = traced(ARGS.replace("__post_init__", "resolve") + slots)
    assert [slot.name for slot in found.slots] == ["first", "second"]
    assert [event.slot for event in found.of(["page_size"])] == [1, 1, 1, 1, 2]


def test_text_and_json_say_the_same() -> None:
    found = traced()
    move = judge_move(found, "page_size", "_handle_page_size", "_handle_cache")
    text = as_text(found, ["page_size"], [move])
    assert "read   page_size  Args.is_paged (app/args.py:20)" in text
    assert "reads that would see another value" in text
    body = json.loads(as_json(found, ["page_size"], [move]))
    assert len(body["events"]) == len(found.of(["page_size"]))
    assert body["moves"][0]["safe"] is False
    assert body["moves"][0]["seen_otherwise"][0]["line"] == 20
