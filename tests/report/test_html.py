"""The page: everything is in it, nothing is fetched for it, and nothing that a subject says is more than text."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_results import HOSTILE, result
from small_results import finished

from harness.report.html.page import html
from harness.report.wording.stack import LandingStep, Stack

VOID = {"meta", "br", "hr", "img", "input", "link"}
URLS = {
    "href",
    "src",
    "action",
    "data",
    "poster",
    "srcset",
    "formaction",
    "xlink:href",
    "background",
    "cite",
    "style",
}


class Page(HTMLParser):
    """What a browser makes of a page: elements with their attributes, and the text in them."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {}
        self.text = ""
        self._open: list[str] = []
        self.feed(data.decode())
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.inside.setdefault(self._open[-1] if self._open else "", []).append(data)
        if not self._open or self._open[-1] not in ("script", "style"):
            self.text += data

    def all(self, tag: str, class_: str | None = None) -> list[dict[str, str | None]]:
        return [
            given
            for name, given in self.elements
            if name == tag and (class_ is None or class_ in (given.get("class") or "").split())
        ]


def check(page: Page, plain: Page) -> None:
    """Hold the page against one with harmless words: both have the same elements with the same attributes."""
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in plain.elements]
    for (_, attributes), (_, others) in zip(page.elements, plain.elements, strict=True):
        assert attributes.keys() == others.keys()
    assert page.inside["script"] == plain.inside["script"] and page.inside["style"] == plain.inside["style"]


STACK = Stack(
    name="overrides",
    current=1,
    steps=(
        LandingStep(title="Move dtype", state="landed", fields=("dtype",), commit="abc1234"),
        LandingStep(title="Move page_size", state="failed", fields=("page_size",), note="4 of 12 cases differ"),
        LandingStep(title="Move ep_size", state="open"),
    ),
)


def test_the_page_has_all_its_parts() -> None:
    page = Page(html(result(), STACK))
    for part in (
        "different",
        "4 of 12 cases differ",
        "python3 -m sglang.launch_server --model-path org/model --tp 2",
        "h100",
        "As given: no line of this side writes it.",
        "page_pass",
        "server/passes.py:2",
        "view.page_size = 128",
        'dtype = "auto"',
        "One cause in 2 forms",
        "Refused in page_check server/passes.py:5",
        "raise ValueError('no')",
        "Before, the two diverged at is_hip() in page_pass server/passes.py:1",
        "1 of 2 write sites ran",
        "self.stuck = 1",
        "never ran, and the gate asks for it",
        "cannot run: never on this",
        "is_hip()",
        "never true",
        "never true: no moon",
        "pairs 90 % of 100",
        "Never drawn: Qwen3ForCausalLM, b200.",
        "enable_tf32_matmul is not a field of old",
        "left out: one launch",
        "it is",
        "1 of 3 steps of overrides have landed",
        "gate failed",
    ):
        assert part in page.text, part


def test_the_line_at_fault_is_marked() -> None:
    data = html(result()).decode()
    assert '<tr class="here"><td class="number">2</td><td><code>    view.page_size = 128</code>' in data


def test_the_heat_maps_tell_every_outcome() -> None:
    made = result()
    titles = [cell.get("title") for cell in Page(html(made)).all("td", "c")]
    assert "page_size, LlamaForCausalLM: differ in 3 of 8 cases" in titles
    assert "dtype, 1 others: differ in 1 of 1 cases as the ledger explains" in titles
    assert "ep_size, LlamaForCausalLM: agree in 8 cases" in titles
    assert "ep_size, Qwen3ForCausalLM: never drawn" in titles
    assert "ep_size, cpu (other): all 1 launches refused" in titles
    assert "stuck, h100: no place that writes it ran" in titles
    assert "(refusal), h100: differ in 1 of 10 cases" in titles


def test_every_link_leads_somewhere_on_the_page() -> None:
    page = Page(html(result(), STACK))
    ids = [given["id"] for _, given in page.elements if "id" in given]
    assert len(ids) == len(set(ids))
    links = [given["href"] for given in page.all("a")]
    assert len(links) > 8
    assert {link.removeprefix("#") for link in links if link} <= set(ids)


def test_nothing_is_fetched_and_no_other_script_may_run() -> None:
    data = html(result(HOSTILE, HOSTILE, HOSTILE), STACK)
    page = Page(data)
    for tag, given_ in page.elements:
        assert not any(name.startswith("on") for name in given_), tag
        for name in URLS & given_.keys():
            assert name == "href" and (given_[name] or "").startswith("#"), (tag, given_)
    (policy,) = [given["content"] or "" for given in page.all("meta") if "http-equiv" in given]
    for kind in ("script", "style"):
        (text,) = page.inside[kind]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
        assert "://" not in text and "url(" not in text and "@import" not in text
    assert "default-src 'none'" in policy
    (head,) = re.findall(rb"<head>.*?<title>", data, re.DOTALL)
    assert head.index(b"Content-Security-Policy") < head.index(b"<title>")


def test_markup_is_shown_not_obeyed() -> None:
    data = html(result(HOSTILE, HOSTILE, HOSTILE))
    page = Page(data)
    check(page, Page(html(result("x", "x", "x"))))
    assert "</script><script>alert(1)</script><img src=x onerror=alert(2)>" in page.text
    assert r"\x1b[2J\u202e" in page.text
    assert not {"\x1b", "\u202e"} & set(data.decode())


@settings(max_examples=30)
@given(st.text(min_size=1), st.text(min_size=1))
def test_whatever_is_said_is_text(value: str, line: str) -> None:
    check(Page(html(result(value, value, line))), Page(html(result("x", "x", "x"))))


def hostile(value: Any) -> Any:
    """Return the result with every text of a subject and of the user's, of whatever depth, as markup."""
    if isinstance(value, msgspec.Struct):
        kept = ("verdict", "kind", "state", "field", "name", "id", "entry", "gated", "compared", "ledger")
        fields = {
            name: getattr(value, name) if name in kept else hostile(getattr(value, name))
            for name in value.__struct_fields__
        }
        return msgspec.structs.replace(value, **fields)
    if isinstance(value, str):
        return value + HOSTILE
    if isinstance(value, (tuple, list)):
        return type(value)(hostile(one) for one in value)
    if isinstance(value, dict):
        return {key: hostile(one) for key, one in value.items()}
    return value


def test_markup_anywhere_is_text() -> None:
    made = result()
    bad = msgspec.structs.replace(
        made,
        reason=hostile(made.reason),
        explanations=hostile(made.explanations),
        traces=hostile(made.traces),
        covered=hostile(made.covered),
        started=msgspec.structs.replace(
            made.started,
            first=hostile("old"),
            second=hostile("new"),
            identities=hostile(made.started.identities),
            notes=hostile(made.started.notes),
            absent={HOSTILE: HOSTILE},
        ),
    )
    page = Page(html(bad, hostile(STACK)))
    assert len(page.all("script")) == 1 and not page.all("img")
    assert page.inside["script"] == Page(html(made)).inside["script"]


@pytest.mark.parametrize("verdict", ["equivalent", "inconclusive"])
def test_a_result_without_causes(verdict: str) -> None:
    page = Page(html(msgspec.structs.replace(finished(), verdict=verdict)))
    assert verdict in page.text and not page.all("details", "cause")


def test_the_bytes_are_of_the_result_alone() -> None:
    assert html(result(), STACK) == html(result(), STACK)
