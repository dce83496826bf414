"""``[tool.stackproof]``: read, refused in a sentence, shown with its sources, and written by ``init``."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.cli import app, guarded
from harness.common.defaults import DEFAULT_CASES
from harness.common.errors import UsageError
from harness.config import Config, load_config
from harness.world.profiles import (
    OwnProfiles,
    hardware_names,
    hardware_profile,
    hardware_profiles,
    model_profile,
    name_of_hardware,
    use_profiles,
)

WHOLE = """
[tool.stackproof]
subjects = ["python:a:resolve", "dir:new#python:a:resolve"]
fields = ["port"]
ledger = "differences.toml"
python = ".venv/bin/python"

[tool.stackproof.budget]
cases = 300
jobs = 1

[tool.stackproof.limits]
case_seconds = 2

[tool.stackproof.domains]
region = ["eu", {at = 1}]

[tool.stackproof.hardware.lab]
platform = "cuda"
capability = [9, 7]
cuda_version = "12.9"

[tool.stackproof.model.ours]
architectures = ["OursForCausalLM"]
"""
RESOLVE = """
from dataclasses import dataclass

@dataclass
class Settings:
    port: int = 80

def resolve(settings: Settings, hardware) -> Settings:
    if hardware["capability"] == [9, 7]:
        settings.port = PORT
    return settings
"""


@pytest.fixture(autouse=True)
def built_in_profiles_again() -> Iterator[None]:
    """Nothing that a test configures reaches the next."""
    yield
    use_profiles(OwnProfiles())


@pytest.fixture
def stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return a function that writes files by name, and stands in their folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STACKPROOF_CACHE", raising=False)

    def write(**files: str) -> Path:
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_toml", ".toml").replace("_py", ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Return a function that runs the command line in this process: its status, output and errors."""

    def called(*words: str) -> tuple[int, str, str]:
        capfd.readouterr()
        status = guarded(lambda: app(list(words), standalone_mode=False))
        return status, *capfd.readouterr()

    return called


def test_every_key(stand: Callable[..., Path]) -> None:
    root = stand(pyproject_toml=WHOLE)
    config = load_config(root)
    assert config.subjects == ("python:a:resolve", "dir:new#python:a:resolve")
    options = config.options
    assert (options.fields, options.cases, options.seconds, options.jobs) == (("port",), 300, None, 1)
    assert (options.ledger, options.python) == (root / "differences.toml", str(root / ".venv/bin/python"))
    assert (options.case_seconds, options.memory_mib) == (2.0, 2048)
    assert options.domains == {"region": ["eu", {"at": 1}]}
    assert config.profiles.hardware["lab"].capability == (9, 7)
    assert config.profiles.models["ours"].architectures == ["OursForCausalLM"]


def test_the_nearest_file_with_the_table(stand: Callable[..., Path]) -> None:
    root = stand(pyproject_toml="[tool.stackproof]\n", a__pyproject_toml="[project]\nname = 'x'\n", a__b__c_py="")
    assert load_config(root / "a" / "b").file == root / "pyproject.toml"
    stand(a__pyproject_toml="[tool.stackproof.budget]\nseconds = 3\n")
    config = load_config(root / "a" / "b")
    assert (config.file, config.folder) == (root / "a" / "pyproject.toml", root / "a")
    # A time alone is no number of cases.
    assert (config.options.most_cases, config.options.seconds) == (None, 3.0)


def test_no_file_gives_the_defaults(stand: Callable[..., Path]) -> None:
    assert load_config(stand()) == Config()
    assert Config().options.most_cases == DEFAULT_CASES


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[tool.stackproof]\nsubject = []", ["unknown key subject", "did you mean 'subjects'"]),
        ("[tool.stackproof]\nsubjects = ['legacy']", ["subjects must be a list of two subjects"]),
        ("[tool.stackproof]\nfields = 'port'", ["fields must be a list of names", "'port'"]),
        ("[tool.stackproof]\nfields = ['port']\nall_fields = true", ["opposite"]),
        (
            "[tool.stackproof.budget]\ncase = 1",
            ["[tool.stackproof.budget]: unknown key case ", "did you mean 'cases'"],
        ),
        ("[tool.stackproof.budget]\ncases = 0", ["cases", "from 1 on", "not 0"]),
        ("[tool.stackproof.budget]\nseconds = inf", ["seconds", "from 0.1"]),
        ("[tool.stackproof.budget]\nseed = true", ["seed must be a whole number, not true"]),
        ("[tool.stackproof.limits]\nmemory = 1", ["did you mean 'memory_mib'"]),
        ("[tool.stackproof.domains]\nx = 1", ["domains"]),
        ("[tool.stackproof.domains]\nx = [1979-05-27]", ["domains]: x", "datetime.date"]),
        ("[tool.stackproof.domains]\nx = [[nan]]", ["domains]: x", "nan"]),
        (
            "[tool.stackproof.hardware.lab]\nplatfrom = 'cuda'",
            ["hardware]: unknown key lab.platfrom", "did you mean 'platform'"],
        ),
        ("[tool.stackproof.hardware.lab]\nplatform = 'cudo'", ["platform", "did you mean 'cuda'"]),
        ("[tool.stackproof.model.ours]\nattention = 3", ["model]: ours.attention"]),
        ("[tool]\nstackproof = 3", ["[tool.stackproof] must be a table, not 3"]),
        ("[tool.stackproof", ["not valid TOML"]),
        ("[tool.stackproof]\nx = " + "[" * 2000, ["pyproject.toml"]),
        (f"[tool.stackproof]\nx = '{'y' * 1_000_000}'", ["unknown key x "]),
        (f"[tool.stackproof]\nx = '{'y' * 10_000_000}'", ["larger than 4 MiB"]),
    ],
)
def test_refused_in_a_sentence(
    text: str, parts: list[str], stand: Callable[..., Path], run: Callable[..., tuple[int, str, str]]
) -> None:
    root = stand(pyproject_toml=text)
    with pytest.raises(UsageError) as caught:
        load_config(root)
    for part in (str(root / "pyproject.toml"), *parts):
        assert part in str(caught.value)
    status, out, err = run("config", "show")
    assert (status, out, err.count("\n")) == (2, "", 1)


