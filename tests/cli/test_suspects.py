"""`psopt diagnose --suspects` lists suspect labels; a run writes them down, and its report says how many."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests import commands

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

MODEL = ["--dataset", "data.csv", "--model", "sim/accuracy=0.9,wobble=0,na=0", "--rephrasings", "3"]
WORDS = {"billing": "the invoice number {i} shows too many dollars", "delivery": "the parcel number {i} never arrived"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = ["id,text,label,split"]
    for split in ("train", "val", "test"):
        teams = list(WORDS)
        for i in range(60):
            team = teams[(i + (i % 10 == 0)) % 2]  # six labels of sixty are wrong
            rows.append(f"{split}{i},{WORDS[teams[i % 2]].format(i=i)} {split},{team},{split}")
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def psopt(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return commands.psopt(folder, *arguments, code=0)


def test_they_are_listed_with_what_was_answered_and_how_much_of_the_class_looks_so(folder: Path) -> None:
    listed = psopt(folder, "diagnose", *MODEL, "--suspects", "--suspects-file", "suspect_labels.json").stdout
    kept = json.loads((folder / "suspect_labels.json").read_text())["train"]
    found = kept["samples"]
    assert found
    assert kept["n_samples"] == 60
    for suspect in found:
        assert suspect["id"] in listed
        assert suspect["answered"] != suspect["label"]
        assert suspect["n_wordings"] == 3
    assert f"{len(found)} of 60 samples" in listed
    assert "samples labelled" in listed
    assert "look before you change a label" in listed
    brief = psopt(folder, "diagnose", *MODEL).stdout
    assert "(--suspects lists them)" in brief
    assert json.loads(psopt(folder, "diagnose", *MODEL, "--json").stdout)["suspects"] == kept


def test_a_run_writes_them_down_and_its_report_says_how_many(folder: Path) -> None:
    search = ["--trials", "3", "--rounds", "1", "--heldout", "2", "--out", "run", "--quiet"]
    shaky = [word.replace("accuracy=0.9,wobble=0,", "accuracy=0.6,wobble=0.3,") for word in MODEL]
    psopt(folder, "optimize", *shaky, *search)
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
