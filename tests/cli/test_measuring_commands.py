"""compare, check and classify, as a user runs them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from psopt import MeasureOptions
from psopt.search_spaces import seed_prompt
from psopt.testing import assert_robust

from tests.commands import psopt

if TYPE_CHECKING:
    from psopt.tasks import Task

NOTE = 'A question that begins with "when" belongs to Number.'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A data set of two classes, the prompt with and without a note, and a run."""
    folder = tmp_path_factory.mktemp("measured")
    rows = ["id,text,label,split"]
    for split in ("train", "val", "test"):
        for i in range(40):
            text, label = (f"when did {split} {i} end ?", "Number") if i % 2 else (f"who saw {split} {i} ?", "Person")
            rows.append(f"{split}{i},{text},{label},{split}")
    (folder / "data.csv").write_text("\n".join(rows) + "\n")
    bare = {"description": "Sort the question by what it asks for.", "labels": ["Number", "Person"], "noun": "question"}
    (folder / "bare.json").write_text(json.dumps(bare))
    (folder / "noted.json").write_text(json.dumps({**bare, "notes": [NOTE]}))
    (folder / "plain.txt").write_text("Sort the question by what it asks for.")
    psopt(folder, "optimize", *MODEL, "--trials", "3", "--rephrasings", "3", "--out", "run", code=0)
    return folder


MODEL = ["--dataset", "data.csv", "--model", "sim/wobble=0.6,accuracy=0.6,na=0"]


def test_a_prompt_that_is_better_is_said_to_be_and_by_how_much(folder: Any) -> None:
    done = psopt(folder, "compare", *MODEL, "--prompt", "bare.json", "--prompt", "noted.json", code=0)
    assert "noted.json against bare.json: F1 better (+" in done.stdout
    assert max(map(len, done.stdout.split("noted.json against")[0].splitlines())) <= 80
    data = json.loads(
        psopt(folder, "compare", *MODEL, "--prompt", "bare.json", "--prompt", "noted.json", "--json").stdout
    )
    assert [one["prompt"] for one in data] == ["bare.json", "noted.json"]
    assert data[0]["against_first"] == {}
    better = data[1]["against_first"]["f1"]
    assert better["verdict"] == "better"
    assert better["difference"] == pytest.approx(data[1]["f1"] - data[0]["f1"])


def test_a_prompt_against_itself_makes_no_difference(folder: Any) -> None:
    done = psopt(folder, "compare", *MODEL, "--prompt", "bare.json", "--prompt", "plain.txt", "--json")
    same = json.loads(done.stdout)[1]["against_first"]
    assert {one["verdict"] for one in same.values()} == {"no difference"}
    assert {one["p_value"] for one in same.values()} == {1.0}


def test_models_are_compared_on_one_prompt(folder: Any) -> None:
    given = ["--model2", "sim/wobble=0,accuracy=1,na=0", "--prompt", "bare.json", "--html", "compared.html"]
    done = psopt(folder, "compare", *MODEL, *given, code=0)
    words = " ".join(done.stdout.split())
    assert "sim/wobble=0,accuracy=1,na=0 against sim/wobble=0.6,accuracy=0.6,na=0: F1 better (+" in words
    assert "S better (-" in words
    assert words.endswith("Page: compared.html")
    page = (folder / "compared.html").read_text("utf-8")
    assert "| bare.json | sim/wobble=0,accuracy=1,na=0 |" in page  # the table to paste
    assert "tabular" in page
    assert "F1 better (+" in page


