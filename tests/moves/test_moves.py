"""Which fields a change moves, and why, told from two trees."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from made_up_trees import make_tree

from harness.common.errors import UsageError
from harness.moves import Moved, moved_fields
from harness.subjects.profile import load_profile
from harness.subjects.sources import Tree
from harness.subjects.spec import SubjectSpec

pytestmark = pytest.mark.slow

RECORD = "sglang/srt/server_args.py"
PASSES = "sglang/srt/arg_groups/overrides.py"

Change = Callable[..., dict[str, Moved]]


@pytest.fixture
def change(tmp_path: Path) -> Change:
    """Return a function that edits a copy of a small tree and returns what moved, by field."""
    first = tmp_path / "first"
    files = {"sglang/srt/arg_groups/__init__.py": "", PASSES: "TABLE = {'Made': {'page_size': 3}}\n"}
    make_tree(first, files=files, top="from sglang.srt.arg_groups import overrides\nSMALL = 4\n")

    def changed(*edits: tuple[str, str, str]) -> dict[str, Moved]:
        second = tmp_path / "second"
        shutil.rmtree(second, ignore_errors=True)
        shutil.copytree(first, second)
        for file, old, new in edits:
            text = (second / file).read_text()
            assert text.count(old) == 1, old
            (second / file).write_text(text.replace(old, new))
        return {moved.field: moved for moved in moved_fields(_spec(first), _spec(second))}

    return changed


def _spec(root: Path) -> SubjectSpec:
    return SubjectSpec(Tree(root, root.name, f"dir:{root}"), True, load_profile())


def _kinds(moved: Moved) -> list[tuple[str, str, str]]:
    return [(reason.kind, reason.name, reason.change) for reason in moved.reasons]


def test_what_does_not_resolve_moves_nothing(change: Change) -> None:
    assert change() == {}
    assert (
        change(
            (RECORD, "    def _bad(self):", '    # A remark.\n\n    def _bad(self):\n        """Words."""'),
            (RECORD, 'raise ValueError("too few ranks")', "raise ValueError('too few of the ranks')"),
            (RECORD, 'parser.add_argument("--page-size", type=int)', 'parser.add_argument("--page-size")'),
        )
        == {}
    )


def test_a_tag_moves_its_field_alone(change: Change) -> None:
    moved = change((RECORD, "page_size: object = None", "page_size: A[object, Arg(resolvable=True)] = None"))
    assert list(moved) == ["page_size"]
    (reason,) = moved["page_size"].reasons
    assert (reason.kind, reason.name, reason.change, reason.detail) == ("tag", "resolvable", "new", "(none) → True")
    assert reason.second.startswith(f"{RECORD}:")


def test_help_is_no_tag(change: Change) -> None:
    worded = "page_size: A[object, 'Tokens a page.', Arg(help='Words.')] = None"
    assert change((RECORD, "page_size: object = None", worded)) == {}


def test_a_writer_moves_what_it_writes_with_the_place_on_both_sides(change: Change) -> None:
    moved = change((RECORD, "64 if is_cuda()", "128 if is_cuda()"))
    assert list(moved) == ["page_size"]
    (reason,) = moved["page_size"].reasons
    assert (reason.kind, reason.name) == ("writer", "ServerArgs._handle_page_size")
    assert reason.first == reason.second
    assert reason.first.startswith(f"{RECORD}:")


def test_a_condition_around_a_write_counts(change: Change) -> None:
    assert list(change((RECORD, "if self.sampling_backend is None:", "if not self.sampling_backend:"))) == [
        "sampling_backend"
    ]


def test_a_handler_that_becomes_a_pass(change: Change) -> None:
    moved = change(
        (RECORD, "self.page_size = 64 if is_cuda() else 1", "overrides.pages(self)"),
        (PASSES, "TABLE", "@register_post_process\ndef pages(args):\n    args.page_size = 64\n\n\nTABLE"),
    )
    assert list(moved) == ["page_size"]
    kinds = _kinds(moved["page_size"])
    assert ("pass", "pages", "new") in kinds
    assert ("writer", "ServerArgs._handle_page_size", "gone") in kinds


def test_order_moves_both_that_changed_places(change: Change) -> None:
    moved = change(
        (
            RECORD,
            "        self._handle_page_size()\n        self._handle_sampling_backend()",
            "        self._handle_sampling_backend()\n        self._handle_page_size()",
        )
    )
    assert list(moved) == ["page_size", "sampling_backend"]
    orders = [reason for one in moved.values() for reason in one.reasons if reason.kind == "order"]
    assert {reason.detail for reason in orders} == {
        "_handle_page_size now runs after _handle_sampling_backend",
        "_handle_sampling_backend now runs before _handle_page_size",
    }


def test_an_entry_of_a_table_moves_its_field(change: Change) -> None:
    moved = change((PASSES, "{'page_size': 3}", "{'page_size': 4}"))
    assert [_kinds(one) for one in moved.values()] == [[("table", "TABLE", "differs")]]


def test_what_a_writer_uses_counts_over_several_steps(change: Change) -> None:
    edits = [(RECORD, "self.page_size = 64 if is_cuda() else 1", "self.page_size = few()")]
    edits.append((RECORD, "SMALL = 4\n", "SMALL = 4\n\n\ndef few():\n    return SMALL\n"))
    before = change(*edits)
    assert ("uses", "few", "new") in _kinds(before["page_size"])
    assert ("uses", "SMALL", "new") in _kinds(before["page_size"])


def test_a_new_field_and_one_that_is_gone(change: Change) -> None:
    moved = change((RECORD, "tp_size: int = 1", "ranks: int = 1"))
    assert _kinds(moved["ranks"]) == [("tag", "field", "new")]
    assert _kinds(moved["tp_size"]) == [("tag", "field", "gone")]


def test_a_file_that_is_no_python_is_one_sentence(change: Change) -> None:
    with pytest.raises(UsageError, match=r"server_args\.py is not Python that can be parsed"):
        change((RECORD, "def __post_init__(self):", "def __post_init__(self:"))


@pytest.mark.index
def test_the_stack_that_landed_in_0_5_15_moved_all_its_fields(release: Callable[[str], Tree]) -> None:
    specs = [SubjectSpec(release(version), False, load_profile()) for version in ("0.5.14", "0.5.15")]
    moved = {one.field: one for one in moved_fields(*specs)}
    assert set(specs[0].resolved) <= set(moved)
    tags = [reason.detail for reason in moved["page_size"].reasons if reason.name == "resolvable"]
    assert tags == ["(none) → True"]
    passes = {
        reason.name for reason in moved["page_size"].reasons if reason.kind == "pass" and reason.change == "new"
    }
    assert "_fa4_page_constraint" in passes
