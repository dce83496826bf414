"""Says what a tree's argument record looks like: its fields, their flags, and the values the code compares.

The comparisons are read from the source of the modules that were loaded for real: ``x.<field> == "v"``,
``x.<field> in (...)``, names of lists included. They tell a generator which values can matter.
"""

import ast
import dataclasses
import inspect
import re
import sys
import types
import typing

from ...source.nodes import decorator_names

SCALARS = {bool: "bool", int: "int", float: "float", str: "str"}


def fields_of(cls):
    """Return one dictionary a field of the dataclass ``cls``, in their order."""
    hints = typing.get_type_hints(cls, include_extras=True)
    flags = flags_of(cls)
    described = []
    for field in dataclasses.fields(cls):
        if not field.init:
            continue
        hint, metadata = _unwrap(hints.get(field.name, str))
        inner, optional = without_none(hint)
        kind, item, literals = _kind(inner)
        choices = next((m.choices for m in metadata if getattr(m, "choices", None)), None) or literals
        default, required = _default(field)
        described.append(
            {
                "name": field.name,
                "type": kind,
                "item": item,
                "optional": optional,
                "choices": [choice for choice in listed(choices) if _is_plain(choice)],
                "default": default if _is_plain(default) else None,
                "required": required,
                "flags": flags.get(field.name, []),
            }
        )
    return described


def _unwrap(hint):
    metadata = getattr(hint, "__metadata__", ())
    return (hint.__origin__ if metadata else hint), metadata


def without_none(hint):
    """Return an annotation without the None that it allows, and whether it allows it."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        parts = [part for part in typing.get_args(hint) if part is not type(None)]
        optional = len(parts) < len(typing.get_args(hint))
        return (parts[0] if len(parts) == 1 else typing.Union[tuple(parts)]), optional  # noqa: UP007
    return hint, False


def _kind(hint):
    if hint in SCALARS:
        return SCALARS[hint], None, ()
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        values = typing.get_args(hint)
        return SCALARS.get(type(values[0]), "object"), None, values
    if origin is list:
        (item,) = typing.get_args(hint) or (str,)
        return "list", _kind(item)[0], ()
    return "object", None, ()


def listed(choices):
    """Return choices as a list, those of a set in the order of their text, none for None."""
    if choices is None:
        return []
    return sorted(choices, key=str) if isinstance(choices, (set, frozenset)) else list(choices)


def _is_plain(value):
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str)


def _default(field):
    if field.default is not dataclasses.MISSING:
        return field.default, False
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory(), False
    return None, True


def flags_of(cls):
    """Return the command-line flags of each field, from the tree's own argument parser."""
    from .serve.launch import parser_of

    flags = {}
    for action in parser_of(cls)._actions:
        flags.setdefault(action.dest, []).extend(action.option_strings)
    return flags


def assigned_in(cls, names):
    """Return those of ``names`` that the module of ``cls`` assigns on an instance without declaring them as fields.

    The text is searched rather than parsed: this is asked of every new process, and a parse takes longer than a
    hundred cases.
    """
    with open(inspect.getfile(cls), encoding="utf-8") as source:
        text = source.read()
    forms = r"\bself\.{0}\b[^=\n]*=[^=]|\bdeclare\([^()]*\b{0}=[^=]"
    return {name for name in names if re.search(forms.format(re.escape(name)), text)}


def modules_of(package):
    """Return the modules of ``package`` that were loaded for real, by name."""
    from .world.standins import StandInModule

    return {
        name: module
        for name, module in sorted(sys.modules.items())
        if name.partition(".")[0] == package and not isinstance(module, StandInModule)
    }


def partial_trees(package):
    """Return the kept definitions of the modules of ``package`` that were loaded in part, parsed, by name."""
    found = {}
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] == package:
            tree = getattr(getattr(vars(module).get("__spec__"), "loader", None), "kept", None)
            if tree is not None:
                found[name] = tree
    return found


