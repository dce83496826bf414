"""Finds in source what a report of reach is about: the write sites of resolved fields, and the decisions.

A write site is an assignment to an attribute named like a field, a ``setattr`` with that name, or a declaration: a
dictionary's key, a key that is assigned to, or a keyword of ``declare``. A decision is a condition that is not put
together from others: a test of ``if``, ``while``, ``assert``, of a conditional expression or a comprehension, an
operand of ``and``, ``or`` and ``not``, or a comparison wherever it stands.
"""

import ast

# What a codemod writes in place of an assignment: ``declare(record, source, field=value)``, ``view.declare(...)``.
_DECLARE = ("declare", "_declare")


def declared(node):
    """Return the keywords of ``node`` when it is a call that declares fields, else none."""
    if not isinstance(node, ast.Call):
        return []
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
    return node.keywords if name in _DECLARE else []


class Site:
    """One write site or decision: the function it stands in, the file, where in it, and the node.

    ``field`` is what a write site writes, None for a decision. The node of a write site is the target, or the value
    that is declared.
    """

    __slots__ = ("field", "file", "line", "node", "place", "source")

    def __init__(self, field, source, file, node):
        self.field = field
        self.source = source
        self.file = file
        self.line = node.lineno
        self.node = node
        self.place = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)

    def text(self, lines):
        """Return the site's own text out of the ``lines`` of its file (bytes), on one line."""
        first, start, last, end = self.place
        part = lines[first - 1 : last]
        part[-1] = part[-1][:end]
        part[0] = part[0][start:]
        return " ".join(b" ".join(part).decode(errors="replace").split())


class Sources:
    """The parsed files of a package; ``names`` are the fields whose writes count, dotted ones included.

    ``writes`` and ``decisions`` hold all sites, in the order of the files and of the text; ``functions`` are by name.
    """

    def __init__(self, names):
        self._plain = {name for name in names if "." not in name}
        # Of a dotted name the last two parts: the objects before may have been given a shorter name.
        self._dotted = {tuple(name.split(".")[-2:]): name for name in names if "." in name}
        self.functions = {}
        self._writes_of = {}
        self._decisions_of = {}
        self.writes = []
        self.decisions = []

    def add(self, tree, file):
        """Take one parsed file; return its write sites and its decisions, each in the order of the text."""
        writes, decisions = [], []
        self._scan(tree, "", file, writes, decisions)
        for found in (writes, decisions):
            found.sort(key=lambda site: (site.line, site.node.col_offset))
        self.writes += writes
        self.decisions += decisions
        return writes, decisions

    def _scan(self, node, function, file, writes, decisions):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.AnnAssign):
                # An annotation is no code of the resolution.
                for part in (child.target, child.value):
                    if part is not None:
                        self._one(part, function, file, writes, decisions)
                continue
            self._one(child, function, file, writes, decisions)

    def _one(self, node, function, file, writes, decisions):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.functions.setdefault(node.name, []).append(node)
            for statement in node.body:
                self._one(statement, node.name, file, writes, decisions)
            return
        if function:
            for place, field in self._written(node):
                site = Site(field, function, file, place)
                self._writes_of.setdefault(node, []).append(site)
                writes.append(site)
            for test in _conditions(node):
                site = Site(None, function, file, test)
                self._decisions_of[test] = site
                decisions.append(site)
        self._scan(node, function, file, writes, decisions)

    def _written(self, node):
        """Yield ``(node, field)`` for each write that ``node`` itself is."""
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            field = self._field(node)
            if field is not None:
                yield node, field
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            if self._named(node.slice):
                yield node, node.slice.value
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if self._named(key):
                    yield value, key.value
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "setattr"
            and len(node.args) == 3
            and self._named(node.args[1])
        ):
            yield node.args[2], node.args[1].value
        for keyword in declared(node):
            if keyword.arg in self._plain:
                yield keyword.value, keyword.arg

    def _named(self, node):
        return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in self._plain

    def _field(self, target):
        if target.attr in self._plain:
            return target.attr
        owner = target.value
        before = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", None)
        return self._dotted.get((before, target.attr))

    def decorated(self, names):
        """Return the functions that carry one of the decorators ``names``: registries call them by no name."""
        return [
            node
            for nodes in self.functions.values()
            for node in nodes
            if any(decorator_name(decorator) in names for decorator in node.decorator_list)
        ]

    def in_slot_order(self, slots):
        """Return what the slots reach: ``(slot, write site)`` in order, and the decisions in order.

        ``slots`` are ``(slot, function name or statement)`` in the order they run. A function called from several
        slots is listed at the first. Calls are followed by name: this is a reading of the text, not a trace.
        """
        walk = _Walk(self.functions, self._writes_of, self._decisions_of)
        for slot, start in slots:
            for node in self.functions.get(start, ()) if isinstance(start, str) else [start]:
                walk.follow(node, slot)
        return walk.writes, walk.decisions


class _Walk:
    """Follows functions by name, in the order of the text."""

    def __init__(self, functions, writes_of, decisions_of):
        self._functions = functions
        self._writes_of = writes_of
        self._decisions_of = decisions_of
        self._seen = set()
        self.writes = []
        self.decisions = []

    def follow(self, function, slot):
        if function in self._seen:
            return
        self._seen.add(function)
        for node in _in_order(function):
            self.writes += [(slot, site) for site in self._writes_of.get(node, ())]
            if node in self._decisions_of:
                self.decisions.append(self._decisions_of[node])
            name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)
            for called in self._functions.get(name, ()):
                self.follow(called, slot)


def decorator_name(node):
    """Return the last name of what a decorator is or calls, None for one without a name."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)


def _in_order(node):
    """Yield the nodes under ``node`` in the order of the text, what is assigned before what it is assigned to."""
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        children.sort(key=lambda child: child is not node.value)
    for child in children:
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            # It runs when it is called, and is followed then.
            continue
        yield child
        yield from _in_order(child)


def _conditions(node):
    """Yield the single conditions that ``node`` asks for in its own right."""
    if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
        yield from _leaves(node.test)
    elif isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield from _leaves(test)
    elif isinstance(node, ast.match_case) and node.guard is not None:
        yield from _leaves(node.guard)
    elif isinstance(node, ast.BoolOp):
        for operand in node.values:
            yield from _leaves(operand)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _leaves(node.operand)
    elif isinstance(node, ast.Compare):
        yield node


_LITERALS = (ast.Constant, ast.Dict, ast.JoinedStr, ast.List, ast.Set, ast.Tuple)


def _leaves(test):
    """Yield ``test`` unless it says itself what its conditions are, or is none."""
    if isinstance(test, (ast.BoolOp, ast.Compare)) or _is_written_out(test):
        return
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return
    yield test


def _is_written_out(node):
    """Return whether a value needs no question of its own: a literal, or one of two of which a test chooses."""
    if isinstance(node, ast.IfExp):
        return _is_written_out(node.body) and _is_written_out(node.orelse)
    return isinstance(node, _LITERALS)
