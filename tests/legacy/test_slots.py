"""The order is one tuple, complete and explicit."""

from __future__ import annotations

import inspect

from legacy import SLOTS, ServerArgs


def test_slots_are_numbered_in_order() -> None:
    assert [slot.number for slot in SLOTS] == list(range(21))
    assert len({slot.name for slot in SLOTS}) == 21


def test_every_slot_runs_a_handler_of_its_own() -> None:
    handlers = {
        function
        for name, function in inspect.getmembers(ServerArgs, inspect.isfunction)
        # This one is a helper, called from the branches of slot 8.
        if name.startswith("_handle_") and name != "_handle_mamba_radix_cache"
    }
    assert {slot.run for slot in SLOTS} == handlers
    assert len({slot.run for slot in SLOTS}) == 21


def test_a_handler_has_the_name_of_its_slot() -> None:
    renamed = {1, 7, 18}  # statements without a name in the original, and one of a function outside the record
    for slot in SLOTS:
        if slot.number not in renamed:
            assert slot.run.__name__ == slot.name
