"""compare, check and classify, as a user runs them; what is left to a person, what to label first, and fresh texts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from psopt import check as psopt_check
from psopt import optimize as psopt_optimize
from psopt.api import asking_rule

from tests.cli.limited_runs import write_data
from tests.cli.telling import check_refused, check_says, failed_cases
from tests.commands import psopt
from tests.sweeps import each

NOTE = 'A question that begins with "when" belongs to Number.'
SIM = "sim/wobble=0.5,accuracy=0.8,na=0"
MODEL = ["--dataset", "data.csv", "--model", "sim/wobble=0.6,accuracy=0.6,na=0"]
COMPARE = ["compare", *MODEL, "--prompt", "bare.json", "--prompt"]
CHECK = ["check", *MODEL, "--prompt", "bare.json"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of two classes with 80 samples a split, the prompt with and without a note, texts, and a run."""
    folder = tmp_path_factory.mktemp("measured")
    questions = ("who saw {} {} ?,Person", "when did {} {} end ?,Number")
    write_data(folder, 80, lambda split, i: questions[i % 2].format(split, i))
    bare = {"description": "Sort the question by what it asks for.", "labels": ["Number", "Person"], "noun": "question"}
    texts = [row.split(",")[1] for row in (folder / "data.csv").read_text().splitlines()[161:]]
    odd = [f"please tell us when the {word} was sold" for word in ("harbour", "mill", "orchard", "bell", "ferry")]
    files = {
        "bare.json": [json.dumps(bare)],
        "noted.json": [json.dumps({**bare, "notes": [NOTE]})],
        "plain.txt": ["Sort the question by what it asks for."],
        "shown.txt": ["Sort the question by what it asks for.\n\n{text} {label}"],
        "fresh.txt": texts,
        "numbers.txt": texts[1::2],
        "unlabelled.csv": ["text", *odd, odd[0], odd[0]],
        "task.toml": ['description = "Sort the question."', 'labels = ["Number", "Person"]'],
    }
    for name, lines in files.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    sizes = ("--trials", "3", "--rephrasings", "4", "--heldout", "4", "--out", "run")
    psopt(folder, "optimize", "--dataset", "data.csv", "--model", SIM, *sizes, code=0)
    return folder


def test_a_prompt_that_is_better_is_said_to_be_and_by_how_much(folder: Path) -> None:
    shown = psopt(folder, *COMPARE, "noted.json", code=0).stdout
    assert "noted.json against bare.json: F1 better (+" in shown
    assert max(map(len, shown.split("noted.json against")[0].splitlines())) <= 80
    first, second = json.loads(psopt(folder, *COMPARE, "noted.json", "--json").stdout)
    assert (first["prompt"], second["prompt"]) == ("bare.json", "noted.json")
    assert first["against_first"] == {}
    better = second["against_first"]["f1"]
    assert better["verdict"] == "better"
    assert better["difference"] == pytest.approx(second["f1"] - first["f1"])
    _, same = json.loads(psopt(folder, *COMPARE, "plain.txt", "--json").stdout)
    assert {(one["verdict"], one["p_value"]) for one in same["against_first"].values()} == {("no difference", 1.0)}


def test_models_are_compared_on_one_prompt(folder: Path) -> None:
    given = ["--model2", "sim/wobble=0,accuracy=1,na=0", "--prompt", "bare.json", "--html", "compared.html"]
    shown = psopt(folder, "compare", *MODEL, *given, code=0).stdout
    against = "sim/wobble=0,accuracy=1,na=0 against sim/wobble=0.6,accuracy=0.6,na=0: F1 better (+"
    check_says(shown, against, "S better (-", "Page: compared.html")
    page = (folder / "compared.html").read_text("utf-8")
    check_says(page, "| bare.json | sim/wobble=0,accuracy=1,na=0 |", "tabular", "F1 better (+")  # tables to paste


def test_texts_are_classified_in_their_order_and_a_vote_is_as_often_right_as_one_wording(folder: Path) -> None:
    rows = [line.split(",") for line in (folder / "data.csv").read_text().splitlines()[1:]]
    texts, truth = [row[1] for row in rows], [row[2] for row in rows]
    (folder / "texts.txt").write_text("\n\n".join(texts))
    n_empty = len(texts) - 1
    (prompt,) = list((folder / "run" / "prompts").glob("*.json"))[:1]
    one = psopt(folder, "classify", "--prompt", prompt, texts="\n".join(texts), code=0).stdout.splitlines()
    assert set(one) <= {"Number", "Person", "N/A"}
    voted = psopt(folder, "classify", "texts.txt", "--prompt", prompt, "--wordings", "15", code=0)
    assert f"Note: {n_empty} empty lines left out" in voted.stderr
    voted = psopt(folder, "classify", "texts.txt", "--prompt", prompt, "--wordings", "15", "--json", code=0)
    answers = [json.loads(line) for line in voted.stdout.splitlines()]
    assert [answer["text"] for answer in answers] == texts
    assert all(1 / 3 <= answer["agreement"] <= 1 for answer in answers)
    assert n_equal([answer["label"] for answer in answers], truth) >= n_equal(one, truth)


