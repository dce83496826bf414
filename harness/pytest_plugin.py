"""A pytest plugin that adds parity tests to a user's suite: one for each field that two subjects resolve.

Without the option or the mark below it adds no test. ``pytest --stackproof`` tests the subjects of
``[tool.stackproof]`` in pyproject.toml: there is a test for each field, and one each for the refusals, the
environment and missing outcomes. In code, a test with the mark and the fixture ``parity`` runs once for each of
these::

    @pytest.mark.stackproof("python:server.settings:resolve", "python:server.declared:resolve", cases=2000)
    def test_parity(parity):
        parity.check()

The mark takes the arguments of `harness.api.gate`. All tests with the same subjects and options share one gate, also
across the processes of pytest-xdist. So a failed test that is run again alone is judged on the same cases.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from harness.common.errors import UsageError
from harness.engine.options import GateOptions

if TYPE_CHECKING:
    from harness.api import Judgement, Report, Subject
    from harness.config import Config
    from harness.engine.result.events import Listener
    from harness.moves.change import SubjectPair

OTHER_PARTS: Final = ("(refusals)", "(environment)", "(outcomes)")
"""The names of the tests for the parts of outcomes other than fields; no field can have such a name."""

_MARK: Final = "stackproof"


def _leave_ours_alone() -> None:
    """Keep pytest from rewriting the ``assert`` statements of our packages.

    It rewrites every package that is installed together with a plugin. A rewritten assertion fails with another
    message. But a failed assertion of a subject is an outcome that is compared, so its message must not depend on
    whether pytest imported the package.
    """
    for finder in sys.meta_path:
        marked = getattr(finder, "_must_rewrite", None)
        if isinstance(marked, set):
            marked.difference_update(("harness", "legacy", "declarative", "codemods"))
            getattr(finder, "_marked_for_rewrite_cache", {}).clear()


_leave_ours_alone()


class PartDiffers(AssertionError):
    """A part of the outcomes differs, or cannot be judged. The text shows witnesses, and commands to replay them."""


@dataclass(frozen=True)
class ParityGate:
    """One gate of this run of pytest: two subjects, and the options of the gate.

    Relative paths and revisions in the names of subjects start at ``folder``. ``listener`` gets the gate's events.
    """

    first: Subject
    second: Subject
    options: GateOptions
    folder: Path
    listener: Listener | None = None

    @property
    def key(self) -> str:
        """A name for this gate: the same in every process of the run, and another one for every other gate."""
        names = [
            subject if isinstance(subject, str) else f"{subject.__module__}:{subject.__qualname__}"
            for subject in (self.first, self.second)
        ]
        return hashlib.sha256(repr((names, self.options, self.folder)).encode()).hexdigest()[:24]

    def open(self) -> SubjectPair:
        """Return the two subjects, opened. Raises UsageError for a subject that does not exist."""
        from harness.api import open_subjects

        return open_subjects(self.options, self.first, self.second, self.folder)

    def parts(self) -> list[str]:
        """Return the names of the parts that are compared: the fields, then the others.

        If fields were chosen, the environment is not compared. Raises pytest.UsageError if the subjects cannot be
        opened.
        """
        from harness.api import fields_of

        try:
            fields = fields_of(self.open(), self.options)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None
        return [*fields, *(part for part in OTHER_PARTS if part != "(environment)" or not self.options.fields)]


class Gates:
    """The reports of all gates of one run of pytest. The first test that needs a report runs the gate.

    ``place`` is a folder that all processes of the run share. Reports are kept there as files.
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        self._reports: dict[str, Report] = {}

    def report(self, gate: ParityGate) -> Report:
        """Return the report of a gate; run it if no process of this run has. Raises UsageError as `run_gate` does."""
        # Imported here, because pytest loads this module on all platforms, also on those without fcntl.
        import fcntl

        import msgspec

        from harness.api import Report, run_gate
        from harness.engine.result.events import Finished

        if gate.key not in self._reports:
            file = self._place / f"stackproof-{gate.key}.json"
            # The first process to get the lock runs the gate. The others wait for it, and find its file.
            with file.with_suffix(".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if file.exists():
                    report = Report(msgspec.json.decode(file.read_bytes(), type=Finished))
                else:
                    report = run_gate(gate.open(), gate.options, gate.listener)
                    file.write_bytes(msgspec.json.encode(report.result))
            self._reports[gate.key] = report
        return self._reports[gate.key]


class Parity:
    """The part of one gate that a test is about: a field, the refusals, the environment, or the outcomes."""

    def __init__(self, gates: Gates, gate: ParityGate, part: str) -> None:
        self._gates = gates
        self._gate = gate
        self.part = part

    @property
    def report(self) -> Report:
        """The report of the whole gate. The gate runs now unless another test has run it."""
        return self._gates.report(self._gate)

    def judgement(self) -> Judgement:
        """Return the verdict on this part."""
        if self.part in OTHER_PARTS:
            return self.report.of_part(self.part.strip("()"))  # type: ignore[arg-type]
        return self.report.of_field(self.part)

    def check(self) -> None:
        """Raise PartDiffers unless the two subjects agree on this part."""
        __tracebackhide__ = True
        judged = self.judgement()
        if judged.verdict == "equivalent":
            return
        report = self.report
        lines = [f"{judged.verdict}: {judged.reason}, in {report.cases} cases of seed {report.result.started.seed}"]
        raise PartDiffers("\n\n".join([*lines, *map(str, judged.differences)]))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our options to the command line of pytest."""
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
        help="the number of cases for these tests, instead of the one that pyproject.toml sets",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark, so that ``--strict-markers`` accepts it."""
    config.addinivalue_line(
        "markers",
        f"{_MARK}(first, second, **options): run the test once for each field that two subjects resolve; the test "
        "takes the fixture parity, and the options are those of harness.api.gate",
    )


# With --stackproof ------------------------------------------------------------------------------------------------


def _configured(config: pytest.Config) -> Config:
    """Return the settings of the project, with the options of this run.

    Raises pytest.UsageError if they are wrong or name no subjects.
    """
    from harness.config import load_config

    try:
        found = load_config(config.rootpath)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    if not found.subjects or found.file is None:
        raise pytest.UsageError("--stackproof: set subjects under [tool.stackproof] in pyproject.toml")
    cases: int | None = config.getoption("stackproof_cases")
    if cases is not None and cases < 1:
        raise pytest.UsageError("--stackproof-cases takes a number from 1 on")
    return replace(found, options=found.options.replaced(cases=cases))


class ParityFile(pytest.File):
    """The ``pyproject.toml`` whose ``[tool.stackproof]`` names the subjects, as a file of tests."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield a test for each compared field, and one for each other part of the outcomes."""
        from harness.world.profiles import use_profiles

        configured = _configured(self.config)
        use_profiles(configured.profiles)
        gates = _gates(self.config)
        first, second = configured.subjects
        gate = ParityGate(first, second, configured.options, configured.folder)
        for part in gate.parts():
            yield ParityItem.from_parent(self, name=part, parity=Parity(gates, gate, part))


class ParityItem(pytest.Item):
    """The parity test of one field, or of another part of the outcomes."""

    def __init__(self, *, parity: Parity, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._parity = parity

    def runtest(self) -> None:
        """Judge the part; if the gate has not run yet, run it first."""
        self._parity.check()

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the text of a difference or of a UsageError, without a traceback through our code."""
        if isinstance(excinfo.value, (PartDiffers, UsageError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the file and the name of the test, as pytest shows them."""
        return self.path, None, f"parity of {self.name}"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect our tests if the command line names pyproject.toml, as in ``pyproject.toml::page_size``."""
    config = parent.config
    if file_path.name != "pyproject.toml" or not config.getoption("stackproof"):
        return None
    if file_path != _configured(config).file:
        return None
    return ParityFile.from_parent(parent, path=file_path)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add our tests behind all others, before ``-k``, ``-m`` and ``--lf`` select tests.

    They are not added if the command line names single tests, or if they were already collected from pyproject.toml.
    """
    if not config.getoption("stackproof") or any("::" in word for word in config.args):
        return
    if any(isinstance(item, ParityItem) for item in items):
        return
    file = ParityFile.from_parent(session, path=_configured(config).file)
    items.extend(item for item in file.collect())


# With a mark ------------------------------------------------------------------------------------------------------


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Let a marked test with the fixture ``parity`` run once for each part."""
    mark = metafunc.definition.get_closest_marker(_MARK)
    if mark is None or "parity" not in metafunc.fixturenames:
        return
    parts = _marked(mark, metafunc.config).parts()
    metafunc.parametrize("parity", parts, indirect=True, ids=parts)


@pytest.fixture
def parity(request: pytest.FixtureRequest) -> Parity:
    """Return the part of a gate that a test marked with ``stackproof`` can check, with ``parity.check()``."""
    mark = request.node.get_closest_marker(_MARK)
    if mark is None:
        raise pytest.UsageError("the fixture parity is for tests marked with @pytest.mark.stackproof(FIRST, SECOND)")
    return Parity(_gates(request.config), _marked(mark, request.config), request.param)


def _marked(mark: pytest.Mark, config: pytest.Config) -> ParityGate:
    """Return the gate that a mark describes. Raises pytest.UsageError for arguments that `harness.api.gate` lacks."""
    if len(mark.args) != 2:
        raise pytest.UsageError(f"@pytest.mark.stackproof takes two subjects, not {len(mark.args)}")
    given = dict(mark.kwargs)
    folder, listener = given.pop("folder", config.rootpath), given.pop("listener", None)
    try:
        options = GateOptions(**{**given, "fields": tuple(given.get("fields", ()))})
    except TypeError as error:
        raise pytest.UsageError(f"@pytest.mark.stackproof takes the arguments of harness.api.gate: {error}") from None
    return ParityGate(mark.args[0], mark.args[1], options, folder, listener)


def _gates(config: pytest.Config) -> Gates:
    """Return the gates of this run, with a folder for their reports that all processes of pytest-xdist share."""
    if _GATES not in config.stash:
        factory: pytest.TempPathFactory | None = getattr(config, "_tmp_path_factory", None)
        if factory is None:
            raise pytest.UsageError("stackproof keeps reports in pytest's temporary folder: leave tmpdir switched on")
        base = factory.getbasetemp()
        config.stash[_GATES] = Gates(base.parent if hasattr(config, "workerinput") else base)
    return config.stash[_GATES]


_GATES: Final = pytest.StashKey[Gates]()
