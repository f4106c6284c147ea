"""Ordered labels from the command line: every command takes them, and a run's prompt remembers them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.limited_runs import own_words, read
from tests.cli.telling import check_refused, check_says
from tests.commands import psopt
from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path


WORDS = {"low": "slight trifle", "medium": "notable bother", "high": "fatal outage"}
DATA = ["--dataset", "tickets.csv", "--rephrasings", "3", "--samples", "24"]
SIM = ["--model", "sim/accuracy=0.5"]
ORDERED = ["--answers", "ordinal", "--order", "low,medium,high"]
SEARCH = ["--trials", "5", "--rounds", "1", "--race", "on", "--out", "run"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ordered")
    rows = [
        f"a {words} of {own_words(place * 40 + number)},{label}"
        for place, (label, words) in enumerate(WORDS.items())
        for number in range(40)
    ]
    (folder / "tickets.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    (folder / "one.txt").write_text("Sort the ticket.\n")
    (folder / "two.txt").write_text("Say how bad it is.\n")
    return folder


@pytest.fixture(scope="module")
def run(folder: Path) -> Any:
    return psopt(folder, "optimize", *DATA, *SIM, *SEARCH, "--verbose", *ORDERED, code=0)


def test_a_run_and_its_report_say_what_stands_in_the_place_of_f1(run: Any, folder: Path) -> None:
    check_says(run.stdout, "Labels are ordered", "closeness", "quadratic kappa")
    assert re.search(r"original on test: [\d.]+ % of the answers are N/A", run.stdout)
    assert "F1 on test" not in run.stdout
    page = (folder / "run" / "report.html").read_text("utf-8")
    check_says(
        page, "Labels are ordered", "closeness on val", "<th>closeness</th>", "quadratic kappa", "F1 counts only exact"
    )
    data = read(folder)
    assert data["answers"] == {"type": "ordinal", "positions": [0.0, 1.0, 2.0]}
    assert data["settings"]["order"] == ["low", "medium", "high"]
    scores = data["baseline"]["test"]
    assert scores["f1"] > scores["ordinal"]["micro_f1"], "near answers count as near"
    assert scores["sensitivity"] < scores["ordinal"]["nominal_sensitivity"]


def test_a_run_and_its_prompt_keep_the_order(run: Any, folder: Path) -> None:
    before = read(folder)
    prompt = folder / "run" / "prompts" / f"{before['front'][0]['id']}.json"
    done = psopt(folder, "check", *DATA, "--prompt", prompt, "--min-f1", "0.1", code=0)
    assert "ok: closeness" in done.stdout
    psopt(folder, "resume", "run", code=0)
    after = read(folder)
    assert after["baseline"]["test"] == before["baseline"]["test"]
    assert after["answers"] == before["answers"]
    done = psopt(folder, "optimize", *DATA, *SIM, *SEARCH, "--resume", code=2)
    check_says(done.stderr, "the answers (was ordinal: low < medium < high, is label)")


@each("words", [["diagnose"], ["check", "--min-f1", "0.1"], ["compare", "--prompt", "one.txt", "--prompt", "two.txt"]])
def test_every_command_that_measures_takes_them(folder: Path, words: list[str]) -> None:
    done = psopt(folder, *words, *DATA, *SIM, *ORDERED, code=0)
    check_says(done.stderr + done.stdout, "Labels are ordered", "closeness")
    assert words[0] == "compare" or "exactly right" in done.stdout + done.stderr
    if words == ["diagnose"]:
        (heading,) = (line for line in done.stdout.splitlines() if "samples" in line and "closeness" in line)
        assert heading.split() == ["samples", "closeness", "F1", "S", "C"], "a class has an F1, and no closeness"


def test_what_makes_no_order_is_one_line(folder: Path) -> None:
    given = ["diagnose", *DATA, *SIM, "--answers"]
    check_refused(psopt(folder, *given, "ordinal", "--order", "low,,high"), "is no list of labels")
    check_refused(psopt(folder, *given, "ordered"), "ordinal")
