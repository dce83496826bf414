"""The child's main loop for a package: load it once, then answer the parent's requests until it closes the pipe."""

from __future__ import annotations

import faulthandler
import gc
import os
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from harness.subjects.child.serve.batches import answer_all, seconds_of
from harness.subjects.child.serve.launch import LaunchError
from harness.subjects.child.serve.wire import Wire, encode, frame_of, own_fault
from harness.subjects.child.world import chance, sandbox
from harness.subjects.packaged.package import Package
from harness.subjects.packaged.request import (
    Chains,
    Choose,
    Decisions,
    Exchange,
    Load,
    Loop,
    PackageRequest,
    Parse,
    Reach,
    Reads,
    Resolve,
    Traces,
    Written,
)
from harness.world.case import Case

_REQUESTS = msgspec.json.Decoder(PackageRequest)


def serve(request_fd: int, response_fd: int, number: int) -> None:
    """Serve until the request pipe closes; answers count from ``number``. The first request loads the package."""
    faulthandler.enable()
    chance.watch()
    wire = Wire(request_fd, response_fd, number)
    package: Package | None = None
    load = Load(root="", package="", names=[], record=False, memory_bytes=0, case_seconds=0.0, load_seconds=60.0)
    while True:
        body = wire.receive_bytes()
        if body is None:
            os._exit(0)
        request = _REQUESTS.decode(body)
        sandbox.start_timer(request.load_seconds if isinstance(request, Load) else load.load_seconds)
        if isinstance(request, Load):
            load = request
            package, loaded = _load(request)
            answer: dict[str, Any] | None = loaded
        else:
            assert package is not None
            try:
                answer = _answer(package, request, load.case_seconds, wire)
            except (MemoryError, RecursionError):
                raise
            except Exception as error:
                # In a batch a death shows which case it was.
                if isinstance(request, Resolve) or _frame(error, f"{load.root}/{load.package}"):
                    raise
                answer = None
                wire.send(own_fault(error))
        if answer is not None:
            wire.send(encode(answer))
        sandbox.stop_timer()
        wire.flush()


def _load(request: Load) -> tuple[Package | None, dict[str, Any]]:
    """Import the package; returns it and the answer, whose ``error`` says why there is none."""
    try:
        package = Package(request.package, Path(request.root), request.names, request.record)
    except BaseException as error:
        detail = traceback.format_exception_only(type(error), error)[-1].strip()
        return None, {"error": "import", "detail": detail, "frame": _frame(error, request.root)}
    # Its own objects live as long as the process: keep them out of every later collection.
    gc.collect()
    gc.freeze()
    return package, {"error": None, "limits": sandbox.confine(request.memory_bytes, request.root)}


def _frame(error: BaseException, root: str) -> str:
    """Return ``file:line`` of the innermost frame in the folder ``root``, the empty string where there is none."""
    found: str = frame_of(error, lambda file: file.startswith(f"{root}/"))
    return found


def _answer(package: Package, request: PackageRequest, seconds: float, wire: Wire) -> dict[str, Any] | None:
    """Return the answer to a request, None where it was answered case by case."""
    match request:
        case Resolve():
            sandbox.stop_timer()
            answer_all(
                _cases(request),
                package.resolve,
                seconds,
                wire,
                msgspec.structs.astuple(request.part),
                package.novelty,
                package.forget,
            )
            return None
        case Loop():
            sandbox.stop_timer()
            return {"seconds": seconds_of(list(_cases(request)), package.resolve)}
        case Chains():
            return {"chains": [package.chain(one) for one in _cases(request)]}
        case Decisions():
            return {"decisions": package.decisions()}
        case Written():
            return {"chains": package.written(request.positions)}
        case Traces():
            return package.traces(list(_cases(request)))
        case Reads():
            sandbox.stop_timer()
            if lacks := package.reorder.lacks():
                return {"lacks": lacks}
            return {"lacks": [], **package.reorder.reads(list(_cases(request)))}
        case Exchange():
            sandbox.stop_timer()
            return package.reorder.exchange(request.first, request.second, request.numbers, request.seconds)
        case Choose():
            return {"fields": package.choose(request.fields)}
        case Reach():
            return package.reach()
        case Parse():
            try:
                return {"args": package.parse(request.argv), "error": None, "unknown": None}
            except LaunchError as error:
                return {"args": None, "error": str(error), "unknown": error.unknown}
        case _:
            return package.describe()


def _cases(request: Resolve | Loop | Chains | Traces | Reads) -> Iterator[Case]:
    for number, (args, machine, model, env) in enumerate(request.cases):
        yield Case(
            id=str(number), args=args, hardware=request.machines[machine], model=request.models[model], env=env
        )
