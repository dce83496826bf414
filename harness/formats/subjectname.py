"""Parses the text with which a user names a subject, without looking up whether there is such a subject."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from harness.common.errors import UsageError, hint, nearest

SubjectKind = Literal["release", "git", "dir", "package"]

KNOWN_PACKAGES: Final = ("sglang",)
"""The packages whose releases can be compared."""

OWN_PACKAGES: Final = ("legacy", "declarative")
"""Packages of this repository that are subjects: each is the slice and nothing else."""

SLICE_SUFFIX: Final = "slice"
_SUFFIXES: Final = (SLICE_SUFFIX, *OWN_PACKAGES)
_CALLABLE: Final = "python:"
_CALLABLE_FORM: Final = "python:MODULE:CALLABLE"
_FORMS: Final = (*OWN_PACKAGES, "sglang==VERSION", "git:REVISION", "dir:PATH", _CALLABLE_FORM)
_VALID: Final = (
    f"valid forms are {', '.join(_FORMS[:-1])} and {_FORMS[-1]}; a release, revision or folder takes an optional"
    f" #{SLICE_SUFFIX}, the last two of these also #{', #'.join((*OWN_PACKAGES, _CALLABLE_FORM))} for what is there"
)
_TARGET: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")

# Every way to write "this package at that version", so that an error can give the right one, NAME==VERSION.
_REQUIREMENT: Final = re.compile(
    r"(?P<package>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?P<operator>===|[=<>!~]=|[=<>@])\s*(?P<version>.*)"
)


@dataclass(frozen=True)
class SubjectName:
    """A subject as the user named it.

    ``text`` is what the user wrote. ``value`` is the normal form of the release (``sglang==0.5.14``), the git
    revision, the folder, or the package of this repository. ``slice`` is true if only the slice runs, not the whole
    construction. ``package`` is the package in the tree that has the resolution. ``target`` is the callable that
    resolves (``module:name``); it is empty if the package itself does.
    """

    text: str
    kind: SubjectKind
    value: str
    slice: bool
    package: str = KNOWN_PACKAGES[0]
    target: str = ""


def parse_subject(text: str) -> SubjectName:
    """Return the parts of ``sglang==VERSION``, ``git:REVISION``, ``dir:PATH`` or a package of this repository.

    The first three forms take an optional ``#slice``. In its place, ``git:`` and ``dir:`` also take ``#legacy`` or
    ``#declarative``, for that package in a copy of this repository, and ``#python:MODULE:CALLABLE``, for a function
    or class there. ``python:MODULE:CALLABLE`` alone is one in the current folder. A ``#`` starts a suffix unless a
    ``/`` comes after it, so a folder called ``a#b`` is written ``dir:a#b/``.

    Raises UsageError for any other form, suffix, package or version.
    """
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise UsageError(f"subject {text!r} holds a control character: {_VALID}")
    body, suffix = _split_suffix(text)
    if body.startswith(_CALLABLE):
        if suffix is not None:
            raise UsageError(f"subject {text!r} has a suffix, and a callable takes none: {_VALID}")
        body, suffix = "dir:.", body
    target = _target(text, suffix) if suffix is not None and suffix.startswith(_CALLABLE) else ""
    if body in OWN_PACKAGES:
        if suffix:
            raise UsageError(f"subject {text!r} has a suffix, and {body} is the slice already: write {body!r}")
        return SubjectName(text, "package", body, True, body)
    own = suffix if suffix in OWN_PACKAGES else None
    prefix, colon, rest = body.partition(":")
    if colon and prefix in ("git", "dir"):
        if not rest.strip():
            raise UsageError(f"subject {text!r} names nothing after {prefix + ':'!r}: {_VALID}")
        kind: SubjectKind = "git" if prefix == "git" else "dir"
        if target:
            return SubjectName(text, kind, rest, False, target.partition(":")[0].partition(".")[0], target)
        return SubjectName(text, kind, rest, suffix is not None, own or KNOWN_PACKAGES[0])
    match = _REQUIREMENT.fullmatch(body)
    if match is None:
        raise UsageError(f"subject {text!r} has none of the known forms{_form_hint(body)}: {_VALID}")
    if own:
        raise UsageError(f"subject {text!r}: a release holds no package {own}: write {own!r} alone")
    if target:
        raise UsageError(f"subject {text!r}: a callable is taken from a folder or a revision: {_VALID}")
    package, operator, version = match["package"], match["operator"], match["version"].strip()
    return SubjectName(text, "release", _release(text, body, package, operator, version), suffix is not None)


def normal_name(text: str) -> str:
    """Return the name that a subject has in a ledger.

    Every copy of ``legacy`` or ``declarative`` has the name of the package, a release its normal form, and a callable
    its own name in whatever tree it is. Any other subject is called what the user called it.
    """
    name = parse_subject(text)
    if name.target:
        return f"{_CALLABLE}{name.target}"
    if name.kind == "release":
        return f"{name.value}#slice" if name.slice else name.value
    return name.package if name.package in OWN_PACKAGES else text


def _split_suffix(text: str) -> tuple[str, str | None]:
    """Return the text before the suffix, and the suffix without its ``#``; None if there is no suffix."""
    body, mark, suffix = text.rpartition("#")
    if not mark or "/" in suffix:
        return text, None
    if suffix not in _SUFFIXES and not suffix.startswith(_CALLABLE):
        known = " and ".join(repr(f"#{name}") for name in (*_SUFFIXES, _CALLABLE_FORM))
        raise UsageError(f"subject {text!r} ends in {'#' + suffix!r}, and the suffixes are {known}: {_VALID}")
    return body, suffix


