"""What is left to a person, what to label first, and whether fresh texts still are what a run was measured on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from psopt.api import asking_rule

from tests.cli.limited_runs import write_data
from tests.cli.telling import check_refused, check_says, failed_cases
from tests.commands import psopt
from tests.sweeps import each

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

SIM = "sim/wobble=0.5,accuracy=0.8,na=0"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run of two classes with 80 samples a split, its texts, and its prompt without it."""
    folder = tmp_path_factory.mktemp("asking")
    asked = ("who saw {} {} ?,Person", "when did {} {} end ?,Number")
    write_data(folder, 80, lambda split, i: asked[i % 2].format(split, i))
    texts = [row.split(",")[1] for row in (folder / "data.csv").read_text().splitlines()[161:]]
    odd = [f"please tell us when the {word} was sold" for word in ("harbour", "mill", "orchard", "bell", "ferry")]
    files = {
        "fresh.txt": texts,
        "numbers.txt": texts[1::2],
        "unlabelled.csv": ["text", *odd, odd[0], odd[0]],
        "task.toml": ['description = "Sort the question."', 'labels = ["Number", "Person"]'],
    }
    for name, lines in files.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    sizes = ("--trials", "3", "--rephrasings", "4", "--heldout", "4", "--out", "run")
    psopt(folder, "optimize", "--dataset", "data.csv", "--model", SIM, *sizes, code=0)
    prompt = json.loads((folder / "run" / "front.json").read_text())["prompts"][0]["prompt"]
    (folder / "bare.json").write_text(json.dumps(prompt))
    return folder


def classify(folder: Path, *more: str, prompt: str = "run", code: int = 0) -> subprocess.CompletedProcess[str]:
    return psopt(folder, "classify", "fresh.txt", "--prompt", prompt, *more, code=code)


def test_the_least_steady_rows_are_marked_and_val_and_test_say_what_that_gives(folder: Path) -> None:
    done = classify(folder, "--wordings", "4", "--abstain", "0.5")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert len(rows) == 80
    shares = {mark: [float(share) for _, share, of in rows if of == mark] for mark in ("kept", "person")}
    assert min(shares["kept"]) > max(shares["person"])
    val = asking_rule(folder / "run", 4, rate=0.5).val
    assert val is not None
    assert val.share >= 0.5
    check_says(
        done.stderr,
        f"Left to a person: {len(shares['person'])} of 80 texts",
        "On val, where this was set: ",
        f"{val.n_kept} of 80 answers kept, F1 {100 * val.f1:.1f}",
        "On test, under held-out wordings: ",
    )


def test_a_target_keeps_what_val_shows_and_json_marks_it(folder: Path) -> None:
    rule = asking_rule(folder / "run", 4, rate=0.0)
    assert rule.val is not None
    target = f"{rule.val.least_f1 - 0.01:.3f}"  # what all answers show
    done = classify(folder, "--wordings", "4", "--target-f1", target, "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {line["to_person"] for line in lines} == {False}
    assert {line["sensitivity"] > 0 for line in lines} == {True, False}
    done = classify(folder, "--wordings", "4", "--target-f1", "0.97", code=2)
    assert "without an error it takes 99 that are kept" in done.stderr


def test_without_a_run_or_with_another_model_there_is_a_share_and_no_promise(folder: Path) -> None:
    done = classify(folder, "--model", SIM, "--wordings", "4", "--abstain", "0.4", prompt="bare.json")
    marks = [line.split("\t")[2] for line in done.stdout.splitlines()]
    assert 0 < marks.count("person") <= 32
    promise = ("--wordings", "4", "--target-f1", "0.5")
    refused = classify(folder, "--model", "minilm", *promise, prompt="bare.json", code=2)
    check_says(refused.stderr, "prompt bare.json lies in no run: give a run of `psopt optimize`, or --abstain RATE")
    for other in (("--max-tokens", "300"), ("--model", "sim/accuracy=0.9")):
        refused = classify(folder, *other, *promise, code=2)
        check_says(refused.stderr, "leave --model and all that changes answers as it was there")
    assert "On val" not in classify(folder, *other, "--wordings", "4", "--abstain", "0.2").stderr


def test_fresh_texts_of_the_same_kind_pass_and_others_do_not(folder: Path) -> None:
    same = psopt(folder, "check", "--baseline", "run", "--fresh", "fresh.txt", code=0)
    assert [line.split(" ")[:2] for line in same.stdout.splitlines()] == [["ok:", "S"], ["ok:", "label"]]
    assert "label shares by majority vote: " in same.stdout
    words = ("check", "--baseline", "run", "--fresh", "numbers.txt", "--junit", "fresh.xml", "--json")
    found = json.loads(psopt(folder, *words, code=1).stdout)
    assert {shift["measure"]: shift["is_seen"] for shift in found["shifts"]}["label_shares"]
    assert (found["n_known"], found["n_fresh"], found["n_rephrasings"], found["split"]) == (80, 40, 4, "test")
    assert "drift of label shares" in failed_cases(folder / "fresh.xml")


CLASSIFY = ["classify", "fresh.txt", "--prompt", "run"]
CHECK = ["check", "--fresh", "fresh.txt"]


@each(
    "words, message",
    [
        ([*CLASSIFY, "--wordings", "4", "--target-f1", "1"], "--target-f1 1: a number above 0 and below 1 is expected"),
        ([*CLASSIFY, "--wordings", "4", "--abstain", ".2", "--target-f1", ".5"], "give one of them"),
        ([*CLASSIFY, "--abstain", ".2"], "give --wordings 2 or more"),
        ([*CLASSIFY, "--wordings", "9", "--target-f1", ".5"], "run has val answers under 4 wordings"),
        (CHECK, "--baseline RUN and --fresh TEXTS belong together"),
        ([*CHECK, "--baseline", "run", "--fresh", "nothing.txt"], "nothing.txt can't be read"),
        ([*CHECK, "--baseline", "bare.json"], "--baseline bare.json lies in no run"),
        ([*CHECK, "--baseline", "run", "--min-f1", ".5"], "leave bounds and data out"),
        ([*CHECK, "--baseline", "run", "--rephrasings", "1"], "under one wording S is 0"),
    ],
)
def test_what_makes_no_sense_is_one_line(folder: Path, words: list[str], message: str) -> None:
    check_refused(psopt(folder, *words), message, alone=False)


def test_what_to_label_first_is_what_changes_most_and_no_copy(folder: Path) -> None:
    given = ("--dataset", "unlabelled.csv", "--task-file", "task.toml", "--model", SIM, "--to-label", "10", "--json")
    ranked = json.loads(psopt(folder, "diagnose", *given, code=0).stdout)["to_label"]
    assert [of["sensitivity"] for of in ranked] == sorted((of["sensitivity"] for of in ranked), reverse=True)
    assert len({of["text"] for of in ranked}) == len(ranked)
    assert sum("harbour" in of["text"] for of in ranked) == 1
    shown = psopt(folder, "diagnose", *given[:-3], code=0).stdout
    check_says(shown, "Next: add labels, which psopt optimize needs; --to-label N lists the samples to label first.")
