"""Free answers that a judge or a function compares, from the command line to the report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests import open_tasks
from tests.cli.telling import check_refused
from tests.cli.test_open_answers import prepared

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.test_open_answers import Finished

JUDGE = "free:judge:openai/rule"
SIZES = ["--trials", "4", "--rounds", "1", "--rephrasings", "4", "--heldout", "4", "--effort", "light"]
OWN = """
def same(answer, other):
    return ("please" in answer) == ("please" in other)

def worth(answer, reference):
    return 1 if answer.startswith(reference[:10]) else 0.25
"""


def is_kind(text: str) -> bool:
    return "please" in text


def compares(message: str) -> str:
    """Says that two answers are the same if both or neither say please."""
    first, second = (message.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0] for tag in ("first", "second"))
    return "yes" if is_kind(first) == is_kind(second) else "no"


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Finished]:
    """What a run of questions needs: data, functions of the user's own, and a server that rates and compares."""
    (tmp_path / "my_answers.py").write_text(OWN)
    with open_tasks.server_of_questions() as server:
        server.compares = compares
        server.judge = lambda message: "9" if is_kind(message.partition("<answer>")[2]) else "2"
        yield prepared("free", tmp_path, server)


def entropy(counts: list[int]) -> float:
    shares = np.array(counts) / sum(counts)
    return float(-(shares * np.log(shares)).sum() / np.log(sum(counts)))


@pytest.mark.parametrize("answers", [f"{JUDGE}+judge:openai/rule", "free:my_answers:same+my_answers:worth"])
def test_what_is_the_same_is_asked_and_kept(run: Finished, answers: str) -> None:
    run.answers, server = answers, run.server
    run.ask("optimize", *SIZES, "--out", "run", code=0)
    baseline = run.json("run.json")["baseline"]
    with np.load(run.folder / "run" / "predictions" / f"{baseline['id']}.npz", allow_pickle=False) as arrays:
        same, places = arrays["test_same"].tolist(), arrays["test"].tolist()
        texts = json.loads(arrays["answers"].tobytes().decode())
    for numbers, row in zip(same, places, strict=True):
        kinds = [is_kind(texts[place]) for place in row]
        assert [number == numbers[0] for number in numbers] == [kind == kinds[0] for kind in kinds]
    scores = baseline["test"]
    counts = [[n for n in np.bincount(numbers).tolist() if n] for numbers in same]
    assert scores["sensitivity"] == pytest.approx(np.mean([entropy(row) for row in counts]), abs=1e-12)
    measures = scores["open"]["measures"]
    assert ("judge of sameness agrees with itself" in measures) == answers.startswith(JUDGE)
    assert "S at 0.85" not in measures  # no embedding says what is the same
    if answers.startswith("free:my"):
        assert scores["f1"] < 1
        assert server.n_compared == server.n_rated == 0
    n_asked = server.n_asked
    run.psopt("resume", "run", "--api-base", server.base, code=0)
    run.psopt("report", "run", code=0)
    assert "What samples were answered" in (run.folder / "run" / "report.html").read_text()
    assert server.n_asked == n_asked  # neither of them needs a judge


def test_the_calls_of_judges_are_in_the_estimate(run: Finished) -> None:
    def calls(answers: str) -> dict[str, int]:
        run.answers = answers
        done = run.ask("optimize", "--dry-run", *SIZES, "--json", code=0)
        return {phase["what"]: phase["calls"] for phase in json.loads(done.stdout)["phases"]}

    assert not {"answers, rated", "answers, compared"} & set(calls("free"))
    judged = calls(f"{JUDGE}+judge:openai/rule")
    rated, compared = judged.pop("answers, rated"), judged.pop("answers, compared")
    del judged["drafts of edits"]  # nobody judges these
    assert rated == 2 * sum(judged.values())
    assert compared == round(2 * 1.5 * 3 / 4 * sum(judged.values()))
    assert run.server.n_asked == 0


def test_what_there_is_not_is_refused(run: Finished) -> None:
    for answers, why in {
        "free:my_answers:none": "my_answers has no 'none'",
        "free:judge:gpt-4o": "say free, free:embedding:THRESHOLD",
    }.items():
        run.answers = answers
        check_refused(run.ask("check", "--min-f1", "0.1"), why, alone=False)
    assert run.server.n_asked == 0


def test_sets_of_labels_that_are_the_same_or_not(tmp_path: Path) -> None:
    with open_tasks.server_of_complaints() as server:
        run = prepared("labels+exact", tmp_path, server)
        run.ask("optimize", *SIZES, "--out", "run", code=0)
    scores = run.json("run.json")["baseline"]["test"]
    assert scores["sensitivity"] == pytest.approx(scores["open"]["measures"]["S of equal sets"], abs=1e-12)
    assert scores["consistency"] is not None
