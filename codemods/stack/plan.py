"""Reads, checks and writes the plan of a stack, a ``stack.toml`` that lists the steps; two come with stackproof."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Final

import msgspec

from codemods.mods import codemod_named
from harness.common.errors import UsageError, hint
from harness.common.toml import parse_toml, read_toml
from harness.formats.subjectname import OWN_PACKAGES

FORMAT: Final = "stackproof.stack/1"
MODES: Final = ("slice", "whole")
_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?")


class PlannedStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step, which moves ``fields`` together.

    ``codemods`` are the step's own, in order; if it has none, the plan's are applied. ``ledger`` is a file of
    intended differences; its path is relative to the plan's folder. ``reference`` tells people where the step comes
    from.
    """

    name: str
    fields: tuple[str, ...]
    codemods: tuple[str, ...] = ()
    ledger: str = ""
    reference: str = ""


class GateSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How each step is gated.

    ``cases`` and ``seed`` are those of each gate, and a step has a gate in each of ``modes``. If places were not
    reached, the gate continues with the next seed, at most ``rounds`` times in all. ``also`` are further subjects
    that the finished tree is gated against. With ``all_fields``, every field of the record is compared.
    """

    cases: int = 20_000
    seed: int = 1
    rounds: int = 3
    modes: tuple[str, ...] = MODES
    also: tuple[str, ...] = ()
    all_fields: bool = False


class StackPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What a ``stack.toml`` says.

    ``record`` is the class whose fields move, as ``package.module:Class``. ``codemods`` are those of each step that
    has none of its own. ``options`` gives, by the name of a codemod, further arguments for it. ``folder`` is the
    folder of the file; paths of ledgers are relative to it.
    """

    record: str
    steps: tuple[PlannedStep, ...]
    codemods: tuple[str, ...]
    options: dict[str, dict[str, Any]] = {}
    gate: GateSettings = GateSettings()
    folder: Path = Path()

    @property
    def package(self) -> str:
        """The package that holds the record."""
        return self.record.partition(".")[0]

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of all steps, in their order."""
        return tuple(name for step in self.steps for name in step.fields)

    def of(self, step: PlannedStep) -> tuple[str, ...]:
        """Return the codemods of ``step``, its own or else the plan's."""
        return step.codemods or self.codemods

    def suffix(self, mode: str) -> str:
        """Return the suffix that makes a tree the subject of this package in ``mode``, such as ``#slice``."""
        if self.package in OWN_PACKAGES:
            return f"#{self.package}"
        return "#slice" if mode == "slice" else ""


def load_plan(path: Path) -> StackPlan:
    """Return the plan in the file ``path``.

    Raises UsageError when it cannot be read, is not TOML, or holds a key, name or value that is not valid.
    """
    where = f"plan {path}"
    return _plan(read_toml(path, where), where, path.parent)


def read_plan(text: str, where: str, folder: Path) -> StackPlan:
    """Return the plan that ``text`` holds; ``where`` names it in errors. Raises UsageError."""
    return _plan(parse_toml(text, where), where, folder)


def _plan(content: dict[str, Any], where: str, folder: Path) -> StackPlan:
    if content.pop("format", None) != FORMAT:
        raise UsageError(f"{where}: write format = {FORMAT!r} at its top")
    content["steps"] = content.pop("step", [])
    _check_keys(content, {"record", "codemods", "options", "gate", "steps"}, where)
    if isinstance(content.get("gate"), Mapping):
        _check_keys(content["gate"], set(GateSettings.__struct_fields__), f"{where}, [gate]")
    for number, step in enumerate(content["steps"] if isinstance(content["steps"], list) else (), 1):
        if isinstance(step, Mapping):
            _check_keys(step, set(PlannedStep.__struct_fields__), f"{where}, step {number}")
    try:
        plan = msgspec.convert(content, StackPlan)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {error}") from None
    plan = msgspec.structs.replace(plan, folder=folder)
    _check(plan, where)
    return plan


