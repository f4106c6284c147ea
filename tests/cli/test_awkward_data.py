"""Data as they are met, at the command line: rare classes, slips of the pen, rows without a text, long ids."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.commands import psopt

if TYPE_CHECKING:
    from pathlib import Path

MODEL = ("--dataset", "data.csv", "--model", "sim/wobble=0.6,accuracy=0.6,na=0", "--rephrasings", "3")
UUID = "e2520e33-e44c-5055-6c71-{:012d}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = [(f"my invoice {i} is wrong", "billing") for i in range(20)] + [
        (f"crash {i}", "support") for i in range(20)
    ]
    texts += [("the press asks", "press"), ("a paper asks", "press"), ("odd crash", "suport"), ("", "billing")]
    rows = [f"{UUID.format(number)},{text},{label}" for number, (text, label) in enumerate(texts)]
    (tmp_path / "data.csv").write_text("id,text,label\n" + "\n".join(rows) + "\n")
    return tmp_path


def test_rare_classes_are_measured_where_all_samples_are(folder: Path) -> None:
    done = psopt(folder, "diagnose", "--skip-empty", *MODEL, "--split", "all", code=0)
    said = " ".join(done.stderr.split())
    assert "1 row without a text is left out" in said
    assert "classes 'press' (2), 'suport' (1) stay in train" in said
    assert "label 'suport' (1) looks like 'support' (20)" in said
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("e2520e33-e44" in line for line in lines)


def test_a_run_whose_val_and_test_lack_a_class_ends_with_a_report(folder: Path) -> None:
    psopt(folder, "optimize", "--skip-empty", *MODEL, "--trials", "3", "--out", "run", code=0)
    run = json.loads((folder / "run" / "run.json").read_text())
    assert run["settings"]["skip_empty"] is True
    assert "'press' (2)" in run["dataset"]["note"]
    report = (folder / "run" / "report.html").read_text()
    assert '<p class="note' in report  # the verdict


def test_without_skip_empty_the_row_is_told_with_the_way_out(folder: Path) -> None:
    done = psopt(folder, "diagnose", *MODEL, code=2)
    assert "line 45: the text (column 'text') is empty; fill it in or remove the row" in done.stderr
    assert "--skip-empty" in done.stderr
