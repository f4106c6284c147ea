"""`psopt report A B` on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.limited_runs import write_questions
from tests.cli.telling import check_refused, check_says
from tests.commands import psopt
from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path

OPTIMIZE = ["--dataset", "data.csv", "--trials", "4", "--rounds", "1", "--rephrasings", "5", "--heldout", "5"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs on the same data with models that are unequally good."""
    folder = write_questions(tmp_path_factory.mktemp("runs"), 40)
    for name, accuracy in (("weak", 0.6), ("good", 0.95)):
        model = f"sim/wobble=0.3,accuracy={accuracy},na=0"
        psopt(folder, "optimize", *OPTIMIZE, "--model", model, "--out", f"runs/{name}", "--quiet", code=0)
    return folder


def test_two_runs_are_a_table_and_a_page_and_as_json_data_alone(folder: Path) -> None:
    done = psopt(folder, "report", "runs/weak", "runs/good", code=0)
    paired = "Paired on 40 test samples and 5 held-out wordings that both have."
    check_says(done.stdout, "runs/good against runs/weak: F1 better (+", paired)
    assert done.stdout.rstrip().endswith("runs/good/against-weak.html")
    page = (folder / "runs/good/against-weak.html").read_text("utf-8")
    check_says(page, "good against weak", "accuracy=0.95")  # which was set otherwise
    done = psopt(folder, "report", "runs/weak", "runs/good", "--html", "page.html", "--json", code=0)
    data = json.loads(done.stdout)
    assert data["against_first"]["f1"]["verdict"] == "better"
    assert [shown["run"] for shown in data["runs"]] == ["runs/weak", "runs/good"]
    assert data["report"] == "page.html"
    assert (folder / "page.html").is_file()
    models = ["sim/wobble=0.3,accuracy=0.6,na=0", "sim/wobble=0.3,accuracy=0.95,na=0"]
    assert data["changed_settings"]["model"] == models


@each(
    "words, said",
    [
        (["runs/weak", "nowhere"], "no run directory"),
        (["runs/weak", "runs/good", "--html", "nowhere/page.html"], "there is no folder"),
        (["runs/weak", "--html", "page.html"], "--html is of several runs"),
        (["runs/weak"] + 5 * ["runs/good"], "6 runs are too many for one page: give 5 at most"),
    ],
)
def test_what_can_t_be_done_is_one_line(folder: Path, words: list[str], said: str) -> None:
    check_refused(psopt(folder, "report", *words), said)
