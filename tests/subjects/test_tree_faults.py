"""A case that ends, hangs or abuses its process: it is named, and the others' outcomes are all there and right."""

from __future__ import annotations

import gc
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_up_trees import BAD, CPU, CUDA, FIELDS, around, case, check_the_good, make_tree, subject_of

from harness.common.errors import UsageError
from harness.subjects.kinds import TreeSubject
from harness.subjects.profile import Profile, load_profile
from harness.world.case import Failure, Outcome, Refusal
from harness.world.model import Model

pytestmark = pytest.mark.slow


def children() -> set[int]:
    own = os.getpid()
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                status = (entry / "stat").read_text()
            except OSError:
                continue
            if int(status.rpartition(")")[2].split()[1]) == own:
                found.add(int(entry.name))
    return found


@pytest.fixture(autouse=True)
def nothing_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Check after each test: no process, no open file and no temporary folder more than before."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    gc.collect()
    processes, files = children(), len(list(Path("/proc/self/fd").iterdir()))
    yield
    gc.collect()
    assert children() <= processes
    assert len(list(Path("/proc/self/fd").iterdir())) <= files
    assert list(place.glob("stackproof-*")) == []


def resolve(subject: TreeSubject) -> Outcome:
    """Resolve a bad case among good ones, and good ones after that; return the bad one's outcome."""
    with subject:
        cases = around(case("bad", **BAD))
        first = subject.outcomes(cases)
        check_the_good(first)
        again = subject.outcomes(cases[:2])
        assert again == first[:2]
        (bad,) = (outcome for outcome in first if outcome.id == "bad")
        return bad


def failure_of(outcome: Outcome) -> Failure:
    assert outcome.failure is not None, outcome
    assert outcome.fields is None and outcome.error is None
    return outcome.failure


DEATHS = {
    "segfault": ("import faulthandler; faulthandler._sigsegv()", "killed", "SIGSEGV"),
    "abort": ("os.abort()", "killed", "SIGABRT"),
    "exit": ("os._exit(3)", "killed", "exited with status 3"),
    "exit-0": ("os._exit(0)", "killed", "exited with status 0"),
    "kill": ("import signal; signal.raise_signal(signal.SIGKILL)", "killed", "SIGKILL"),
    "busy": ("while True: pass", "timeout", "in time"),
    "asleep": ("import time; time.sleep(60)", "timeout", "in time"),
    "swallowing": (
        """
        import time
        while True:
            try:
                time.sleep(60)
            except BaseException:
                pass
        """,
        "timeout",
        "in time",
    ),
    "growing": ("kept = []\nwhile True: kept.append(bytes(1 << 22))", "memory", "memory"),
    "growing-in-module": (
        "import sglang.srt.environ as m\nm.kept = []\nwhile True: m.kept.append(bytes(1 << 22))",
        "memory",
        "memory",
    ),
    "pipe": (
        """
        import stat
        for fd in range(3, 64):
            try:
                if stat.S_ISFIFO(os.fstat(fd).st_mode):
                    os.write(fd, b"garbage, and more of it")
            except OSError:
                pass
        """,
        "broken",
        "answer pipe",
    ),
    "pipe-short": (
        """
        for fd in range(3, 64):
            try:
                os.write(fd, bytes([0, 0, 4, 0, 88]))
            except OSError:
                pass
        """,
        "broken",
        "answer pipe",
    ),
    "closes-everything": ("os.closerange(0, 64)", "killed", "exited with status"),
}


@pytest.mark.parametrize("name", DEATHS)
def test_a_case_that_ends_its_process(name: str, tmp_path: Path) -> None:
    body, kind, words = DEATHS[name]
    subject = subject_of(make_tree(tmp_path / "tree", body=body), case_seconds=0.25)
    failure = failure_of(resolve(subject))
    assert failure.kind == kind
    assert words in failure.detail
    assert subject.restarts >= 1


