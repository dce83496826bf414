"""pytest: a parity test for each field that two subjects resolve, in the user's own suite.

Nothing happens without being asked for. ``pytest --stackproof`` adds the tests of ``[tool.stackproof]`` in
pyproject.toml, one a field and one each for refusals, environment and missing outcomes. In code, a test that is
marked and takes ``parity`` runs once for each of these::

    @pytest.mark.stackproof("python:server.settings:resolve", "python:server.declared:resolve", cases=2000)
    def test_parity(parity):
        parity.check()

The mark takes the arguments of `harness.api.gate`. All tests of one pair share one gate, also between the processes
of pytest-xdist, so a failed one that runs again alone is judged on the same cases.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from harness.common.errors import UsageError

if TYPE_CHECKING:
    from harness.api import Judgement, Report
    from harness.config import Config

OTHER_PARTS: Final = ("(refusals)", "(environment)", "(outcomes)")
"""What is judged besides the fields; the names of the tests, since no field is called like that."""

_MARK: Final = "stackproof"


def _leave_ours_alone() -> None:
    """Take our packages from those whose ``assert`` statements pytest rewrites.

    It rewrites all that is installed with a plugin. What our packages say when they refuse is an outcome, and must
    not depend on who imports them.
    """
    for finder in sys.meta_path:
        marked = getattr(finder, "_must_rewrite", None)
        if isinstance(marked, set):
            marked.difference_update(("harness", "legacy", "declarative", "codemods"))
            getattr(finder, "_marked_for_rewrite_cache", {}).clear()


_leave_ours_alone()


class ParityError(AssertionError):
    """A part of the outcomes differs, or cannot be judged; the text has the witness and how to replay it."""


class Gates:
    """The gates of one run of pytest, each run once, whichever test asks first.

    ``place`` is a folder that all processes of the run share.
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        self._reports: dict[str, Report] = {}

    def report(self, first: Any, second: Any, options: Mapping[str, Any]) -> Report:
        """Return the report of a gate. Raises UsageError."""
        # Not every platform that has pytest has this.
        import fcntl

        import msgspec

        from harness.api import Report, gate
        from harness.engine.result.events import Finished
        from harness.world.profiles import use_profiles

        asked = repr((_spelled(first), _spelled(second), sorted(options.items())))
        key = hashlib.sha256(asked.encode()).hexdigest()[:24]
        if key not in self._reports:
            options = dict(options)
            if (profiles := options.pop("profiles", None)) is not None:
                use_profiles(profiles)
            file = self._place / f"stackproof-{key}.json"
            with (self._place / f"stackproof-{key}.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if file.exists():
                    report = Report(msgspec.json.decode(file.read_bytes(), type=Finished))
                else:
                    report = gate(first, second, **options)
                    file.write_bytes(msgspec.json.encode(report.result))
            self._reports[key] = report
        return self._reports[key]


def _spelled(subject: Any) -> str:
    """Return a subject's name, the same in every process."""
    return subject if isinstance(subject, str) else f"{subject.__module__}:{subject.__qualname__}"


class Parity:
    """One test's part of a gate: a field, the refusals, the environment, or the outcomes."""

    def __init__(self, gates: Gates, first: Any, second: Any, options: Mapping[str, Any], part: str) -> None:
        self._gates = gates
        self._gate = first, second, options
        self.part = part

    @property
    def report(self) -> Report:
        """The report of the whole gate, which runs now if it has not."""
        first, second, options = self._gate
        return self._gates.report(first, second, options)

    def judgement(self) -> Judgement:
        """Return the verdict on this part."""
        if self.part in OTHER_PARTS:
            return self.report.of_part(self.part.strip("()"))  # type: ignore[arg-type]
        return self.report.of_field(self.part)

    def check(self) -> None:
        """Raise ParityError unless the two subjects agree on this part."""
        __tracebackhide__ = True
        judged = self.judgement()
        if judged.verdict == "equivalent":
            return
        report = self.report
        lines = [f"{judged.verdict}: {judged.reason}, in {report.cases} cases of seed {report.result.started.seed}"]
        raise ParityError("\n\n".join([*lines, *map(str, judged.differences)]))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our options."""
    group = parser.getgroup("stackproof", "parity of two configuration resolutions")
    group.addoption(
        "--stackproof",
        action="store_true",
        help="run a parity test for each field of the subjects of [tool.stackproof] in pyproject.toml",
    )
    group.addoption(
        "--stackproof-cases",
        type=int,
        metavar="N",
        help="the number of cases of these, instead of the configured one",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line(
        "markers",
        f"{_MARK}(first, second, **options): run the test once for each field that two subjects resolve; the test "
        "takes the fixture parity, and the options are those of harness.api.gate",
    )


# With --stackproof ------------------------------------------------------------------------------------------------


class _Configured:
    """The gate of pyproject.toml. Raises pytest.UsageError where it is not set up."""

    def __init__(self, config: pytest.Config) -> None:
        from harness.config import load_config

        try:
            self.config: Config = load_config(config.rootpath)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None
        if not self.config.subjects or self.config.file is None:
            raise pytest.UsageError("--stackproof: set subjects under [tool.stackproof] in pyproject.toml")
        self.file: Path = self.config.file
        self._cases: int | None = config.getoption("stackproof_cases")

    def options(self) -> dict[str, Any]:
        """Return the arguments of `harness.api.gate`, and our own profiles."""
        config = self.config
        counted = {"cases": config.cases, "seconds": config.seconds}
        if self._cases is not None:
            if self._cases < 1:
                raise pytest.UsageError("--stackproof-cases takes a number from 1 on")
            counted = {"cases": self._cases, "seconds": None}
        return {
            **counted,
            **self.named(),
            "seed": config.seed,
            "jobs": config.jobs,
            "ledger": config.ledger,
            "case_seconds": config.case_seconds,
            "memory_mib": config.memory_mib,
            "profiles": config.profiles,
        }

    def named(self) -> dict[str, Any]:
        """Return the arguments that say which fields there are."""
        config = self.config
        interpreter = {"python": config.python} if config.python else {}
        return {
            "fields": config.fields,
            "all_fields": config.all_fields,
            "answers": config.answers,
            "domains": config.domains,
            "folder": config.folder,
            **interpreter,
        }


class ParityFile(pytest.File):
    """The ``pyproject.toml`` whose ``[tool.stackproof]`` says what is compared."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield a test for each field, and for the other parts of the outcomes."""
        from harness.world.profiles import use_profiles

        configured = _Configured(self.config)
        use_profiles(configured.config.profiles)
        first, second = configured.config.subjects
        gates = _gates(self.config)
        parts = _parts(first, second, configured.named())
        for part in parts:
            parity = Parity(gates, first, second, configured.options(), part)
            yield ParityItem.from_parent(self, name=part, parity=parity)


class ParityItem(pytest.Item):
    """The parity test of one field."""

    def __init__(self, *, parity: Parity, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._parity = parity

    def runtest(self) -> None:
        """Compare, if that has not been done, and judge."""
        self._parity.check()

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the difference in words; no traceback, since nothing in ours went wrong."""
        if isinstance(excinfo.value, (ParityError, UsageError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where the test is from and what it is called."""
        return self.path, None, f"parity of {self.name}"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect our tests where pyproject.toml is named on the command line (``pyproject.toml::page_size``)."""
    config = parent.config
    if file_path.name != "pyproject.toml" or not config.getoption("stackproof"):
        return None
    if file_path != _Configured(config).file:
        return None
    return ParityFile.from_parent(parent, path=file_path)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add our tests behind all others, before ``-k``, ``-m`` and ``--lf`` choose.

    Not where single tests are named on the command line, nor where ours were collected with their file.
    """
    if not config.getoption("stackproof") or any("::" in word for word in config.args):
        return
    if any(isinstance(item, ParityItem) for item in items):
        return
    file = ParityFile.from_parent(session, path=_Configured(config).file)
    items.extend(item for item in file.collect())


# With a mark ------------------------------------------------------------------------------------------------------


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Let a marked test run once for each part."""
    mark = metafunc.definition.get_closest_marker(_MARK)
    if mark is None or "parity" not in metafunc.fixturenames:
        return
    first, second, options = _marked(mark, metafunc.config)
    described = ("fields", "all_fields", "answers", "python", "domains", "folder")
    parts = _parts(first, second, {name: options[name] for name in described if name in options})
    metafunc.parametrize("parity", parts, indirect=True, ids=parts)


@pytest.fixture
def parity(request: pytest.FixtureRequest) -> Parity:
    """One part of a gate to ``check()``, in a test that is marked with ``stackproof``."""
    mark = request.node.get_closest_marker(_MARK)
    if mark is None:
        raise pytest.UsageError("the fixture parity is for tests marked with @pytest.mark.stackproof(FIRST, SECOND)")
    return Parity(_gates(request.config), *_marked(mark, request.config), request.param)


def _marked(mark: pytest.Mark, config: pytest.Config) -> tuple[Any, Any, dict[str, Any]]:
    """Return the subjects and the options of a mark; what is looked for is looked for from pytest's own root."""
    if len(mark.args) != 2:
        raise pytest.UsageError(f"@pytest.mark.stackproof takes two subjects, not {len(mark.args)}")
    return mark.args[0], mark.args[1], {"folder": config.rootpath, **mark.kwargs}


def _parts(first: Any, second: Any, named: Mapping[str, Any]) -> Sequence[str]:
    """Return the fields that are compared, and the other parts; a field that is chosen is compared alone."""
    from harness.api import compared_fields

    try:
        fields = compared_fields(first, second, **named)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    others = [part for part in OTHER_PARTS if part != "(environment)" or not named.get("fields")]
    return [*fields, *others]


def _gates(config: pytest.Config) -> Gates:
    """Return the gates of this run; with pytest-xdist in a folder that its processes share."""
    if _GATES not in config.stash:
        factory: pytest.TempPathFactory | None = getattr(config, "_tmp_path_factory", None)
        if factory is None:
            raise pytest.UsageError("stackproof keeps reports in pytest's temporary folder: leave tmpdir switched on")
        base = factory.getbasetemp()
        config.stash[_GATES] = Gates(base.parent if hasattr(config, "workerinput") else base)
    return config.stash[_GATES]


_GATES: Final = pytest.StashKey[Gates]()
