"""Finds write sites in source: assignments to a resolved field, in the order in which the slots reach them."""

import ast


class Site:
    """One write site: the field, the function it stands in, the file, the line, and the assigned expression."""

    __slots__ = ("field", "file", "line", "node", "source")

    def __init__(self, field, source, file, node):
        self.field = field
        self.source = source
        self.file = file
        self.line = node.lineno
        self.node = node


class Sources:
    """The parsed files of a package; ``names`` are the fields whose writes count, dotted ones included."""

    def __init__(self, names):
        self._plain = {name for name in names if "." not in name}
        # Of a dotted name the last two parts: the objects before may have been given a shorter name.
        self._dotted = {tuple(name.split(".")[-2:]): name for name in names if "." in name}
        self._functions = {}
        self._sites = {}
        self.sites = []

    def add(self, tree, file):
        """Take one parsed file; return its sites in the order of the text."""
        found = []
        self._scan(tree, "", file, found)
        found.sort(key=lambda site: (site.line, site.node.col_offset))
        self.sites += found
        return found

    def _scan(self, node, function, file, found):
        for child in ast.iter_child_nodes(node):
            inner = function
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                inner = child.name
                self._functions.setdefault(inner, []).append(child)
            elif isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
                field = self._field(child)
                if field is not None:
                    site = self._sites[child] = Site(field, function, file, child)
                    found.append(site)
            self._scan(child, inner, file, found)

    def _field(self, target):
        if target.attr in self._plain:
            return target.attr
        owner = target.value
        before = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", None)
        return self._dotted.get((before, target.attr))

    def in_slot_order(self, slots):
        """Return ``(slot, site)`` for each site that a slot reaches, in order, then those that none reaches.

        ``slots`` are ``(slot, function name)`` in the order they run. A function called from several slots is listed
        at the first. Calls are followed by name, so that this is a reading of the text, not a trace.
        """
        listed, seen = [], set()
        for slot, name in slots:
            for node in self._functions.get(name, ()):
                self._follow(node, slot, listed, seen)
        reached = {id(site) for _, site in listed}
        return listed + [("", site) for site in self.sites if id(site) not in reached]

    def _follow(self, function, slot, listed, seen):
        if function in seen:
            return
        seen.add(function)
        for node in _in_order(function):
            if node in self._sites:
                listed.append((slot, self._sites[node]))
                continue
            name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)
            for called in self._functions.get(name, ()):
                self._follow(called, slot, listed, seen)


def _in_order(node):
    """Yield the nodes under ``node`` in the order of the text, what is assigned before what it is assigned to."""
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        children.sort(key=lambda child: child is not node.value)
    for child in children:
        yield child
        yield from _in_order(child)
