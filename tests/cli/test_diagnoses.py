"""What a diagnosis says beside sensitivity: suspect labels, one answer to all texts, topics of what was read alone.

`psopt diagnose --suspects` lists suspect labels; a run writes them down, and its report says how many.
"""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests import commands
from tests.cli.limited_runs import write_data
from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from pathlib import Path

psopt = functools.partial(commands.psopt, code=0)
MODEL = ["--dataset", "data.csv", "--model", "sim/accuracy=0.9,wobble=0,na=0", "--rephrasings", "3"]
SHAKY = [word.replace("accuracy=0.9,wobble=0,", "accuracy=0.6,wobble=0.3,") for word in MODEL]
WORDS = {"billing": "the invoice number {i} shows too many dollars", "delivery": "the parcel number {i} never arrived"}
KINDS = {"sport": "the match ended after a late goal", "money": "the shares fell on the stock exchange"}
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
    assert kept["samples"]
    assert kept["n_samples"] == 60
    for suspect in kept["samples"]:
        assert suspect["id"] in listed
        assert suspect["answered"] != suspect["label"]
        assert suspect["n_wordings"] == 3
    for said in (f"{len(kept['samples'])} of 60 samples", "samples labelled", "look before you change a label"):
        assert said in listed
    assert "(--suspects lists them)" in psopt(folder, "diagnose", *MODEL).stdout
    assert json.loads(psopt(folder, "diagnose", *MODEL, "--json").stdout)["suspects"] == kept


@pytest.mark.parametrize("columns", [60, 200])
def test_labels_that_look_like_markup_are_shown_as_they_are(tmp_path: Path, columns: int) -> None:
    labels = ["[/b]", "[red]hot", ":fire:"]
    folder = write_data(tmp_path, 30, lambda split, i: f"{split} {i} {labels[i % 3]},{labels[i % 3]}")
    shown = psopt(folder, "diagnose", *SHAKY, columns=columns).stdout
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


def test_a_diagnosis_and_a_check_say_it_with_the_shares(tmp_path: Path) -> None:
    splits = [split for split in ("train", "val", "test") for _ in range(40)]
    rows = [f"what is {i} for ?,{'toys' if i % 10 < 3 else 'tools'},{split}" for i, split in enumerate(splits)]
    (tmp_path / "data.csv").write_text("\n".join(["text,label,split", *rows]) + "\n")
    given: list[Any] = ["--dataset", "data.csv", "--rephrasings", "2", "--split", "test", "--model", "openai/test"]
    with FakeServer(answer='fixed:{"label": "toys"}') as server:
        given += ["--api-base", server.url]
        check = ["check", *given, "--max-sensitivity", "0.1"]
        diagnosed, checked, told = (
            psopt(tmp_path, *words, columns=100, OPENAI_API_KEY="none")
            for words in (["diagnose", *given], check, [*check, "--json"])
        )
    assert f"{LINE} {FURTHER}" in " ".join(diagnosed.stdout.split())
    assert "largest class: tools (70 % of the samples)" in diagnosed.stdout
    lines = [line.split() for line in diagnosed.stdout.splitlines()]
    assert ["toys", "100.0", "30.0"] in lines
    assert ["tools", "0.0", "70.0"] in lines
    assert LINE in " ".join(checked.stderr.split())
    data = json.loads(told.stdout)
    assert (data["near_constant"], data["constant_f1"], data["answer_shares"]["toys"]) == ("toys", 0.7, 1)
    assert data["class_shares"] == pytest.approx({"toys": 0.3, "tools": 0.7})
