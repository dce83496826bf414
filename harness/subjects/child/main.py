"""The main function of a child process with a source tree or a user's callable; its first request says which."""

from __future__ import annotations

from typing import Any

from .serve.adapter import Adapter
from .serve.loop import serve
from .serve.operations import Load, LoadCallable, LoadTree


def main(request_fd: int, response_fd: int, number: int) -> None:
    """Serve until the request pipe closes; answers count from ``number``."""
    serve(_load, request_fd, response_fd, number)


def _load(request: Load) -> Adapter[Any]:
    # Imported here, so that a tree's process does not spend time on loading what only callables need.
    if isinstance(request, LoadCallable):
        from .callable.adapter import CallableAdapter

        return CallableAdapter(request)
    from .tree.adapter import TreeAdapter

    assert isinstance(request, LoadTree)
    return TreeAdapter(request)
