"""What the modules of a tree define, by name: functions, constants, the members of classes."""

import ast

# A name that more functions share says too little about which of them a call means.
_MOST_NAMESAKES = 2


class Symbols:
    """The definitions of parsed modules (``{module name: ast.Module}``).

    ``functions`` maps a name to its definitions in all modules, ``properties`` are those that are read as attributes.
    ``constants`` maps a module's names to the expression they were first assigned, ``members`` a class and an
    attribute to the constant it holds.
    """

    def __init__(self, trees):
        self.functions = {}
        self.constants = {}
        self.members = {}
        self.properties = set()
        self._module = {}
        for name, tree in trees.items():
            self._scan(name, tree)

    def _scan(self, module, tree):
        wanted = list(tree.body)
        while wanted:
            node = wanted.pop()
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.functions.setdefault(node.name, []).append(node)
                self._module[node] = module
                if any(
                    isinstance(decorator, ast.Name) and decorator.id == "property"
                    for decorator in node.decorator_list
                ):
                    self.properties.add(node.name)
            elif isinstance(node, ast.ClassDef):
                self._scan_class(node)
            wanted.extend(
                child
                for name in ("body", "orelse", "finalbody", "handlers")
                for child in getattr(node, name, None) or ()
            )
        for node in tree.body:
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            if (
                isinstance(node, (ast.Assign, ast.AnnAssign))
                and isinstance(target, ast.Name)
                and node.value is not None
            ):
                self.constants.setdefault(target.id, node.value)

    def _scan_class(self, node):
        for statement in node.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                name, value = statement.targets[0].id, statement.value
                if name.isupper():
                    text = isinstance(value, ast.Constant) and isinstance(value.value, str)
                    # A number of an enumeration is nobody's input: its name says which member is meant.
                    member = value.value if text else f"{node.name}.{name}"
                    self.members.setdefault((node.name, name), member)

    def called(self, name, caller=None):
        """Return the functions that a call of ``name`` in the function ``caller`` may mean, none if too many."""
        found = self.functions.get(name, ())
        if len(found) > _MOST_NAMESAKES and caller is not None:
            module = self._module.get(caller)
            found = [node for node in found if self._module[node] == module]
        return found if len(found) <= _MOST_NAMESAKES else ()
