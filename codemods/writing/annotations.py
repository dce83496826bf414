"""Adds a tag to the metadata of a field, in each form that its annotation may have."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from codemods.reading.index import ModuleIndex
from codemods.reading.source import SourceFile
from codemods.writing.emit import code, comma, deeper, exploded, fits, keyword_argument, name_of, newline


class Tagger:
    """Adds the keyword ``tag`` to the metadata of the fields in one file.

    ``arg`` is the name of the metadata's class, ``parameters`` are its parameters. The file may import that class and
    ``Annotated`` under other names. ``left`` are the fields that cannot be tagged, each with the reason.
    """

    def __init__(self, source: SourceFile, arg: str, parameters: Sequence[str], tag: str, width: int) -> None:
        imports = ModuleIndex(source.path, source.tree).imports
        self._args = {arg, *(name for name, (_, original) in imports.items() if original == arg)}
        self._wrappers = {
            "Annotated",
            "A",
            *(name for name, (_, original) in imports.items() if original == "Annotated"),
        }
        self._own_wrapper = next((name for name in ("A", "Annotated") if name in imports), None)
        self._own_arg = next((name for name in sorted(self._args) if name in imports), None)
        classes = ModuleIndex(source.path, source.tree).classes
        self._arg = arg if arg in classes else self._own_arg or arg
        self._has_arg = arg in classes or self._own_arg is not None
        self._parameters = parameters
        self._tag = tag
        self._width = width
        self.needs_imports = False
        self.left: list[tuple[str, str]] = []

    def tagged(self, node: cst.AnnAssign) -> cst.AnnAssign:
        """Return ``node`` with the tag; the same object if it has the tag already, or cannot have it."""
        annotation = node.annotation.annotation
        wrapped = self._wrapped(annotation)
        if wrapped is None:
            return self._grown(node, annotation)
        elements = list(wrapped.slice)
        for number, element in enumerate(elements[1:], 1):
            value = element.slice.value if isinstance(element.slice, cst.Index) else None
            if isinstance(value, cst.Call) and name_of(value.func) in self._args:
                changed = self._with_tag(value)
                if changed is value:
                    return node
                return self._with_element(node, wrapped, number, changed)
            if isinstance(value, (cst.SimpleString, cst.ConcatenatedString)):
                return self._with_element(node, wrapped, number, self._from_help(value))
        return self._with_new_element(node, wrapped)

    def new_field(self, name: str, annotation: str, default: str) -> str:
        """Return the text of a new field with the tag; it gets no flag if the metadata's class has ``no_cli``."""
        wrapper = self._own_wrapper or "Annotated"
        self.needs_imports = self.needs_imports or self._own_wrapper is None or not self._has_arg
        arg = code(self._fresh())
        line = f"{name}: {wrapper}[{annotation}, {arg}] = {default}"
        if len(line) <= self._width:
            return line
        return f"{name}: {wrapper}[\n    {annotation},\n    {arg},\n] = {default}"

    # -- forms

    def _wrapped(self, annotation: cst.BaseExpression) -> cst.Subscript | None:
        if isinstance(annotation, cst.Subscript) and name_of(annotation.value) in self._wrappers:
            return annotation
        return None

    def _grown(self, node: cst.AnnAssign, annotation: cst.BaseExpression) -> cst.AnnAssign:
        """Return ``node``, whose annotation has no metadata yet, with ``Annotated`` around it and the tag."""
        assert isinstance(node.target, cst.Name)
        text = code(annotation)
        if "InitVar" in text or "ClassVar" in text:
            self.left.append((node.target.value, "it is no field that keeps its value"))
            return node
        if "no_cli" not in self._parameters:
            self.left.append((node.target.value, "with metadata it would get a flag"))
            return node
        wrapper = self._own_wrapper or "Annotated"
        self.needs_imports = self.needs_imports or self._own_wrapper is None or not self._has_arg
        # ``int`` stands for the annotation of the field, which takes its place below.
        made = cst.parse_expression(f"{wrapper}[int, {code(self._fresh())}]")
        assert isinstance(made, cst.Subscript)
        first, *rest = made.slice
        made = made.with_changes(slice=[first.with_changes(slice=cst.Index(annotation)), *rest])
        return self._laid_out(node, made)

    def _fresh(self) -> cst.Call:
        keywords = ['help=""'] if "help" in self._parameters else []
        keywords += ["no_cli=True"] if "no_cli" in self._parameters else []
        made = cst.parse_expression(f"{self._arg}({', '.join([*keywords, f'{self._tag}=True'])})")
        assert isinstance(made, cst.Call)
        return made

    def _from_help(self, text: cst.BaseExpression) -> cst.Call:
        """Return the metadata, with the tag, that means the same as a help text alone."""
        self.needs_imports = self.needs_imports or not self._has_arg
        if "\n" not in code(text) and text.lpar:
            text = text.with_changes(lpar=[], rpar=[])
        first = keyword_argument("help", text) if "help" in self._parameters else cst.Arg(text)
        return self._with_tag(cst.Call(cst.Name(self._arg), [first]))

    def _with_tag(self, call: cst.Call) -> cst.Call:
        """Return ``call`` with the tag, on a line of its own if the last argument has one."""
        for number, item in enumerate(call.args):
            if item.keyword is not None and item.keyword.value == self._tag:
                if code(item.value) == "True":
                    return call
                arguments = list(call.args)
                arguments[number] = item.with_changes(value=cst.Name("True"))
                return call.with_changes(args=arguments)
        added = keyword_argument(self._tag, cst.Name("True"))
        if not call.args:
            return call.with_changes(args=[added])
        *others, last = call.args
        if isinstance(last.comma, cst.Comma) and isinstance(last.comma.whitespace_after, cst.ParenthesizedWhitespace):
            between = cst.Comma(whitespace_after=_without_comments(call.whitespace_before_args))
            pair = last.with_changes(comma=between), added.with_changes(comma=last.comma)
        else:
            end = last.whitespace_after_arg
            before = last.with_changes(comma=comma(), whitespace_after_arg=cst.SimpleWhitespace(""))
            pair = before, added.with_changes(whitespace_after_arg=end)
        return call.with_changes(args=[*others, *pair])

    # -- layout

    def _with_element(
        self, node: cst.AnnAssign, wrapped: cst.Subscript, number: int, call: cst.Call
    ) -> cst.AnnAssign:
        elements = list(wrapped.slice)
        elements[number] = elements[number].with_changes(slice=cst.Index(call))
        return self._laid_out(node, wrapped.with_changes(slice=elements))

    def _with_new_element(self, node: cst.AnnAssign, wrapped: cst.Subscript) -> cst.AnnAssign:
        assert isinstance(node.target, cst.Name)
        if "no_cli" not in self._parameters:
            self.left.append((node.target.value, "with metadata it would get a flag"))
            return node
        self.needs_imports = self.needs_imports or not self._has_arg
        last = wrapped.slice[-1]
        added = cst.SubscriptElement(cst.Index(self._fresh()), comma=last.comma)
        spaced = last.with_changes(comma=comma())
        return self._laid_out(node, wrapped.with_changes(slice=[*wrapped.slice[:-1], spaced, added]))

    def _laid_out(self, node: cst.AnnAssign, wrapped: cst.Subscript) -> cst.AnnAssign:
        """Return ``node`` with the annotation ``wrapped``, with one element a line if a line would be too long."""
        plain = _annotated_with(node, wrapped)
        long_before = [line for line in code(node).splitlines() if len(line) > self._width]
        long_now = [line for line in code(plain).splitlines() if len(line) > self._width]
        if not set(long_now) - set(long_before) and not self._is_cramped(wrapped):
            return plain
        if not isinstance(wrapped.lbracket.whitespace_after, cst.ParenthesizedWhitespace):
            wrapped = _open(wrapped)
        elif not isinstance(wrapped.slice[-1].comma, cst.Comma):
            wrapped = _one_a_line(wrapped)
        plain = _annotated_with(node, wrapped)
        if fits(plain, self._width) and not self._is_cramped(wrapped):
            return plain
        elements = [self._exploded_call(element) for element in wrapped.slice]
        return _annotated_with(node, wrapped.with_changes(slice=elements))

    def _is_cramped(self, wrapped: cst.Subscript) -> bool:
        """Return whether the metadata's call has a line break, but not after its opening bracket."""
        for element in wrapped.slice:
            value = element.slice.value if isinstance(element.slice, cst.Index) else None
            if not isinstance(value, cst.Call) or name_of(value.func) not in self._args:
                continue
            if "\n" in code(value) and not isinstance(value.whitespace_before_args, cst.ParenthesizedWhitespace):
                return True
        return False

    def _exploded_call(self, element: cst.SubscriptElement) -> cst.SubscriptElement:
        value = element.slice.value if isinstance(element.slice, cst.Index) else None
        if not isinstance(value, cst.Call) or name_of(value.func) not in self._args:
            return element
        if isinstance(value.whitespace_before_args, cst.ParenthesizedWhitespace):
            return element
        moved = value.with_changes(args=[item.with_changes(value=deeper(item.value)) for item in value.args])
        return element.with_changes(slice=cst.Index(exploded(moved, "        ", "    ")))


