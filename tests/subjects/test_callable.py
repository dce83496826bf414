"""Somebody's own function or class as a subject: what it may look like, and what becomes of one that misbehaves."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from harness.common.errors import UsageError
from harness.engine.campaign import Budget, Request, run_campaign
from harness.engine.result.events import Finished
from harness.subjects.open import open_spec, open_subject
from harness.subjects.spec import SubjectSpec
from harness.world.case import Case, Outcome
from harness.world.hardware import Hardware

pytestmark = pytest.mark.slow

Domains = dict[str, list[Any]]


class Place:
    """A folder with modules in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")

    def spec(self, target: str, domains: Domains | None = None, *, seconds: float = 5.0) -> SubjectSpec:
        return open_spec(
            target if "python:" in target else f"python:{target}",
            answers=None,
            python=sys.executable,
            case_seconds=seconds,
            memory_mib=2048,
            cwd=self.root,
            domains=domains,
        )

    def outcomes(
        self, target: str, *cases: Case, domains: Domains | None = None, seconds: float = 5.0
    ) -> list[Outcome]:
        with open_subject(self.spec(target, domains, seconds=seconds)) as subject:
            subject.choose(subject.describe().resolved)
            return subject.outcomes(cases)

    def fields(self, target: str, domains: Domains | None = None, **args: Any) -> dict[str, Any] | None:
        (outcome,) = self.outcomes(target, Case(id="a", args=args), domains=domains)
        assert outcome.failure is None, outcome.failure
        return outcome.fields

    def gate(self, first: str, second: str, domains: Domains | None = None, cases: int = 500) -> Finished:
        specs = self.spec(first, domains), self.spec(second, domains)
        return run_campaign(Request(*specs, budget=Budget(cases=cases)), lambda event: None)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


DATACLASS = """
    from dataclasses import dataclass

    @dataclass
    class Settings:
        port: int = 80
        mode: str | None = None

    def resolve(settings: Settings) -> Settings:
        if settings.port == 443:
            settings.mode = "tls"
        if settings.port < 0:
            raise ValueError(f"no port {settings.port}")
        return settings
"""


def needs(module: str) -> pytest.MarkDecorator:
    missing = importlib.util.find_spec(module) is None
    return pytest.mark.skipif(missing, reason=f"{module} is not installed (it comes with the extra test)")


