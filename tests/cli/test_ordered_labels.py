"""Ordered labels from the command line: every command takes them, and a run's prompt remembers them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.limited_runs import own_words
from tests.commands import psopt
from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from pathlib import Path

WORDS = {"low": "slight trifle", "medium": "notable bother", "high": "fatal outage"}
SMALL = ["--rephrasings", "3", "--samples", "24"]
ORDERED = ["--answers", "ordinal", "--order", "low,medium,high"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ordered")
    rows = [
        f"a {words} of {own_words(place * 40 + number)},{label}"
        for place, (label, words) in enumerate(WORDS.items())
        for number in range(40)
    ]
    (folder / "tickets.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    return folder


@pytest.fixture(scope="module")
def run(folder: Path) -> Any:
    search = ["--trials", "5", "--rounds", "1", "--race", "on", "--verbose", *SMALL, *ORDERED]
    return psopt(folder, "optimize", "--dataset", "tickets.csv", "--model", "sim/accuracy=0.5", *search, code=0)


def manifest(folder: Path) -> Any:
    (path,) = (folder / "runs").glob("*/run.json")
    return path, json.loads(path.read_text())


def test_a_run_says_what_stands_in_the_place_of_f1(run: Any, folder: Path) -> None:
    assert "Labels are ordered" in run.stderr
    assert "closeness" in run.stdout
    assert "F1 on test" not in run.stdout
    assert "quadratic kappa" in run.stdout
    _, data = manifest(folder)
    assert data["answers"] == {"type": "ordinal", "positions": [0.0, 1.0, 2.0]}
    assert data["settings"]["order"] == ["low", "medium", "high"]
    scores = data["baseline"]["test"]
    assert scores["f1"] > scores["ordinal"]["micro_f1"], "near answers count as near"
    assert scores["sensitivity"] < scores["ordinal"]["nominal_sensitivity"]


def test_its_report_does_too(run: Any, folder: Path) -> None:
    path, _ = manifest(folder)
    page = path.with_name("report.html").read_text("utf-8")
    assert "Labels are ordered" in page
    assert "closeness on val" in page
    assert "<th>closeness</th>" in page
    assert "quadratic kappa" in page


@pytest.mark.parametrize(
    "words",
    [
        ("diagnose", "--model", "sim/accuracy=0.5"),
        ("check", "--model", "sim/accuracy=0.5", "--min-f1", "0.1"),
        ("compare", "--model", "sim/accuracy=0.5", "--prompt", "one.txt", "--prompt", "two.txt"),
    ],
)
def test_every_command_that_measures_takes_them(folder: Path, words: tuple[str, ...]) -> None:
    (folder / "one.txt").write_text("Sort the ticket.\n")
    (folder / "two.txt").write_text("Say how bad it is.\n")
    verb, *rest = words
    done = psopt(folder, verb, "--dataset", "tickets.csv", *rest, *SMALL, *ORDERED, code=0)
    assert "Labels are ordered" in done.stderr
    assert "closeness" in done.stdout
    assert verb == "compare" or "exactly right" in done.stdout + done.stderr


def test_a_server_s_answers_are_compared_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-no-use")
    with FakeServer() as server:
        model = ("--model", "openai/model", "--api-base", server.url)
        nominal = psopt(folder, "diagnose", "--dataset", "tickets.csv", *model, *SMALL, "--json")
        ordered = psopt(folder, "diagnose", "--dataset", "tickets.csv", *model, *SMALL, *ORDERED, "--json")
    assert nominal.returncode == ordered.returncode == 0, ordered.stderr
    before, after = json.loads(nominal.stdout), json.loads(ordered.stdout)
    assert after["f1"] > after["ordinal"]["micro_f1"]
    assert 0 < after["sensitivity"] < after["ordinal"]["nominal_sensitivity"]
    assert "ordinal" not in before


def test_a_prompt_of_the_run_is_checked_as_it_was_measured(run: Any, folder: Path) -> None:
    path, data = manifest(folder)
    prompt = path.with_name("prompts") / f"{data['front'][0]['id']}.json"
    done = psopt(folder, "check", "--dataset", "tickets.csv", "--prompt", prompt, "--min-f1", "0.1", *SMALL, code=0)
    assert "ok: closeness" in done.stdout


def test_a_run_is_resumed_with_them(run: Any, folder: Path) -> None:
    path, before = manifest(folder)
    psopt(folder, "resume", path.parent, code=0)
    _, after = manifest(folder)
    assert after["baseline"]["test"] == before["baseline"]["test"]
    assert after["answers"] == before["answers"]


def test_a_run_does_not_go_on_as_if_labels_had_no_order(run: Any, folder: Path) -> None:
    path, _ = manifest(folder)
    model = ("--model", "sim/accuracy=0.5", "--trials", "6", "--rounds", "1", "--race", "on")
    done = psopt(
        folder, "optimize", "--dataset", "tickets.csv", *model, *SMALL, "--out", path.parent, "--resume", code=2
    )
    assert "the answers (was ordinal: low < medium < high, is label)" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--answers", "ordinal"], "say the order: --order low,medium,high"),
        (["--answers", "ordinal", "--order", "low,high"], "'medium' is not in the order"),
        (["--answers", "ordinal", "--order", "low,,high"], "is no list of labels"),
        (["--order", "low,medium,high"], "--answers ordinal"),
        (["--answers", "ordered"], "ordinal"),
    ],
)
def test_what_makes_no_order_is_one_line_and_exit_code_2(folder: Path, options: list[str], says: str) -> None:
    done = psopt(folder, "diagnose", "--dataset", "tickets.csv", "--model", "sim", *options, code=2)
    assert says in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
