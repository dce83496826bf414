"""The child process: what stands in for a Python, and what one may not be."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from made_up_trees import case, make_tree

from harness.common.errors import UsageError
from harness.subjects.kinds import TreeSubject
from harness.subjects.process import ChildDied, Process, command
from harness.subjects.profile import load_profile
from harness.subjects.spec import Limits, SubjectSpec
from harness.subjects.wire import decode_frame, failure_frame, is_outcome
from harness.world.case import Failure

HARNESS = Path(__file__).parents[2] / "harness"


def script(path: Path, text: str) -> str:
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def message_of(python: str, tmp_path: Path, seconds: float = 0.5) -> str:
    spec = SubjectSpec(
        make_tree(tmp_path / "tree"), True, load_profile(), python=python, limits=Limits(load_seconds=seconds)
    )
    before = list(Path("/proc/self/fd").iterdir())
    with pytest.raises(UsageError) as caught, TreeSubject(spec) as subject:
        subject.resolve([case("a")])
    assert len(list(Path("/proc/self/fd").iterdir())) == len(before)
    return str(caught.value)


def test_missing_interpreter(tmp_path: Path) -> None:
    message = message_of("/nowhere/python3", tmp_path)
    assert message == "the interpreter '/nowhere/python3' cannot be started: No such file or directory"


def test_interpreter_that_is_a_folder(tmp_path: Path) -> None:
    assert "cannot be started: Permission denied" in message_of(str(tmp_path), tmp_path)


def test_no_python(tmp_path: Path) -> None:
    python = script(tmp_path / "python", "#!/bin/sh\necho no such thing >&2\nexit 3\n")
    message = message_of(python, tmp_path)
    assert f"by {python}: it exited with status 3 (no such thing)" in message


def test_child_that_never_answers(tmp_path: Path) -> None:
    python = script(tmp_path / "python", "#!/bin/sh\nsleep 60\n")
    assert "it did not answer in time" in message_of(python, tmp_path)


def test_child_that_talks_without_end(tmp_path: Path) -> None:
    python = script(tmp_path / "python", "#!/bin/sh\nyes\n")
    assert "it did not answer in time" in message_of(python, tmp_path)


@pytest.mark.parametrize(
    "answer", ["b'xxxxxxxxxxxxxxxxxx'", "n + b'\\0\\0\\0\\0'", "n + b'\\0\\0\\0\\1['", "n + b'\\0\\0\\0\\1{'"]
)
def test_child_that_answers_something_else(answer: str, tmp_path: Path) -> None:
    python = script(
        tmp_path / "python",
        f"""\
        #!{sys.executable}
        import os, sys, time
        n = int(sys.argv[-1]).to_bytes(4, "big")
        os.write(int(sys.argv[-2]), {answer})
        os.write(int(sys.argv[-2]), b"x")
        time.sleep(60)
        """,
    )
    message = message_of(python, tmp_path)
    assert "into the answer pipe" in message or "its answer is not JSON" in message


def test_close_twice_and_ask_afterwards() -> None:
    process = Process(command(sys.executable, site_packages=False))
    with pytest.raises(ChildDied) as caught:
        next(process.frames(b'{"op":"nothing"}', 1, 5.0, b"{"))
    assert caught.value.kind == "killed"
    process.close()
    process.close()


def test_frames_of_failures() -> None:
    failure = Failure("timeout", "it did not answer in time")
    frame = failure_frame(failure)
    assert not is_outcome(frame)
    assert decode_frame(frame, "a", ()).failure == failure


@pytest.mark.parametrize(
    "frame", [b"", b"F", b"F[", b"F[1,{}]", b"E[1]", b"E\n", b"X{}", b"Z[]", b"F[]", b"X[1,2,3]"]
)
def test_frames_that_are_none(frame: bytes) -> None:
    with pytest.raises(ValueError, match=r"frame|argument|values"):
        decode_frame(frame, "a", ())


CONFINED = """
import importlib.util, os, socket, sys
home = sys.argv[1]
init = home + "/__init__.py"
spec = importlib.util.spec_from_file_location("_stackproof", init, submodule_search_locations=[home])
package = importlib.util.module_from_spec(spec)
sys.modules["_stackproof"] = package
spec.loader.exec_module(package)
sandbox = importlib.import_module("_stackproof.subjects.child.world.sandbox")
world = importlib.import_module("_stackproof.subjects.child.world.current")
sandbox._leave_network = lambda: False
import encodings.idna  # nobody may not be allowed to read the interpreter's folder
if os.getuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
assert sandbox.confine(1 << 30, "/nonexistent") == {"network_namespace": False}
refused = []
for deed in (
    lambda: socket.create_connection(("127.0.0.1", 9), 1),
    lambda: socket.socket().connect(("127.0.0.1", 9)),
    lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9)),
    lambda: socket.getaddrinfo("localhost", 9),
    lambda: socket.gethostbyname("localhost"),
    lambda: socket.socket().bind(("127.0.0.1", 0)),
):
    try:
        deed()
    except world.UnansweredProbe as error:
        refused.append(error.how)
print(len(refused), os.getuid())
"""


def test_no_network_without_a_namespace_and_without_root() -> None:
    ran = subprocess.run(
        [sys.executable, "-S", "-c", CONFINED, str(HARNESS)], capture_output=True, text=True, check=False
    )
    assert ran.stderr == ""
    count, user = ran.stdout.split()
    assert count == "6"
    assert user != "0"
