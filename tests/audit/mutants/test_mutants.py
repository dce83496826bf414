"""The mutants of a whole package, on the port."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from pathlib import Path

import msgspec
import pytest

import legacy
from harness.audit.mutants.package import MutablePackage
from harness.audit.operators import all_operators
from harness.audit.reading.mutant import Mutant, compiles, mutated
from harness.common.errors import UsageError
from harness.world.choices import ATTENTION_BACKEND_CHOICES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def port() -> MutablePackage:
    return MutablePackage(Path(legacy.__file__).parent)


@pytest.fixture(scope="module")
def mutants(port: MutablePackage) -> list[Mutant]:
    return port.mutants()


def test_every_mutant_of_the_port_compiles_and_differs(port: MutablePackage, mutants: list[Mutant]) -> None:
    assert len(mutants) > 2_000
    for mutant in mutants:
        text = port.mutated(mutant)
        assert compiles(text), mutant.identity()
        assert text != port.texts[mutant.file], mutant.identity()


def test_mutants_are_told_apart_by_identity_and_by_text(port: MutablePackage, mutants: list[Mutant]) -> None:
    assert len({mutant.identity() for mutant in mutants}) == len(mutants)
    assert len({(mutant.file, port.mutated(mutant)) for mutant in mutants}) == len(mutants)


def test_every_kind_occurs_in_the_port_but_those_of_declarations(mutants: list[Mutant]) -> None:
    kinds = {mutant.operator for mutant in mutants}
    # A port of assignments declares nothing.
    assert {operator.name for operator in all_operators()} - kinds == {
        "dropped_declarations",
        "dropped_keys",
        "resolved_reads",
    }


def test_a_mutant_is_plain_data(port: MutablePackage, mutants: list[Mutant]) -> None:
    for mutant in mutants[::50]:
        again = msgspec.json.decode(msgspec.json.encode(mutant), type=Mutant)
        assert again == mutant
        assert port.mutated(again) == port.mutated(mutant)


def test_every_write_of_a_field_has_its_mutants(port: MutablePackage, mutants: list[Mutant]) -> None:
    dropped = {(mutant.file, mutant.line) for mutant in mutants if mutant.operator == "dropped_writes"}
    changed = {(mutant.file, mutant.line) for mutant in mutants if mutant.role == "value"}
    for file, text in port.texts.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Assign | ast.AugAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(isinstance(target, ast.Attribute) for target in targets):
                    assert (file, node.lineno) in dropped
                    lines = {(file, line) for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
                    assert lines & changed, f"{file}:{node.lineno}"


def test_every_condition_has_its_mutants(port: MutablePackage, mutants: list[Mutant]) -> None:
    fixed = {(mutant.file, mutant.line) for mutant in mutants if mutant.operator == "fixed_conditions"}
    for file, text in port.texts.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.If | ast.IfExp | ast.Assert):
                assert (file, node.test.lineno) in fixed, f"{file}:{node.test.lineno}"


def test_texts_for_people_and_annotations_stay(port: MutablePackage, mutants: list[Mutant]) -> None:
    for mutant in mutants:
        line = port.texts[mutant.file].splitlines()[mutant.line - 1].strip()
        assert not line.startswith(('"""', "raise", "from ", "import ", "@", 'f"', "#"))
        assert mutant.file != "legacy/record/arguments.py" or "Arg(" not in line[mutant.column - 1 :]


def test_another_value_of_a_field_is_one_that_occurs_for_it(mutants: list[Mutant]) -> None:
    becomes: defaultdict[str, set[str]] = defaultdict(set)
    for mutant in mutants:
        if (mutant.operator, mutant.file, mutant.role) == ("constants", "legacy/handlers/attention.py", "value"):
            becomes[mutant.before].add(mutant.after)
    assert becomes["64"] == {"65", "63", "None"}
    assert becomes["Backend.DISABLED"] == {"None"}
    backends = {f'"{name}"' for name in ATTENTION_BACKEND_CHOICES}
    assert '"trtllm_mla"' in becomes
    # That one is also a sampling backend.
    for before in (backends & set(becomes)) - {'"flashinfer"'}:
        assert becomes[before] <= backends | {"None"}


def test_a_sample_is_the_same_for_the_same_seed(port: MutablePackage, mutants: list[Mutant]) -> None:
    drawn = port.sample(mutants, 50, 1)
    assert drawn == port.sample(mutants, 50, 1)
    assert drawn != port.sample(mutants, 50, 2)
    assert len(set(drawn)) == 50
    assert [mutants.index(mutant) for mutant in drawn] == sorted(mutants.index(mutant) for mutant in drawn)


