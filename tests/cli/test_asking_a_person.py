"""What is left to a person, what to label first, and whether fresh texts still are what a run was measured on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from psopt.api import asking_rule

from tests.commands import psopt

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

SIM = "sim/wobble=0.5,accuracy=0.8,na=0"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run of two classes with 80 samples a split, its texts, and its prompt without it."""
    folder = tmp_path_factory.mktemp("asking")
    rows = ["id,text,label,split"]
    for split in ("train", "val", "test"):
        for i in range(80):
            text, label = (f"when did {split} {i} end ?", "Number") if i % 2 else (f"who saw {split} {i} ?", "Person")
            rows.append(f"{split}{i},{text},{label},{split}")
    (folder / "data.csv").write_text("\n".join(rows) + "\n")
    texts = [row.split(",")[1] for row in rows[161:]]
    (folder / "fresh.txt").write_text("\n".join(texts))
    (folder / "numbers.txt").write_text("\n".join(texts[1::2]))
    (folder / "empty.txt").write_text("\n")
    (folder / "columns.csv").write_text("a,b\n1,2\n")
    sizes = ("--trials", "3", "--rephrasings", "4", "--heldout", "4", "--out", "run")
    psopt(folder, "optimize", "--dataset", "data.csv", "--model", SIM, *sizes, code=0)
    prompt = json.loads((folder / "run" / "front.json").read_text())["prompts"][0]["prompt"]
    (folder / "bare.json").write_text(json.dumps(prompt))
    return folder


def rows_of(done: subprocess.CompletedProcess[str]) -> list[list[str]]:
    assert done.returncode == 0, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


def test_the_least_steady_rows_are_marked_and_val_and_test_say_what_that_gives(folder: Path) -> None:
    done = psopt(folder, "classify", "fresh.txt", "--prompt", "run", "--wordings", "4", "--abstain", "0.5")
    rows = rows_of(done)
    assert len(rows) == 80
    shares = {mark: [float(share) for _, share, of in rows if of == mark] for mark in ("kept", "person")}
    assert min(shares["kept"]) > max(shares["person"])
    words = " ".join(done.stderr.split())
    assert f"Left to a person: {len(shares['person'])} of 80 texts" in words
    assert "On val, where this was set: " in words
    assert "On test, under held-out wordings: " in words
    rule = asking_rule(folder / "run", 4, rate=0.5)
    assert rule.val is not None
    assert rule.val.share >= 0.5
    assert f"{rule.val.n_kept} of 80 answers kept, F1 {100 * rule.val.f1:.1f}" in words