def test_several_in_a_row(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", body="os._exit(self.tp_size)")
    cases = around(case("bad-1", **BAD), case("bad-2", tp_size=2, **BAD), case("bad-3", tp_size=3, **BAD))
    with subject_of(tree) as subject:
        outcomes = subject.outcomes([*cases, case("last", tp_size=4, **BAD)])
    check_the_good(outcomes)
    assert [failure_of(o).detail for o in outcomes if o.id.startswith(("bad", "last"))] == [
        f"it exited with status {status}" for status in (1, 2, 3, 4)
    ]


def test_a_hang_that_keeps_the_timer_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.subjects.subject._SLACK_SECONDS", 0.3)
    body = "import _signal\n_signal.signal(_signal.SIGALRM, _signal.SIG_IGN)\nwhile True: print('.')"
    started = time.monotonic()
    with subject_of(make_tree(tmp_path / "tree", body=body), case_seconds=0.1) as subject:
        outcomes = subject.outcomes(around(case("bad", **BAD)))
    check_the_good(outcomes)
    assert failure_of(outcomes[2]).kind == "timeout"
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    "call", ["signal.signal(signal.SIGALRM, print)", "signal.setitimer(0, 0)", "signal.alarm(0)"]
)
def test_the_timer_is_not_the_trees(call: str, tmp_path: Path) -> None:
    failure = failure_of(resolve(subject_of(make_tree(tmp_path / "tree", body=f"import signal; {call}"))))
    assert failure.kind == "unanswered"
    assert failure.detail.startswith("signal.")


def test_a_handler_left_from_the_case_before(tmp_path: Path) -> None:
    body = """
        import _signal
        if self.tp_size == 2:
            while True: pass
        _signal.signal(_signal.SIGALRM, _signal.SIG_IGN)
        _signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGALRM])
    """
    with subject_of(make_tree(tmp_path / "tree", body=body), case_seconds=0.3) as subject:
        started = time.monotonic()
        ignoring, hanging = subject.outcomes([case("a", **BAD), case("b", tp_size=2, **BAD)])
        assert time.monotonic() - started < 4
    assert ignoring.fields is not None
    assert failure_of(hanging).kind == "timeout"


NOISE = "sys.stdout.write('x' * 500_000 + chr(10)); sys.stdout.flush(); os.write(2, b'y' * 500_000)"


def test_noise(tmp_path: Path) -> None:
    bad = resolve(subject_of(make_tree(tmp_path / "tree", body=NOISE, top=NOISE)))
    assert bad.fields == dict(zip(FIELDS, (64, "flashinfer", "full"), strict=True))


