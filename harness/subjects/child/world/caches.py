"""Forgets, between cases, what the tree's own functions remembered of a case.

``functools.lru_cache`` on a probe is right in a server, which has one machine; here each case has its own. Entries
that were computed without looking at the case (from a class, from a constant) are kept.
"""

import functools
import sys

from .current import WORLD
from .standins import now

_KEPT = 64


class Caches:
    """Replaces ``functools.lru_cache`` and ``functools.cache`` in the modules of one package."""

    def __init__(self, package):
        self._package = package
        self._memos = []
        self._values = None
        self._round = 0
        # What notes the decisions on the way, once there is one.
        self.recorder = None
        self._lru_cache, self._cache = functools.lru_cache, functools.cache
        functools.lru_cache = self._chosen_lru_cache
        functools.cache = self._chosen_cache

    def _chosen_lru_cache(self, maxsize=128, typed=False):
        ours = self._used_by_tree(sys._getframe(1))
        if callable(maxsize):
            return self._remembering(maxsize) if ours else self._lru_cache(maxsize)
        return self._remembering if ours else self._lru_cache(maxsize, typed)

    def _chosen_cache(self, function):
        return self._remembering(function) if self._used_by_tree(sys._getframe(1)) else self._cache(function)

    def _used_by_tree(self, frame):
        # The module that asks decides: what is wrapped may be a probe, a partial or another wrapper.
        return (frame.f_globals.get("__name__") or "").partition(".")[0] == self._package

    def _remembering(self, function):
        # One memory for each set of values that names of the tree hold: see ``held``.
        memories, of_this_case = {}, {}
        # Those of which is known what was decided on the way, each with that and with the round that it was told in.
        told = {}
        # A function of the case is asked too often to be watched.
        watched = True
        self._memos.append((of_this_case, memories, told))

        @functools.wraps(function)
        def remembering(*args, **kwargs):
            nonlocal watched
            key = (args, tuple(sorted(kwargs.items())) if kwargs else ())
            known = told.get(self._values)
            if known is not None and key in known:
                entry = known[key]
                if entry[2] != self._round:
                    entry[2] = self._round
                    self.recorder.mark(entry[1])
                return now(entry[0])
            lasting = memories.get(self._values)
            if lasting is None:
                lasting = memories[self._values] = {}
            if key in lasting:
                return now(lasting[key])
            if key in of_this_case:
                # Whoever asks has seen the case through this entry.
                WORLD.observed += 1
                return of_this_case[key]
            before = WORLD.observed
            if not watched or self.recorder is None:
                value = function(*args, **kwargs)
                (lasting if WORLD.observed == before else of_this_case)[key] = value
                return value
            asked = []
            with self.recorder.noticing(asked):
                value = function(*args, **kwargs)
            if WORLD.observed != before:
                watched = False
                of_this_case[key] = value
            else:
                told.setdefault(self._values, {})[key] = [value, asked, self._round]
            return value

        def cache_clear():
            memories.clear()
            told.clear()
            of_this_case.clear()

        def cache_info():
            return WORLD.refuse(f"{getattr(function, '__qualname__', function)}.cache_info", "was called")

        remembering.cache_clear = cache_clear
        remembering.cache_info = cache_info
        return remembering

    def forget_case(self):
        """Drop what was computed from the case that ends."""
        for memo, _, _ in self._memos:
            if memo:
                memo.clear()

    def forget_all(self):
        """Be as a process that just started: what was decided when a value was made counts when it is used again."""
        self._round += 1
        for memo, memories, _ in self._memos:
            memo.clear()
            memories.clear()

    def switch(self, values):
        """Take up the memory for the ``values`` (hashable) that names of the tree now hold."""
        self._values = values
        for _, memories, told in self._memos:
            if len(memories) > _KEPT:
                memories.clear()
            if len(told) > _KEPT:
                told.clear()