def _annotated_with(node: cst.AnnAssign, wrapped: cst.Subscript) -> cst.AnnAssign:
    return node.with_changes(annotation=node.annotation.with_changes(annotation=wrapped))


def _open(wrapped: cst.Subscript) -> cst.Subscript:
    """Return ``wrapped`` with one element a line; lines inside an element are indented one step more."""
    elements = [
        element.with_changes(slice=cst.Index(deeper(element.slice.value)))
        if isinstance(element.slice, cst.Index)
        else element
        for element in wrapped.slice
    ]
    opened = cst.LeftSquareBracket(whitespace_after=newline("    "))
    return _one_a_line(wrapped.with_changes(lbracket=opened, slice=elements))


def _one_a_line(wrapped: cst.Subscript) -> cst.Subscript:
    elements = [element.with_changes(comma=cst.Comma(whitespace_after=newline("    "))) for element in wrapped.slice]
    elements[-1] = elements[-1].with_changes(comma=cst.Comma(whitespace_after=newline("")))
    closed = cst.RightSquareBracket(whitespace_before=cst.SimpleWhitespace(""))
    return wrapped.with_changes(slice=elements, rbracket=closed)


def _without_comments(
    whitespace: cst.BaseParenthesizableWhitespace,
) -> cst.BaseParenthesizableWhitespace:
    if isinstance(whitespace, cst.ParenthesizedWhitespace):
        return newline(whitespace.last_line.value)
    return whitespace
