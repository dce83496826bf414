"""Makes faults in values: another constant, None in place of a computed value, another probe or config."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.operators.operator import Edit, FaultContext, operator
from harness.audit.reading.constants import ConstantValue, constant, is_constant, is_member
from harness.audit.reading.vocabulary import following, name_of
from harness.audit.reading.walk import is_field_write, last_name


@operator
def constants(
    node: cst.Attribute | cst.SimpleString | cst.Integer | cst.Float | cst.Name, context: FaultContext
) -> Iterator[Edit]:
    """A constant becomes another: the next number, the other truth value, another value of that field, or None."""
    if is_constant(node):
        for other in _others(constant(node), context):
            yield context.becomes(node, _literal(other, node.quote if isinstance(node, cst.SimpleString) else '"'))
    elif isinstance(node, cst.Attribute) and is_member(node):
        owner = last_name(node.value)
        other_member = context.vocabulary.other_member(owner, node.attr.value)
        if other_member is not None:
            yield context.becomes(node, f"{owner}.{other_member}")
        elif context.role == "value":
            yield context.becomes(node, "None")


def _others(value: ConstantValue, context: FaultContext) -> list[ConstantValue]:
    """Return the constants to put in place of ``value``, one fault each."""
    known = context.vocabulary.others(name_of(context.here), value)
    others: list[ConstantValue] = []
    if isinstance(value, bool):
        others.append(not value)
    elif isinstance(value, int):
        others += [value + 1, value - 1]
    elif isinstance(value, float):
        others.append(value + 1)
    elif isinstance(value, str):
        others += [other for other in known if isinstance(other, str)][:1]
    elif not _is_identity(context):
        others += [other for other in known if other is not None][:1]
    if value is not None and context.role == "value" and None in known:
        others.append(None)
    # A text for which the vocabulary has no other becomes one that the package probably does not know.
    return others if others or not isinstance(value, str) else [f"{value}_"]


def _is_identity(context: FaultContext) -> bool:
    """Return whether ``is`` or ``is not`` compares the constant: `comparisons` then makes a better fault."""
    parent = context.parent
    if isinstance(parent, cst.Comparison):
        parent = parent.comparisons[0]
    return isinstance(parent, cst.ComparisonTarget) and isinstance(parent.operator, cst.Is | cst.IsNot)


def _literal(value: ConstantValue, quote: str) -> str:
    """Return the literal of ``value``; a text that needs no escapes gets ``quote``, that of the text it replaces."""
    if isinstance(value, str) and value.isprintable() and not set(value) & {"'", '"', "\\"}:
        return f"{quote}{value}{quote}"
    return repr(value)


@operator
def written_values(node: cst.Assign, context: FaultContext) -> Iterator[Edit]:
    """A computed value that is written to a field becomes None; constants have an operator of their own."""
    if is_field_write(node):
        for value in _branches(node.value):
            if not is_constant(value) and not is_member(value):
                yield context.becomes(value, "None", "value")


def _branches(value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the branches of a conditional expression, or the expression itself if it is not conditional."""
    if isinstance(value, cst.IfExp):
        yield from _branches(value.body)
        yield from _branches(value.orelse)
    else:
        yield value


@operator
def swapped_probes(node: cst.Call, context: FaultContext) -> Iterator[Edit]:
    """A probe of the machine, a call such as ``is_cuda()``, becomes another probe that the file calls."""
    if name := _probe(node):
        other = following(name, {probe for here in context.file.nodes if (probe := _probe(here.node))})
        if other is not None:
            yield context.becomes(node.func, other, "guard")


def _probe(node: cst.CSTNode) -> str:
    """Return the name of the probe that a node calls, or the empty string."""
    match node:
        case cst.Call(args=[], func=cst.Name(value=name)) if name.startswith("is_"):
            return name
    return ""


@operator
def wrong_objects(node: cst.Attribute, context: FaultContext) -> Iterator[Edit]:
    """A config of an object (``model.hf_config``) becomes another that the package reads from such objects."""
    if isinstance(context.parent, cst.Attribute):
        for other in context.vocabulary.other_configs(last_name(node.value), node.attr.value):
            yield context.becomes(node.attr, other)
