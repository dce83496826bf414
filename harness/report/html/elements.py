"""HTML as a tree of elements, so that text of a subject or a user cannot become markup.

The serialiser of the standard library escapes text and attributes. Characters that a browser obeys without showing
them (control characters, marks that reverse the direction of writing) are written as escapes before that.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from harness.common.errors import visible
from harness.report.wording.words import shortened

Child = Element | str | None


def el(tag: str, *children: Child, **attributes: str | int | bool | None) -> Element:
    """Return an element; None among the children is left out, and attributes that are None or False.

    ``class_`` stands for ``class``, and an underscore within a name for a hyphen. Line breaks in a text are shown as
    escapes: a caller that means several lines makes an element of each.
    """
    node = Element(tag)
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        node.set(name.rstrip("_").replace("_", "-"), "" if value is True else visible(str(value)))
    add(node, *children)
    return node


def add(node: Element, *children: Child) -> None:
    """Put children at the end of an element."""
    for child in children:
        if child is None:
            continue
        if isinstance(child, Element):
            node.append(child)
            continue
        said = visible(shortened(child))
        if len(node):
            node[-1].tail = (node[-1].tail or "") + said
        else:
            node.text = (node.text or "") + said


def code(text: str) -> Element:
    """Return a text as code."""
    return el("code", text)


def between(separator: str, nodes: Iterable[Child]) -> list[Child]:
    """Return the nodes with a text between any two."""
    found: list[Child] = []
    for node in nodes:
        if found:
            found.append(separator)
        found.append(node)
    return found


def table(heads: Iterable[Child], rows: Iterable[Iterable[Child]], *, class_: str) -> Element:
    """Return a table that scrolls by itself where it is wider than the page; the first of each row is its head."""
    body = el("tbody")
    for row in rows:
        first, *rest = row
        add(body, el("tr", el("th", first, scope="row"), *(el("td", cell) for cell in rest)))
    head = el("thead", el("tr", *(el("th", one, scope="col") for one in heads)))
    return el("div", el("table", head, body, class_=class_), class_="scroll", tabindex=0)


def raw(tag: str, text: str) -> Element:
    """Return an element with a style or script of our own, whose text the serialiser does not escape."""
    node = Element(tag)
    node.text = text
    return node


def serialised(root: Element) -> bytes:
    """Return the document as UTF-8."""
    return b"<!doctype html>\n" + ElementTree.tostring(root, encoding="unicode", method="html").encode() + b"\n"