class TestForms:
    def test_a_function_of_a_dataclass(self, place: Place) -> None:
        place.write("app.py", DATACLASS)
        assert place.fields("app:resolve", port=443) == {"port": 443, "mode": "tls"}
        assert place.fields("app:resolve") == {"port": 80, "mode": None}

    def test_the_description_has_types_defaults_flags_and_compared_values(self, place: Place) -> None:
        place.write("app.py", DATACLASS)
        with open_subject(place.spec("app:resolve")) as subject:
            described = subject.describe()
            assert subject.parse(["--port", "7"], "here") == {"port": 7}
        port, mode = described.fields["port"], described.fields["mode"]
        assert (port.type, port.default, port.flags, port.optional) == ("int", 80, ("--port",), False)
        assert set(port.compared) >= {443, 0}
        assert (mode.type, mode.optional) == ("str", True)
        assert described.resolved == ("port", "mode")
        assert [(site.field, site.source, site.line) for site in described.writers] == [("mode", "resolve", 11)]
        assert described.takes == ()

    def test_what_is_compared_with_one_of_two_lists_is_compared_with_both(self, place: Place) -> None:
        source = DATACLASS.replace(
            "if settings.port < 0:",
            "ports = (443, 8443) if settings.mode else (8080,)\n        if settings.port in ports:",
        )
        place.write("app.py", source)
        with open_subject(place.spec("app:resolve")) as subject:
            assert set(subject.describe().fields["port"].compared) >= {443, 8443, 8080}

    def test_a_class_resolves_by_being_made(self, place: Place) -> None:
        place.write(
            "app.py",
            """
            from dataclasses import dataclass, field

            @dataclass
            class Settings:
                port: int = 80
                url: str = field(init=False)

                def __post_init__(self):
                    self.url = f"http://here:{self.port}"
            """,
        )
        assert place.fields("app:Settings", port=81) == {"port": 81, "url": "http://here:81"}
        with open_subject(place.spec("app:Settings")) as subject:
            assert list(subject.describe().fields) == ["port"]

    def test_a_mapping_with_values_by_hand(self, place: Place) -> None:
        place.write(
            "app.py",
            """
            def resolve(args):
                fields = {"port": args.get("port", 80), "mode": "plain"}
                if fields["port"] == 443 or args.get("tls"):
                    fields["mode"] = "tls"
                return fields
            """,
        )
        domains = {"port": [80, 443], "tls": [True, False]}
        assert place.fields("app:resolve", domains, tls=True) == {"port": 80, "mode": "tls"}
        with open_subject(place.spec("app:resolve", domains)) as subject:
            fields = subject.describe().fields
            assert {name: spec.type for name, spec in fields.items()} == {"port": "int", "tls": "bool"}
            assert subject.parse(["--no-tls"], "here") == {"tls": False}

    def test_a_typed_dictionary(self, place: Place) -> None:
        place.write(
            "app.py",
            """
            from typing import Literal, TypedDict

            class Args(TypedDict, total=False):
                mode: Literal["a", "b"]

            def resolve(args: Args) -> dict:
                return {"seen": args.get("mode", "none")}
            """,
        )
        assert place.fields("app:resolve", mode="b") == {"seen": "b"}
        with open_subject(place.spec("app:resolve")) as subject:
            assert subject.describe().fields["mode"].choices == ("a", "b")

    @needs("pydantic")
    def test_pydantic(self, place: Place) -> None:
        place.write(
            "app.py",
            """
            from pydantic import BaseModel, Field, field_validator

            class Settings(BaseModel):
                port: int = Field(80, ge=1, le=65535)
                name: str

                @field_validator("name")
                @classmethod
                def lower(cls, value):
                    return value.lower()

            def resolve(settings: Settings) -> dict:
                return settings.model_dump()
            """,
        )
        assert place.fields("app:resolve", name="X") == {"port": 80, "name": "x"}
        # A required argument that nobody set is a text of some kind.
        assert place.fields("app:Settings") == {"port": 80, "name": "text"}
        (refused,) = place.outcomes("app:resolve", Case(id="a", args={"port": 0}))
        assert refused.error is not None and refused.error.type == "ValidationError"
        with open_subject(place.spec("app:resolve")) as subject:
            assert set(subject.describe().fields["port"].compared) == {1, 65535}

    @needs("attrs")
    def test_attrs(self, place: Place) -> None:
        place.write(
            "app.py",
            """
            import attrs

            @attrs.define
            class Settings:
                level: str = attrs.field(default="low", validator=attrs.validators.in_(["low", "high"]))
                items: list[int] = attrs.field(factory=list)
                _hidden: int = 3

            def resolve(settings: Settings) -> Settings:
                return attrs.evolve(settings, items=[*settings.items, 1])
            """,
        )
        assert place.fields("app:resolve", level="high", hidden=4) == {"level": "high", "items": [1], "_hidden": 4}
        with open_subject(place.spec("app:resolve")) as subject:
            described = subject.describe()
        assert described.fields["level"].choices == ("low", "high")
        assert [(site.field, site.line) for site in described.writers] == [("items", 11)]

    def test_enumerations_paths_and_nested_records(self, place: Place) -> None:
        place.write(
            "app.py",
            """
            import enum
            from dataclasses import dataclass
            from pathlib import Path

            class Colour(enum.Enum):
                RED = "red"
                BLUE = "blue"

            @dataclass
            class Inner:
                size: int = 1

            @dataclass
            class Settings:
                colour: Colour = Colour.RED
                root: Path = Path("/srv")
                inner: Inner | None = None
                sizes: tuple[int, ...] = (1, 2)

            def resolve(settings: Settings) -> dict:
                inner = settings.inner.size if settings.inner else 0
                return {"is": settings.colour is Colour.BLUE, "root": settings.root.name, "inner": inner,
                        "sizes": settings.sizes}
            """,
        )
        found = place.fields("app:resolve", colour="blue", root="/a/b", inner={"size": 4}, sizes=[3])
        assert found == {"is": True, "root": "b", "inner": 4, "sizes": {"$tuple": [3]}}
        with open_subject(place.spec("app:resolve")) as subject:
            fields = subject.describe().fields
        assert (fields["colour"].choices, fields["colour"].default) == (("red", "blue"), "red")
        assert (fields["root"].default, fields["sizes"].default) == ("/srv", [1, 2])

    def test_what_changes_its_argument_need_not_return_it(self, place: Place) -> None:
        place.write("app.py", DATACLASS.replace("-> Settings", "-> None").replace("        return settings\n", ""))
        assert place.fields("app:resolve", port=443) == {"port": 443, "mode": "tls"}

    def test_environment_machine_and_model_by_name(self, place: Place) -> None:
        place.write(
            "app.py",
            """
            import os

            def resolve(args, env, hardware=None, other=1):
                return {"port": env.get("PORT"), "here": os.environ.get("PORT"), "on": hardware["platform"]}
            """,
        )
        case = Case(id="a", hardware=Hardware(platform="hip"), env={"PORT": "9"})
        (outcome,) = place.outcomes("app:resolve", case, domains={"x": [1]})
        assert outcome.fields == {"port": "9", "here": "9", "on": "hip"}
        with open_subject(place.spec("app:resolve", {"x": [1]})) as subject:
            described = subject.describe()
        assert list(described.environment) == ["PORT"]
        assert described.takes == ("hardware",)


