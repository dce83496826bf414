"""Tuples, lists, sets and dicts as text: without one item, or with two exchanged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import libcst as cst

from harness.audit.mutant import Role
from harness.audit.operator import Edit, Place
from harness.audit.source import Source, Span

Item = cst.BaseElement | cst.BaseDictElement


def without_item(
    display: cst.BaseExpression, items: Sequence[Item], place: Place, role: Role | None = None
) -> Iterator[Edit]:
    """Yield ``display`` without each of its ``items`` in turn."""
    source = place.source
    start, end = source.span(display)
    spans = [item_span(item, source) for item in items]
    for index, span in enumerate(spans):
        if len(spans) == 1:
            text = "set()" if isinstance(display, cst.Set) else _emptied(display, source, span)
        elif index + 1 < len(spans):
            text = source.text[start : span.start] + source.text[spans[index + 1].start : end]
        else:
            # The comma before it goes, and the one after it (if any) stays.
            text = source.text[start : spans[index - 1].end] + source.text[span.end : end]
        if len(spans) == 2 and isinstance(display, cst.Tuple):
            text = _with_comma(text, spans, index, start)
        yield place.becomes(display, text, role)


def _emptied(display: cst.BaseExpression, source: Source, span: Span) -> str:
    if isinstance(display, cst.Tuple):
        # Without parentheses of its own in the span, they stay around it.
        return "" if display.lpar else "()"
    start, end = source.span(display)
    after = source.text[span.end : end]
    return source.text[start : span.start] + after.replace(",", "", 1)


def _with_comma(text: str, spans: Sequence[Span], dropped: int, start: int) -> str:
    """Return a tuple's text with the comma that its one item needs."""
    kept = spans[1 - dropped]
    end = kept.end - kept.start if dropped == 0 else kept.end - start
    return text if text[end:].lstrip().startswith(",") else f"{text[:end]},{text[end:]}"


def exchanged(display: cst.BaseExpression, items: Sequence[Item], place: Place, role: Role) -> Iterator[Edit]:
    """Yield ``display`` with each two neighbours among its ``items`` exchanged."""
    for first, second in pairwise(items):
        yield swapped(item_span(first, place.source), item_span(second, place.source), place, role)


def swapped(first: Span, second: Span, place: Place, role: Role) -> Edit:
    """Return the edit that exchanges two stretches of text; what stands between them stays."""
    text = place.source.text
    between = text[first.end : second.start]
    return Edit(
        Span(first.start, second.end),
        text[second.start : second.end] + between + text[first.start : first.end],
        role,
    )


def item_span(item: Item, source: Source) -> Span:
    """Return where an item stands, without the comma after it."""
    if isinstance(item, cst.DictElement):
        return Span(source.outer(item.key).start, source.outer(item.value).end)
    end = source.outer(item.value).end
    if isinstance(item, cst.StarredElement | cst.StarredDictElement):
        return Span(source.span(item).start, end)
    return Span(source.outer(item.value).start, end)
