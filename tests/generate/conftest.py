"""Domains of a made-up subject."""

from __future__ import annotations

import pytest
from descriptions import made_domains

from harness.generate.values.domains import Domains


@pytest.fixture
def domains() -> Domains:
    return made_domains()