class TestRefused:
    """What is no callable of the kind is told in a sentence."""

    def test_what_no_case_sets_is_noted(self, place: Place) -> None:
        body = """
            from dataclasses import dataclass, field

            @dataclass
            class Settings:
                port: int = 80
                extra: dict = field(default_factory=dict)
                unused: str = ""

            def resolve(settings: Settings) -> Settings:
                if settings.extra or settings.unused == "x":
                    settings.port = 1
                return settings
        """
        place.write("app.py", body)
        (note,) = place.gate("app:resolve", "app:resolve", cases=20).started.notes
        assert note.startswith("never set: extra, ") and "[tool.stackproof.domains]" in note
        assert place.gate("app:resolve", "app:resolve", {"extra": [{"x": 1}]}, cases=20).started.notes == ()

    @pytest.mark.parametrize(
        ("body", "target", "parts"),
        [
            ("def solve(args): ...", "app:resolve", ["app has no resolve (did you mean 'solve'?)"]),
            ("resolve = 3", "app:resolve", ["is int"]),
            ("class resolve: ...", "app:resolve", ["without fields"]),
            ("def resolve(): ...", "app:resolve", ["takes no first parameter"]),
            ("def resolve(args, place): ...", "app:resolve", ["the parameter place", "env, hardware, model"]),
            ("def resolve(args: int): ...", "app:resolve", ["args: int", "dataclass"]),
            ("def resolve(args): return {}", "app:resolve", ["nothing says what resolve can be given", "domains"]),
            (
                "from dataclasses import make_dataclass\n"
                "S = make_dataclass('S', [('a', int, 1)])\n"
                "def resolve(s: S): return {}",
                "app:resolve",
                ["returns no fields", "annotate what it returns"],
            ),
            ("import nonesuch_package", "app:resolve", ["nonesuch_package", "--python", "app.py:1"]),
            ("def resolve(", "app:resolve", ["SyntaxError"]),
            ("import socket; socket.create_connection(('127.0.0.1', 9))", "app:resolve", ["while the module"]),
            ("import os; os._exit(3)", "app:resolve", ["exited with status 3"]),
        ],
    )
    def test_at_loading(self, place: Place, body: str, target: str, parts: list[str]) -> None:
        place.write("app.py", body + "\n")
        with pytest.raises(UsageError) as caught, open_subject(place.spec(target)) as subject:
            subject.load()
        for part in parts:
            assert part in str(caught.value)

    @pytest.mark.parametrize(
        ("body", "part"),
        [
            ("return 3", "returned int"),
            ("return {1: 2}", "the key 1"),
            ("return {}", "no fields"),
            ("raise ValueError('never')", "refuses the case that sets nothing (ValueError: never)"),
        ],
    )
    def test_fields_that_cannot_be_known(self, place: Place, body: str, part: str) -> None:
        place.write("app.py", f"def resolve(args):\n    {body}\n")
        with (
            pytest.raises(UsageError, match="app:resolve") as caught,
            open_subject(place.spec("app:resolve", {"x": [1]})) as subject,
        ):
            subject.load()
        assert part in str(caught.value)

    def test_a_module_that_is_not_there(self, place: Place) -> None:
        place.write("server/settings.py", "")
        with pytest.raises(UsageError, match=r"no module server\.seting.*did you mean 'server\.settings'"):
            place.spec("server.seting:resolve")

    def test_a_field_that_only_some_cases_have(self, place: Place) -> None:
        place.write(
            "app.py",
            """
            def resolve(args):
                return {"a": 1, "b": 2} if args.get("x") else {"a": 1}
            """,
        )
        (outcome,) = place.outcomes("app:resolve", Case(id="a", args={"x": 1}), domains={"x": [1]})
        assert outcome.failure is not None and "has the field 'b'" in outcome.failure.detail

    def test_a_callable_and_a_package_are_not_compared(self, place: Place) -> None:
        place.write("app.py", DATACLASS)
        own = open_spec("legacy", answers=None, python=sys.executable, case_seconds=5, memory_mib=1024)
        with pytest.raises(UsageError, match="a callable is compared with a callable"):
            run_campaign(Request(place.spec("app:resolve"), own, budget=Budget(cases=10)), lambda event: None)

    def test_values_by_hand_of_an_unknown_argument(self, place: Place) -> None:
        place.write("app.py", DATACLASS)
        with pytest.raises(UsageError, match=r"'prot'.*did you mean 'port'"):
            place.gate("app:resolve", "app:resolve", {"prot": [1]}, 10)


