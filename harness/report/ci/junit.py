"""The result as JUnit XML.

Each field is a test case, and so are the verdict, the refusals, and each variable that differed.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from harness.common.errors import visible
from harness.engine.difference.buckets import Bucket
from harness.engine.result.events import Finished
from harness.report.wording.causes import cause_words
from harness.report.wording.launches import launch_command
from harness.report.wording.overview import FieldRow, field_rows
from harness.report.wording.reach import place_words
from harness.report.wording.words import counted, shortened

_SHOWN = 5


def junit(result: Finished) -> bytes:
    """Return a ``testsuites`` document with one ``testsuite``, the gate.

    A field that differs is a failure, with the smallest launch of each cause. A field that one side lacks is skipped.
    A required field that a run proves nothing about is an error. The test case ``verdict`` is a failure if the two
    subjects differ, and an error if the gate is inconclusive. There are no times, so equal results give equal bytes.
    """
    started = result.started
    name = visible(f"{started.first} → {started.second}")
    rows = field_rows(result)
    cases = [_verdict(result, name), *(_case(row, result, name) for row in rows)]
    counts = {
        "tests": len(cases),
        "failures": sum(1 for case in cases if case.find("failure") is not None),
        "errors": sum(1 for case in cases if case.find("error") is not None),
        "skipped": sum(1 for case in cases if case.find("skipped") is not None),
    }
    numbers: dict[str, Any] = {key: str(count) for key, count in counts.items()}
    root = ElementTree.Element("testsuites", name="stackproof", **numbers)
    suite = ElementTree.SubElement(root, "testsuite", name=f"stackproof gate {name}", **numbers)
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in _properties(result).items():
        ElementTree.SubElement(properties, "property", name=key, value=visible(value))
    suite.extend(cases)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def _properties(result: Finished) -> dict[str, str]:
    started, counts = result.started, result.counts
    return {
        "verdict": result.verdict,
        "first": started.first,
        "first.identity": started.identities[0],
        "second": started.second,
        "second.identity": started.identities[1],
        "seed": str(started.seed),
        "cases": str(counts.cases),
        **{name: str(getattr(counts, name)) for name in counts.__struct_fields__},
    }


def _verdict(result: Finished, suite: str) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=suite, name="verdict")
    reason = visible(result.reason)
    if result.verdict == "different":
        ElementTree.SubElement(case, "failure", type="different", message=reason)
    elif result.verdict == "inconclusive":
        ElementTree.SubElement(case, "error", type="inconclusive", message=reason)
    return case


def _case(row: FieldRow, result: Finished, suite: str) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=suite, name=visible(row.name))
    if row.state == "absent":
        ElementTree.SubElement(case, "skipped", message=visible(f"not a field of {row.absent}, so not compared"))
    elif row.state == "differs":
        buckets = [result.buckets[number] for number in row.causes]
        message = f"differs in {counted(row.cases, 'case')}"
        if buckets:
            message += f", such as {launch_command(buckets[0].witness, result.started.flags)}"
        failure = ElementTree.SubElement(case, "failure", type="different", message=visible(message))
        lines = [line for bucket in buckets[:_SHOWN] for line in [*_lines(bucket, result), ""]]
        if len(buckets) > _SHOWN:
            lines.append(f"and {len(buckets) - _SHOWN} more causes")
        failure.text = "\n".join(map(visible, lines))
    elif places := _unproven(row, result):
        message = f"no case reached {places[0]}" + (f" and {len(places) - 1} more" if places[1:] else "")
        error = ElementTree.SubElement(case, "error", type="inconclusive", message=message)
        error.text = "\n".join(places)
    elif sum(row.sites):
        output = ElementTree.SubElement(case, "system-out")
        output.text = "\n".join(
            visible(f"{label}: {ran} of {sites} write sites ran")
            for label, ran, sites in zip(
                (result.started.first, result.started.second), row.ran, row.sites, strict=True
            )
        )
    return case


def _unproven(row: FieldRow, result: Finished) -> list[str]:
    """Return, in words, the places that write a gated field and that no case reached.

    If no case resolved, so that there may be no such place, return one general text.
    """
    if row.name not in result.started.gated:
        return []
    sites = [site for covered in result.covered for site in covered.missed((row.name,))]
    general = ["a place that writes it"] if row.state == "unreached" else []
    return [visible(place_words(site.writer)) for site in sites] or general


def _lines(bucket: Bucket, result: Finished) -> list[str]:
    """Return the lines for one cause, much as the terminal shows it."""
    cause = cause_words(bucket, result.started)
    return [
        f"{cause.name} in {cause.cases}",
        *(f"  {side.label}  {shortened(side.value)}{side.writer}" for side in cause.sides),
        f"  smallest {cause.smallest.command}",
        *([f"  on       {cause.smallest.world}"] if cause.smallest.world else []),
        f"  try      {cause.resolve[1]}",
    ]
