"""A campaign in shards: merged they are one run, and nothing counts twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_trees import make_tree

from harness.common.errors import UsageError
from harness.engine.result.events import Space, Tuples
from harness.engine.search.interactions import Seen
from harness.report.result.shards import parse_shard

pytestmark = pytest.mark.slow

SMALL = ("--cases", "1100", "--jobs", "1", "--seed", "5")


@pytest.fixture
def trees(tmp_path: Path) -> tuple[str, str]:
    """Two subjects that differ for two ranks, and in one more place on CUDA."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    make_tree(tmp_path / "a")
    make_tree(
        tmp_path / "b",
        sampling="self.sampling_backend = 'x' if self.tp_size > 1 else 'flashinfer' if is_cuda() else 'pytorch'",
        body="self.page_size = 3",
    )
    return f"dir:{tmp_path}/a#slice", f"dir:{tmp_path}/b#slice"


@pytest.fixture
def ledger(tmp_path: Path, trees: tuple[str, str]) -> Path:
    """A ledger that explains one of the differences."""
    path = tmp_path / "ledger.toml"
    path.write_text(
        'format = "stackproof.ledger/1"\n[[difference]]\nid = "ranks"\nfields = ["sampling_backend"]\n'
        f'subjects = {json.dumps(trees)}\nreason = "meant"\nreference = "#1"\nexpires = 2030-12-31\n'
        '[difference.when]\n"args.tp_size" = { at_least = 2 }\n'
    )
    return path


@pytest.mark.parametrize("of", [2, 4])
def test_shards_merged_are_one_run(run, trees, ledger: Path, tmp_path: Path, of: int) -> None:  # type: ignore[no-untyped-def]
    gate = ("gate", *trees, *SMALL, "--ledger", str(ledger))
    one = run(*gate, "--format", "json")
    files = [str(tmp_path / f"{index}.json") for index in range(1, of + 1)]
    for index, file in enumerate(files, 1):
        done = run(*gate, "--shard", f"{index}/{of}", "--report", f"json={file}")
        assert (done.status, done.out, done.err) == (0, "", "")
    cases = [sum(json.loads(Path(file).read_text())["gathered"]["sums"]["counts"].values()) for file in files]
    assert sum(cases) == 1100
    assert min(cases) > 0
    merged = run("merge", *reversed(files), "--jobs", "1", "--format", "json")
    assert merged.status == one.status == 1
    document = json.loads(one.out)
    assert document["counts"]["explained"] > 0
    assert document["counts"]["different"] > 0
    assert merged.out == one.out


