"""What is saved can be run again."""

from __future__ import annotations

from pathlib import Path

from test_terminal import bucket, finished

from harness.report.document import save_result
from harness.world.case import Case
from harness.world.contract import read_cases


def test_forms_that_were_shrunk_from_one_case_get_ids_of_their_own(tmp_path: Path) -> None:
    found = bucket()
    found.others = [Case(id=found.witness.id, args={"tp_size": 8}), Case(id=found.witness.id)]
    (path,) = save_result(finished(found), tmp_path)
    assert [case.id for case in read_cases(path)] == ["7-3", "7-3-form2", "7-3-form3"]
