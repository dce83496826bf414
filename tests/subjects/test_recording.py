"""Code with recorded writes and decisions does what it did, and notes each of them."""

from __future__ import annotations

import ast
import textwrap
from contextlib import nullcontext
from types import CodeType, SimpleNamespace
from typing import Any

from harness.subjects.child.recording.reach import RecordedReach
from harness.subjects.child.recording.recorder import Recorder

NAMES = ("page_size", "dtype", "graph.decode.backend")


def test_recorded_code_does_what_it_did() -> None:
    source = textwrap.dedent(
        """
        def f(self, x):
            self.page_size, y = x, 1
            self.page_size += 1 if x > 1 else 2
            for self.dtype in ("a", "b"):
                pass
            with self.block() as self.graph.decode.backend:
                pass
            setattr(self, "page_size", self.page_size * 10)
            self.dtype: str = self.dtype + "c"
            declared = {"page_size": x and self.page_size, "dtype": not x}
            declared["dtype"] = "d" if x in (1, 2) and not (x == 3 or y is None) else "e"
            return declared
        """
    )

    def run(code: CodeType, names: dict[str, Any], x: int) -> tuple[Any, dict[str, Any]]:
        exec(code, names)
        record = SimpleNamespace(graph=SimpleNamespace(decode=SimpleNamespace()), block=lambda: nullcontext("full"))
        made = names["f"](record, x)
        return made, {**vars(record), "graph": record.graph.decode.backend, "block": None}

    recorder = Recorder("/r", NAMES)
    recorded = compile(recorder.instrumented(ast.parse(source), "/r/m.py"), "m.py", "exec")
    for x in (0, 1, 2, 3):
        plain = run(compile(source, "m.py", "exec"), {}, x)
        assert run(recorded, recorder.names(), x) == plain
    recorder.drop()
    run(recorded, recorder.names(), 1)
    fields = [recorder.sites.writes[number].field for number in recorder.written]
    assert list(zip(fields, recorder.values, strict=True)) == [
        ("page_size", 1),
        ("page_size", 3),
        ("dtype", "a"),
        ("dtype", "b"),
        ("graph.decode.backend", "full"),
        ("page_size", 30),
        ("dtype", "bc"),
        ("page_size", 30),
        ("dtype", False),
        ("dtype", "d"),
    ]
    reach = RecordedReach(recorder, [("1 f", "f")])
    outcomes = dict(zip((d["text"] for d in describe(reach, source)), reach.fresh()[1], strict=True))
    assert outcomes["x > 1"] == 3
    assert outcomes["y is None"] == 2
    assert outcomes["x == 3"] == 2


def describe(reach: RecordedReach, source: str) -> list[dict[str, Any]]:
    reach._recorder.lines_of = lambda file: source.encode().splitlines()
    described: list[dict[str, Any]] = reach.decisions()
    return described


def test_a_comment_says_which_outcome_a_decision_cannot_have() -> None:
    source = textwrap.dedent(
        """
        def f(self, x):
            if x > 1:  # never false: whoever calls has looked
                return None
        """
    )
    recorder = Recorder("/r", NAMES)
    recorder.instrumented(ast.parse(source), "/r/m.py")
    reach = RecordedReach(recorder, [("1 f", "f")])
    decision = describe(reach, source)[0]
    assert (decision["never"], decision["excuse"]) == ("false", "whoever calls has looked")
