"""The list of what no case reaches, which a package has beside its modules instead of comments in them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import declarative
from harness.common.toml import read_toml
from harness.subjects.open import open_spec, open_subject

PACKAGE = Path(declarative.__file__).parent
PRAGMA = re.compile(r"#\s*(never (true|false|asked)|unreachable):")


def test_the_description_has_each_entry_once() -> None:
    spec = open_spec("declarative", answers=None, python=sys.executable, case_seconds=10, memory_mib=2048)
    with open_subject(spec) as subject:
        description = subject.describe()
    found = {(one.source, one.never, one.excuse) for one in description.decisions if one.never}
    found |= {(one.source, "", one.excuse) for one in description.writers if one.excuse}
    listed = read_toml(PACKAGE / "unreachable.toml", "unreachable.toml")["unreachable"]
    assert found == {(entry["source"], entry.get("never", ""), entry["reason"]) for entry in listed}
    assert len(found) == len(listed)


def test_the_code_has_no_comments_for_the_harness() -> None:
    for path in PACKAGE.rglob("*.py"):
        assert not PRAGMA.search(path.read_text(encoding="utf-8")), path