def test_show_says_where_each_value_is_from(
    stand: Callable[..., Path], run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = stand(pyproject_toml=WHOLE)
    monkeypatch.setenv("STACKPROOF_CACHE", "/somewhere")
    status, out, _ = run("config", "show")
    first, *lines = out.splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines}
    assert (status, first) == (0, f"pyproject.toml is {root / 'pyproject.toml'}")
    assert rows["budget.cases"] == ["pyproject.toml", "300"]
    assert rows["budget.seed"] == ["built", "in", "0"]
    assert rows["hardware.lab"][0] == "pyproject.toml"
    assert rows["cache"] == ["STACKPROOF_CACHE", "/somewhere"]


def test_a_gate_is_as_configured(stand: Callable[..., Path], run: Callable[..., tuple[int, str, str]]) -> None:
    stand(
        pyproject_toml=WHOLE.replace("ledger", "# ledger")
        .replace("python = ", "# python = ")
        .replace("region", "port"),
        a_py=RESOLVE.replace("PORT", "81"),
        new__a_py=RESOLVE.replace("PORT", "82"),
    )
    # One process and two: a machine of one's own must be known in each.
    for words in ((), ("--jobs", "2")):
        status, out, err = run("gate", "--format", "json", *words)
        assert status == 1, err
        body = json.loads(out)
        assert [subject["name"] for subject in body["subjects"]] == ["python:a:resolve", "dir:new#python:a:resolve"]
        assert (body["counts"]["cases"], body["compared"]) == (300, ["port"])
        (bucket,) = body["buckets"]
        assert bucket["witness"]["hardware"] == {"capability": [9, 7]}
        assert "lab" in body["drawn"]["machines"]["drawn"]
    # What the command line says counts more.
    status, out, _ = run("gate", "--format", "json", "--cases", "20", "python:a:resolve", "python:a:resolve")
    assert json.loads(out)["counts"]["cases"] == 20


def test_the_other_commands_are_as_configured(
    stand: Callable[..., Path], run: Callable[..., tuple[int, str, str]]
) -> None:
    root = stand(
        pyproject_toml=WHOLE.replace("python = ", "# python = ").replace("region", "port"),
        a_py=RESOLVE.replace("PORT", "81"),
        new__a_py=RESOLVE.replace("PORT", "82"),
        case_toml='{"id": "a", "hardware": "lab"}\n',
    )
    (root / "below").mkdir()
    status, out, err = run("resolve", "--hardware", "lab")
    assert status == 0, err
    assert "81" in out and "82" in out and out.startswith("on lab")
    assert run("explain", "port")[1].count("a.py:") == 2
    status, out, err = run("replay", "case.toml")
    assert (status, "81" in out) == (1, True), err
    assert "  lab " in run("profiles")[1]


def test_who_names_one_subject_or_none_is_told(
    stand: Callable[..., Path], run: Callable[..., tuple[int, str, str]]
) -> None:
    stand()
    assert "name two subjects" in run("gate")[2]
    assert "'legacy' is one" in run("gate", "legacy")[2]
    assert "name a --subject" in run("resolve")[2]


def test_own_profiles_are_known_like_others() -> None:
    before = hardware_profiles()
    lab = hardware_profile("h100")
    use_profiles(OwnProfiles(hardware={"lab": lab, "h200": lab}, models={"ours": model_profile("qwq-32b")}))
    assert hardware_names()[-1] == "lab"
    # A name of one's own goes before a built-in one.
    assert hardware_profile("h200") == lab
    assert name_of_hardware(lab) == "h100"
    assert model_profile("ours") == model_profile("qwq-32b")
    use_profiles(OwnProfiles())
    assert hardware_profiles() == before
    with pytest.raises(UsageError, match="no hardware profile 'lab'"):
        hardware_profile("lab")