def test_a_runs_prompt_is_checked_on_the_test_samples_and_wordings_of_the_run(folder: Path) -> None:
    """The splits of unmarked data depend on a seed: under another one, test would hold samples of the run's train."""
    rows = [line.rpartition(",")[0] for line in (folder / "data.csv").read_text().splitlines()]
    (folder / "unmarked.csv").write_text("\n".join(rows) + "\n")
    given = ["--dataset", "unmarked.csv", "--model", MODEL[-1]]
    psopt(folder, "optimize", *given, "--seed", "1", "--trials", "2", "--rephrasings", "3", "--out", "seeded", code=0)
    entry = json.loads((folder / "seeded" / "front.json").read_text())["prompts"][0]
    prompt = f"seeded/prompts/{entry['id']}.json"
    check = ["check", *given, "--prompt", prompt, "--rephrasings", "3", "--min-f1", "0", "--json"]
    assert json.loads(psopt(folder, *check, code=0).stdout)["f1"] == entry["test"]["f1"]
    others = json.loads(psopt(folder, *check, "--seed", "42", code=0).stdout)
    assert any(others[name] != entry["test"][name] for name in ("f1", "sensitivity"))
    checked = psopt_check(folder / "unmarked.csv", folder / prompt, model=MODEL[-1], rephrasings=3, min_f1=0.0)
    assert checked.scores.f1 == entry["test"]["f1"]
    sizes: Any = {"model": MODEL[-1], "trials": 2, "rephrasings": 3}
    psopt_optimize(folder / "unmarked.csv", prompt=folder / prompt, **sizes, out=folder / "again")
    (run, begun) = (json.loads((folder / name / "samples.json").read_text()) for name in ("seeded", "again"))
    assert {sample["id"] for sample in begun["test"]} == {sample["id"] for sample in run["test"]}


def n_equal(labels: list[str], truth: list[str]) -> int:
    return sum(label == right for label, right in zip(labels, truth, strict=True))


@each(
    "words, texts, message",
    [
        (["compare", *MODEL, "--prompt", "bare.json"], "", "give two different prompts, or two models"),
        (["compare", *MODEL, "--model2", MODEL[-1]], "", "--model2 names a model twice"),
        ([*CHECK, "--max-sensitivity", "1", "--vary", "example-order"], "", "fewer than two examples"),
        (["diagnose", *MODEL, "--prompt", "shown.txt"], "", "no labels beside the inputs"),
        (["check", *MODEL, "--min-f1", "0", "--prompt", "shown.txt"], "", "a prompt that shows it tells the answer"),
        (["diagnose", *MODEL, "--html", "nowhere/page.html"], "", "there is no folder"),
        (CHECK, "", "--max-sensitivity"),
        (["classify", "--prompt", "missing.json"], "a text", "can't be read"),
    ],
)
def test_what_is_lacking_is_said(folder: Path, words: list[str], texts: str, message: str) -> None:
    check_refused(psopt(folder, *words, texts=texts), message, alone=False)


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
FRESH = ["check", "--fresh", "fresh.txt"]


@each(
    "words, message",
    [
        ([*CLASSIFY, "--wordings", "4", "--target-f1", "1"], "--target-f1 1: a number above 0 and below 1 is expected"),
        ([*CLASSIFY, "--wordings", "4", "--abstain", ".2", "--target-f1", ".5"], "give one of them"),
        ([*CLASSIFY, "--abstain", ".2"], "give --wordings 2 or more"),
        ([*CLASSIFY, "--wordings", "9", "--target-f1", ".5"], "run has val answers under 4 wordings"),
        (FRESH, "--baseline RUN and --fresh TEXTS belong together"),
        ([*FRESH, "--baseline", "run", "--fresh", "nothing.txt"], "nothing.txt can't be read"),
        ([*FRESH, "--baseline", "bare.json"], "--baseline bare.json lies in no run"),
        ([*FRESH, "--baseline", "run", "--min-f1", ".5"], "leave bounds and data out"),
        ([*FRESH, "--baseline", "run", "--rephrasings", "1"], "under one wording S is 0"),
    ],
)
def test_what_makes_no_sense_of_new_texts_is_one_line(folder: Path, words: list[str], message: str) -> None:
    check_refused(psopt(folder, *words), message, alone=False)


def test_what_to_label_first_is_what_changes_most_and_no_copy(folder: Path) -> None:
    given = ("--dataset", "unlabelled.csv", "--task-file", "task.toml", "--model", SIM, "--to-label", "10", "--json")
    ranked = json.loads(psopt(folder, "diagnose", *given, code=0).stdout)["to_label"]
    assert [of["sensitivity"] for of in ranked] == sorted((of["sensitivity"] for of in ranked), reverse=True)
    assert len({of["text"] for of in ranked}) == len(ranked)
    assert sum("harbour" in of["text"] for of in ranked) == 1
    shown = psopt(folder, "diagnose", *given[:-3], code=0).stdout
    check_says(shown, "Next: add labels, which psopt optimize needs; --to-label N lists the samples to label first.")