class TestMisbehaving:
    """A case that ends, hangs or floods its process is an outcome of its own, and the others go on."""

    @pytest.mark.parametrize(
        ("body", "kind"),
        [
            ("os._exit(4)", "killed"),
            ("os.kill(os.getpid(), 9)", "unanswered"),
            ("while True: pass", "timeout"),
            ("held = ' ' * (1 << 33)", "memory"),
            ("import socket; socket.create_connection(('127.0.0.1', 9))", "unanswered"),
            ("open('/etc/hostname').read()", "unanswered"),
            ("open('/tmp/x', 'w')", "unanswered"),
            ("import subprocess; subprocess.run(['true'])", "unanswered"),
            ("return {'port': object.__new__}", None),
            ("args.clear()", None),
        ],
    )
    def test_one_case(self, place: Place, body: str, kind: str | None) -> None:
        place.write(
            "app.py",
            f"""
            import os

            def resolve(args):
                if args.get("port") == 1:
                    {body}
                return {{"port": args.get("port", 80)}}
            """,
        )
        cases = [Case(id="a"), Case(id="b", args={"port": 1}), Case(id="c", args={"port": 2})]
        outcomes = place.outcomes("app:resolve", *cases, domains={"port": [1]}, seconds=1.0)
        assert [outcome.fields for outcome in (outcomes[0], outcomes[2])] == [{"port": 80}, {"port": 2}]
        failure = outcomes[1].failure
        assert (failure.kind if failure else None) == kind

    def test_one_that_prints_and_writes_the_environment(self, place: Place) -> None:
        place.write(
            "app.py",
            """
            import os, sys, functools

            SEEN = []

            @functools.lru_cache
            def level():
                return os.environ.get("LEVEL", "none")

            def resolve(args):
                print("x" * 100_000)
                print("y" * 100_000, file=sys.stderr)
                before = os.environ.get("LEFT")
                os.environ["LEFT"] = "behind"
                return {"before": before, "level": level()}
            """,
        )
        cases = [Case(id="a", env={"LEVEL": "high"}), Case(id="b")]
        first, second = place.outcomes("app:resolve", *cases, domains={"x": [1]})
        assert first.fields == {"before": None, "level": "high"}
        assert second.fields == {"before": None, "level": "none"}
        assert first.env == second.env == {"LEFT": "behind"}

    def test_one_that_replaces_the_environment(self, place: Place) -> None:
        place.write(
            "app.py",
            """
            import os

            def resolve(args):
                before = os.environ.get("LEVEL")
                if before == "high":
                    os.environ = {}
                os.environ["LEFT"] = "behind"
                return {"before": before}
            """,
        )
        cases = [Case(id="a", env={"LEVEL": "high"}), Case(id="b", env={"LEVEL": "low"}), Case(id="c")]
        outcomes = place.outcomes("app:resolve", *cases, domains={"x": [1]})
        assert [outcome.fields for outcome in outcomes] == [{"before": level} for level in ("high", "low", None)]
        assert [outcome.env for outcome in outcomes] == [{}, {"LEFT": "behind"}, {"LEFT": "behind"}]

    def test_an_exit_is_a_refusal(self, place: Place) -> None:
        place.write("app.py", "import sys\ndef resolve(args):\n    if args: sys.exit('no')\n    return {'a': 1}\n")
        (outcome,) = place.outcomes("app:resolve", Case(id="a", args={"x": 1}), domains={"x": [1]})
        assert outcome.error is not None
        assert (outcome.error.type, outcome.error.message, outcome.error.origin) == ("SystemExit", "no", "resolve")

    def test_a_case_is_not_changed_by_the_one_before(self, place: Place) -> None:
        place.write(
            "app.py", "def resolve(args):\n    args.setdefault('x', []).append(1)\n    return {'x': args['x']}\n"
        )
        shared = Case(id="a", args={"x": [5]})
        first, second = place.outcomes("app:resolve", shared, shared, domains={"x": [[1]]})
        assert first.fields == second.fields == {"x": [5, 1]}


