"""The child's main loop: load the subject once, then answer the parent's requests until it closes the pipe."""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import traceback
from collections.abc import Callable
from typing import Any

from ..world import chance, sandbox
from ..world.current import WORLD, UnansweredProbe
from . import operations
from .adapter import Adapter, NotASubject
from .batches import answer_all, seconds_of
from .launch import LaunchError
from .values import encode
from .wire import Wire, innermost_line, own_fault

# Operations with a time limit of their own, or without one.
_UNTIMED = (operations.Resolve, operations.Loop, operations.StepReads, operations.Exchange)
# The limit until the subject is loaded; the request to load has its own limit.
_LOAD_SECONDS = 60.0
_CHILD = os.path.dirname(os.path.dirname(__file__))
_OURS = (_CHILD, os.path.join(os.path.dirname(os.path.dirname(_CHILD)), "source"), "<frozen")


def serve(
    load: Callable[[operations.Load], Adapter[Any]],
    request_fd: int,
    response_fd: int,
    number: int,
    decode: Callable[[bytes], Any] = json.loads,
) -> None:
    """Answer requests until the request pipe closes. The first request is passed to ``load``.

    Answers are numbered from ``number`` on. ``decode`` reads JSON; a process may have a quicker reader than that of
    the standard library.
    """
    faulthandler.enable()
    chance.watch()
    wire = Wire(request_fd, response_fd, number)
    adapter: Adapter[Any] | None = None
    loading: operations.Load | None = None
    while (body := wire.receive()) is not None:
        request = operations.request_from(decode(body))
        if isinstance(request, operations.Load):
            loading = request
        # The parent ends a child that is late. Without this timer a child that hangs would outlive a killed parent.
        sandbox.start_timer(loading.load_seconds if loading else _LOAD_SECONDS)
        if isinstance(request, operations.Load):
            adapter, answer = _load(load, request)
            wire.send(encode(vars(answer)))
        else:
            assert adapter is not None and loading is not None
            if isinstance(request, _UNTIMED):
                sandbox.stop_timer()
            if isinstance(request, operations.Resolve):
                answer_all(adapter, request, loading.case_seconds, wire)
            else:
                wire.send(_answered(adapter, request, loading))
        sandbox.stop_timer()
        wire.flush()
    os._exit(0)


def _answered(adapter: Adapter[Any], request: operations.Operation[Any], loading: operations.Load) -> bytes:
    """Return the frame of the answer, or of an exception that only our own code can have caused.

    Any other exception ends the process, like everything that a subject breaks outside of a case: one that passed
    through the subject's code, and one that shows that the subject made a value too large or too deep.
    """
    try:
        return encode(vars(_answer(adapter, request)))
    except (MemoryError, RecursionError):
        raise
    except Exception as error:
        if _frame(error, loading):
            raise
        return own_fault(error)


def _answer(adapter: Adapter[Any], request: operations.Operation[Any]) -> object:
    match request:
        case operations.Describe():
            return adapter.describe()
        case operations.Choose():
            if adapter.reach is not None:
                adapter.reach.forget()
            return operations.Chosen(adapter.choose(request.fields))
        case operations.Parse():
            try:
                return operations.Parsed(args=adapter.parse(request.argv))
            except LaunchError as error:
                return operations.Parsed(error=str(error), unknown=error.unknown)
        case operations.Reach():
            return (
                operations.ReachReport() if adapter.reach is None else operations.ReachReport(*adapter.reach.fresh())
            )
        case operations.Decisions():
            return operations.ListedDecisions(adapter.decisions())
        case operations.Written():
            return operations.ListedChains(adapter.written(request.positions))
        case operations.WriteChains():
            return operations.ListedChains([adapter.chain(case) for case in adapter.cases(request)])
        case operations.Traces():
            return operations.ListedTraces(adapter.traces(request))
        case operations.Loop():
            return operations.Took(seconds_of(adapter, list(adapter.cases(request))))
        case operations.StepReads():
            return adapter.reads(request)
        case operations.Exchange():
            return adapter.exchange(request.first, request.second, request.numbers, request.seconds)
        case _:
            raise TypeError(f"no operation: {request!r}")


def _load(
    load: Callable[[operations.Load], Adapter[Any]], request: operations.Load
) -> tuple[Adapter[Any] | None, operations.Loaded]:
    """Load the subject; return it and the answer. If that fails it is None, and the answer's ``error`` says why."""
    # Loading makes many objects that last, and the garbage collector would walk through them again and again.
    gc.disable()
    try:
        adapter = load(request)
        if WORLD.unanswered is not None:
            # The tree swallowed the exception, and continued with some value that it made up.
            raise WORLD.unanswered
        # The subject's objects live as long as the process, so later collections skip them.
        gc.collect()
        gc.freeze()
        return adapter, operations.Loaded(None, limits=adapter.limits)
    except UnansweredProbe as error:
        return None, operations.Loaded("unanswered", path=error.path, how=error.how, frame=_frame(error, request))
    except NotASubject as error:
        return None, operations.Loaded(error.kind, str(error))
    except BaseException as error:
        detail = traceback.format_exception_only(type(error), error)[-1].strip()
        return None, operations.Loaded("import", detail, frame=_frame(error, request))
    finally:
        gc.enable()


def _frame(error: BaseException, loading: operations.Load) -> str:
    """Return ``file:line`` of the innermost frame in the subject's code, the empty string if there is none."""
    if isinstance(loading, operations.LoadPackage):
        # A package runs on our core, which is loaded beside it. Only the package's own folder counts.
        own = f"{loading.root}/{loading.package}/"
        return innermost_line(error, lambda file: file.startswith(own))
    # A tree or a callable may call any library, whose frames count as well.
    return innermost_line(error, lambda file: not file.startswith(_OURS))