class Reading:
    """What a set of functions reads: ``fields``, environment variables, and the values they compare these with."""

    def __init__(self, fields, modules):
        self._fields = set(fields)
        self._functions = {}
        self._constants = {}
        self.trees = {}
        for name, module in modules.items():
            self._scan(name, module)
        self.fields = {}
        self.environment = {}
        self.architectures = []
        self.functions = []

    def parsed(self, module):
        """Return the module's tree. Raises OSError, TypeError or SyntaxError for one without source."""
        return ast.parse(inspect.getsource(module))

    def _scan(self, name, module):
        try:
            tree = self.parsed(module)
        except (OSError, TypeError, SyntaxError):
            return
        self.trees[name] = tree
        for node in tree.body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                values = _literals(node.value, self._constants)
                if values:
                    self._constants.setdefault(node.targets[0].id, values)
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._functions.setdefault(node.name, []).append(node)

    def follow(self, roots):
        """Read ``roots`` (function names) and every function of the tree whose name they mention, over and over."""
        wanted, done = list(roots), set()
        while wanted:
            name = wanted.pop(0)
            if name in done:
                continue
            done.add(name)
            for node in self._functions.get(name, ()):
                self.functions.append(name)
                wanted.extend(self._read(node))
        return self

    def follow_statements(self, statements):
        """Read statements, and every function whose name they mention, over and over."""
        wanted = []
        for statement in statements:
            wanted.extend(self._read(statement))
        return self.follow(wanted)

    def follow_decorated(self, names):
        """Read the functions that carry one of the decorators ``names``: registries call them by no name."""
        roots = [
            name
            for name, nodes in self._functions.items()
            for node in nodes
            if not decorator_names(node).isdisjoint(names)
        ]
        return self.follow(roots)

    def _read(self, function):
        local = dict(self._constants)
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                values = _literals(node.value, local)
                if values:
                    local[node.targets[0].id] = values
        mentioned = []
        for child in ast.walk(function):
            if isinstance(child, ast.Attribute):
                self._read_attribute(child, mentioned)
            elif isinstance(child, ast.Name):
                mentioned.append(child.id)
            elif isinstance(child, ast.Compare):
                self._read_comparison(child, local)
            elif isinstance(child, ast.Call):
                self._read_call(child)
            elif isinstance(child, ast.Constant) and _is_architecture(child.value):
                add(self.architectures, child.value)
        for name in mentioned:
            for value in self._constants.get(name, ()):
                if _is_architecture(value):
                    add(self.architectures, value)
        return [name for name in mentioned if name in self._functions]

    def _read_attribute(self, node, mentioned):
        if node.attr in self._fields:
            self.fields.setdefault(node.attr, [])
        if isinstance(node.value, ast.Name) and node.value.id == "envs":
            self.environment.setdefault(node.attr, [])
        mentioned.append(node.attr)

    def _read_call(self, node):
        """``getattr(x, "field")``, ``os.getenv("NAME")`` and ``os.environ.get("NAME")``."""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
        texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        if name == "getattr" and texts and texts[0] in self._fields:
            self.fields.setdefault(texts[0], [])
        if name in ("getenv", "get_bool_env_var", "get_int_env_var") and texts:
            self.environment.setdefault(texts[0], [])

    def _read_comparison(self, node, local):
        sides = [node.left, *node.comparators]
        for subject in sides:
            for other in sides:
                if other is subject:
                    continue
                values = _literals(other, local)
                target = self._target(subject)
                if target is None:
                    continue
                for value in values:
                    add(target, value)

    def _target(self, node):
        """Return the list of compared values that an expression belongs to, or None."""
        if isinstance(node, ast.Attribute) and node.attr in self._fields:
            return self.fields.setdefault(node.attr, [])
        if isinstance(node, ast.Name) and node.id in self._fields:
            return self.fields.setdefault(node.id, [])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return self._target(node.func.value) if node.func.attr in ("lower", "upper") else self._environment(node)
        return None

    def _environment(self, node):
        """``envs.NAME.get()``: the list of values that the variable is compared with."""
        holder = node.func.value
        if node.func.attr != "get" or not isinstance(holder, ast.Attribute):
            return None
        if isinstance(holder.value, ast.Name) and holder.value.id == "envs":
            return self.environment.setdefault(holder.attr, [])
        return None


def _literals(node, named):
    """Return the plain constants of an expression: a constant, a display, a name, or one of two of these."""
    if isinstance(node, ast.Constant):
        return [node.value] if _is_plain(node.value) else []
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return [value for item in node.elts for value in _literals(item, named)]
    if isinstance(node, ast.Dict):
        return [value for item in node.keys if item is not None for value in _literals(item, named)]
    if isinstance(node, ast.IfExp):
        return [*_literals(node.body, named), *_literals(node.orelse, named)]
    if isinstance(node, ast.Name):
        return list(named.get(node.id, ()))
    return []


def _is_architecture(value):
    return (
        isinstance(value, str)
        and value.isidentifier()
        and value.endswith(("ForCausalLM", "ForConditionalGeneration", "ModelLM", "ForCausalLMNextN"))
    )


def add(values, value):
    """Append ``value`` unless it is in ``values``, True and 1 being two."""
    if not any(type(value) is type(known) and value == known for known in values):
        values.append(value)


def environment_kinds(envs, names):
    """Return what each variable holds (``bool``, ``int``, ``float``, ``str``) and its default, as the tree says."""
    kinds = {}
    for name in sorted(names):
        field = vars(type(envs)).get(name) if envs is not None else None
        if field is None:
            kinds[name] = {"type": "str", "default": None}
            continue
        families = {base.__name__ for base in type(field).__mro__}
        kind = next((kind for kind in ("bool", "int", "float") if f"Env{kind.capitalize()}" in families), "str")
        default = getattr(field, "default", None)
        kinds[name] = {"type": kind, "default": default if _is_plain(default) else None}
    return kinds
