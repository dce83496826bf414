"""Slots in execution order, and how they resolve one record.

Steps run in the order of the slots and of the steps in each slot; nothing else decides it. The caller gives *facts*,
an object that holds what cannot change while a record is resolved. A step whose ``when`` does not hold for the facts
does not run. The attribute ``architecture`` of the facts chooses the providers; if it is None, none run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple, TypeAlias

from .arg import resolvable_fields
from .errors import DeclarationError, hint
from .order import OrderConstraint, check_order
from .registry import Registry
from .stash import stash_of
from .steps import Declaration, Pass, Provider, Step
from .view import NESTED, ReadOnlyView, RecordingView, ResolvedView, with_nested

_MODEL: Final = "model"  # the view's attribute
_RESOLVED: Final = "_resolved"  # the mark of arguments that hold resolved values

WriteEnv: TypeAlias = Callable[[str, str], object]


class Dispatch(Enum):
    """The place in a slot where the providers run."""

    PROVIDERS = "providers"


DISPATCH: Final = Dispatch.PROVIDERS


class Slot(NamedTuple):
    """Some steps that run one after the other, under one name."""

    number: int
    name: str
    steps: tuple[Pass | Dispatch, ...]

    @property
    def label(self) -> str:
        """Number and name: ``07 attention_backend``."""
        return f"{self.number:02} {self.name}"


class Resolution:
    """The resolution of one record: what was declared, and the values so far.

    ``log`` holds each step that declared something, with its declaration, in order. If a step raised, it holds those
    before that step.
    """

    def __init__(self, arguments: Any) -> None:
        """``arguments`` is a dataclass that nothing resolved before; it stays pristine until `materialize`.

        ``pristine`` holds its fields as they were, ``values`` what the view shows, ``nested`` what was declared under
        dotted names. Objects inside the arguments are not copied, because only `materialize` writes them. Raises
        DeclarationError for arguments that were resolved before.
        """
        if _RESOLVED in vars(arguments):
            raise DeclarationError("these arguments were resolved before: what they hold is no longer pristine")
        self.arguments = arguments
        # Not vars(): a field that __init__ leaves out has its default on the class alone.
        names = type(arguments).__dataclass_fields__
        self.pristine: dict[str, Any] = {name: getattr(arguments, name) for name in names}
        self.log: list[tuple[Step, Declaration]] = []
        self.values: dict[str, Any] = {}
        self.nested: dict[str, Any] = {}

    @property
    def declarations(self) -> list[tuple[str, Declaration]]:
        """The declarations of resolvable fields, as (source, fields), in order, the stash first."""
        found: list[tuple[str, Declaration]] = list(stash_of(self.arguments))
        for step, declared in self.log:
            fields = {name: value for name, value in declared.items() if name in step.writes}
            if fields:
                found.append((step.name, fields))
        return found

    @property
    def reasons(self) -> dict[str, str]:
        """The reason of each step that declared something, by the step's name."""
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
        """Write the last declared value of each field and of each state onto the record.

        This ends the resolution, and its view has no values any more. Raises DeclarationError before the steps have
        run, and for a second call.
        """
        if not self.values:
            raise DeclarationError("there are no values to write: resolve comes before materialize, each once")
        written = {name: self.values[name] for name in self.pristine}
        vars(self.arguments).update(written, **{_RESOLVED: True})
        for name, value in self.nested.items():
            *path, attribute = name.split(".")
            owner = self.arguments
            for part in path:
                owner = getattr(owner, part)
            setattr(owner, attribute, value)
        self.values.clear()


