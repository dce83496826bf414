"""Publishing as a whole or not at all."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from declarative.engine import (
    DeclarationError,
    FlagDriftError,
    FrozenFlagsError,
    Pipeline,
    Provenance,
    PublishError,
    Resolution,
    RuntimeContext,
    Slot,
    declare_before_resolution,
    post_process,
)
from declarative.inputs.server_args import ServerArgs


@post_process(writes=("page_size", "attention_backend"), state=("disable_radix_cache",))
def chosen(view: Any) -> dict[str, Any]:
    return {"page_size": 64, "attention_backend": "fa3", "disable_radix_cache": True}


PIPELINE = Pipeline((Slot(0, "all", (chosen,)),), record=ServerArgs, state=("disable_radix_cache",))


def resolution(**given: Any) -> Resolution:
    made = Resolution(ServerArgs(model_path="m", **given))
    PIPELINE.resolve(made, None, "facts", {}.__setitem__)
    return made


def published(**given: Any) -> RuntimeContext:
    context = RuntimeContext()
    context.publish(resolution(**given))
    return context


def test_publishing_resolves_the_flags_and_writes_the_arguments() -> None:
    context = published(page_size=1, dtype="half")
    assert (context.flags.page_size, context.flags.attn.backend, context.flags.dtype) == (64, "fa3", "half")
    arguments = context.arguments
    assert (arguments.page_size, arguments.attention_backend, arguments.disable_radix_cache) == (64, "fa3", True)
    assert context.provenance == (
        Provenance("chosen", "page_size", 1, 64),
        Provenance("chosen", "attention_backend", None, "fa3"),
    )
    context.check_parity()


def test_what_a_launcher_declared_is_published() -> None:
    arguments = ServerArgs(model_path="m")
    declare_before_resolution(arguments, "launcher", {"dtype": "half", "page_size": 2})
    made = Resolution(arguments)
    PIPELINE.resolve(made, None, "facts", {}.__setitem__)
    context = RuntimeContext()
    context.publish(made)
    assert (context.flags.dtype, context.flags.page_size) == ("half", 64)
    assert context.provenance[0] == Provenance("launcher", "dtype", "auto", "half")
    context.check_parity()


def test_terminal_declarations_stay_last() -> None:
    context = RuntimeContext()
    context.publish(resolution(), terminal=[("enforced", {"page_size": 1})])
    assert context.flags.page_size == context.arguments.page_size == 1
    context.declare_late("weights", {"page_size": 32, "dtype": "half"})
    assert (context.flags.page_size, context.arguments.page_size, context.flags.dtype) == (1, 1, "half")
    context.check_parity()


def test_a_failed_publish_leaves_the_former_one_whole() -> None:
    context = published(dtype="half")
    flags, arguments, provenance = context.flags, context.arguments, context.provenance
    before = copy.deepcopy((flags, arguments))
    failing = resolution(dtype="float")
    untouched = copy.deepcopy(failing.arguments)
    with pytest.raises(DeclarationError, match="culprit"):
        context.publish(failing, terminal=[("culprit", {"tp_size": 2})])
    assert context.flags is flags and context.arguments is arguments and context.provenance is provenance
    assert (flags, arguments) == before
    assert failing.arguments == untouched
    context.check_parity()


def test_values_that_nobody_declared_are_not_published() -> None:
    context = published()
    before = copy.deepcopy((context.flags, context.arguments))
    tampered = resolution()
    tampered.values["page_size"] = 7
    with pytest.raises(FlagDriftError, match=r"page_size \(flag 64, argument 7\)"):
        context.publish(tampered)
    assert (context.flags, context.arguments) == before
    assert tampered.arguments.page_size is None


def test_publishing_again_starts_anew() -> None:
    context = published()
    context.declare_late("weights", {"dtype": "half"})
    context.publish(resolution())
    assert context.flags.dtype == "auto"
    assert {entry.source for entry in context.provenance} == {"chosen"}


def test_late_declarations_reach_flags_and_arguments() -> None:
    context = published()
    context.flags.capture.disable_dispose_tensor = True
    context.declare_late("weights", {"kv_cache_dtype": "fp8_e4m3"})
    assert context.flags.kv_cache_dtype == context.arguments.kv_cache_dtype == "fp8_e4m3"
    assert context.provenance[-1] == Provenance("weights", "kv_cache_dtype", "auto", "fp8_e4m3")
    assert context.flags.capture.disable_dispose_tensor
    context.check_parity()


def test_a_failed_late_declaration_changes_nothing() -> None:
    context = published()
    flags, before = context.flags, copy.deepcopy((context.flags, context.arguments))
    with pytest.raises(DeclarationError, match="weights declares 'tp_size'"):
        context.declare_late("weights", {"dtype": "half", "tp_size": 2})
    assert context.flags is flags
    assert (context.flags, context.arguments) == before
    context.declare_late("weights", {"dtype": "half"})


def test_after_freeze_nothing_is_published_or_declared() -> None:
    context = published()
    context.freeze()
    with pytest.raises(FrozenFlagsError, match=r"publish\(\) after freeze\(\)"):
        context.publish(resolution())
    with pytest.raises(FrozenFlagsError, match=r"declare_late\(\) after freeze\(\)"):
        context.declare_late("weights", {"dtype": "half"})
    context.flags.capture.enable_torch_compile = True
    assert context.arguments.dtype == "auto"


def test_before_publishing_there_is_nothing() -> None:
    context = RuntimeContext()
    with pytest.raises(PublishError, match="no arguments were published"):
        _ = context.arguments
    with pytest.raises(PublishError):
        context.declare_late("weights", {})
    with pytest.raises(PublishError):
        context.check_parity()


@pytest.mark.parametrize("value", [None, 64.0, 32])
def test_drift_between_flags_and_arguments_is_named(value: object) -> None:
    context = published()
    context.arguments.page_size = value
    with pytest.raises(FlagDriftError, match=rf"page_size \(flag 64, argument {value}\)"):
        context.check_parity()
