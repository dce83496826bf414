"""Small programs of the idiom, as text: a record whose handlers write its fields in every form there is."""

from __future__ import annotations

import textwrap

from hypothesis import strategies as st

FIELDS = ("alpha", "beta", "gamma")

_TEMPLATE = """\
from contextlib import contextmanager, suppress

log = []


def note(value):
    log.append(("note", repr(value)))
    return value


@contextmanager
def opened(value):
    log.append(("enter", repr(value)))
    yield value
    log.append(("exit", repr(value)))


class Args:
    alpha: int = 1
    beta: object = None
    gamma: list = 0
    other: int = 0
    limit: int = 9

    def __init__(self, alpha, beta, gamma):
        self.__dict__.update(alpha=alpha, beta=beta, gamma=gamma)

@@SETATTR@@    @property
    def doubled(self):
        self.alpha = note(self.alpha)
        return self.alpha

    def _helper(self, value):
        self.beta = value
        return value

    def _sum(self, value):
        return (self.alpha, self.gamma, value)
"""

_SETATTR = """\
    def __setattr__(self, name, value):
        log.append((name, repr(value)))
        if value == 13:
            raise ValueError(f"{name} cannot be {value}")
        super().__setattr__(name, value)

"""
HEAD = _TEMPLATE.replace("@@SETATTR@@", _SETATTR)
PLAIN_HEAD = _TEMPLATE.replace("@@SETATTR@@", "")

_NAMES = st.sampled_from(FIELDS)
_CONSTANTS = st.sampled_from(["0", "1", "2", "13", "None", "'text'", "[3]", "True", "-1"])


def _expressions(owner: str) -> st.SearchStrategy[str]:
    plain = st.one_of(
        _CONSTANTS,
        _NAMES.map(lambda name: f"{owner}.{name}"),
        st.just("x"),
        st.just(f"{owner}.doubled"),
        _CONSTANTS.map(lambda value: f"note({value})"),
    )
    return st.recursive(
        plain,
        lambda inner: st.one_of(
            inner.map(lambda value: f"note({value})"),
            inner.map(lambda value: f"{owner}._helper({value})"),
            inner.map(lambda value: f"{owner}._sum({value})"),
            inner.map(lambda value: f"outside({owner}, {value})"),
            inner.map(lambda value: f"(x := {value})"),
            st.tuples(inner, inner).map(lambda pair: f"({pair[0]} + {pair[1]})"),
            st.tuples(inner, inner, inner).map(lambda parts: f"({parts[0]} if {parts[1]} else {parts[2]})"),
        ),
        max_leaves=4,
    )


def _writes(owner: str) -> st.SearchStrategy[str]:
    value = _expressions(owner)
    pair = st.tuples(_NAMES, _NAMES, value, value)
    return st.one_of(
        pair.map(lambda p: f"{owner}.{p[0]} = {p[2]}"),
        pair.map(lambda p: f"{owner}.{p[0]}, {owner}.{p[1]} = {p[2]}, {p[3]}"),
        pair.map(lambda p: f"{owner}.{p[0]}, x = {p[2]}, {p[3]}"),
        pair.map(lambda p: f"x, {owner}.{p[0]} = note(({p[2]}, {p[3]}))"),
        pair.map(lambda p: f"{owner}.{p[0]}, ({owner}.other, {owner}.{p[1]}) = {p[2]}, note([{p[3]}, 5])"),
        pair.map(lambda p: f"{owner}.{p[0]}, *{owner}.{p[1]} = note([{p[2]}, {p[3]}, 7])"),
        pair.map(lambda p: f"{owner}.{p[0]} = {owner}.{p[1]} = {p[2]}"),
        pair.map(lambda p: f"x = {owner}.{p[0]} = {owner}.other = {p[2]}"),
        pair.map(lambda p: f"{owner}.other = {owner}.{p[0]} = x = {p[2]}"),
        pair.map(lambda p: f"{owner}.{p[0]} += {p[2]}"),
        pair.map(lambda p: f"{owner}.{p[0]}: int = {p[2]}"),
        pair.map(lambda p: f"setattr({owner}, '{p[0]}', {p[2]})"),
        pair.map(lambda p: f"{owner}.{p[0]} = {p[2]}; {owner}.{p[1]} = {p[3]}"),
        pair.map(lambda p: f"{owner}.{p[0]} = {p[2]}, {p[3]}"),
        pair.map(lambda p: f"for name in ('{p[0]}', 'other', '{p[1]}'):\n    setattr({owner}, name, {p[2]})"),
        pair.map(lambda p: f"if {p[2]}: {owner}.{p[0]} = {p[3]}"),
        pair.map(lambda p: f"def inner():\n    {owner}.{p[0]} = 4\n    return {owner}.{p[1]}\nx = inner()"),
        pair.map(lambda p: f"x = (lambda: setattr({owner}, '{p[0]}', {p[2].replace('x := ', '')}))()"),
    )


