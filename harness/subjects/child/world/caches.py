"""Makes the tree's own cached functions forget, between cases, what depends on the case.

``functools.lru_cache`` on a probe is right in a server, which has one machine; here each case has its own machine.
Emptying all caches after each case would be right, but slow: some entries that are computed without a look at the
case (from a class or a constant) take long to compute. So these entries stay.

A kept entry must not hide the decisions of its function: the branches that were taken while it was computed count
again when a later batch first uses it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any, Protocol

from .current import WORLD
from .standins import now

# A memory is kept for at most this many sets of values that names of the tree hold (see `held`). Beyond that all are
# dropped, and computed again when they are needed.
_KEPT = 64
_Memory = dict[Any, Any]


class Noticing(Protocol):
    """What records which branches are taken: the subject's recorder."""

    def noticing(self, numbers: list[int]) -> AbstractContextManager[None]:
        """Within the block append the number of each branch to ``numbers``; afterwards they are marked as usual."""
        ...

    def mark(self, numbers: list[int]) -> None:
        """Record the branches with these numbers as if they had just been taken."""
        ...


class Caches:
    """Replaces ``functools.lru_cache`` and ``functools.cache`` in the modules of one package."""

    def __init__(self, package: str) -> None:
        self._package = package
        # For each cached function: the entries of this case, the lasting entries, the lasting ones with branches.
        self._memos: list[tuple[_Memory, dict[Hashable, _Memory], dict[Hashable, _Memory]]] = []
        self._values: Hashable = None
        # The number of the batch.
        self._round = 0
        # None if the subject is not recorded.
        self.recorder: Noticing | None = None
        self._lru_cache, self._cache = functools.lru_cache, functools.cache
        functools.lru_cache = self._chosen_lru_cache
        functools.cache = self._chosen_cache

    def _chosen_lru_cache(self, maxsize: Any = 128, typed: bool = False) -> Any:
        ours = self._used_by_tree(sys._getframe(1))
        if callable(maxsize):
            return self._remembering(maxsize) if ours else self._lru_cache(maxsize)
        return self._remembering if ours else self._lru_cache(maxsize, typed)

    def _chosen_cache(self, function: Callable[..., Any]) -> Any:
        return self._remembering(function) if self._used_by_tree(sys._getframe(1)) else self._cache(function)

    def _used_by_tree(self, frame: FrameType) -> bool:
        # It depends on the module that makes the cache, not on the function, which may be a probe or some wrapper.
        name: str = frame.f_globals.get("__name__") or ""
        return name.partition(".")[0] == self._package

    def _remembering(self, function: Callable[..., Any]) -> Callable[..., Any]:
        # Entries that do not depend on the case. There is one memory for each set of values that names of the tree
        # hold (see `held`), because a function may read such a name.
        memories: dict[Hashable, _Memory] = {}
        of_this_case: _Memory = {}
        # The same, for entries that were computed under watch: each has the value, the branches that were taken on
        # the way, and the last batch in which these were counted.
        known: dict[Hashable, _Memory] = {}
        # A function that has once looked at the case is no longer watched: it runs in most cases, and watching it
        # each time would take too long. Its entries are dropped before the next batch, so they hide no branches.
        watched = True
        self._memos.append((of_this_case, memories, known))

        @functools.wraps(function)
        def remembering(*args: Any, **kwargs: Any) -> Any:
            nonlocal watched
            key = (args, tuple(sorted(kwargs.items())) if kwargs else ())
            entries = known.get(self._values)
            if entries is not None and key in entries:
                entry = entries[key]
                if entry[2] != self._round and self.recorder is not None:
                    entry[2] = self._round
                    self.recorder.mark(entry[1])
                return now(entry[0])
            lasting = memories.get(self._values)
            if lasting is None:
                lasting = memories[self._values] = {}
            if key in lasting:
                return now(lasting[key])
            if key in of_this_case:
                # The entry depends on the case, and so does now whatever is computed from it.
                WORLD.observed += 1
                return of_this_case[key]
            before = WORLD.observed
            if not watched or self.recorder is None:
                value = function(*args, **kwargs)
                (lasting if WORLD.observed == before else of_this_case)[key] = value
                return value
            asked: list[int] = []
            with self.recorder.noticing(asked):
                value = function(*args, **kwargs)
            if WORLD.observed != before:
                watched = False
                of_this_case[key] = value
            else:
                known.setdefault(self._values, {})[key] = [value, asked, self._round]
            return value

        def cache_clear() -> None:
            memories.clear()
            known.clear()
            of_this_case.clear()

        def cache_info() -> Any:
            return WORLD.refuse(f"{getattr(function, '__qualname__', function)}.cache_info", "was called")

        remembering.cache_clear = cache_clear  # type: ignore[attr-defined]
        remembering.cache_info = cache_info  # type: ignore[attr-defined]
        return remembering

    def forget_case(self) -> None:
        """Drop the entries that depend on the case that ends."""
        for memo, _, _ in self._memos:
            if memo:
                memo.clear()

    def forget_all(self) -> None:
        """Forget everything, as if the process had just started.

        Entries with known branches may stay: their branches count again at the next use, so that the effect is the
        same.
        """
        self._round += 1
        for memo, memories, _ in self._memos:
            memo.clear()
            memories.clear()

    def switch(self, values: Hashable) -> None:
        """Use the memory for these ``values``, which names of the tree hold from now on."""
        self._values = values
        for _, memories, known in self._memos:
            if len(memories) > _KEPT:
                memories.clear()
            if len(known) > _KEPT:
                known.clear()
