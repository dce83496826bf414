"""Write sites in source: which assignments count, and the order in which slots come to them."""

from __future__ import annotations

import ast
import textwrap
from contextlib import nullcontext
from types import CodeType, SimpleNamespace
from typing import Any

from harness.source.sites import Sites
from harness.subjects.child.recording.reach import Reach
from harness.subjects.child.recording.recorder import Recorder

NAMES = ("page_size", "dtype", "graph.decode.backend", "graph.prefill.backend")


def sources(*texts: str) -> Sites:
    found = Sites(NAMES)
    for number, text in enumerate(texts):
        found.add(ast.parse(textwrap.dedent(text)), f"m{number}.py")
    return found


def test_every_form_of_assignment_is_a_site_and_reading_is_none() -> None:
    found = sources(
        """
        class Record:
            def one(self):
                self.page_size = self.dtype
                self.page_size, self.dtype = 1, "x"
                self.page_size = other.dtype = None
                self.page_size += 1
                self.dtype: str = "y"
                page_size = 3
                self.pages = 4
                if self.page_size == 1: pass
        """
    )
    assert [(site.field, site.function, site.line) for site in found.writes] == [
        ("page_size", "one", 4),
        ("page_size", "one", 5),
        ("dtype", "one", 5),
        ("page_size", "one", 6),
        ("dtype", "one", 6),
        ("page_size", "one", 7),
        ("dtype", "one", 8),
    ]


def test_a_dotted_field_is_known_by_its_last_two_names() -> None:
    found = sources(
        """
        def f(self):
            self.graph.decode.backend = "a"
            prefill = self.graph.prefill
            prefill.backend = "b"
            self.other.backend = "c"
        """
    )
    assert [site.field for site in found.writes] == ["graph.decode.backend", "graph.prefill.backend"]


def test_slots_come_to_sites_in_the_order_of_the_calls() -> None:
    found = sources(
        """
        def second(self):
            self.page_size = 2
            helper(self)
        def first(self):
            self.dtype = choose(self)
            helper(self)
            self.page_size = 1
        """,
        """
        def choose(self):
            self.page_size = 0
        def helper(self):
            self.page_size = 3
            first(self)
        def nobody(self):
            self.page_size = 4
        """,
    )
    listed, _ = found.in_slot_order([("A", "first"), ("B", "second")])
    # What no slot comes to is not listed.
    assert [(slot, site.field, site.function) for slot, site in listed] == [
        ("A", "page_size", "choose"),
        ("A", "dtype", "first"),
        ("A", "page_size", "helper"),
        ("A", "page_size", "first"),
        ("B", "page_size", "second"),
    ]


def test_declarations_are_sites_and_other_keys_are_none() -> None:
    found = sources(
        """
        TABLE = {"page_size": 1}
        def f(view):
            declared = {"page_size": 64, "other": view.dtype, **more}
            declared["dtype"] = "x"
            declared["nothing"] = declared["page_size"]
            setattr(view, "page_size", 3)
            setattr(view, name, 3)
            return {"dtype": "y"} if view else {}
        """
    )
    assert [(site.field, site.line) for site in found.writes] == [
        ("page_size", 4),
        ("dtype", 5),
        ("page_size", 7),
        ("dtype", 9),
    ]


def texts(text: str) -> list[str]:
    source = textwrap.dedent(text)
    found = Sites(NAMES)
    found.add(ast.parse(source), "m.py")
    return [site.text(source.encode().splitlines()) for site in found.decisions]


def test_decisions_are_the_single_conditions() -> None:
    assert texts(
        """
        LIMIT = 1 if a else 2
        def f(self, x: 1 if b else 2):
            if self.a and not (self.b == 1 or g(self.c)):
                pass
            elif x in (1,
                       2):
                return 1 if self.d else 2
            while True: break
            assert x is None, "text"
            y = [z for z in x if z.ok if not z.bad]
            known = x == 1
            return x and (y or self.e)
        """
    ) == [
        "self.a",
        "self.b == 1",
        "g(self.c)",
        "x in (1, 2)",
        "self.d",
        "x is None",
        "z.ok",
        "z.bad",
        "x == 1",
        "x",
        "y",
        "self.e",
    ]


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
    reach = Reach(recorder, [("1 f", "f")])
    outcomes = dict(zip((d["text"] for d in describe(reach, source)), reach.fresh()[1], strict=True))
    assert outcomes["x > 1"] == 3
    assert outcomes["y is None"] == 2
    assert outcomes["x == 3"] == 2


def describe(reach: Reach, source: str) -> list[dict[str, Any]]:
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
    reach = Reach(recorder, [("1 f", "f")])
    decision = describe(reach, source)[0]
    assert (decision["never"], decision["excuse"]) == ("false", "whoever calls has looked")


def test_the_write_of_a_nested_function_is_listed_once() -> None:
    found = sources(
        """
        def f(self):
            def inner():
                self.page_size = 1
            inner()
            inner()
        """
    )
    listed, _ = found.in_slot_order([("A", "f")])
    assert [(slot, site.field, site.function) for slot, site in listed] == [("A", "page_size", "inner")]


def test_one_of_two_literals_is_no_condition_and_what_chooses_it_is() -> None:
    found = sources(
        """
        def f(self):
            self.dtype = self.given or ("x" if self.fast else "y" if self.old else ())
            self.page_size = self.given or (self.size if self.fast else 1)
        """
    )
    assert [ast.unparse(site.node) for site in found.decisions] == [
        "self.given",
        "self.fast",
        "self.old",
        "self.given",
        "self.size if self.fast else 1",
        "self.fast",
    ]