class Pipeline:
    """Runs the steps of the slots for any number of records. The constructor checks the slots."""

    def __init__(
        self,
        slots: Sequence[Slot],
        *,
        record: type[Any],
        state: Sequence[str] = (),
        registry: Registry | None = None,
        order: Iterable[OrderConstraint] = (),
    ) -> None:
        """``record`` is the arguments' dataclass; ``state`` is what steps may declare besides its resolvable fields.

        ``order`` says which steps must come before which. Raises DeclarationError for a step that is listed twice,
        for two sources with one name, for a name that a step may not declare, and for slots or steps that are out
        of order; the text names the source.
        """
        self.slots = tuple(slots)
        self.registry = registry or Registry()
        self._whitelist, self._state = frozenset(resolvable_fields(record)), frozenset(state)
        # For the state "a.b.c", the objects to show are "a" and "a.b", and "a" is the field that holds them.
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
        numbers = [slot.number for slot in self.slots]
        if numbers != sorted(set(numbers)):
            raise DeclarationError(f"the slots are not in the order of their numbers: {numbers}")
        places = sum(step is DISPATCH for slot in self.slots for step in slot.steps)
        if places > 1 or (places == 0 and any(self.registry)):
            raise DeclarationError(f"the providers run at one place, and the slots name {places}")
        if both := self._whitelist & self._state:
            raise DeclarationError(f"resolvable fields are no state: {sorted(both)}")
        names: set[str] = set()
        for _, step in self.steps():
            if step.name in names:
                raise DeclarationError(f"{step.name} is listed twice in the pipeline")
            names.add(step.name)
            for kind, listed, known in (("writes", step.writes, self._whitelist), ("state", step.state, self._state)):
                for name in listed:
                    if name not in known:
                        raise DeclarationError(
                            f"{step.name} {kind} {name!r}{hint(name, known)}: there is no such name"
                        )

    def steps(self) -> Iterator[tuple[Slot, Step]]:
        """Yield every pass and provider with its slot, in execution order."""
        for slot in self.slots:
            for step in slot.steps:
                if isinstance(step, Pass):
                    yield slot, step
                else:
                    yield from ((slot, listed) for listed in self.registry)

    def resolve(self, resolution: Resolution, model: Any, facts: Any, write_env: WriteEnv) -> None:
        """Run the steps over a fresh ``resolution``; ``view.model`` is ``model``.

        ``write_env`` sets an environment variable. Raises what a step raises, and DeclarationError for anything that
        a step may not declare. The resolution then holds what earlier steps declared, and their variables are set.
        """
        view = self.view(resolution, model)
        pristine = self._pristine_view({**resolution.pristine, NESTED: {}})
        for step in self._steps_for(facts):
            declared = step(view) if isinstance(step, Pass) else step(pristine, model)
            _apply(step, declared, resolution, write_env)

    def record(
        self,
        resolution: Resolution,
        model: Any,
        facts: Any,
        write_env: WriteEnv,
        done: Callable[[Step, frozenset[str]], object],
    ) -> None:
        """Do as `resolve` does, and call ``done`` with each step that ran and the names that it read."""
        # This fills ``resolution.values``; the view that it returns would not record.
        self.view(resolution, model)
        for step in self._steps_for(facts):
            seen: set[str] = set()
            try:
                if isinstance(step, Pass):
                    declared = step(self._recording_view(resolution.values, seen))
                else:
                    declared = step(self._recording_view({**resolution.pristine, NESTED: {}}, seen), model)
            finally:
                # Also for a step that refuses the case, because what it read decided that.
                done(step, frozenset(seen))
            _apply(step, declared, resolution, write_env)

    def view(self, resolution: Resolution, model: Any) -> ResolvedView:
        """Return the view of a fresh ``resolution`` before any step has run; ``view.model`` is ``model``."""
        if resolution.values:
            raise DeclarationError("the passes ran over this resolution before")
        values = resolution.values
        values.update(resolution.pristine)
        for _, declared in stash_of(resolution.arguments):
            values.update(declared)
        values.update({_MODEL: model, NESTED: resolution.nested})
        return self._view(values)

    def _steps_for(self, facts: Any) -> Iterator[Pass | Provider]:
        """Yield the steps that apply to ``facts``, in execution order."""
        for slot in self.slots:
            for step in slot.steps:
                if not isinstance(step, Pass):
                    yield from self.registry.providers(facts.architecture)
                elif step.when is None or step.when(facts):
                    yield step


def _apply(step: Step, declared: Declaration, resolution: Resolution, write_env: WriteEnv) -> None:
    """Store what a step declared where the next step reads it: under the view, or in the environment."""
    if not declared:
        return
    resolution.log.append((step, declared))
    for name, value in declared.items():
        if name in step.env:
            write_env(name, str(value))
        elif "." in name:
            resolution.nested[name] = value
        else:
            resolution.values[name] = value