def _block(statements: list[str]) -> str:
    return textwrap.indent("\n".join(statements), "    ")


def _statements(owner: str) -> st.SearchStrategy[str]:
    value = _expressions(owner)

    def nest(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        body = st.lists(inner, min_size=1, max_size=3).map(_block)
        return st.one_of(
            st.tuples(value, body, body).map(lambda p: f"if {p[0]}:\n{p[1]}\nelse:\n{p[2]}"),
            st.tuples(body, body).map(lambda p: f"try:\n{p[0]}\nexcept (TypeError, ValueError):\n{p[1]}"),
            st.tuples(_NAMES, value, value, body).map(lambda p: f"for {owner}.{p[0]} in ({p[1]}, {p[2]}):\n{p[3]}"),
            st.tuples(_NAMES, value, body).map(lambda p: f"with opened({p[1]}) as {owner}.{p[0]}:\n{p[2]}"),
            st.tuples(value, body, body).map(
                lambda p: (
                    f"match {p[0]}:\n    case 1:\n{textwrap.indent(p[1], '    ')}\n"
                    f"    case _:\n{textwrap.indent(p[2], '    ')}"
                )
            ),
        )

    return st.recursive(_writes(owner), nest, max_leaves=5)


@st.composite
def programs(draw: st.DrawFn, head: str = HEAD) -> str:
    """Return the text of a module whose class ``Args`` resolves itself with ``_run``."""
    owner = draw(st.sampled_from(["self", "this"]))
    text = head
    handlers = draw(st.integers(1, 2))
    for number in range(handlers):
        body = draw(st.lists(_statements(owner), min_size=1, max_size=4))
        text += f"\n    def _handle_{number}({owner}):\n        x = 0\n" + textwrap.indent("\n".join(body), " " * 8)
        text += "\n"
    hook = draw(st.lists(_statements("given"), min_size=1, max_size=3))
    text += "\n    def _run(self):\n"
    text += "".join(f"        self._handle_{number}()\n" for number in range(handlers))
    text += "        hook(self)\n"
    text += "\n\ndef outside(given, value):\n    return (given.beta, value)\n"
    text += "\n\ndef hook(given):\n    x = 0\n" + textwrap.indent("\n".join(hook), "    ") + "\n"
    return text


def _questions(owner: str) -> st.SearchStrategy[str]:
    """Return expressions that bind nothing; few of them write."""
    plain = st.one_of(
        _CONSTANTS,
        _NAMES.map(lambda name: f"{owner}.{name}"),
        _NAMES.map(lambda name: f"getattr({owner}, '{name}')"),
        st.just("given_local"),
        st.just(f"{owner}._sum(1)"),
        st.just(f"outside({owner}, 2)"),
    )
    return st.recursive(
        plain,
        lambda inner: st.one_of(
            inner.map(lambda value: f"note({value})"),
            inner.map(lambda value: f"(not {value})"),
            inner.map(lambda value: f"{owner}._helper({value})"),
            st.tuples(inner, inner).map(lambda pair: f"({pair[0]} + {pair[1]})"),
            st.tuples(inner, inner).map(lambda pair: f"({pair[0]} == {pair[1]})"),
            st.tuples(inner, inner, inner).map(lambda parts: f"({parts[0]} if {parts[1]} else {parts[2]})"),
        ),
        max_leaves=3,
    )


def _guarded(owner: str) -> st.SearchStrategy[str]:
    value = _questions(owner)
    plain = st.one_of(
        st.tuples(_NAMES, value).map(lambda p: f"{owner}.{p[0]} = {p[1]}"),
        st.tuples(_NAMES, value).map(lambda p: f"{owner}.{p[0]} = {p[1]}"),
        st.tuples(_NAMES, _NAMES, value, value).map(lambda p: f"{owner}.{p[0]}, {owner}.{p[1]} = {p[2]}, {p[3]}"),
        value.map(lambda text: f"note({text})"),
        value.map(lambda text: f"{owner}.other = {text}"),
        value.map(lambda text: f"assert {text} != 2, f'{{{owner}.alpha}}'"),
    )

    def nest(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        body = st.lists(inner, min_size=1, max_size=3).map(_block)
        return st.one_of(
            st.tuples(value, body).map(lambda p: f"if {p[0]}:\n{p[1]}"),
            st.tuples(value, body, body).map(lambda p: f"if {p[0]}:\n{p[1]}\nelse:\n{p[2]}"),
            st.tuples(value, body, value, body).map(lambda p: f"if {p[0]}:\n{p[1]}\nelif {p[2]}:\n{p[3]}"),
        )

    return st.tuples(
        value, st.lists(st.recursive(plain, nest, max_leaves=4), min_size=1, max_size=3).map(_block)
    ).map(lambda p: f"if {p[0]}:\n{p[1]}")


@st.composite
def guarded_programs(draw: st.DrawFn) -> str:
    """Return the text of a module whose handlers are mostly guarded writes, most of which can be lifted."""
    body = draw(st.lists(_guarded("self"), min_size=1, max_size=4))
    hook = draw(st.lists(_guarded("given"), min_size=1, max_size=2))
    return (
        PLAIN_HEAD
        + "\n    def _handle(self):\n        given_local = note(self.alpha)\n"
        + textwrap.indent("\n".join(body), " " * 8)
        + "\n\n    def _run(self):\n        self._handle()\n        hook(self, 3)\n"
        + "\n\ndef outside(given, value):\n    return (given.beta, value)\n"
        + "\n\ndef hook(given, given_local):\n"
        + textwrap.indent("\n".join(hook), "    ")
        + "\n"
    )


_ARCHITECTURES = ("A", "AB", "ABC", "B")
_ASKS = st.one_of(
    st.sampled_from(_ARCHITECTURES).map(lambda name: f"arch == '{name}'"),
    st.sampled_from(_ARCHITECTURES).map(lambda name: f"'{name}' in arch"),
    st.lists(st.sampled_from(_ARCHITECTURES), min_size=1, max_size=2).map(lambda names: f"arch in {names}"),
    st.sampled_from(_ARCHITECTURES).map(lambda name: f"arch.startswith('{name}')"),
    st.sampled_from(["arch in FAMILY", "arch != 'B'", "arch == 'A' or arch == 'B'"]),
)


def _chain(owner: str) -> st.SearchStrategy[str]:
    """Return chains of conditions of which most ask the architecture."""
    value = _questions(owner)
    ask = st.one_of(
        _ASKS,
        _ASKS,
        _ASKS,
        value,
        st.tuples(_ASKS, value).map(lambda p: f"{p[0]} and {p[1]}"),
        st.tuples(value, _ASKS).map(lambda p: f"{p[0]} and {p[1]}"),
    )
    statement = st.one_of(
        st.tuples(_NAMES, value).map(lambda p: f"{owner}.{p[0]} = {p[1]}"),
        st.tuples(_NAMES, value).map(lambda p: f"{owner}.{p[0]} = {p[1]}"),
        value.map(lambda text: f"note({text})"),
        st.tuples(value, _NAMES, value).map(lambda p: f"if {p[0]}:\n    {owner}.{p[1]} = {p[2]}"),
        value.map(lambda text: f"{owner}.other = {text}"),
        value.map(lambda text: f"held = {text}\n{owner}.alpha = held"),
        st.just("note(arch)"),
    )
    body = st.lists(statement, min_size=1, max_size=3).map(_block)
    branches = st.lists(st.tuples(ask, body), min_size=1, max_size=4)
    return st.tuples(branches, st.one_of(st.none(), st.none(), body)).map(
        lambda p: "\nel".join(f"if {test}:\n{block}" for test, block in p[0]) + (f"\nelse:\n{p[1]}" if p[1] else "")
    )


@st.composite
def family_programs(draw: st.DrawFn) -> str:
    """Return the text of a module whose handlers go by a model's architecture, which follows from ``alpha``."""
    body = draw(st.lists(_chain("self"), min_size=1, max_size=3))
    return (
        PLAIN_HEAD
        + "\n    def _handle(self, arch):\n        given_local = note(self.alpha)\n"
        + textwrap.indent("\n".join(body), " " * 8)
        + "\n\n    def _run(self):\n"
        + f"        self._handle({_ARCHITECTURES}[len(str(self.alpha)) % 4])\n"
        + "\n\nFAMILY = ('A', 'ABC')\n\n\ndef outside(given, value):\n    return (given.beta, value)\n"
    )


def _local(owner: str) -> st.SearchStrategy[str]:
    """Return statements that use the locals ``x`` and ``y``, and blocks that are left from their middle."""
    value = st.one_of(
        st.sampled_from(["0", "1", "'text'", "x", "y", "note(x)", "note(1 + 'text')", "(x + 1)"]),
        _NAMES.map(lambda name: f"{owner}.{name}"),
    )
    local = st.sampled_from(["x", "y"])
    plain = st.one_of(
        st.tuples(local, value).map(lambda p: f"{p[0]} = {p[1]}"),
        st.tuples(_NAMES, value).map(lambda p: f"{owner}.{p[0]} = {p[1]}"),
        st.tuples(value, local, value, _NAMES, value).map(
            lambda p: f"if {p[0]}:\n    {p[1]} = {p[2]}\n    {owner}.{p[3]} = {p[4]}"
        ),
        st.tuples(value, _NAMES, value).map(lambda p: f"if {p[0]}:\n    {owner}.{p[1]} = {p[2]}"),
        value.map(lambda text: f"{owner}.other = {text}"),
        st.tuples(value, local).map(lambda p: f"if {p[0]}:\n    del {p[1]}"),
        value.map(lambda text: f"if {text}:\n    return"),
    )

    def nest(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        body = st.lists(inner, min_size=1, max_size=4).map(_block)
        leap = st.sampled_from(["continue", "break"])
        return st.one_of(
            st.tuples(value, body, body).map(lambda p: f"if {p[0]}:\n{p[1]}\nelse:\n{p[2]}"),
            st.tuples(body, body).map(lambda p: f"try:\n{p[0]}\nexcept TypeError:\n{p[1]}"),
            st.tuples(body, body).map(lambda p: f"try:\n{p[0]}\nexcept TypeError as y:\n{p[1]}"),
            st.tuples(body, body).map(lambda p: f"try:\n{p[0]}\nfinally:\n{p[1]}"),
            body.map(lambda text: f"with suppress(TypeError):\n{text}"),
            st.tuples(body, value, leap, body).map(
                lambda p: f"for item in (1, 2):\n{p[0]}\n    if {p[1]}:\n        {p[2]}\n{p[3]}"
            ),
        )

    return st.recursive(plain, nest, max_leaves=6)


@st.composite
def local_programs(draw: st.DrawFn) -> str:
    """Return the text of a module whose handler keeps values in locals across exceptions and loops."""
    body = draw(st.lists(_local("self"), min_size=1, max_size=4))
    return (
        PLAIN_HEAD
        + "\n    def _handle(self, x, y):\n"
        + textwrap.indent("\n".join(body), " " * 8)
        + "\n\n    def _run(self):\n        self._handle(3, 4)\n"
    )
