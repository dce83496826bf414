"""Builds HTML as a tree of elements, so that the text of a subject or a user cannot become markup.

The serialiser of the standard library escapes text and attributes. Before that, `visible` replaces characters that
act on a browser without being shown (control characters, marks that reverse the direction of writing) by escapes.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from harness.common.errors import visible
from harness.report.wording.words import shortened

Child = Element | str | None


def el(tag: str, *children: Child, **attributes: str | int | bool | None) -> Element:
    """Return an element. Children that are None and attributes that are None or False are left out.

    ``class_`` gives the attribute ``class``, because ``class`` is a keyword of Python; an underscore within a name
    becomes a hyphen. A line break in a text is shown as an escape, so a caller makes one element for each line.
    """
    node = Element(tag)
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        node.set(name.rstrip("_").replace("_", "-"), "" if value is True else visible(str(value)))
    add(node, *children)
    return node


def add(node: Element, *children: Child) -> None:
    """Add children at the end of an element; None is left out."""
    for child in children:
        if child is None:
            continue
        if isinstance(child, Element):
            node.append(child)
            continue
        said = visible(shortened(child))
        # ElementTree keeps text behind a child element as the ``tail`` of that child.
        if len(node):
            node[-1].tail = (node[-1].tail or "") + said
        else:
            node.text = (node.text or "") + said


def code(text: str) -> Element:
    """Return a text in an element for code."""
    return el("code", text)


def between(separator: str, nodes: Iterable[Child]) -> list[Child]:
    """Return the nodes with the text ``separator`` between each two."""
    found: list[Child] = []
    for node in nodes:
        if found:
            found.append(separator)
        found.append(node)
    return found


def table(heads: Iterable[Child], rows: Iterable[Iterable[Child]], *, class_: str) -> Element:
    """Return a table; the first cell of a row is the head of that row.

    The table is in a box that scrolls by itself if the table is wider than the page.
    """
    body = el("tbody")
    for row in rows:
        first, *rest = row
        add(body, el("tr", el("th", first, scope="row"), *(el("td", cell) for cell in rest)))
    head = el("thead", el("tr", *(el("th", one, scope="col") for one in heads)))
    # With a tabindex the box can get the focus, so that it can be scrolled with the keyboard.
    return el("div", el("table", head, body, class_=class_), class_="scroll", tabindex=0)


def raw(tag: str, text: str) -> Element:
    """Return a ``style`` or ``script`` element. The serialiser does not escape its text, so it must be our own."""
    node = Element(tag)
    node.text = text
    return node


def serialised(root: Element) -> bytes:
    """Return the document, whose outermost element is ``root``, as UTF-8."""
    return b"<!doctype html>\n" + ElementTree.tostring(root, encoding="unicode", method="html").encode() + b"\n"