@pytest.mark.parametrize(
    ("top", "words"),
    [
        ("raise RuntimeError('no such luck')", "server_args.py:8: RuntimeError: no such luck"),
        ("sys.exit(4)", "SystemExit: 4"),
        ("os._exit(4)", "it exited with status 4"),
        ("os.abort()", "it was ended by SIGABRT"),
        ("while True: pass", "it did not answer in time"),
        ("import sglang.srt.missing.Thing as x; import nowhere", "nowhere was imported"),
        ("(", "server_args.py:8: SyntaxError: '(' was never closed"),
        ("kept = []\nwhile True: kept.append(bytes(1 << 22))", "MemoryError"),
    ],
)
def test_a_tree_that_cannot_be_loaded(top: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        subject_of(make_tree(tmp_path / "tree", top=top), load_seconds=1.0)
    assert words in str(caught.value)
    assert str(caught.value).startswith("made-up: ")
    assert "\n" not in str(caught.value)


UNANSWERED = {
    "plain": ("torch.cuda.mem_get_info()", "torch.cuda.mem_get_info was called"),
    "swallowed": (
        "try: torch.cuda.is_bf16_supported()\nexcept Exception: pass",
        "torch.cuda.is_bf16_supported was called",
    ),
    "bare": ("try: torch.cuda.count()\nexcept: self.page_size = 7", "torch.cuda.count was called"),
    "exit": ("try: torch.cuda.count()\nexcept BaseException: sys.exit(1)", "torch.cuda.count was called"),
    "finally": ("try: torch.cuda.count()\nfinally: raise ValueError('x')", "torch.cuda.count was called"),
    "import": ("import nowhere", "nowhere was imported"),
    "import-tried": ("try: import nowhere\nexcept ImportError: pass", "nowhere was imported"),
    "left": ("self.page_size = torch.float16", "torch.float16 was left in page_size"),
    "text": ("raise ValueError(f'{torch.float16}')", "torch.float16 was used as text"),
    "text-later": ("raise ValueError('x', torch.float16)", "torch.float16 was used as text"),
    "except": ("try: 1 / 0\nexcept torch.something: pass", "a stand-in was used in an except clause"),
    "star": ("from sglang.srt.starred import f\nf()", "sglang.srt.made.unknown was read"),
    "subclass": ("from sglang.srt.starred import Own\nOwn.thing", "Own.thing was read"),
    "constructed": ("from sglang.srt.starred import Own\nOwn()", "Own was constructed"),
    "version": (
        "import importlib.metadata as m\nm.version('torch')",
        "importlib.metadata.version(torch) was asked for",
    ),
    "config": (
        "from sglang.srt.configs.model_config import ModelConfig\nModelConfig.from_server_args(self).hf_config.rope",
        "sglang.srt.configs.model_config.ModelConfig.from_server_args.hf_config.rope was read",
    ),
    "config-indexed": (
        "from sglang.srt.configs.model_config import ModelConfig\nModelConfig.from_server_args(self).hf_config['a']",
        "sglang.srt.configs.model_config.ModelConfig.from_server_args.hf_config was indexed",
    ),
}


@pytest.mark.parametrize("name", UNANSWERED)
def test_an_unanswered_probe(name: str, tmp_path: Path) -> None:
    body, detail = UNANSWERED[name]
    files = {
        "sglang/srt/starred.py": "from sglang.srt.made import *\nfrom sglang.srt.made import Base\n"
        "def f(): return unknown\nclass Own(Base): pass\n"
    }
    profile = profile_with(real=["sglang.srt.starred"])
    tree = make_tree(tmp_path / "tree", body=body, top="import torch", files=files)
    failure = failure_of(resolve(subject_of(tree, profile)))
    assert failure.kind == "unanswered"
    assert detail in failure.detail


def profile_with(**lists: list[str]) -> Profile:
    profile = load_profile()
    for key, names in lists.items():
        profile[key] = [*profile[key], *names]
    return profile


@pytest.mark.parametrize(
    ("top", "path"),
    [
        ("import torch\nif torch.cuda.is_available(): pass", "torch.cuda.is_available() was used as a truth value"),
        ("import torch\ntry: bool(torch.x)\nexcept: pass", "torch.x was used as a truth value"),
        ("if is_cuda(): pass", "sglang.srt.utils.common.is_cuda() was observed while the tree was"),
        ("import wire", "wire was imported"),
        ("try: import flashinfer\nexcept ImportError: flashinfer = None", "flashinfer was tried for"),
    ],
)
def test_an_unanswered_probe_at_import(top: str, path: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        subject_of(make_tree(tmp_path / "tree", top=top))
    assert path in str(caught.value)
    assert "while the tree was being imported at " in str(caught.value)
    assert caught.value.example


DEEDS = {
    "write": "open(os.path.join('/tmp', 'stackproof-written'), 'w')",
    "low-level": "os.open('/tmp/stackproof-written', os.O_CREAT | os.O_RDWR)",
    "remove": "os.unlink('/tmp/stackproof-never')",
    "folder": "os.mkdir('/tmp/stackproof-folder')",
    "chdir": "os.chdir('/')",
    "connect": "import socket; socket.socket().connect(('127.0.0.1', 9))",
    "bind": "import socket; socket.socket().bind(('127.0.0.1', 0))",
    "name": "import socket; socket.getaddrinfo('example.invalid', 80)",
    "process": "import subprocess; subprocess.run(['true'])",
    "fork": "os.fork()",
    "system": "os.system('true')",
    "spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "kill": "os.kill(os.getppid(), 9)",
    "fork-untold": "import _posixsubprocess; _posixsubprocess.fork_exec(['/bin/true'])",
    "pipe": "os.mkfifo('/tmp/stackproof-pipe')",
    "pipe-untold": "import posix; posix.mkfifo('/tmp/stackproof-pipe')",
    "kill-untold": "import signal; signal.pidfd_send_signal(0, 9)",
    "limit": "import resource; resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
    "native": "import ctypes; ctypes.CDLL('libc.so.6')",
    "native-untold": "import ctypes; ctypes.pythonapi.getpid()",
    "read": "open('/etc/hostname')",
    "list": "os.listdir('/etc')",
    "scan": "os.scandir('/')",
}


@pytest.mark.parametrize("name", DEEDS)
def test_what_a_case_may_not_do(name: str, tmp_path: Path) -> None:
    body = f"try:\n    {DEEDS[name]}\nexcept Exception: pass"
    assert failure_of(resolve(subject_of(make_tree(tmp_path / "tree", body=body)))).kind == "unanswered"
    assert not Path("/tmp/stackproof-written").exists()
    assert not Path("/tmp/stackproof-folder").exists()


def test_files_of_the_machine_are_not_there(tmp_path: Path) -> None:
    body = """
        own = os.path.dirname(__file__)
        self.page_size = [os.path.exists('/etc'), os.path.isfile('/etc/hostname'), os.path.isdir(own)]
    """
    bad = resolve(subject_of(make_tree(tmp_path / "tree", body=body)))
    assert bad.fields is not None
    assert bad.fields["page_size"] == [False, False, True]


def test_environment(tmp_path: Path) -> None:
    body = """
        seen = envs.SGLANG_MADE_UP.get()
        if self.tp_size == 1: envs.SGLANG_MADE_UP.set(None)
        if self.tp_size == 2: os.environ["NCCL_ALGO"] = "ring"
        if self.tp_size == 3: os.environ.pop("SGLANG_MADE_UP")
        os.environ["PATH"] = "gone"
        self.page_size = [seen, envs.SGLANG_MADE_UP.get()]
    """
    cases = [
        case("none", **BAD),
        case("set", tp_size=2, **BAD),
        case("given", tp_size=3, env={"SGLANG_MADE_UP": "1"}, **BAD),
        case("plain", tp_size=4, **BAD),
        case("nul", env={"A": "\0"}, tp_size=4, **BAD),
        case("plain-again", tp_size=4, **BAD),
    ]
    with subject_of(make_tree(tmp_path / "tree", body=body)) as subject:
        first = subject.outcomes(cases)
        backwards = subject.outcomes(cases[::-1])[::-1]
    assert first == backwards
    seen = {o.id: (o.fields and o.fields["page_size"], o.env) for o in first}
    assert seen["none"] == (["unset", None], {"SGLANG_MADE_UP": "None"})
    assert seen["set"] == (["unset", "unset"], {"NCCL_ALGO": "ring"})
    assert seen["given"] == (["1", "unset"], {"SGLANG_MADE_UP": None})
    assert seen["plain"] == seen["plain-again"] == (["unset", "unset"], {})
    assert {failure_of(o).kind for o in first if o.id == "nul"} == {"broken"}


SHARED = """
    import functools
    import torch
    cached = functools.lru_cache(maxsize=None)(is_cuda)
    partial = functools.lru_cache(functools.partial(is_cuda))
    AT_IMPORT = is_cuda()

    @functools.cache
    def nested():
        return [cached(), AT_IMPORT]

    @functools.lru_cache
    def from_environment(name):
        return os.environ.get(name)

    def default(value=is_cuda()):
        return value is True

    class Holder:
        value = is_cuda()
"""


def test_nothing_leaks_from_one_case_to_the_next(tmp_path: Path) -> None:
    sampling = """
        try:
            import flashinfer
            installed = True
        except ImportError:
            installed = False
        torch.backends.seen = getattr(torch.backends, "seen", 0)
        from sglang.srt.configs.model_config import ModelConfig
        config = ModelConfig.from_server_args(self).hf_config
        config.architectures.append("Another")
        self.sampling_backend = [
            cached(), partial(), nested(), from_environment("SGLANG_X"), installed, AT_IMPORT is True,
            type(AT_IMPORT) is bool, default(), Holder.value is False, len(config.architectures),
            config.quantization_config.setdefault("seen", len(config.quantization_config)),
        ]
    """.replace('torch.backends.seen = getattr(torch.backends, "seen", 0)', "torch.backends.seen = 1")
    tree = make_tree(tmp_path / "tree", top=SHARED, sampling=sampling)
    model = Model(quantization_config={"a": {"b": [1]}})
    cases = [case(str(n), (CUDA, CPU)[n % 2], {"SGLANG_X": str(n)} if n % 3 else {}, model=model) for n in range(12)]
    with subject_of(tree) as subject:
        together = subject.outcomes(cases)
        backwards = subject.outcomes(cases[::-1])[::-1]
    for number, outcome in enumerate(together):
        cuda = number % 2 == 0
        assert outcome.fields is not None, outcome
        expected = [
            cuda,
            cuda,
            [cuda, cuda],
            str(number) if number % 3 else None,
            cuda,
            cuda,
            True,
            cuda,
            not cuda,
            2,
            1,
        ]
        assert outcome.fields["sampling_backend"] == expected
    assert together == backwards


def test_what_a_stand_in_was_made_to_hold_ends_with_the_case(tmp_path: Path) -> None:
    body = """
        if self.tp_size == 1:
            torch.flag = torch.cuda.flag = 5
        self.page_size = [torch.flag, torch.cuda.flag]
    """
    with subject_of(make_tree(tmp_path / "tree", body=body, top="import torch")) as subject:
        first, second = subject.outcomes([case("a", **BAD), case("b", tp_size=2, **BAD)])
    assert first.fields is not None and first.fields["page_size"] == [5, 5]
    assert failure_of(second).kind == "unanswered"


def test_modules_called_like_ours(tmp_path: Path) -> None:
    names = ("wire", "world", "harness", "legacy", "serve", "answers")
    files = {f"{name}.py": "raise RuntimeError('the wrong one')\n" for name in names}
    body = f"self.page_size = [name in sys.modules for name in {names!r}]"
    bad = resolve(subject_of(make_tree(tmp_path / "tree", body=body, files=files)))
    assert bad.fields is not None and bad.fields["page_size"] == [False] * len(names)
    for name in names:
        tree = make_tree(tmp_path / "tree", body=f"import {name}", files=files)
        if name in ("wire", "harness"):
            assert failure_of(resolve(subject_of(tree))).detail == f"{name} was imported (in _bad)"


def test_messages_say_the_same_in_every_process_and_place(tmp_path: Path) -> None:
    body = "raise ValueError(f'{object()!r} in {__file__} at {os.getcwd()} {os.path.expanduser(chr(126))} \\udc80')"
    said = set()
    for name in ("one", "another-place"):
        bad = resolve(subject_of(make_tree(tmp_path / name, body=body)))
        assert bad.error is not None
        said.add(bad.error)
    (error,) = said
    assert error == Refusal(
        "ValueError",
        "<object object at 0x...> in sglang/srt/server_args.py at (an empty folder) /nonexistent \\udc80",
        "_bad",
    )


def test_values_that_json_has_not(tmp_path: Path) -> None:
    body = """
        import enum
        class E(enum.Enum):
            A = 1
        odd = [float("nan"), float("-inf"), {1: "a"}, {"1": "a"}, {2, 1}, E.A, object(), (1,), "\\ud800", 2**70]
        self.page_size = odd[self.tp_size] if self.tp_size < 10 else [odd[0], {"x": odd[1]}]
        if self.tp_size == 11:
            self.page_size = kept = []
            kept.append(kept)
    """
    cases = [case(str(n), tp_size=n, **BAD) for n in range(1, 12)]
    with subject_of(make_tree(tmp_path / "tree", body=body)) as subject:
        outcomes = subject.outcomes(cases)
    values = [o.fields["page_size"] if o.fields else o.failure and o.failure.kind for o in outcomes]
    assert values[:8] == [
        {"$float": "-inf"},
        {"$dict": [[1, "a"]]},
        {"1": "a"},
        {"$set": [1, 2]},
        {"$E": "<E.A: 1>"},
        {"$object": "<object object at 0x...>"},
        {"$tuple": [1]},
        "\\ud800",
    ]
    assert values[9] == [{"$float": "nan"}, {"x": {"$float": "-inf"}}]
    assert values[10] == "broken"


def test_values_that_are_equal_and_of_another_type(tmp_path: Path) -> None:
    body = """
        import enum
        class S(str, enum.Enum):
            A = "a"
        class N(enum.IntEnum):
            A = 1
        odd = ["a", S.A, 1, N.A, True, [1], (1,), {"$tuple": [1]}, {1}, {"$set": [1]}]
        self.page_size = odd[self.tp_size - 1]
    """
    cases = [case(str(n), tp_size=n, **BAD) for n in range(1, 11)]
    with subject_of(make_tree(tmp_path / "tree", body=body)) as subject:
        frames = subject.resolve(cases)
    assert len(set(frames)) == len(frames)


def test_an_exception_whose_text_raises(tmp_path: Path) -> None:
    body = """
        class Odd(Exception):
            def __str__(self):
                raise KeyError
        raise Odd
    """
    bad = resolve(subject_of(make_tree(tmp_path / "tree", body=body)))
    assert bad.error == Refusal("Odd", "(its text cannot be made: KeyError)", "_bad")


@pytest.mark.parametrize("slice", [True, False])
def test_both_modes(slice: bool, tmp_path: Path) -> None:
    with subject_of(make_tree(tmp_path / "tree"), slice=slice) as subject:
        outcomes = subject.outcomes(
            [
                case("a", cuda_graph_config={"decode": {"backend": "x"}, "prefill": {"backend": "y"}}),
                case("b", page_size=3, sampling_backend="given"),
            ]
        )
        assert subject.describe().slots == (("_handle_page_size", "_handle_sampling_backend") if slice else ())
        assert subject.parse(["--tp", "4"], "here") == {"tp_size": 4}
        with pytest.raises(UsageError, match=r"here: unknown flag '--pagesize' .did you mean '--page-size'"):
            subject.parse(["--pagesize", "3"], "here")
        # Describing does not change what was chosen.
        assert tuple(subject.outcomes([case("c")])[0].fields or ()) == FIELDS
    assert outcomes[0].fields is not None and outcomes[0].fields["page_size"] == 64
    assert outcomes[1].fields is not None and outcomes[1].fields["sampling_backend"] == "given"
    if slice:
        assert outcomes[0].fields["cuda_graph_config.decode.backend"] == "x"


def test_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with subject_of(make_tree(tmp_path / "tree")) as subject:
        cases = around()
        whole = subject.resolve(cases)

        original = subject._running().frames

        def frames(*arguments: object) -> Iterator[bytes]:
            yield next(original(*arguments))  # type: ignore[arg-type]
            raise KeyboardInterrupt

        monkeypatch.setattr(subject._running(), "frames", frames)
        with pytest.raises(KeyboardInterrupt):
            subject.resolve(cases)
        assert subject.resolve(cases) == whole


def test_a_tree_that_answers_in_the_place_of_its_process(tmp_path: Path) -> None:
    top = """
    import struct
    said = b'{"a":1}'
    write, number = map(int, sys.orig_argv[-2:])
    os.write(write, struct.pack(">II", number, len(said)) + said)
    """
    with pytest.raises(UsageError, match="something else than its process answered"):
        subject_of(make_tree(tmp_path, top=top))