class TestGate:
    def test_the_same_is_equivalent_and_reached(self, place: Place) -> None:
        place.write("app.py", DATACLASS)
        result = place.gate("app:resolve", "app:resolve")
        assert result.verdict == "equivalent"
        assert result.counts.refused > 0
        assert [site.count > 0 for side in result.covered for site in side.writes] == [True, True]
        assert result.drawn.architectures & result.started.drawable.architectures == set()

    @pytest.mark.parametrize(
        ("before", "after", "field", "witness"),
        [
            ("settings.port == 443", "settings.port >= 443", "mode", None),
            ('"tls"', '"TLS"', "mode", {"port": 443}),
            ("no port", "not a port", "", {"port": -1}),
        ],
    )
    def test_a_fault_is_found_and_minimised(
        self, place: Place, before: str, after: str, field: str, witness: dict[str, Any] | None
    ) -> None:
        place.write("app.py", DATACLASS)
        changed = DATACLASS.replace(before, after)
        assert changed != DATACLASS
        place.write("other.py", changed)
        result = place.gate("app:resolve", "other:resolve")
        assert result.verdict == "different"
        assert result.buckets[0].difference.name == field
        if witness is not None:
            assert result.buckets[0].witness.args == witness

    @pytest.mark.parametrize(
        ("asked", "witness"),
        [
            ("port = settings.port", {"port": 471}),
            ("port = settings.port if settings.mode is None else 0", {"port": 471}),
            ("port = int(os.environ.get('PORT', '0'))", {}),
        ],
    )
    def test_what_is_compared_through_a_local_name_is_tried(
        self, place: Place, asked: str, witness: dict[str, Any]
    ) -> None:
        place.write("app.py", DATACLASS)
        body = f"{asked}\n        if port == 471:\n            settings.mode = 'found'\n        return settings"
        place.write("other.py", "    import os\n" + DATACLASS.replace("return settings", body))
        result = place.gate("app:resolve", "other:resolve")
        assert result.verdict == "different"
        assert result.buckets[0].witness.args == witness

    def test_a_write_that_never_ran_is_inconclusive(self, place: Place) -> None:
        place.write("app.py", DATACLASS.replace("settings.port == 443", "settings.port == 443 and not settings.port"))
        assert place.gate("app:resolve", "app:resolve").verdict == "inconclusive"

    def test_a_revision_against_the_folder(self, place: Place) -> None:
        def git(*words: str) -> None:
            who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
            subprocess.run(["git", *who, *words], cwd=place.root, check=True, capture_output=True)

        place.write("src/app/settings.py", DATACLASS)
        place.write("src/helpers.py", "PORT = 443\n")
        git("init", "-q")
        git("add", ".")
        git("commit", "-q", "-m", "one")
        place.write("src/app/settings.py", DATACLASS.replace('"tls"', '"TLS"'))
        names = "git:HEAD#python:app.settings:resolve", "python:app.settings:resolve"
        result = place.gate(*names)
        assert (result.verdict, result.started.first) == ("different", names[0])
        assert place.gate(names[1], "dir:.#python:app.settings:resolve").verdict == "equivalent"