def test_an_even_sample_takes_functions_and_operators_in_turns(port: MutablePackage, mutants: list[Mutant]) -> None:
    drawn = port.sample(mutants, 300, 1, even=True)
    assert drawn == port.sample(mutants, 300, 1, even=True)
    assert {port.function_of(mutant) for mutant in drawn} == {port.function_of(mutant) for mutant in mutants}
    kinds = {(mutant.file, port.function_of(mutant), mutant.operator) for mutant in mutants}
    counts = Counter((mutant.file, port.function_of(mutant), mutant.operator) for mutant in drawn)
    # No kind comes again before each of the function's has come.
    again = {(file, function) for (file, function, _), count in counts.items() if count > 1}
    assert not {kind for kind in kinds if kind[:2] in again and kind not in counts}


def test_a_sample_of_more_than_there_are_is_all(port: MutablePackage) -> None:
    few = port.mutants(operators=["dropped_environment_writes"])
    assert port.sample(few, 1_000, 1) == few


def test_mutants_are_restricted(port: MutablePackage) -> None:
    some = port.mutants(files=["legacy/handlers/moe.py"], operators=["constants", "comparisons"], roles=["value"])
    assert some
    assert {(mutant.file, mutant.operator, mutant.role) for mutant in some} == {
        ("legacy/handlers/moe.py", "constants", "value")
    }


def test_functions_and_classes_can_be_left_out(port: MutablePackage, mutants: list[Mutant]) -> None:
    names = {port.function_of(mutant).name for mutant in mutants}
    left_out = next(name for name in sorted(names) if "." in name).split(".")
    rest = port.outside(mutants, [left_out[0]])
    assert 0 < len(rest) < len(mutants)
    assert not [mutant for mutant in rest if left_out[0] in port.function_of(mutant).name.split(".")]
    assert port.outside(mutants, []) == mutants
    with pytest.raises(UsageError, match="no function with faults 'nobody' to mutate"):
        port.outside(mutants, ["nobody"])


def test_names_that_there_are_not_are_refused(port: MutablePackage) -> None:
    with pytest.raises(UsageError, match=r"no operator 'comparison' to mutate \(did you mean 'comparisons'\?\)"):
        port.mutants(operators=["comparison"])
    with pytest.raises(UsageError, match=r"no file 'legacy/moo\.py'"):
        port.mutants(files=["legacy/moo.py"])


def test_a_diff_shows_the_one_place(toy: MutablePackage) -> None:
    (mutant,) = toy.mutants(operators=["dropped_members", "comparisons"], roles=["guard"])[1:]
    assert toy.diff(mutant).splitlines()[:2] == ["--- a/toy/__init__.py", "+++ b/toy/__init__.py"]
    assert [line for line in toy.diff(mutant).splitlines()[2:] if line[0] in "+-"] == [
        "-    if size > LIMIT:",
        "+    if size >= LIMIT:",
    ]


def test_a_mutant_of_other_sources_is_refused(toy: MutablePackage) -> None:
    mutant = toy.mutants(operators=["comparisons"])[0]
    with pytest.raises(UsageError, match="is not what it was when its mutant was made"):
        mutated("other = 1\n", mutant)
    with pytest.raises(UsageError, match="which is no file of"):
        toy.mutated(msgspec.structs.replace(mutant, file="toy/none.py"))


def test_a_folder_without_a_package_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no package"):
        MutablePackage(tmp_path)
    (tmp_path / "__init__.py").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="is not UTF-8"):
        MutablePackage(tmp_path)
    (tmp_path / "__init__.py").write_text("x = = 1\n")
    with pytest.raises(UsageError, match="is not Python"):
        MutablePackage(tmp_path).mutants()


def test_line_ends_and_other_files_stay(tmp_path: Path) -> None:
    folder = tmp_path / "crlf"
    folder.mkdir()
    (folder / "__init__.py").write_bytes("é = 'ü'\r\nif a:\r\n    b.c = 64\r\n".encode())
    (folder / "data.json").write_bytes(b"\xff")
    package = MutablePackage(folder)
    (mutant,) = package.mutants(operators=["dropped_writes"])
    package.write(tmp_path / "out", {mutant.file: package.mutated(mutant)})
    assert (tmp_path / "out/crlf/__init__.py").read_bytes() == "é = 'ü'\r\nif a:\r\n    pass\r\n".encode()
    assert (tmp_path / "out/crlf/data.json").read_bytes() == b"\xff"
