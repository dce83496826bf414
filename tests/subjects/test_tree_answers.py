"""Answers files: what is wrong with one is said in a sentence, and a right one works end to end."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_up_trees import BAD, CPU, CUDA, case, make_tree, subject_of

from harness.common.errors import UsageError
from harness.subjects.kinds import unanswered
from harness.subjects.profile import _check_entry, answer_example, answer_for, load_profile

WRONG = {
    "not toml": ("a = ", "is not valid TOML"),
    "unknown table": ("[[answer]]\nname = 'a'", "unknown table 'answer' (did you mean 'answers'"),
    "no tables": ("answers = 3", "write 'answers' as tables, [[answers]]"),
    "no list": ("real = 'a'", "'real' must be a list of module names"),
    "no name": ("[[answers]]\nvalue = 1", "[[answers]] number 1 has no 'name'"),
    "no answer": ("[[answers]]\nname = 'a.b'", "[[answers]] number 1 (a.b) needs exactly one of value, none, from"),
    "two answers": ("[[answers]]\nname = 'a.b'\nvalue = 1\nnone = true", "needs exactly one of value"),
    "unknown key": ("[[answers]]\nname = 'a.b'\nvalu = 1", "unknown key 'valu' (did you mean 'value'"),
    "unknown fact": (
        "[[answers]]\nname = 'a.b'\nfrom = 'hardware.platfrom'",
        "the case has no fact 'hardware.platfrom' (did you mean 'hardware.platform'",
    ),
    "second": ("[[answers]]\nname = 'a'\nvalue = 1\n[[answers]]\nname = 'b'\nfrom = 3", "[[answers]] number 2 (b)"),
    "case without of": ("[[answers]]\nname = 'a'\ncase = 'model.gguf'", "'case' needs 'of'"),
    "inside of": ("[[answers]]\nname = 'a'\ncase = 'model.gguf'\nof = { true = 3 }", "an answer is a table"),
    "inside object": ("[[answers]]\nname = 'a'\nobject = { b = { valeu = 1 } }", "(a).b: unknown key 'valeu'"),
    "inside all": ("[[answers]]\nname = 'a'\nall = [{ from = 'model.gguff' }]", "did you mean 'model.gguf'"),
    "all of nothing": ("[[answers]]\nname = 'a'\nall = 3", "'all' is a list of answers"),
    "tree": ("[[answers]]\nname = 'a'\ntree = 'a.b'", "'tree' is 'module:name' of the tree"),
    "argument": ("[[answers]]\nname = 'a'\nfunction = 'a:b'\narguments = ['x']", "the case has no fact 'x'"),
    "arguments": ("[[answers]]\nname = 'a'\nfunction = 'a:b'\narguments = 'model.gguf'", "'arguments' is a list"),
    "none": ("[[answers]]\nname = 'a'\nnone = false", "'none' is true"),
    "tuple": ("[[answers]]\nname = 'a'\nvalue = 1\ntuple = true", "'tuple' is for a list"),
    "imports": ("[[imports]]\nname = 'a'\nvalue = 'yes'", "'value' is true or false, whether the import succeeds"),
    "imports key": ("[[imports]]\nname = 'a'\nform = 'probe.is_npu'", "unknown key 'form' (did you mean 'from'"),
    "partial": ("[[partial]]\nmodule = 'a'", "[[partial]] number 1 needs 'module' (a dotted name) and 'names'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answers_file(name: str, tmp_path: Path) -> None:
    text, words = WRONG[name]
    file = tmp_path / "answers.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        load_profile(file)
    message = str(caught.value)
    assert message.startswith(f"answers file {file}")
    assert words in message
    assert "\n" not in message


def test_an_answers_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"answers file .*gone\.toml: No such file"):
        load_profile(tmp_path / "gone.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="is not valid TOML"):
        load_profile(tmp_path / "bytes.toml")


def test_the_built_in_profile_keeps_its_own_rules() -> None:
    profile = load_profile()
    for table in ("answers", "imports", "partial"):
        for entry in profile[table]:
            _check_entry(entry, table, table)
    names = [entry["name"] for entry in profile["answers"]]
    assert len(names) == len(set(names))


def test_loading_changes_nothing_for_the_next(tmp_path: Path) -> None:
    file = tmp_path / "answers.toml"
    name = "sglang.srt.configs.model_config.ModelConfig.from_server_args"
    file.write_text(f"real = ['a']\n[[answers]]\nname = '{name}.hf_config.rope'\nvalue = 1\n")
    before = load_profile()
    loaded = load_profile(file)
    assert load_profile() == before
    (entry,) = (entry for entry in loaded["answers"] if entry["name"] == name)
    assert entry["object"]["hf_config"]["object"]["rope"] == {"value": 1}


FILE = """
real = ["sglang.srt.extra"]

