"""Finds the write sites of a callable, whose fields are known only once its module has been imported.

Besides what `sites` finds, a field is written by a keyword of a call that makes a changed copy (``replace(config,
port=80)``) or the result itself (``Resolved(port=80)``).
"""

import ast

from .recording.recorder import Recorder
from .sites import Sources

# dataclasses.replace, attrs.evolve, a named tuple's _replace, and the two that fill a mapping.
_COPYING = ("replace", "evolve", "_replace", "dict", "update")


class _AnyName:
    """Holds every name but those of Python itself."""

    def __contains__(self, name):
        return type(name) is str and not name.startswith("__")


class CallSources(Sources):
    """Parsed files in which every possible write site is found, until ``keep`` says which are of a field."""

    def __init__(self):
        super().__init__(())
        self._plain = _AnyName()
        self._makers = {}
        self._files = {}
        self._fields = frozenset()
        self._classes = frozenset()

    def add(self, tree, file):
        """Take one parsed file; return its write sites and its decisions, each in the order of the text."""
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._files[node] = file
        return super().add(tree, file)

    def _written(self, node):
        yield from super()._written(node)
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in _COPYING or name[:1].isupper() or name == "cls":
                for keyword in node.keywords:
                    if keyword.arg is not None:
                        self._makers[keyword.value] = name
                        yield keyword.value, keyword.arg

    def keep(self, fields, classes):
        """Leave the sites that write one of ``fields``; ``classes`` are the names of what holds them."""
        self._fields, self._classes = frozenset(fields), frozenset(classes)
        self._writes_of = {
            node: [site for site in sites if self.kept(site)] for node, sites in self._writes_of.items()
        }

    def kept(self, site):
        """Return whether a site writes a field."""
        maker = self._makers.get(site.node, "")
        return site.field in self._fields and (not maker[:1].isupper() or maker in self._classes)

    def function(self, name, file, line):
        """Return the definition of a function that begins in ``line`` of ``file``, decorators included, or None."""
        found = [
            node for node in self.functions.get(name, ()) if self._files.get(node) == file and node.lineno >= line
        ]
        return min(found, key=lambda node: node.lineno, default=None)


class CallRecorder(Recorder):
    """Records the sites of a callable's tree."""

    def __init__(self, root):
        super().__init__(root, ())
        self.sources = CallSources()
