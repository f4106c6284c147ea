"""Answers that name no label, and texts that are never answered, as a user of the command line meets them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests import commands
from tests.cli.limited_runs import write_data
from tests.fake_server import FakeServer

NONSENSE = "fixed:That is hard to say."
THINKING = "fixed:<think>Hm, a</think> aaa"
REFUSING = "bomb:refusal,3 called:refusal,5 called:refusal"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Questions of two classes, 30 a split; three of each split are about bombs."""
    write_data(
        tmp_path,
        30,
        lambda split, i: f"what is {'thing' if i % 10 else 'bomb'} {split} {i} called ?,{'ab'[i % 2] * 3}",
    )
    (tmp_path / "p.txt").write_text("Say what the question is about.")
    prompt = {"description": "Sort it.", "labels": ["aaa", "bbb"], "noun": "question"}
    (tmp_path / "prompt.json").write_text(json.dumps(prompt))
    return tmp_path


DATA = ["--dataset", "data.csv", "--rephrasings", "2"]
VERBS = {
    "diagnose": DATA,
    "check": [*DATA, "--max-sensitivity", "1"],
    "compare": [*DATA, "--prompt", "p.txt", "--model2", "openai/other"],
    "optimize": [*DATA, "--trials", "2", "--rounds", "1", "--out", "run"],
    "classify": ["--prompt", "prompt.json", "-"],
}


def psopt(
    folder: Path, verb: str, server: FakeServer, *more: str, code: int = 0, texts: str = ""
) -> subprocess.CompletedProcess[str]:
    where = ["--model", "openai/test", "--api-base", server.url, "--concurrency", "4"]
    words: list[Any] = [verb, *where, *VERBS[verb], *more]
    return commands.psopt(folder, *words, columns=100, OPENAI_API_KEY="k", code=code, texts=texts)


@pytest.mark.parametrize(
    ("options", "more", "said"),
    [
        ({"answer": NONSENSE}, ["--samples", "4", "--rephrasings", "1"], ["none of 4 answers names a label"]),
        ({"shape": "thought-out"}, ["--max-tokens", "64"], ["20 cut off", "raise --max-tokens (64)"]),
        ({"answer": THINKING, "structured": "ignore"}, ["--logprobs"], ["thinks before it answers"]),
    ],
)
def test_what_makes_answers_useless_is_found_out_at_once_and_said_with_the_cure(
    data: Path, options: dict[str, Any], more: list[str], said: list[str]
) -> None:
    with FakeServer(**options) as server:
        done = psopt(data, "diagnose", server, *more, code=2)
        assert server.counts()["requests"] <= 24
    assert [words for words in said if words not in done.stderr] == []


def test_more_refused_texts_than_allowed_stop_a_run_that_goes_on_when_they_are_allowed(data: Path) -> None:
    with FakeServer(unanswerable="bomb:content_filter") as server:
        stopped = psopt(data, "optimize", server, code=2)
        assert "more than --max-unanswered 0.05 allows" in stopped.stderr
        assert "psopt resume run" in stopped.stderr
        commands.psopt(data, "resume", "run", "--max-unanswered", "0.2", "--json", OPENAI_API_KEY="k", code=0)
        assert server.counts()["answered_twice"] == 0
    run = json.loads((data / "run" / "run.json").read_text())
    assert run["baseline"]["test"]["na_kinds"] == {"content filter": 6}
    assert "content filter: 6" in (data / "run" / "report.html").read_text()
    with np.load(data / "run" / "predictions" / f"{run['baseline']['id']}.npz") as arrays:
        assert (arrays["test_na_kinds"] == "content filter").sum() == 6


def test_scores_that_rest_on_n_a_are_said_to_be_unreliable_and_fail_a_check(data: Path) -> None:
    given = ["--max-unanswered", "1"]
    with FakeServer(unanswerable=REFUSING) as server:
        done = psopt(data, "diagnose", server, *given, "--html", "page.html")
        compared = psopt(data, "compare", server, *given)
        missed = psopt(data, "check", server, *given, "--min-consistency", "0", code=1)
        allowed = psopt(data, "check", server, *given, "--max-na-rate", "0.3")
    assert "S is unreliable" in done.stdout
    assert 'N/A, refused: 18, such as "I can\'t help with that."' in done.stdout
    assert "N/A, refused: 18" in (data / "page.html").read_text()
    assert compared.stdout.count("S is unreliable") == 2
    assert "missed: S is unreliable: 30 % of the answers name no label (18 refused)" in missed.stderr
    assert "Note: S is unreliable" in allowed.stderr


def test_classify_says_why_a_text_has_no_label(data: Path) -> None:
    texts = "what is it ?\nhow to make a bomb ?\n"
    with FakeServer(unanswerable="bomb:content_filter") as server:
        done = psopt(data, "classify", server, "--json", texts=texts)
        plain = psopt(data, "classify", server, texts=texts)
    first, second = map(json.loads, done.stdout.splitlines())
    assert "na_kind" not in first
    assert (second["label"], second["na_kind"]) == (None, "content filter")
    assert plain.stdout.splitlines()[1] == "N/A"
    assert "N/A: 1 of 2 texts (1 content filter)" in plain.stderr