[[answers]]
name = "torch.cuda.device_count"
from = "hardware.memory_mib"
[[answers]]
name = "torch.version.hip"
attribute = true
case = "hardware.platform"
of = { cuda = { none = true }, cpu = { value = "6.4" } }
[[answers]]
name = "torch.cuda.get_device_properties"
object = { major = { value = 9 }, name = { call = { value = "device" } } }
[[answers]]
name = "sglang.srt.extra.slow_probe"
from = "probe.is_cuda"
[[answers]]
name = "torch.sizes"
value = [1, 2]
tuple = true
[[imports]]
name = "nowhere"
value = true
[[imports]]
name = "never"
value = false
[[imports]]
name = "sometimes"
from = "probe.is_cuda"
"""


def test_an_answers_file_works(tmp_path: Path) -> None:
    file = tmp_path / "answers.toml"
    file.write_text(FILE)
    body = """
        import nowhere
        from sglang.srt.extra import CONSTANT, asked
        tried = []
        for name in ("never", "sometimes"):
            try:
                __import__(name)
                tried.append(name)
            except ImportError:
                pass
        device = torch.cuda.get_device_properties(0)
        self.page_size = [
            torch.cuda.device_count(), torch.version.hip is None, torch.version.hip == "6.4", device.major,
            device.name(), CONSTANT, asked(), tried, torch.sizes() == (1, 2),
        ]
    """
    extra = "CONSTANT = 7\ndef slow_probe():\n    raise RuntimeError\ndef asked():\n    return slow_probe()\n"
    tree = make_tree(tmp_path / "tree", body=body, top="import torch", files={"sglang/srt/extra.py": extra})
    with subject_of(tree, load_profile(file)) as subject:
        cuda, cpu, again = subject.outcomes([case("a", **BAD), case("b", CPU, **BAD), case("c", CUDA, **BAD)])
    assert cuda.fields and cpu.fields and again.fields, (cuda, cpu)
    assert cuda.fields["page_size"] == [262144, True, False, 9, "device", 7, True, ["sometimes"], True]
    assert cpu.fields["page_size"] == [262144, False, True, 9, "device", 7, False, [], True]
    assert again.fields == cuda.fields


def test_a_value_that_an_answer_does_not_foresee(tmp_path: Path) -> None:
    file = tmp_path / "answers.toml"
    file.write_text("[[answers]]\nname = 'torch.x'\ncase = 'hardware.platform'\nof = { cuda = { value = 1 } }\n")
    tree = make_tree(tmp_path / "tree", body="torch.x()", top="import torch")
    with subject_of(tree, load_profile(file)) as subject:
        cuda, cpu = subject.outcomes([case("a", **BAD), case("b", CPU, **BAD)])
    assert cuda.fields is not None
    assert cpu.failure is not None and cpu.failure.kind == "unanswered"
    words = "torch.x was observed where hardware.platform is 'cpu', which its answer's 'of' leaves out (in _bad)"
    assert cpu.failure.detail == words


ROUND_TRIPS = {
    "call": "self.page_size = torch.cuda.is_available()",
    "truth": "self.page_size = bool(torch.flag)",
    "compared": "self.page_size = torch.version.x == 'a'",
    "nested": "self.page_size = torch.deep.er.still()",
    "called at import": "self.page_size = bool(AT_IMPORT.major)",
    "function of a call": "self.page_size = AT_IMPORT.query()",
    "decorated": "self.page_size = decorated()",
    "module": "import sglang.srt.elsewhere as m; self.page_size = m.ask()",
    "import": "import nowhere; self.page_size = False",
    "config": "from sglang.srt.configs.model_config import ModelConfig as M\n"
    "self.page_size = M.from_server_args(self).hf_config.rope",
}


@pytest.mark.parametrize("name", ROUND_TRIPS)
def test_the_lines_an_error_shows_work_when_pasted(name: str, tmp_path: Path) -> None:
    top = "import torch\nAT_IMPORT = torch.probe()\n@torch.compile(mode=1)\ndef decorated(): return 1\n"
    files = {"sglang/srt/elsewhere.py": "raise RuntimeError('a stand-in is to be loaded instead')"}
    tree = make_tree(tmp_path / "tree", body=ROUND_TRIPS[name], top=top, files=files)
    with subject_of(tree) as subject:
        (outcome,) = subject.outcomes([case("a", **BAD)])
    assert outcome.failure is not None and outcome.failure.kind == "unanswered"
    example = answer_for(outcome.failure.detail)
    assert example
    file = tmp_path / "answers.toml"
    file.write_text(example)
    with subject_of(tree, load_profile(file)) as subject:
        (outcome,) = subject.outcomes([case("a", **BAD)])
    assert outcome.fields is not None, outcome
    assert outcome.fields["page_size"] is False


@pytest.mark.parametrize(
    "top",
    [
        "import torch\nKIND = 1 if torch.cuda.is_available() else 2",
        "import torch\nKIND = 1 if torch.flag else 2",
        "import torch\nif hasattr(torch.ops, 'kernel'): pass",
        "import nowhere",
        "try: import nowhere\nexcept ImportError: pass",
        "try: import flashinfer\nexcept ImportError: pass",
        "KIND = 1 if is_cuda() else 2",
    ],
)
def test_the_lines_an_error_at_import_shows_work_when_pasted(top: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", top=top)
    with pytest.raises(UsageError) as caught:
        subject_of(tree)
    file = tmp_path / "answers.toml"
    file.write_text(caught.value.example)
    with subject_of(tree, load_profile(file)) as subject:
        assert subject.outcomes([case("a")])[0].fields is not None


def test_no_lines_for_what_no_answer_can_permit() -> None:
    assert answer_example("open(/etc/passwd, w)", "opened a file for writing") == ""
    error = unanswered("made-up", "os.fork()", "started a process", "in case 'a'")
    assert "a resolution may not do" in str(error)
    assert error.example == ""
