"""compare, check and classify, as a user runs them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from psopt import check as psopt_check
from psopt import optimize as psopt_optimize

from tests.cli.limited_runs import write_data
from tests.cli.telling import check_refused, check_says
from tests.commands import psopt
from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path


NOTE = 'A question that begins with "when" belongs to Number.'
MODEL = ["--dataset", "data.csv", "--model", "sim/wobble=0.6,accuracy=0.6,na=0"]
COMPARE = ["compare", *MODEL, "--prompt", "bare.json", "--prompt"]
CHECK = ["check", *MODEL, "--prompt", "bare.json"]


def question(split: str, i: int) -> str:
    return f"when did {split} {i} end ?,Number" if i % 2 else f"who saw {split} {i} ?,Person"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of two classes, the prompt with and without a note, and a run."""
    folder = write_data(tmp_path_factory.mktemp("measured"), 40, question)
    bare = {"description": "Sort the question by what it asks for.", "labels": ["Number", "Person"], "noun": "question"}
    (folder / "bare.json").write_text(json.dumps(bare))
    (folder / "noted.json").write_text(json.dumps({**bare, "notes": [NOTE]}))
    (folder / "plain.txt").write_text("Sort the question by what it asks for.")
    (folder / "shown.txt").write_text("Sort the question by what it asks for.\n\n{text} {label}\n")
    psopt(folder, "optimize", *MODEL, "--trials", "3", "--rephrasings", "3", "--out", "run", code=0)
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
        (["classify", "--prompt", "bare.json"], "", "no text to classify"),
        (["classify", "--prompt", "plain.txt"], "a text", "is no JSON"),
        (["classify", "--prompt", "missing.json"], "a text", "can't be read"),
    ],
)
def test_what_is_lacking_is_said(folder: Path, words: list[str], texts: str, message: str) -> None:
    check_refused(psopt(folder, *words, texts=texts), message, alone=False)
