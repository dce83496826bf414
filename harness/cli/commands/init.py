"""``stackproof init``: writes a commented start of the configuration, and a workflow that gates pull requests."""

from __future__ import annotations

import json
import tomllib
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from harness.cli.frame.app import EQUIVALENT, app
from harness.cli.frame.options import SUBJECTS
from harness.common.errors import UsageError

_WORKFLOW: Final = Path(".github", "workflows", "stackproof.yml")
_SUBJECTS: Final = ("git:origin/main#python:package.module:resolve", "python:package.module:resolve")


@app.command(short_help="Write a commented start of the configuration, and a workflow.")
def init(
    first: Annotated[
        str | None, typer.Argument(metavar="A", help=f"The original: {SUBJECTS}.", show_default=False)
    ] = None,
    second: Annotated[
        str | None, typer.Argument(metavar="B", help="Its successor, named in the same way.", show_default=False)
    ] = None,
    workflow: Annotated[bool, typer.Option(help="Also write a workflow for GitHub Actions.")] = True,
) -> int:
    """Write a commented [tool.stackproof] into pyproject.toml, and a workflow file, in this folder.

    Existing text is kept. If the table or the workflow exists already, nothing is written.
    """
    from harness.common.writing import write_atomically
    from harness.config import FILE, TABLE
    from harness.formats.subjectname import parse_subject

    if first is not None and second is None:
        raise UsageError(f"two subjects are compared, A and B, and {first!r} is one: name the other behind it")
    names = _SUBJECTS if first is None or second is None else (first, second)
    for name in names:
        parse_subject(name)
    configuration = Path(FILE)
    text = _with_table(configuration, names)
    if workflow and _WORKFLOW.exists():
        raise UsageError(f"{_WORKFLOW} is there already: remove it first, or give --no-workflow")
    made: Path | None = None
    if workflow:
        made = _write_workflow()
    try:
        write_atomically(configuration, text.encode())
    except BaseException:
        if made is not None:
            made.unlink()
        raise
    typer.echo(f"wrote [{TABLE}] in {configuration}{f' and {made}' if made else ''}")
    if made:
        typer.echo(f"next: say in {made} where stackproof is installed from (OWNER)")
    first_of_all = "set the subjects there, then " if names is _SUBJECTS else ""
    typer.echo(f"next: {first_of_all}'stackproof config show' and 'stackproof gate'")
    return EQUIVALENT


def _template(name: str) -> str:
    return resources.files("harness.cli").joinpath("templates", name).read_text(encoding="utf-8")


def _with_table(path: Path, names: tuple[str, str]) -> str:
    """Return the text of the file at ``path``, which need not exist, with our table added at its end.

    Raises UsageError for a file that has the table already, is no TOML, or cannot be continued by a table (for
    example, because it has ``tool = {...}``).
    """
    from harness.common.toml import parse_toml, read_text
    from harness.config import TABLE, load_config

    before, content = "", dict[str, Any]()
    if path.exists():
        # `load_config` raises the usual errors for a file that cannot be read.
        if load_config(path.absolute().parent).file == path.absolute():
            raise UsageError(f"{path} has [{TABLE}] already: edit it there")
        before = read_text(path, str(path))
        content = parse_toml(before, str(path))
    quoted = [json.dumps(name, ensure_ascii=False) for name in names]
    table = _template("table.toml").replace('"FIRST"', quoted[0]).replace('"SECOND"', quoted[1])
    gap = "" if not before or before.endswith("\n\n") else "\n" if before.endswith("\n") else "\n\n"
    text = f"{before}{gap}{table}"
    try:
        after = tomllib.loads(text)
        ours = after["tool"].pop("stackproof")
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        raise UsageError(f"{path}: no table can be added behind it: write [{TABLE}] by hand") from None
    # Apart from our table, the new text must parse to the same content as the old one.
    if not after["tool"] and "tool" not in content:
        del after["tool"]
    if after != content or ours["subjects"] != list(names):
        raise UsageError(f"{path}: no table can be added behind it: write [{TABLE}] by hand")
    return text


def _write_workflow() -> Path:
    from harness.common.writing import write_atomically

    try:
        _WORKFLOW.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {_WORKFLOW.parent}: {error.strerror or error}") from None
    write_atomically(_WORKFLOW, _template("workflow.yml").encode())
    return _WORKFLOW