class TestInit:
    def test_a_new_folder(self, stand: Callable[..., Path], run: Callable[..., tuple[int, str, str]]) -> None:
        root = stand()
        status, out, _ = run("init", "python:a:f", "python:b:f")
        assert status == 0
        # They are set: nobody is told to set them.
        assert "next: 'stackproof config show'" in out
        assert load_config(root).subjects == ("python:a:f", "python:b:f")
        assert (root / ".github" / "workflows" / "stackproof.yml").is_file()

    def test_what_is_commented_out_is_valid(
        self, stand: Callable[..., Path], run: Callable[..., tuple[int, str, str]]
    ) -> None:
        root = stand()
        run("init", "--no-workflow")
        file = root / "pyproject.toml"
        lines = file.read_text(encoding="utf-8").splitlines()
        for index, line in enumerate(lines):
            bare = line.removeprefix("# ")
            if line.startswith("# [") or (line.startswith("# ") and " = " in bare and bare[0].islower()):
                lines[index] = bare
        file.write_text("\n".join(lines), encoding="utf-8")
        config = load_config(root)
        options = config.options
        assert (options.fields, options.seconds, options.jobs, options.case_seconds) == (("port",), 60.0, 2, 10.0)
        assert set(config.profiles.hardware) == {"our-node"} and set(config.profiles.models) == {"our-model"}
        assert options.domains == {"region": ["eu-1", "us-2"]}

    def test_what_is_there_is_kept(
        self, stand: Callable[..., Path], run: Callable[..., tuple[int, str, str]]
    ) -> None:
        before = '[project]\nname = "ä"  # ours\n[tool.other]\nx = 1'
        root = stand(pyproject_toml=before)
        assert run("init")[0] == 0
        text = (root / "pyproject.toml").read_text(encoding="utf-8")
        assert text.startswith(before)
        assert tomllib.loads(text)["tool"]["other"] == {"x": 1}

    @pytest.mark.parametrize(
        ("before", "words", "part"),
        [
            ("[tool.stackproof]\n", (), "already"),
            ("tool = {x = 1}\n", (), "by hand"),
            ("[tool\n", (), "not valid TOML"),
            ("", ("legacy",), "name the other"),
            ("", ("legacy", "leagcy"), "did you mean 'legacy'"),
        ],
    )
    def test_refused_with_nothing_written(
        self,
        before: str,
        words: tuple[str, ...],
        part: str,
        stand: Callable[..., Path],
        run: Callable[..., tuple[int, str, str]],
    ) -> None:
        root = stand(pyproject_toml=before)
        status, out, err = run("init", *words)
        assert (status, out, part in err) == (2, "", True), err
        assert (root / "pyproject.toml").read_text(encoding="utf-8") == before
        assert [path.name for path in root.iterdir()] == ["pyproject.toml"]

    def test_a_workflow_that_is_there(
        self, stand: Callable[..., Path], run: Callable[..., tuple[int, str, str]]
    ) -> None:
        root = stand()
        file = root / ".github" / "workflows" / "stackproof.yml"
        file.parent.mkdir(parents=True)
        file.write_text("mine", encoding="utf-8")
        assert run("init")[0] == 2
        assert (file.read_text(encoding="utf-8"), (root / "pyproject.toml").exists()) == ("mine", False)

    def test_the_workflow_runs_what_there_is(
        self, stand: Callable[..., Path], run: Callable[..., tuple[int, str, str]]
    ) -> None:
        yaml: Any = pytest.importorskip("yaml", reason="PyYAML reads the workflow")
        root = stand()
        run("init")
        workflow = yaml.safe_load((root / ".github" / "workflows" / "stackproof.yml").read_text(encoding="utf-8"))
        (job,) = workflow["jobs"].values()
        commands = [step["run"] for step in job["steps"] if step.get("run", "").startswith("stackproof")]
        assert commands
        for command in commands:
            asked = subprocess.run(
                [sys.executable, "-m", "harness.cli", *command.split()[1:], "--help"],
                capture_output=True,
                check=False,
            )
            assert asked.returncode == 0


def test_the_documentation_has_every_key() -> None:
    page = (Path(__file__).parents[1] / "docs" / "configuration.md").read_text(encoding="utf-8")
    for setting in Config().settings():
        if setting.source != "STACKPROOF_CACHE" and setting.key != "cache":
            assert f"`{setting.key.rpartition('.')[2]}`" in page, setting.key


def test_every_command_that_opens_a_subject_takes_the_interpreter_that_is_configured(
    stand: Callable[..., Path], run: Callable[..., tuple[int, str, str]]
) -> None:
    stand(
        pyproject_toml='[tool.stackproof]\nsubjects = ["python:a:f", "python:a:f"]\npython = "no-python"\n',
        a_py=RESOLVE.replace("PORT", "81"),
    )
    for words in (("gate",), ("resolve",), ("explain", "port")):
        status, _, err = run(*words)
        assert (status, "no-python" in err) == (2, True), (words, err)