def test_nothing_to_compare_is_said(folder: Any) -> None:
    done = psopt(folder, "compare", *MODEL, "--prompt", "bare.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "give two prompts, or two models" in done.stderr


def test_a_check_passes_or_exits_with_1_and_says_what_was_missed(folder: Any) -> None:
    good = psopt(
        folder, "check", *MODEL, "--prompt", "bare.json", "--max-sensitivity", "0.99", "--min-f1", "0.1", code=0
    )
    assert good.stdout.count("ok: ") == 2
    bad = psopt(
        folder, "check", *MODEL, "--prompt", "bare.json", "--max-sensitivity", "0.001", "--min-f1", "0.1", code=1
    )
    assert "missed: S " in bad.stderr
    data = json.loads(psopt(folder, "check", *MODEL, "--prompt", "bare.json", "--min-f1", "1", "--json").stdout)
    assert data["met"] is False
    assert data["checks"][0]["option"] == "min_f1"


def test_to_be_sure_is_harder(folder: Any) -> None:
    scores = json.loads(psopt(folder, "check", *MODEL, "--prompt", "bare.json", "--min-f1", "0", "--json").stdout)
    bound = str(scores["f1"] - 0.001)
    psopt(folder, "check", *MODEL, "--prompt", "bare.json", "--min-f1", bound, code=0)
    psopt(folder, "check", *MODEL, "--prompt", "bare.json", "--min-f1", bound, "--sure", code=1)


def test_a_check_without_a_bound_is_wrong_usage(folder: Any) -> None:
    done = psopt(folder, "check", *MODEL, "--prompt", "bare.json", code=2)
    assert "--max-sensitivity" in done.stderr


def test_texts_are_classified_in_their_order_with_the_runs_own_model(folder: Any) -> None:
    (prompt,) = list((folder / "run" / "prompts").glob("*.json"))[:1]
    texts = "when did test 1 end ?\nwho saw test 2 ?\n\nwho saw test 4 ?\n"
    done = psopt(folder, "classify", "--prompt", str(prompt), texts=texts, code=0)
    labels = done.stdout.splitlines()
    assert len(labels) == 3
    assert set(labels) <= {"Number", "Person", "N/A"}
    (folder / "texts.txt").write_text(texts)
    voted = psopt(folder, "classify", "texts.txt", "--prompt", str(prompt), "--wordings", "9", "--json")
    answers = [json.loads(line) for line in voted.stdout.splitlines()]
    assert [one["text"] for one in answers] == [line for line in texts.splitlines() if line]
    assert all(1 / 3 <= one["agreement"] <= 1 for one in answers)


def test_a_vote_is_more_often_right_than_one_wording(folder: Any) -> None:
    lines = [line.split(",") for line in (folder / "data.csv").read_text().splitlines()[1:]]
    texts, truth = "\n".join(line[1] for line in lines), [line[2] for line in lines]
    (prompt,) = list((folder / "run" / "prompts").glob("*.json"))[:1]
    one = psopt(folder, "classify", "--prompt", str(prompt), texts=texts).stdout.splitlines()
    vote = psopt(folder, "classify", "--prompt", str(prompt), "--wordings", "15", texts=texts).stdout
    voted = [line.split("\t")[0] for line in vote.splitlines()]
    right = [sum(a == b for a, b in zip(answers, truth, strict=True)) for answers in (one, voted)]
    assert right[1] >= right[0]


@pytest.mark.parametrize(
    ("prompt", "texts", "message"),
    [
        ("bare.json", "", "no text to classify"),
        ("plain.txt", "a text", "is no JSON"),
        ("missing.json", "a text", "can't be read"),
    ],
)
def test_classifying_says_what_it_lacks(folder: Any, prompt: str, texts: str, message: str) -> None:
    done = psopt(folder, "classify", "--prompt", prompt, texts=texts)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_test_suite_asserts_robustness(task: Task, keyword_model: Any) -> None:
    prompt = seed_prompt(task)
    scores = assert_robust(task, prompt, keyword_model, min_f1=0.5, options=MeasureOptions(rephrasings=4))
    assert scores.f1 >= 0.5
    with pytest.raises(AssertionError, match=r"missed: S .* > 0 .*; missed: F1 .* < 100 "):
        assert_robust(task, prompt, keyword_model, min_f1=1.0, max_sensitivity=0.0)
