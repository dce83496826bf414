from __future__ import annotations

import pytest

from harness.common.errors import UsageError
from harness.formats.subjectname import SubjectName, normal_name, parse_subject


@pytest.mark.parametrize(
    ("text", "kind", "value", "sliced"),
    [
        ("sglang==0.5.14", "release", "sglang==0.5.14", False),
        ("sglang==0.5.14#slice", "release", "sglang==0.5.14", True),
        ("SGLang==v0.5.14.POST1", "release", "sglang==0.5.14.post1", False),
        ("sglang==0.5.3rc0", "release", "sglang==0.5.3rc0", False),
        ("sglang==0.5.14+cu128", "release", "sglang==0.5.14+cu128", False),
        ("git:main", "git", "main", False),
        ("git:HEAD~2#slice", "git", "HEAD~2", True),
        ("git::/fix the handler", "git", ":/fix the handler", False),
        ("dir:/a/b c", "dir", "/a/b c", False),
        ("dir:.#slice", "dir", ".", True),
        ("dir:a#b/", "dir", "a#b/", False),
        ("dir:a#b/#slice", "dir", "a#b/", True),
        ("dir:sglang==0.5.14", "dir", "sglang==0.5.14", False),
    ],
)
def test_valid(text: str, kind: str, value: str, sliced: bool) -> None:
    name = parse_subject(text)
    assert name == SubjectName(text=text, kind=name.kind, value=value, slice=sliced)
    assert name.kind == kind


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("python:server.config:Settings.make", "dir", "."),
        ("dir:/a#b/#python:server.config:Settings.make", "dir", "/a#b/"),
        ("git:HEAD~1#python:server.config:Settings.make", "git", "HEAD~1"),
    ],
)
def test_callables(text: str, kind: str, value: str) -> None:
    name = parse_subject(text)
    assert (name.kind, name.value, name.slice) == (kind, value, False)
    assert (name.package, name.target) == ("server", "server.config:Settings.make")
    assert normal_name(text) == "python:server.config:Settings.make"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("sglang=0.5.14", ["uses '='", "write 'sglang==0.5.14'"]),
        ("sglang===0.5.14", ["uses '==='", "write 'sglang==0.5.14'"]),
        ("sglang>=1", ["uses '>='", "one release"]),
        ("sglang~=0.5", ["uses '~='"]),
        ("sglang@0.5.14", ["write 'sglang==0.5.14'"]),
        ("sglang == 0.5.14", ["blanks", "write 'sglang==0.5.14'"]),
        ("sglang==0.5.14 ", ["blanks"]),
        ("slang==0.5.14", ["'slang'", "did you mean 'sglang'?"]),
        ("torch==2.0", ["'torch'", "only 'sglang' is known"]),
        ("sglang==0.5.*", ["'0.5.*'", "PEP 440", "'sglang==0.5.14'"]),
        ("sglang>=1,<2", ["'1,<2'", "PEP 440"]),
        ("sglang==latest", ["'latest'", "PEP 440"]),
        ("sglang==", ["no version"]),
        ("sglang", ["did you mean 'sglang==VERSION'?", "git:REVISION", "dir:PATH"]),
        ("sglang==0.5.14#slices", ["'#slices'", "'#slice'"]),
        ("sglang==0.5.14#", ["'#'", "'#slice'"]),
        ("gti:main", ["did you mean 'git:main'?"]),
        ("dri:/a", ["did you mean 'dir:/a'?"]),
        ("GIT:main", ["did you mean 'git:main'?"]),
        ("../sglang", ["did you mean 'dir:../sglang'?"]),
        (".", ["did you mean 'dir:.'?"]),
        ("git:", ["nothing after 'git:'"]),
        ("dir: ", ["nothing after 'dir:'"]),
        ("", ["legacy, declarative, sglang==VERSION, git:REVISION, dir:PATH and python:MODULE:CALLABLE;"]),
        ("pyhton:a:b", ["did you mean 'python:a:b'?"]),
        ("python:server", ["'server' is no callable", "'python:server.config:resolve'"]),
        ("python:a:b#slice", ["a callable takes none"]),
        ("python:a/b.py:c", ["'a/b.py:c' is no callable"]),
        ("python:a:b:c", ["'a:b:c' is no callable"]),
        ("sglang==0.5.14#python:a:b", ["a folder or a revision"]),
        ("legacy#python:a:b", ["has a suffix"]),
        ("git:ma\0in", ["control character"]),
        ("dir:a\nb", ["control character"]),
    ],
)
def test_refused(text: str, parts: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        parse_subject(text)
    message = str(caught.value)
    assert repr(text) in message
    for part in parts:
        assert part in message