def _target(text: str, suffix: str) -> str:
    """Return ``module:name`` of ``python:module:name``. Raises UsageError if it is not of that form."""
    target = suffix.removeprefix(_CALLABLE)
    if _TARGET.fullmatch(target) is None:
        raise UsageError(
            f"subject {text!r}: {target!r} is no callable of a module: write it as module.name:function, such as"
            f" '{_CALLABLE}server.config:resolve'"
        )
    return target


def _release(text: str, body: str, package: str, operator: str, version: str) -> str:
    """Return the normal form ``package==version``. Raises UsageError for another package, version or operator."""
    name = canonicalize_name(package)
    if name not in KNOWN_PACKAGES:
        raise UsageError(
            f"subject {text!r} names the package {package!r}, and only {_spoken(KNOWN_PACKAGES)} is known"
            f"{hint(package, KNOWN_PACKAGES)}"
        )
    try:
        parsed = Version(version)
    except InvalidVersion:
        instead = "one whole version, such as 'sglang==0.5.14'"
        what = f"the version {version!r}, which is not a valid version (PEP 440)" if version else "no version"
        raise UsageError(f"subject {text!r} has {what}: write {instead}") from None
    normal = f"{name}=={parsed}"
    if operator != "==":
        raise UsageError(
            f"subject {text!r} uses {operator!r}, but a subject is one release: write {normal!r} for version {parsed}"
        )
    if re.search(r"\s", body):
        raise UsageError(f"subject {text!r} holds blanks: write {normal!r}")
    return normal


def _form_hint(body: str) -> str:
    """Return `` (did you mean ...?)`` for a text that has no known form, or the empty string."""
    prefix, colon, rest = body.partition(":")
    if colon:
        if close := nearest(prefix, ("git", "dir", "python"), limit=1):
            return f" (did you mean {close[0] + ':' + rest!r}?)"
        return ""
    if "/" in body or body in (".", ".."):
        return f" (did you mean {'dir:' + body!r}?)"
    if close := nearest(body, (*KNOWN_PACKAGES, *OWN_PACKAGES), limit=1):
        return f" (did you mean {close[0] if close[0] in OWN_PACKAGES else close[0] + '==VERSION'!r}?)"
    return ""


def _spoken(names: tuple[str, ...]) -> str:
    return " or ".join(repr(name) for name in names)
