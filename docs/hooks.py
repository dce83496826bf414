"""What the site's generator calls: it adds the reference, and the files of the repository that pages link to."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from reference import pages

_OUTSIDE: Final = re.compile(r"\]\((?P<link>(?:\.\./)+[^)#\s]+)\)")
_SUFFIXES: Final = {".yml": "yaml"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the reference, and a page for each file outside the folder that a page links to."""
    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    shown = {path for file in files.documentation_pages() for path in _outside(file.src_uri, file.content_string)}
    for path in sorted(shown):
        file = _top(config) / path
        if not file.is_file():
            raise PluginError(f"a page links to {path}, which is not a file of the repository")
        language = _SUFFIXES.get(file.suffix, file.suffix.lstrip("."))
        text = f"# {path}\n\n````{language}\n{file.read_text(encoding='utf-8')}\n````\n"
        files.append(File.generated(config, f"source/{path}.md", content=text, inclusion=InclusionLevel.NOT_IN_NAV))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Send the links to files outside the folder, which work as they are on GitHub, to the pages of these files."""
    up = "../" * page.file.src_uri.count("/")
    inside = _outside(page.file.src_uri, markdown)

    def sent(match: re.Match[str]) -> str:
        path = inside_path(page.file.src_uri, match["link"])
        return f"]({up}source/{path}.md)" if path in inside else match[0]

    return _OUTSIDE.sub(sent, markdown)


def inside_path(page: str, link: str) -> str | None:
    """Return the path in the repository that ``link`` of ``page`` leads to, None where it stays among the pages."""
    parts = ["docs", *page.split("/")[:-1]]
    for part in link.split("/"):
        if part == "..":
            if not parts:
                raise PluginError(f"{page} links to {link}, which is outside the repository")
            parts.pop()
        else:
            parts.append(part)
    return None if parts[0] == "docs" else "/".join(parts)


def _outside(page: str, text: str) -> set[str]:
    found = (inside_path(page, match["link"]) for match in _OUTSIDE.finditer(text))
    return {path for path in found if path is not None}


def _top(config: MkDocsConfig) -> Path:
    return Path(config.docs_dir).parent