def test_shards_of_a_callable_are_merged_too(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    for name, port in (("a", 443), ("b", 444)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "app.py").write_text(
            "from dataclasses import dataclass, replace\n\n@dataclass\nclass Settings:\n    port: int = 80\n"
            "    mode: str = 'plain'\n\ndef resolve(settings: Settings) -> Settings:\n"
            f"    return replace(settings, mode='tls' if settings.port == {port} else 'plain')\n"
        )
    names = [f"dir:{tmp_path}/{name}#python:app:resolve" for name in ("a", "b")]
    gate = ("gate", *names, "--cases", "600", "--jobs", "1")
    one = run(*gate, "--format", "json")
    files = [str(tmp_path / f"{index}.json") for index in (1, 2)]
    for index, file in enumerate(files, 1):
        assert run(*gate, "--shard", f"{index}/2", "--report", f"json={file}").status == 0
    merged = run("merge", *files, "--jobs", "1", "--format", "json")
    assert (merged.status, merged.err) == (1, "")
    assert merged.out == one.out


def test_a_shard_of_one_is_the_whole(run, trees, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    gate = ("gate", *trees, "--cases", "300", "--jobs", "1")
    file = tmp_path / "all.json"
    run(*gate, "--shard", "1/1", "--report", f"json={file}")
    merged = run("merge", str(file), "--jobs", "1")
    assert merged.out == run(*gate).out


@pytest.fixture
def shards(run, trees, tmp_path: Path) -> list[Path]:  # type: ignore[no-untyped-def]
    """The files of two shards."""
    files = [tmp_path / "1.json", tmp_path / "2.json"]
    for index, file in enumerate(files, 1):
        words = ("--shard", f"{index}/2", "--report", f"json={file}")
        run("gate", *trees, "--cases", "300", "--jobs", "1", *words)
    return files


def test_what_is_no_whole_campaign_is_refused(run, shards: list[Path], tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    first, second = map(str, shards)
    run("merge", first).is_refused("shard 2/2 is missing")
    run("merge", first, second, first).is_refused("shard 1/2 is there twice", first)
    run("merge", first, str(tmp_path / "none.json")).is_refused("none.json", "No such file")
    other = tmp_path / "other.json"

    def changed(**parts: Any) -> str:
        document = json.loads(shards[1].read_text())
        for name, value in parts.items():
            place = document if name in document else document["asked"] if name in document["asked"] else None
            if place is not None:
                place[name] = value
        other.write_text(json.dumps(document))
        return str(other)

    run("merge", first, changed(seed=9)).is_refused("not of one campaign: they differ in seed")
    run("merge", first, changed(shard={"index": 2, "of": 4})).is_refused("one of 2 shards", "one of 4")
    for index, of in ((3, 2), (0, 2), (1, 10**9)):
        run("merge", changed(shard={"index": index, "of": of})).is_refused(f"shard {index}/{of}, which there is not")
    run("merge", first, changed(format="stackproof.shard/9")).is_refused("its format is 'stackproof.shard/9'")
    run("merge", first, changed(gathered={})).is_refused("not the whole of a shard", "sums")
    # It is of the right types, and means nothing.
    found = json.loads(shards[1].read_text())["gathered"]
    found["sums"]["buckets"][0]["difference"]["second"] = 10**15
    run("merge", first, changed(gathered=found)).is_refused("was changed since")
    other.write_bytes(shards[1].read_bytes()[:-100])
    run("merge", first, str(other)).is_refused("not the whole of a shard")
    for file in shards:
        file.write_text(file.read_text().replace('"stackproof":"', '"stackproof":"9.'))
    run("merge", first, second).is_refused("were made by stackproof 9.")


def test_a_subject_that_is_another_by_now_is_refused(run, shards: list[Path], trees) -> None:  # type: ignore[no-untyped-def]
    folder = Path(trees[1].removeprefix("dir:").removesuffix("#slice"))
    record = folder / "sglang/srt/server_args.py"
    text = record.read_text()
    record.write_text(text.replace("if self.tp_size < 1:", "if self.page_size == 7 and self.tp_size < 1:"))
    run("merge", *map(str, shards)).is_refused("was changed since the shards were run")
    # Nothing that is read off a tree tells these two apart.
    record.write_text(f"{text}# another\n")
    run("merge", *map(str, shards)).is_refused("was changed since the shards were run")
    record.unlink()
    run("merge", *map(str, shards)).is_refused("no source tree in the folder")


def test_wrong_words_are_one_sentence(run, trees) -> None:  # type: ignore[no-untyped-def]
    for text, parts in (
        ("1", ["write I/N"]),
        ("a/4", ["write I/N"]),
        ("-1/4", ["write I/N"]),
        ("1/3", ["into 1, 2 or 4 shards, not 3"]),
        ("5/4", ["1/4 to 4/4"]),
        ("0/4", ["1/4 to 4/4"]),
    ):
        run("gate", *trees, "--shard", text, "--format", "json").is_refused(f"--shard {text}", *parts)
    run("gate", *trees, "--shard", "1/4").is_refused("--format json")
    run("gate", *trees, "--shard", "1/4", "--report", "html=x.html").is_refused("--format json")
    run("merge").is_refused("SHARD")


def test_a_shard_names_its_part() -> None:
    assert [parse_shard("2/4").chunk(count) for count in range(3)] == [1, 5, 9]


@given(st.integers(0, 40), st.integers(0, 40), st.data())
def test_what_was_seen_is_joined(pairs: int, triples: int, data: st.DataObject) -> None:
    space = Space(parameters=3, pairs=pairs, triples=triples, sampled=triples)

    def drawn(count: int) -> list[int]:
        return data.draw(st.lists(st.integers(0, count - 1))) if count else []

    parts, whole, joined = [Seen(space), Seen(space)], Seen(space), Seen(space)
    for part in parts:
        fresh = Tuples(pairs=drawn(pairs), triples=drawn(triples))
        part.add(fresh)
        whole.add(fresh)
        joined.join(part.state())
    assert joined.state() == whole.state()
    with pytest.raises(ValueError, match=r"shorter|longer"):
        Seen(Space(pairs=pairs + 1, sampled=triples)).join(whole.state())


def test_parse_shard_refuses_other_digits() -> None:
    with pytest.raises(UsageError, match="write I/N"):
        parse_shard("²/4")
