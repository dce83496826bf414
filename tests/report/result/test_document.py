"""What is saved can be run again."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_results import bucket, finished

from harness.common.errors import UsageError
from harness.formats.contract import read_cases
from harness.report.result.document import save_result
from harness.world.case import Case


def test_forms_that_were_shrunk_from_one_case_get_ids_of_their_own(tmp_path: Path) -> None:
    found = bucket()
    found.others = [Case(id=found.witness.id, args={"tp_size": 8}), Case(id=found.witness.id)]
    (path,) = save_result(finished(found), tmp_path)
    assert [case.id for case in read_cases(path)] == ["7-3", "7-3-form2", "7-3-form3"]


def test_what_cannot_be_saved_whole_is_not_saved(tmp_path: Path) -> None:
    (tmp_path / "result.json").mkdir()
    with pytest.raises(UsageError, match="it is a folder"):
        save_result(finished(bucket()), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]
