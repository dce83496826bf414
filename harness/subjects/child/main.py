"""The process of a source tree or of somebody's own callable; the first request decides which."""

from __future__ import annotations

from typing import Any

from .serve.adapter import Adapter
from .serve.loop import serve
from .serve.operations import Load, LoadCallable, LoadTree


def main(request_fd: int, response_fd: int, number: int) -> None:
    """Serve until the request pipe closes; answers count from ``number``."""
    serve(_load, request_fd, response_fd, number)


def _load(request: Load) -> Adapter[Any]:
    # Imported here: a tree's process need not wait until what callables need is loaded.
    if isinstance(request, LoadCallable):
        from .callable.adapter import CallableAdapter

        return CallableAdapter(request)
    from .tree.adapter import TreeAdapter

    assert isinstance(request, LoadTree)
    return TreeAdapter(request)
