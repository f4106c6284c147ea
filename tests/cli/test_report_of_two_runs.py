"""`psopt report A B` on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.cli.conftest import GOOD, WEAK
from tests.cli.telling import check_refused, check_says
from tests.commands import psopt
from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path


def test_two_runs_are_a_table_and_a_page_and_as_json_data_alone(two_runs: Path) -> None:
    done = psopt(two_runs, "report", "runs/weak", "runs/good", code=0)
    paired = "Paired on 40 test samples and 5 held-out wordings that both have."
    check_says(done.stdout, "runs/good against runs/weak: F1 better (+", paired)
    assert done.stdout.rstrip().endswith("runs/good/against-weak.html")
    page = (two_runs / "runs/good/against-weak.html").read_text("utf-8")
    check_says(page, "good against weak", "accuracy=0.9")  # which was set otherwise
    done = psopt(two_runs, "report", "runs/weak", "runs/good", "--html", "page.html", "--json", code=0)
    data = json.loads(done.stdout)
    assert data["against_first"]["f1"]["verdict"] == "better"
    assert [shown["run"] for shown in data["runs"]] == ["runs/weak", "runs/good"]
    assert data["report"] == "page.html"
    assert (two_runs / "page.html").is_file()
    assert data["changed_settings"]["model"] == [WEAK, GOOD]


def test_a_run_is_named_by_what_tells_its_folder_from_the_others(two_runs: Path) -> None:
    done = psopt(two_runs / "runs" / "weak", "report", ".", "../good", "--html", "page.html", code=0)
    check_says(done.stdout, "../good against .: F1 better (+")


@each(
    "words, said",
    [
        (["runs/weak", "nowhere"], "no run directory"),
        (["runs/weak", "runs/good", "--html", "nowhere/page.html"], "there is no folder"),
        (["runs/weak", "--html", "page.html"], "--html is of several runs"),
        (["runs/weak", "--figures", "runs/weak/run.json"], "--figures runs/weak/run.json is a file: name a folder"),
        (["runs/weak"] + 5 * ["runs/good"], "6 runs are too many for one page: give 5 at most"),
    ],
)
def test_what_can_t_be_done_is_one_line(two_runs: Path, words: list[str], said: str) -> None:
    check_refused(psopt(two_runs, "report", *words), said)
