"""Shrinks a witness until it holds only what its difference needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec

from harness.engine.difference.buckets import weight
from harness.world.case import Case
from harness.world.hardware import PLATFORMS, Hardware
from harness.world.model import Model

Shows = Callable[[Sequence[Case]], list[bool]]
"""Returns for each case whether it still shows the difference."""

Removal = Callable[[Case], Case]

_PLAIN_HARDWARE = Hardware()
_PLAIN_MODEL = Model()
# Small numbers are easier to read than large ones; they are tried in this order.
_SIMPLE = (1, 2, 4, 8)
_FEW = 4


def minimise(case: Case, shows: Shows, architectures: Sequence[str] = ()) -> Case:
    """Return a case that shows the same difference and from which nothing can be taken away.

    If any single argument, variable, hardware attribute or model attribute of the result is removed or set to the
    contract's default, the difference is lost. While more than four arguments are left, one may also be replaced by
    another model: the case is tried without the argument on each of ``architectures``, on this machine and on a plain
    machine of each platform, because a model may have the same effect as an argument. The order of attempts is fixed,
    so the result is deterministic.
    """
    case = _without_most(case, shows)
    while True:
        smaller = _first_that_shows(_steps(case), shows)
        if smaller is None and len(case.args) > _FEW:
            smaller = _first_that_shows(_exchanges(case, architectures), shows)
        if smaller is None:
            return case
        case = smaller


def minimise_all(cases: Sequence[Case], shows: Shows, architectures: Sequence[str] = ()) -> list[Case]:
    """Return minimal cases of different forms that explain why each case shows the difference, lightest first.

    One difference may have several causes, and each form shows one. To minimise every case would be simpler, but it
    takes many resolutions, and most cases of a bucket shrink to the same form. So a case is minimised only if
    no earlier result explains it. A minimal case explains another case if that one loses the difference as soon as
    any single input that the minimal case sets is removed from it. ``architectures`` are tried only for the lightest
    result, because that takes long.
    """
    found: dict[tuple[str, ...], Case] = {}
    for case in cases:
        if any(_explains(form, case, shows) for form in found):
            continue
        small = minimise(case, shows)
        form = tuple(removals(small))
        if form not in found or weight(small) < weight(found[form]):
            found[form] = small
    lightest, *others = sorted(found.values(), key=weight)
    if len(lightest.args) > _FEW:
        lightest = minimise(lightest, shows, architectures)
    return [lightest, *others]


def _explains(form: tuple[str, ...], case: Case, shows: Shows) -> bool:
    steps = removals(case)
    if not all(name in steps for name in form):
        return False
    return not any(shows([steps[name](case) for name in form]))


def _without_most(case: Case, shows: Shows) -> Case:
    """Drop everything at once that can be dropped alone; if that loses the difference, drop one thing after another.

    A random case sets many inputs that do not matter. This replaces one round of `_steps` for each of them.
    """
    steps = list(removals(case).values())
    if not steps:
        return case
    removable = [step for step, alone in zip(steps, shows([step(case) for step in steps]), strict=True) if alone]
    together = case
    for step in removable:
        together = step(together)
    if removable and shows([together])[0]:
        return together
    for step in removable:
        candidate = step(case)
        if shows([candidate])[0]:
            case = candidate
    return case


def _first_that_shows(candidates: Iterator[Case], shows: Shows) -> Case | None:
    tried = list(candidates)
    if not tried:
        return None
    return next((case for case, still in zip(tried, shows(tried), strict=True) if still), None)


def _steps(case: Case) -> Iterator[Case]:
    """Yield the cases that are one step simpler: first each with one thing removed, then with a smaller number."""
    size = weight(case)
    for step in removals(case).values():
        yield step(case)
    for name, value in case.args.items():
        if type(value) is int:
            for simple in _SIMPLE:
                candidate = _with_args(case, {**case.args, name: simple})
                if simple != value and weight(candidate) < size:
                    yield candidate


def _exchanges(case: Case, architectures: Sequence[str]) -> Iterator[Case]:
    """Yield the cases with one argument less, another one of ``architectures``, and this machine or a plain one."""
    machines = [case.hardware, *(msgspec.structs.replace(_PLAIN_HARDWARE, platform=name) for name in PLATFORMS)]
    for name in sorted(case.args):
        for architecture in architectures:
            if [architecture] == case.model.architectures:
                continue
            model = msgspec.structs.replace(case.model, architectures=[architecture])
            for machine in machines:
                yield msgspec.structs.replace(_without_argument(name, case), model=model, hardware=machine)


def removals(case: Case) -> dict[str, Removal]:
    """Return the ways to take one thing away, by the name of the thing (``args.tp_size``, ``model.attention``).

    The names are the case's form: what it sets, without the values. A step also applies to a case that lacks it.
    """
    steps: dict[str, Removal] = {f"args.{name}": partial(_without_argument, name) for name in sorted(case.args)}
    steps |= {f"env.{name}": partial(_without_variable, name) for name in sorted(case.env)}
    for name in Hardware.__struct_fields__:
        if getattr(case.hardware, name) != getattr(_PLAIN_HARDWARE, name):
            steps[f"hardware.{name}"] = partial(_with_plain_hardware, name)
    for name in Model.__struct_fields__:
        if getattr(case.model, name) != getattr(_PLAIN_MODEL, name):
            steps[f"model.{name}"] = partial(_with_plain_model, name)
    return steps


def _without_argument(name: str, case: Case) -> Case:
    return _with_args(case, {key: value for key, value in case.args.items() if key != name})


def _without_variable(name: str, case: Case) -> Case:
    env = {key: value for key, value in case.env.items() if key != name}
    return msgspec.structs.replace(case, env=env)


def _with_plain_hardware(name: str, case: Case) -> Case:
    changed = {name: getattr(_PLAIN_HARDWARE, name)}
    return msgspec.structs.replace(case, hardware=msgspec.structs.replace(case.hardware, **changed))


def _with_plain_model(name: str, case: Case) -> Case:
    changed = {name: getattr(_PLAIN_MODEL, name)}
    return msgspec.structs.replace(case, model=msgspec.structs.replace(case.model, **changed))


def _with_args(case: Case, args: dict[str, object]) -> Case:
    return msgspec.structs.replace(case, args=args)