def test_a_target_keeps_what_val_shows_and_json_marks_it(folder: Path) -> None:
    rule = asking_rule(folder / "run", 4, rate=0.0)
    assert rule.val is not None
    target = f"{rule.val.least_f1 - 0.01:.3f}"  # what all answers show
    done = psopt(folder, "classify", "fresh.txt", "--prompt", "run", "--wordings", "4", "--target-f1", target, "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {line["to_person"] for line in lines} == {False}
    assert {line["sensitivity"] > 0 for line in lines} == {True, False}
    done = psopt(folder, "classify", "fresh.txt", "--prompt", "run", "--wordings", "4", "--target-f1", "0.97", code=2)
    assert "without an error it takes 99 that are kept" in done.stderr


def test_a_prompt_without_a_run_leaves_its_share_of_the_file(folder: Path) -> None:
    given = ("--prompt", "bare.json", "--model", SIM, "--wordings", "4", "--abstain", "0.4")
    rows = rows_of(psopt(folder, "classify", "fresh.txt", *given))
    marks = [mark for _, _, mark in rows]
    assert 0 < marks.count("person") <= 32


def test_another_model_than_the_run_s_is_no_ground_for_a_promise(folder: Path) -> None:
    given = ("fresh.txt", "--prompt", "run", "--model", "sim/accuracy=0.9", "--wordings", "4")
    done = psopt(folder, "classify", *given, "--target-f1", "0.5", code=2)
    assert "leave --model and --logprobs as the run had them" in done.stderr
    assert "On val" not in psopt(folder, "classify", *given, "--abstain", "0.2").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--wordings", "4", "--abstain", "20"], "'--abstain': a number from 0 to 1 is expected, not '20'"),
        (["--wordings", "4", "--target-f1", "1.2"], "'--target-f1': a number from 0 to 1 is expected"),
        (["--wordings", "4", "--target-f1", "1"], "--target-f1 1: a number above 0 and below 1 is expected"),
        (["--wordings", "4", "--abstain", ".2", "--target-f1", ".5"], "give one of them"),
        (["--wordings", "1", "--abstain", ".2"], "give --wordings 2 or more"),
        (["--abstain", ".2"], "give --wordings 2 or more"),
        (["--wordings", "9", "--target-f1", ".5"], "run has val answers under 4 wordings"),
    ],
)
def test_what_can_not_be_left_to_a_person_is_one_line(folder: Path, arguments: list[str], message: str) -> None:
    done = psopt(folder, "classify", "fresh.txt", "--prompt", "run", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in " ".join(done.stderr.split())


def test_a_promise_needs_a_run(folder: Path) -> None:
    given = ("--prompt", "bare.json", "--model", "minilm", "--wordings", "4", "--target-f1", ".5")
    done = psopt(folder, "classify", "fresh.txt", *given, code=2)
    assert "prompt bare.json lies in no run: give a run of `psopt optimize`, or --abstain RATE" in done.stderr


def test_fresh_texts_of_the_same_kind_pass_and_others_do_not(folder: Path) -> None:
    same = psopt(folder, "check", "--baseline", "run", "--fresh", "fresh.txt")
    assert same.returncode == 0, same.stdout + same.stderr
    assert [line.split(" ")[:2] for line in same.stdout.splitlines()] == [["ok:", "S"], ["ok:", "label"]]
    done = psopt(
        folder, "check", "--baseline", "run", "--fresh", "numbers.txt", "--junit", "fresh.xml", "--json", code=1
    )
    found = json.loads(done.stdout)
    assert {shift["measure"]: shift["is_seen"] for shift in found["shifts"]}["label_shares"]
    assert (found["n_known"], found["n_fresh"], found["n_rephrasings"], found["split"]) == (80, 40, 4, "test")
    failed = [
        case.get("name") for case in ET.parse(folder / "fresh.xml").iter("testcase") if case.find("failure") is not None
    ]
    assert "drift of label shares" in failed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fresh", "fresh.txt"], "--baseline RUN and --fresh TEXTS belong together"),
        (["--baseline", "run"], "--baseline RUN and --fresh TEXTS belong together"),
        (["--baseline", "run", "--fresh", "empty.txt"], "there is no text to classify"),
        (["--baseline", "run", "--fresh", "nothing.txt"], "nothing.txt can't be read"),
        (["--baseline", "run", "--fresh", "columns.csv"], "columns.csv: has no column 'text'"),
        (["--baseline", "bare.json", "--fresh", "fresh.txt"], "--baseline bare.json lies in no run"),
        (["--baseline", "run", "--fresh", "fresh.txt", "--min-f1", ".5"], "leave bounds and data out"),
        (["--baseline", "run", "--fresh", "fresh.txt", "--rephrasings", "1"], "under one wording S is 0"),
        (["--min-f1", ".5"], "Missing option '--dataset'"),
    ],
)
def test_what_can_not_be_held_against_a_run_is_one_line(folder: Path, arguments: list[str], message: str) -> None:
    done = psopt(folder, "check", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in " ".join(done.stderr.split())


def test_a_run_without_its_answers_says_how_to_have_them_again(folder: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(folder / "run", tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "predictions")
    for arguments in (
        ("check", "--baseline", str(tmp_path / "run"), "--fresh", "fresh.txt"),
        ("classify", "fresh.txt", "--prompt", str(tmp_path / "run"), "--wordings", "4", "--target-f1", ".5"),
    ):
        done = psopt(folder, *arguments, code=2)
        assert "holds no answers on val: write it anew with `psopt resume" in done.stderr


def test_what_to_label_first_is_what_changes_most_and_no_copy(folder: Path) -> None:
    rows = ["text"]
    rows += [f"please tell us when the {word} was sold" for word in ("harbour", "mill", "orchard", "bell", "ferry")]
    rows += [rows[1], rows[1]]
    (folder / "unlabelled.csv").write_text("\n".join(rows))
    (folder / "task.toml").write_text('description = "Sort the question."\nlabels = ["Number", "Person"]\n')
    given = ("--dataset", "unlabelled.csv", "--task-file", "task.toml", "--model", SIM, "--to-label", "10", "--json")
    done = psopt(folder, "diagnose", *given, code=0)
    ranked = json.loads(done.stdout)["to_label"]
    assert [of["sensitivity"] for of in ranked] == sorted((of["sensitivity"] for of in ranked), reverse=True)
    assert len({of["text"] for of in ranked}) == len(ranked)
    assert sum("harbour" in of["text"] for of in ranked) == 1
