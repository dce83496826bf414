"""Edits tuples, lists, sets and dicts as text: leaves out an item, or puts the items into another order.

It works on the text rather than on the syntax tree, so that comments and line breaks stay exactly where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import libcst as cst

from harness.audit.reading.files import MutableFile, TextSpan
from harness.audit.reading.walk import CodeNode

DisplayItem = cst.BaseElement | cst.BaseDictElement
Display = cst.Tuple | cst.List | cst.Set | cst.Dict


def entries_of(here: CodeNode) -> Sequence[cst.BaseElement]:
    """Return the entries of an explicit list of what runs, such as slots or passes; none for any other tuple or list.

    Such a list stands outside of functions, as the value of an assignment or as an argument
    (``Stage(passes=(...))``). Its entries are all calls, or they are all names (plain or dotted).
    """
    node = here.node
    assert isinstance(node, cst.Tuple | cst.List)
    if here.functions() or not isinstance(here.parent, cst.Assign | cst.AnnAssign | cst.Arg):
        return ()
    values = [element.value for element in node.elements]
    if all(isinstance(value, cst.Call) for value in values):
        return node.elements
    return node.elements if all(isinstance(value, cst.Name | cst.Attribute) for value in values) else ()


def item_span(item: DisplayItem, file: MutableFile) -> TextSpan:
    """Return where an item is, without the comma after it."""
    end = file.outer(item.value).end
    if isinstance(item, cst.DictElement):
        return TextSpan(file.outer(item.key).start, end)
    starred = isinstance(item, cst.StarredElement | cst.StarredDictElement)
    return TextSpan(file.span(item).start if starred else file.outer(item.value).start, end)


def without_each(display: Display, file: MutableFile) -> list[str]:
    """Return one text of ``display`` for each of its items, without that item."""
    start, end = file.span(display)
    spans = [item_span(item, file) for item in display.elements]
    texts = []
    for index, span in enumerate(spans):
        if len(spans) == 1:
            texts.append(_emptied(display, file, span))
            continue
        if index + 1 < len(spans):
            text = file.text[start : span.start] + file.text[spans[index + 1].start : end]
        else:
            # With the last item goes the comma before it; a comma after it stays.
            text = file.text[start : spans[index - 1].end] + file.text[span.end : end]
        if len(spans) == 2 and isinstance(display, cst.Tuple):
            text = _with_comma(text, spans, index, start)
        texts.append(text)
    return texts


def _emptied(display: Display, file: MutableFile, span: TextSpan) -> str:
    if isinstance(display, cst.Set):
        # ``{}`` would be a dict.
        return "set()"
    if isinstance(display, cst.Tuple):
        # The span of a tuple is the text between its parentheses, which stay.
        return "" if display.lpar else "()"
    start, end = file.span(display)
    return file.text[start : span.start] + file.text[span.end : end].replace(",", "", 1)


def _with_comma(text: str, spans: Sequence[TextSpan], dropped: int, start: int) -> str:
    """Return ``text``, a tuple with one item left, with the comma that makes it a tuple."""
    kept = spans[1 - dropped]
    end = kept.end - kept.start if dropped == 0 else kept.end - start
    return text if text[end:].lstrip().startswith(",") else f"{text[:end]},{text[end:]}"


def reordered(spans: Sequence[TextSpan], order: Sequence[int], file: MutableFile) -> tuple[TextSpan, str]:
    """Return the span from the first to the last of ``spans``, and its text with the spans in the given ``order``.

    The text between two spans (commas, comments, line breaks) stays where it is.
    """
    texts = [file.text[start:end] for start, end in spans]
    between = [file.text[one.end : other.start] for one, other in pairwise(spans)]
    whole = "".join(texts[number] + separator for number, separator in zip(order, [*between, ""], strict=True))
    return TextSpan(spans[0].start, spans[-1].end), whole