def default_text(package: str) -> str:
    """Return the ``stack.toml`` that comes with stackproof for ``package``; raises UsageError when there is none."""
    folder = resources.files("codemods.stack").joinpath("plans")
    known = sorted(item.name.removesuffix(".toml") for item in folder.iterdir() if item.name != "steps.toml")
    if package not in known:
        raise UsageError(f"no plan comes with stackproof for {package!r}{hint(package, known)}: give a stack.toml")
    head, steps = (folder.joinpath(f"{name}.toml").read_text(encoding="utf-8") for name in (package, "steps"))
    return f"{head}\n{steps}"


def default_plan(package: str, written: Iterable[str] | None = None) -> StackPlan:
    """Return the plan that comes with stackproof; if ``written`` is given, only with those of its fields."""
    plan = read_plan(default_text(package), f"the plan for {package}", Path())
    if written is None:
        return plan
    wanted = set(written)
    steps = (
        msgspec.structs.replace(step, fields=tuple(name for name in step.fields if name in wanted))
        for step in plan.steps
    )
    return msgspec.structs.replace(plan, steps=tuple(step for step in steps if step.fields))


def plan_text(plan: StackPlan) -> str:
    """Return ``plan`` as the text of a ``stack.toml``; reading that gives the same plan."""
    body: dict[str, Any] = {"format": FORMAT, "record": plan.record, "codemods": list(plan.codemods)}
    lines = [f"{key} = {_toml(value)}" for key, value in body.items()]
    for name, options in plan.options.items():
        lines += ["", f"[options.{name}]", *(f"{key} = {_toml(value)}" for key, value in options.items())]
    lines += ["", "[gate]", *(f"{key} = {_toml(getattr(plan.gate, key))}" for key in GateSettings.__struct_fields__)]
    for step in plan.steps:
        given = {key: getattr(step, key) for key in PlannedStep.__struct_fields__ if getattr(step, key)}
        lines += ["", "[[step]]", *(f"{key} = {_toml(value)}" for key, value in given.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml(str(key))} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    # JSON writes a string, a number and a truth value as TOML does.
    return msgspec.json.encode(value).decode()


def _check_keys(table: Mapping[str, Any], known: set[str], where: str) -> None:
    shown = {"steps": "step"}
    for key in table:
        if key not in known:
            names = sorted(shown.get(name, name) for name in known)
            raise UsageError(f"{where}: unknown key {key!r}{hint(key, names)}, known are {', '.join(names)}")


def _check(plan: StackPlan, where: str) -> None:
    module, colon, name = plan.record.partition(":")
    if not colon or not name.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
        raise UsageError(f"{where}: record {plan.record!r} is not of the form 'package.module:Class'")
    if not plan.steps:
        raise UsageError(f"{where}: it has no step, write at least one [[step]] with a name and fields")
    seen: set[str] = set()
    owner: dict[str, str] = {}
    for step in plan.steps:
        if not _NAME.fullmatch(step.name) or ".." in step.name or step.name.endswith(".lock"):
            raise UsageError(f"{where}: step name {step.name!r} cannot be a branch's: use a-z, 0-9, '-', '_' and '.'")
        if step.name in seen:
            raise UsageError(f"{where}: two steps are called {step.name!r}, give each a name of its own")
        seen.add(step.name)
        if not step.fields:
            raise UsageError(f"{where}, step {step.name!r}: it moves no field, name at least one in 'fields'")
        for field in step.fields:
            if field in owner:
                raise UsageError(f"{where}: steps {owner[field]!r} and {step.name!r} both move {field!r}, leave one")
            owner[field] = step.name
    for codemod in (*plan.codemods, *plan.options, *(name for step in plan.steps for name in step.codemods)):
        try:
            codemod_named(codemod)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None
    if not plan.codemods and not all(step.codemods for step in plan.steps):
        raise UsageError(f"{where}: name the steps' codemods in 'codemods', or in each step")
    modes = plan.gate.modes
    for mode in modes:
        if mode not in MODES:
            raise UsageError(
                f"{where}, [gate]: unknown mode {mode!r}{hint(mode, MODES)}, known are {', '.join(MODES)}"
            )
    if not modes or plan.gate.cases < 1 or plan.gate.rounds < 1:
        raise UsageError(
            f"{where}, [gate]: a step is gated in at least one of the modes, in a round of at least one case"
        )
    if "whole" in modes and plan.package in OWN_PACKAGES:
        raise UsageError(f"{where}, [gate]: {plan.package} is the slice already: write modes = ['slice']")
