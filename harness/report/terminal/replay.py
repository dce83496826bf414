"""Runs saved cases on two subjects and prints the differences of each case."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from harness.common.errors import visible
from harness.engine.difference.compare import differences
from harness.engine.result.events import Verdict
from harness.engine.search.pair import Pair, is_failure
from harness.engine.search.planning import flags_of
from harness.formats.contract import parse_cases
from harness.report.wording.causes import difference_words
from harness.report.wording.launches import launch_command, world_words
from harness.subjects.spec import SubjectSpec


def replay_cases(
    content: bytes, path: Path, first: SubjectSpec, second: SubjectSpec, say: Callable[[str], object]
) -> Verdict:
    """Print each case of ``content``, the text of the file ``path``, with its differences; return the verdict.

    ``say`` prints each line. Raises UsageError if the file is no file of cases, if a subject lacks an argument of a
    case, or for a broken subject.
    """
    # A mistake in the file shows before the subjects are loaded, which takes seconds.
    parse_cases(content, path)
    with Pair(first, second) as pair:
        descriptions = pair.first.describe(), pair.second.describe()
        for description in descriptions:
            cases = parse_cases(content, path, description.fields)
        flags = flags_of(first, descriptions[0])
        pair.compare_fields([name for name in descriptions[0].resolved if name in descriptions[1].resolved])
        verdicts: set[Verdict] = set()
        for case in cases:
            outcomes = pair.outcomes(case)
            found = differences(*outcomes, messages=pair.compares_messages)
            say(f"{visible(case.id)}: {launch_command(case, flags)}")
            if where := world_words(case, flags):
                say(f"  on {where}")
            if not found and outcomes[0].failure is None:
                say("  agree")
                verdicts.add("equivalent")
                continue
            for difference in found:
                name, one, two = difference_words(difference)
                say(f"  {name}\n    {first.label}  {one}\n    {second.label}  {two}")
            verdicts.add("inconclusive" if is_failure(found) else "different")
    return next(verdict for verdict in _GRAVEST if verdict in verdicts)


_GRAVEST: tuple[Verdict, ...] = ("different", "inconclusive", "equivalent")
