"""What a diagnosis says beside sensitivity: suspect labels, one answer to all texts, classes that are rare.

`psopt diagnose --suspects` lists suspect labels; a run writes them down, and its report says how many.
"""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING

import pytest

from tests import commands
from tests.cli.limited_runs import write_data
from tests.cli.telling import check_says
from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from pathlib import Path

psopt = functools.partial(commands.psopt, code=0)
MODEL = ["--dataset", "data.csv", "--model", "sim/accuracy=0.9,wobble=0,na=0", "--rephrasings", "3"]
SHAKY = [word.replace("accuracy=0.9,wobble=0,", "accuracy=0.6,wobble=0.3,") for word in MODEL]
WORDS = {"billing": "the invoice number {i} shows too many dollars", "delivery": "the parcel number {i} never arrived"}
LINE = "The prompt answers toys to 100 % of the texts, and 30 % are toys."
FURTHER = "Its F1 is 30.0, and 70.0 for always answering tools: its S and C say nothing."


def ticket(split: str, i: int) -> str:
    """Six labels of sixty are wrong."""
    teams = list(WORDS)
    return f"{WORDS[teams[i % 2]].format(i=i)} {split},{teams[(i + (i % 10 == 0)) % 2]}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_data(tmp_path, 60, ticket)


def test_they_are_listed_with_what_was_answered_and_how_much_of_the_class_looks_so(folder: Path) -> None:
    listed = psopt(folder, "diagnose", *MODEL, "--suspects", "--suspects-file", "suspect_labels.json").stdout
    kept = json.loads((folder / "suspect_labels.json").read_text())["train"]
    ids = [suspect["id"] for suspect in kept["samples"]]
    assert ids
    check_says(listed, f"{len(ids)} of 60 samples", *ids, "samples labelled", "look before you change a label")
    assert all(suspect["answered"] != suspect["label"] for suspect in kept["samples"])
    assert "(--suspects lists them)" in psopt(folder, "diagnose", *MODEL).stdout
    assert json.loads(psopt(folder, "diagnose", *MODEL, "--json").stdout)["suspects"] == kept


def test_labels_that_look_like_markup_are_shown_as_they_are(tmp_path: Path) -> None:
    labels = ["[/b]", "[red]hot", ":fire:"]
    folder = write_data(tmp_path, 30, lambda split, i: f"{split} {i} {labels[i % 3]},{labels[i % 3]}")
    shown = psopt(folder, "diagnose", *SHAKY).stdout
    for label in labels:
        assert any(line.split()[:2] == [label, "10"] for line in shown.splitlines())


def test_a_run_writes_them_down_and_its_report_says_how_many(folder: Path) -> None:
    search = ["--trials", "3", "--rounds", "1", "--heldout", "2", "--out", "run", "--quiet"]
    psopt(folder, "optimize", *SHAKY, *search)
    suspects = json.loads((folder / "run" / "suspect_labels.json").read_text())
    assert suspects["schema_version"] == 1
    assert set(suspects) == {"schema_version", "prompt", "train", "val"}
    assert f"{len(suspects['train']['samples'])} of 60 samples" in (folder / "run" / "report.html").read_text()
    kept_out = {one["id"] for one in suspects["train"]["samples"] if one["is_kept_out"]}
    proposed = json.loads((folder / "run" / "proposals.json").read_text())["edits"]
    cited = {sample for edit in proposed for sample in edit["provenance"]["samples"]}
    assert kept_out
    assert cited
    assert not kept_out & cited


def test_a_prompt_that_answers_one_label_is_told_by_a_diagnosis_and_a_check(tmp_path: Path) -> None:
    write_data(tmp_path, 40, lambda split, i: f"what is {split} {i} for ?,{'toys' if i % 10 < 3 else 'tools'}")
    with FakeServer(answer='fixed:{"label": "toys"}') as server:
        given = ["--dataset", "data.csv", "--rephrasings", "2", "--model", "openai/test", "--api-base", server.url]
        diagnosed = psopt(tmp_path, "diagnose", *given, "--split", "test", columns=100, OPENAI_API_KEY="none").stdout
        checked = psopt(tmp_path, "check", *given, "--max-sensitivity", "0.1", OPENAI_API_KEY="none").stderr
    check_says(diagnosed, f"{LINE} {FURTHER}", "largest class: tools (70 % of the samples)")
    assert ["toys", "100.0", "30.0"] in [line.split() for line in diagnosed.splitlines()]
    check_says(checked, LINE)


def test_rare_classes_are_measured_where_all_samples_are(tmp_path: Path) -> None:
    texts = [(f"my invoice {i} is wrong", "billing") for i in range(20)]
    texts += [(f"crash {i}", "support") for i in range(20)]
    texts += [("the press asks", "press"), ("a paper asks", "press"), ("odd crash", "suport"), ("", "billing")]
    rows = [f"e2520e33-e44c-5055-6c71-{number:012d},{text},{label}" for number, (text, label) in enumerate(texts)]
    (tmp_path / "data.csv").write_text("id,text,label\n" + "\n".join(rows) + "\n")
    refused = psopt(tmp_path, "diagnose", *SHAKY, code=2).stderr
    check_says(refused, "line 45: the text (column 'text') is empty; fill it in or remove the row", "--skip-empty")
    done = psopt(tmp_path, "diagnose", "--skip-empty", *SHAKY, "--split", "all")
    check_says(
        done.stderr,
        "1 row without a text is left out",
        "no score on val and test is of 'press' (2), 'suport' (1)",
        "label 'suport' (1) looks like 'support' (20)",
    )
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("e2520e33-e44" in line for line in lines)
