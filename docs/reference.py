"""The reference: pages made from the code when the site is built, so that nothing in them is a second copy.

`pages` has them all. The module needs the project alone, so that the tests can look at the pages without the site's
generator; `hooks.py` hands them to it.
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer
from typer.cli import get_docs_for_click

from codemods.frame.codemod import Codemod
from codemods.mods import catalog
from harness.cli import app
from harness.report.ledger.schema import ledger_schema
from harness.report.result.format import schema as gate_schema
from harness.report.wording.launches import machine_words
from harness.world.profiles import hardware_names, hardware_profile, model_names, model_profile

# The examples are tests: they are in the repository beside this folder, and not in an installation.
sys.path.append(str(Path(__file__).parent.parent / "tests" / "codemods"))
from examples import Example, examples_of

API = """\
# Python

::: harness.api
    options:
      show_root_heading: false
      show_root_toc_entry: false
      heading_level: 2
"""
"""The page of the public interface; mkdocstrings fills it from the docstrings."""


def pages() -> Mapping[str, str]:
    """Return the pages and files of the reference: text by path below the documentation's folder."""
    return {
        "reference/command-line.md": command_line(),
        "reference/api.md": API,
        "reference/codemods.md": codemods(),
        "reference/profiles.md": profiles(),
        "reference/schemas.md": schemas(),
        "reference/stackproof-gate-1.schema.json": gate_schema().decode(),
        "reference/stackproof-ledger-1.schema.json": ledger_schema().decode(),
    }


def command_line() -> str:
    """Return the page of all commands, as their own help says it."""
    command = typer.main.get_command(app)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="stackproof", title="Command line")
    return text.replace("```console\n", "```\n")


def codemods() -> str:
    """Return the page of the codemods: what each does and takes, and its examples, which are its tests."""
    parts = [
        "# Codemods and their examples\n",
        "Made from the classes in `codemods/mods`. Each example is a test: the lines that go and come, or a file that"
        " stays as it is.\n",
    ]
    for name, codemod in catalog().items():
        parts += [f"## `{name}`\n", f"{inspect.cleandoc(codemod.__doc__ or codemod.summary)}\n", *_arguments(codemod)]
        parts += [_example(example) for example in examples_of(name)]
    return "\n".join(parts)


def _arguments(codemod: type[Codemod]) -> Iterator[str]:
    rows = [one for one in dataclasses.fields(codemod) if one.init and one.name != "facts"]  # type: ignore[arg-type]
    if rows:
        yield "| argument | type | without it |\n|---|---|---|"
    for one in rows:
        if one.default is not dataclasses.MISSING:
            usual = f"`{one.default!r}`"
        elif one.default_factory is not dataclasses.MISSING:
            usual = f"`{one.default_factory()!r}`"
        else:
            usual = "needed"
        yield f"| `{one.name}` | `{_cell(str(one.type))}` | {_cell(usual)} |"
    if rows:
        yield ""


def _example(example: Example) -> str:
    lines = [f"**{example.title}.**\n"]
    if example.options:
        given = ", ".join(f"`{name}={value!r}`" for name, value in example.options.items())
        lines.append(f"With {given}:\n")
    for path, text in example.others.items():
        lines += [f"`{path}`, beside it:\n", _fenced("python", text)]
    if example.after is None or example.after == example.before:
        lines += ["Stays as it is:\n", _fenced("python", example.before)]
    else:
        lines.append(_fenced("diff", _difference(example.before, example.after)))
    if example.left:
        lines.append(f"Left, since: {'; '.join(example.left)}.\n")
    return "\n".join(lines)


def _difference(before: str, after: str) -> str:
    """Return both texts as one, whole, with the lines that go and come marked."""
    sides = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return "".join(list(difflib.unified_diff(*sides, n=len(sides[0])))[3:])


def profiles() -> str:
    """Return the page of the machines and models that have a name."""
    machines = [
        f"| `{name}` | {_cell(machine_words(hardware_profile(name), named=False))} |" for name in hardware_names()
    ]
    models = [f"| `{name}` | {_cell('/'.join(model_profile(name).architectures))} |" for name in model_names()]
    return "\n".join(
        [
            "# Profiles\n",
            "Machines and models that have a name, as `stackproof profiles` lists them.\n",
            "| machine | what is not the default |\n|---|---|",
            *machines,
            "\n| model | architecture |\n|---|---|",
            *models,
            "",
        ]
    )


def schemas() -> str:
    """Return the page of the JSON schemas: each object and its keys."""
    return "\n".join(
        [
            "# JSON schemas\n",
            *_schema("Result of a gate", "stackproof-gate-1.schema.json", json.loads(gate_schema())),
            *_schema("Ledger", "stackproof-ledger-1.schema.json", json.loads(ledger_schema())),
        ]
    )


def _schema(title: str, file: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {title}\n"
    yield f"[{file}]({file}), `{schema['$schema']}`.\n"
    objects = {"": schema, **schema.get("$defs", {}), **schema.get("definitions", {})}
    for name, one in objects.items():
        if name:
            yield f"### {name}\n"
        if told := one.get("description", "").replace("``", "`"):
            yield f"{told}\n"
        if "properties" not in one:
            if name:
                yield f"`{_kind(one)}`\n"
            continue
        yield "| key | needed | type | |\n|---|---|---|---|"
        for key, value in (*one["properties"].items(), *one.get("patternProperties", {}).items()):
            needed = "yes" if key in one.get("required", ()) else ""
            yield f"| `{_cell(key)}` | {needed} | `{_cell(_kind(value))}` | {_cell(value.get('description', ''))} |"
        yield ""


def _kind(schema: Mapping[str, Any] | bool) -> str:
    """Return in a few words what a schema allows."""
    if isinstance(schema, bool):
        return "anything" if schema else "nothing"
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema or "enum" in schema:
        return " or ".join(json.dumps(value) for value in schema.get("enum", [schema.get("const")]))
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return " or ".join(dict.fromkeys(_kind(one) for one in schema[word]))
    kinds = schema.get("type", "anything")
    if kinds == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(_kind(one) for one in schema['prefixItems'])}]"
        return f"array of {_kind(schema.get('items', True))}"
    if kinds == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_kind(schema['additionalProperties'])} by name"
    return kinds if isinstance(kinds, str) else " or ".join(kinds)


def _fenced(language: str, text: str) -> str:
    return f"````{language}\n{text.rstrip()}\n````\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
