"""Hypothesis strategies for property tests; they make cases by the same rules as a campaign."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import strategies as st

from harness.generate.cases import CaseMaker
from harness.generate.values.domains import Domains
from harness.generate.values.machines import draw_machine
from harness.generate.values.models import ModelDraw
from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.model import Model

T = TypeVar("T")


class HypothesisDraw:
    """Choices that Hypothesis makes, records and shrinks."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def below(self, bound: int) -> int:
        """Return an integer below ``bound``; shrinks to 0."""
        return self._draw(st.integers(0, bound - 1))

    def chance(self, percent: int) -> bool:
        """Return True in ``percent`` of a hundred draws; shrinks to True."""
        return self._draw(st.integers(0, 99)) < percent

    def pick(self, options: Sequence[T]) -> T:
        """Return one of ``options``; shrinks to the first."""
        return options[self.below(len(options))]


@st.composite
def machines(draw: st.DrawFn) -> Hardware:
    """Return a strategy for machines."""
    return draw_machine(HypothesisDraw(draw))


@st.composite
def models(draw: st.DrawFn, domains: Domains) -> Model:
    """Return a strategy for models."""
    return ModelDraw(domains).draw(HypothesisDraw(draw))


def cases(domains: Domains, launches: Sequence[Case] = ()) -> st.SearchStrategy[Case]:
    """Return a strategy for cases over ``domains`` (see ``domains_of``), with neighbours of ``launches``."""
    return _cases(CaseMaker(domains, launches))


@st.composite
def _cases(draw: st.DrawFn, maker: CaseMaker) -> Case:
    return maker.case(HypothesisDraw(draw), "hypothesis")
