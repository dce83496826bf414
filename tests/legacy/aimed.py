"""Generated cases for the port: its own source says what to vary and what leads to each of its places."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache

from harness.generate.cases import CaseMaker
from harness.generate.values.domains import Domains, domains_of
from harness.subjects.open import open_spec, open_subject
from harness.subjects.profile import entry_of
from harness.world.case import Case


@cache
def domains() -> Domains:
    """Return the inputs of a campaign of the port against itself."""
    spec = open_spec("legacy", answers=None, python=sys.executable, case_seconds=10, memory_mib=1024)
    with open_subject(spec) as subject:
        described = subject.describe()
    return domains_of(described, described, spec.values, spec.not_drawn, entry_of(spec.profile, sliced=True))


def aimed_cases(seed: int, count: int) -> Iterator[Case]:
    """Yield the first ``count`` cases of a seed."""
    return CaseMaker(domains()).cases(seed, count)