def test_modules_of_the_tree_come_first_and_python_s_own_always(place: Place) -> None:
    place.write("json.py", "raise SystemExit\n")
    place.write("msgspec.py", "HERE = True\n")
    place.write("prometheus/readme.txt", "a folder that is no package")
    place.write(
        "app.py",
        """
        import json
        import msgspec

        def resolve(args):
            return {"json": json.dumps(1), "here": msgspec.HERE}
        """,
    )
    assert place.fields("app:resolve", {"x": [1]}) == {"json": "1", "here": True}


def test_the_launch_line_of_a_witness_can_be_read_again(place: Place) -> None:
    from harness.formats.launch import split_launch
    from harness.report.wording.launches import launch_command, resolve_command

    place.write("app.py", DATACLASS)
    result = place.gate("app:resolve", "app:resolve", cases=1)
    case = Case(id="a", args={"port": 4, "mode": "a b"}, env={"X": "1"})
    line = launch_command(case, result.started.flags)
    assert line == "X=1 python:app:resolve --mode 'a b' --port 4"
    read = split_launch(line, "here")
    with open_subject(place.spec("app:resolve")) as subject:
        assert (subject.parse(read.argv, "here"), read.env) == (case.args, case.env)
    with pytest.raises(UsageError, match=r"not a launch of the subject, this one runs 'foo'.*'python:app:resolve'"):
        split_launch("foo --port 4", "here", result.started.flags.program)
    assert resolve_command(case, "S", result.started.flags) == f"stackproof resolve --subject S -- {line}"


def test_a_case_resolved_once_more_tells_where_it_was_refused_and_costs_no_reach(place: Place) -> None:
    # Asking for the trace ended the process, and with it went what had run.
    place.write(
        "checked.py",
        """
        import os

        def checked(settings: dict) -> dict:
            os.environ["LAST"] = str(settings.get("workers", 1))
            if settings.get("workers", 1) < 1:
                raise ValueError("no worker")
            return {"workers": settings.get("workers", 1), "threads": 2}

        def unchecked(settings: dict) -> dict:
            os.environ["LAST"] = str(settings.get("workers", 1))
            return {"workers": settings.get("workers", 1), "threads": 2}
        """,
    )
    domains = {"workers": [0, 1, 2]}
    with open_subject(place.spec("checked:checked", domains)) as subject:
        subject.choose(subject.describe().resolved)
        (trace,) = subject.traces([Case(id="a", args={"workers": 0})])
        assert subject.restarts == 0
    assert [(decision.source, outcome) for decision, outcome in trace.taken] == [("checked", True)]
    assert [(write.field, write.value, write.source) for write in trace.variables] == [("LAST", "0", "checked")]
    result = place.gate("checked:checked", "checked:unchecked", domains, cases=100)
    assert result.verdict == "different"
    for covered in result.covered:
        assert all(site.count for site in covered.writes)
