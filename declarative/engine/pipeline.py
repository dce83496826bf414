"""Stages in execution order, and how they resolve one record.

The order is the order of the stages and of the steps in them, and of nothing else. A record is resolved on *facts*:
a hashable object, made by the caller, of what cannot change while it is resolved. Steps whose ``when`` does not hold
for the facts are left out; which ones remain is worked out once for equal facts. The attribute ``architecture`` of
the facts chooses the providers (None: no model, no providers).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple, TypeAlias

from .arg import resolvable_fields
from .errors import DeclarationError, hint
from .order import Constraint, check_order
from .registry import Registry
from .stash import stash_of
from .steps import Declaration, Pass, Provider, Step
from .view import NESTED, ReadOnlyView, RecordingView, ResolvedView, view_of, with_nested

_MOST_PLANS: Final = 4096
_MODEL: Final = "model"  # the view's attribute
_RESOLVED: Final = "_resolved"  # the mark of arguments that hold resolved values

WriteEnv: TypeAlias = Callable[[str, str], object]
_Run: TypeAlias = Callable[[Any], Declaration | None]
_Steps: TypeAlias = tuple[tuple[_Run, Step], ...]
_Plan: TypeAlias = tuple[_Steps, tuple[Provider, ...], _Steps]


class Dispatch(Enum):
    """The place in a stage where the providers run."""

    PROVIDERS = "providers"


DISPATCH: Final = Dispatch.PROVIDERS


class Stage(NamedTuple):
    """Some steps that run one after the other, under one name."""

    number: int
    name: str
    steps: tuple[Pass | Dispatch, ...]

    @property
    def label(self) -> str:
        """Number and name: ``07 attention_backend``."""
        return f"{self.number:02} {self.name}"


class Resolution:
    """What became of one record. ``log`` also holds what was declared before a pass raised."""

    __slots__ = ("arguments", "log", "nested", "pristine", "values")

    def __init__(self, arguments: Any) -> None:
        """``arguments`` is a dataclass that nothing resolved before; it stays pristine until `materialize`.

        ``pristine`` is its attributes as they were, ``values`` what views of it show, ``nested`` what was declared
        under dotted names. Objects inside the arguments are not copied: `materialize` alone writes them. Raises
        DeclarationError for arguments that were resolved before.
        """
        self.arguments = arguments
        self.pristine: dict[str, Any] = vars(arguments)
        if _RESOLVED in self.pristine:
            raise DeclarationError("these arguments were resolved before: what they hold is no longer pristine")
        self.log: list[tuple[Step, Declaration]] = []
        self.values: dict[str, Any] = {}
        self.nested: dict[str, Any] = {}

    @property
    def declarations(self) -> list[tuple[str, Declaration]]:
        """The declarations of resolvable fields, as (source, fields), in order, the stash first."""
        found: list[tuple[str, Declaration]] = list(stash_of(self.pristine))
        for step, declared in self.log:
            fields = {name: value for name, value in declared.items() if name in step.writes}
            if fields:
                found.append((step.name, fields))
        return found

    @property
    def reasons(self) -> dict[str, str]:
        """The reason of each source that declared something."""
        return {step.name: step.reason for step, _ in self.log}

    @property
    def effects(self) -> list[tuple[str, Declaration]]:
        """The declared effects on state and environment, as (source, names), in order."""
        found = []
        for step, declared in self.log:
            others = {name: value for name, value in declared.items() if name not in step.writes}
            if others:
                found.append((step.name, others))
        return found

    def materialize(self) -> None:
        """Write what was declared, resolvable fields and state, onto the record: the last writer's values.

        The record takes over the dict of the values as it is, which ends the views of them; `pristine` keeps the one
        that it had. Raises DeclarationError when it did so before, or nothing was resolved.
        """
        values, self.values = self.values, {}
        if not values:
            raise DeclarationError("there are no values to write: resolve comes before materialize, each once")
        del values[_MODEL], values[NESTED]
        values[_RESOLVED] = True
        self.arguments.__dict__ = values
        for name, value in self.nested.items():
            *path, attribute = name.split(".")
            owner = self.arguments
            for part in path:
                owner = getattr(owner, part)
            setattr(owner, attribute, value)


class Pipeline:
    """The stages, checked against each other once, and run for any number of records."""

    def __init__(
        self,
        stages: Sequence[Stage],
        *,
        record: type[Any],
        state: Sequence[str] = (),
        registry: Registry | None = None,
        order: Iterable[Constraint] = (),
    ) -> None:
        """``record`` is the arguments' dataclass; ``state`` is what steps may declare besides its resolvable fields.

        ``order`` says which steps must come before which. Raises DeclarationError for a step that stands twice, for
        two sources of one name, for a name that a step may not declare, and for stages or steps that are out of
        order; the text names the source.
        """
        self.stages = tuple(stages)
        self.registry = registry or Registry()
        self._whitelist, self._state = frozenset(resolvable_fields(record)), frozenset(state)
        # What __init__ leaves out may stand on the class alone.
        self._class_values = tuple(
            (field.name, field.default)
            for field in dataclasses.fields(record)
            if not field.init and field.default is not dataclasses.MISSING
        )
        # By facts; many facts have equal plans, and share one.
        self._plans: dict[Any, _Plan] = {}
        self._distinct_plans: dict[_Plan, _Plan] = {}
        self._runs = {
            step: (step.function, step) for stage in self.stages for step in stage.steps if isinstance(step, Pass)
        }
        dotted = [name.split(".")[:-1] for name in state]
        objects = frozenset(".".join(path[: end + 1]) for path in dotted for end in range(len(path)))
        roots = sorted({path[0] for path in dotted if path})
        self._view = with_nested(ResolvedView, roots, objects)
        self._pristine_view = with_nested(ReadOnlyView, roots, objects)
        self._recording_view = with_nested(RecordingView, roots, objects)
        if any(field.name == _MODEL for field in dataclasses.fields(record)):
            raise DeclarationError(
                f"{record.__name__} has a field {_MODEL!r}, which is the view's name for the model"
            )
        self._check()
        check_order([step.name for _, step in self.steps()], order)

    def _check(self) -> None:
        numbers = [stage.number for stage in self.stages]
        if numbers != sorted(set(numbers)):
            raise DeclarationError(f"the stages are not in the order of their numbers: {numbers}")
        places = sum(step is DISPATCH for stage in self.stages for step in stage.steps)
        if places > 1 or (places == 0 and any(self.registry)):
            raise DeclarationError(f"the providers run at one place, and the stages name {places}")
        if both := self._whitelist & self._state:
            raise DeclarationError(f"resolvable fields are no state: {sorted(both)}")
        names: set[str] = set()
        for _, step in self.steps():
            if step.name in names:
                raise DeclarationError(f"{step.name} stands twice in the pipeline")
            names.add(step.name)
            for kind, listed, known in (("writes", step.writes, self._whitelist), ("state", step.state, self._state)):
                for name in listed:
                    if name not in known:
                        raise DeclarationError(
                            f"{step.name} {kind} {name!r}{hint(name, known)}: there is no such name"
                        )

    def steps(self) -> Iterator[tuple[Stage, Step]]:
        """Yield every pass and provider with its stage, in execution order."""
        for stage in self.stages:
            for step in stage.steps:
                if isinstance(step, Pass):
                    yield stage, step
                else:
                    yield from ((stage, listed) for listed in self.registry)

    def resolve(self, resolution: Resolution, model: Any, facts: Any, write_env: WriteEnv) -> None:
        """Run the steps over a fresh ``resolution``; ``view.model`` is ``model``.

        ``write_env`` sets an environment variable. Raises DeclarationError for what a step may not declare, and what
        a step raises: the resolution then holds what was declared before, and the environment effects are done.
        """
        plan = self._plans.get(facts)
        if plan is None:
            plan = self._plan(facts)
        before, providers, after = plan
        view = self.view(resolution, model)
        if providers:
            _run(before, view, resolution, write_env)
            pristine = self._pristine_view(self._attributes(resolution.pristine, {}))
            _run(_bound(providers, model), pristine, resolution, write_env)
            _run(after, view, resolution, write_env)
        else:
            _run(after, view, resolution, write_env)

    def record(
        self,
        resolution: Resolution,
        model: Any,
        facts: Any,
        write_env: WriteEnv,
        done: Callable[[Step, frozenset[str]], object],
    ) -> None:
        """Do as `resolve` does, and call ``done`` with each step that ran and the names that it read."""
        before, providers, after = self._plan(facts)
        self.view(resolution, model)
        seen: set[str] = set()
        view = self._recording_view(resolution.values, seen)
        pristine = self._recording_view(self._attributes(resolution.pristine, {}), seen)

        def reported(run: _Run, step: Step) -> _Run:
            def recorded(read_from: Any) -> Declaration | None:
                seen.clear()
                try:
                    return run(read_from)
                finally:
                    done(step, frozenset(seen))

            return recorded

        def run_all(steps: _Steps, read_from: Any) -> None:
            wrapped = tuple((reported(run, step), step) for run, step in steps)
            _run(wrapped, read_from, resolution, write_env)

        run_all(before, view)
        run_all(_bound(providers, model), pristine)
        run_all(after, view)

    def forget(self) -> None:
        """Drop which steps apply to which facts: the next resolution finds out anew."""
        self._plans.clear()
        self._distinct_plans.clear()

    def view(self, resolution: Resolution, model: Any) -> ResolvedView:
        """Return the view of a fresh ``resolution`` before any step has run; ``view.model`` is ``model``."""
        if resolution.values:  # never true: a gate makes a resolution for each case
            raise DeclarationError("the passes ran over this resolution before")
        values = resolution.values = self._attributes(resolution.pristine, resolution.nested)
        for _, declared in stash_of(values):
            values.update(declared)
        values[_MODEL] = model
        return view_of(self._view, values)

    def _attributes(self, pristine: dict[str, Any], nested: dict[str, Any]) -> dict[str, Any]:
        values = pristine.copy()
        values[NESTED] = nested
        for name, default in self._class_values:
            if name not in values:  # never true: this record sets all its fields
                values[name] = default
        return values

    def _plan(self, facts: Any) -> _Plan:
        parts: tuple[list[tuple[_Run, Step]], list[tuple[_Run, Step]]] = ([], [])
        providers: tuple[Provider, ...] = ()
        part = 0
        for stage in self.stages:
            for step in stage.steps:
                if not isinstance(step, Pass):
                    providers = self.registry.providers(facts.architecture)
                    part = 1
                elif step.when is None or step.when(facts):
                    parts[part].append(self._runs[step])
        before, after = map(tuple, parts)
        if not providers:
            before, after = (), (*before, *after)
        if len(self._plans) >= _MOST_PLANS:
            self.forget()
        plan = (before, providers, after)
        plan = self._plans[facts] = self._distinct_plans.setdefault(plan, plan)
        return plan


def _bound(providers: tuple[Provider, ...], model: Any) -> _Steps:
    return tuple((_with_model(listed.function, model), listed) for listed in providers)


def _with_model(function: Callable[..., Declaration | None], model: Any) -> _Run:
    return lambda arguments: function(arguments, model)


def _run(steps: _Steps, view: Any, resolution: Resolution, write_env: WriteEnv) -> None:
    values, log = resolution.values, resolution.log
    for run, step in steps:
        declared = run(view)
        if declared:
            if declared.__class__ is not dict:
                step.checked(declared)
            allowed = step.allowed
            for name in declared:
                if name not in allowed:
                    step.checked(declared)
            log.append((step, declared))
            if step.is_plain:
                values.update(declared)
                continue
            for name, value in declared.items():
                if name in step.env:
                    write_env(name, str(value))
                elif "." in name:
                    resolution.nested[name] = value
                else:
                    values[name] = value
        elif declared is not None and declared.__class__ is not dict:
            step.checked(declared)
