"""Forgets, between cases, what the tree's own functions remembered of a case.

``functools.lru_cache`` on a probe is right in a server, which has one machine; here each case has its own. Entries
that were computed without looking at the case (from a class, from a constant) are kept.
"""

import functools

from .world import WORLD


class Caches:
    """Replaces ``functools.lru_cache`` and ``functools.cache`` for the functions of one package."""

    def __init__(self, package):
        self._package = package
        self._memos = []
        self._lru_cache = functools.lru_cache
        functools.lru_cache = self._chosen_lru_cache
        functools.cache = self._chosen_cache

    def _chosen_lru_cache(self, maxsize=128, typed=False):
        if callable(maxsize):
            return self._decorate(maxsize, self._lru_cache)
        return lambda function: self._decorate(function, self._lru_cache(maxsize, typed))

    def _chosen_cache(self, function):
        return self._decorate(function, self._lru_cache(None))

    def _decorate(self, function, original):
        if (getattr(function, "__module__", None) or "").partition(".")[0] != self._package:
            return original(function)
        return self._remembering(function)

    def _remembering(self, function):
        lasting, of_this_case = {}, {}
        self._memos.append(of_this_case)

        @functools.wraps(function)
        def remembering(*args, **kwargs):
            key = (args, tuple(sorted(kwargs.items())))
            if key in lasting:
                return lasting[key]
            if key in of_this_case:
                # Whoever asks has seen the case through this entry.
                WORLD.observed += 1
                return of_this_case[key]
            before = WORLD.observed
            value = function(*args, **kwargs)
            (lasting if WORLD.observed == before else of_this_case)[key] = value
            return value

        def cache_clear():
            lasting.clear()
            of_this_case.clear()

        remembering.cache_clear = cache_clear
        return remembering

    def forget_case(self):
        """Drop what was computed from the case that ends."""
        for memo in self._memos:
            if memo:
                memo.clear()
