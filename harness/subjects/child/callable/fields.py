"""Which writes of a callable's tree write a field of its outcome, known only once the tree has been imported.

Besides an assignment, an item and a declaration, a field is written by a keyword of a call that makes a changed copy
(``replace(config, port=80)``) or the result itself (``Resolved(port=80)``).
"""

from ....source.writes import copies_of, writes_of


class CallWrites:
    """Counts every write of a name, until ``learn`` tells which names are fields."""

    def __init__(self):
        self._fields = self._classes = frozenset()

    def written(self, node):
        """Return the writes of ``node`` itself, each with the name that it writes, but for names of Python itself."""
        own = [write for write in writes_of(node) if write.form != "deleted" and not write.name.startswith("__")]
        return [(write.name, write) for write in (*own, *copies_of(node))]

    def learn(self, fields, classes):
        """Take the names of the fields, and of the classes that hold them."""
        self._fields, self._classes = frozenset(fields), frozenset(classes)

    def counts(self, site):
        """Return whether a write site writes a field: a keyword of some other class does not."""
        maker = site.write.maker
        return site.field in self._fields and (not maker[:1].isupper() or maker in self._classes)
