"""Free answers that a judge, a model of entailment or a function compares, from the command line to the report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests import open_tasks
from tests.cli.test_open_answers import Finished
from tests.models.test_assessors import save_nli

if TYPE_CHECKING:
    from pathlib import Path

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


def prepared(folder: Path, answers: str, server: open_tasks.RuleServer) -> Finished:
    (folder / "data.jsonl").write_text("\n".join(map(json.dumps, server.rows)))
    (folder / "my_answers.py").write_text(OWN)
    server.compares = compares
    server.judge = lambda message: "9" if is_kind(message.partition("<answer>")[2]) else "2"
    return Finished(answers, folder, server, None)  # type: ignore[arg-type]


def kept(run: Finished) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], list[str]]:
    """What is kept of the baseline on test: which answers are the same, and what they say."""
    baseline = run.json("run.json")["baseline"]["id"]
    with np.load(run.folder / "run" / "predictions" / f"{baseline}.npz", allow_pickle=False) as arrays:
        return arrays["test_same"], arrays["test"], json.loads(arrays["answers"].tobytes().decode())


def entropy(counts: list[int]) -> float:
    shares = np.array(counts) / sum(counts)
    return float(-(shares * np.log(shares)).sum() / np.log(sum(counts)))


@pytest.mark.parametrize(
    "answers",
    ["free:judge:openai/rule+judge:openai/rule", "free:my_answers:same+my_answers:worth", "free:judge:openai/rule"],
)
def test_what_is_the_same_is_asked_and_kept(tmp_path: Path, answers: str) -> None:
    with open_tasks.server_of_questions() as server:
        run = prepared(tmp_path, answers, server)
        run.psopt("optimize", *run.data, *run.model, *SIZES, "--out", "run", code=0)
        same, places, texts = kept(run)
        for numbers, row in zip(same.tolist(), places.tolist(), strict=True):
            kinds = [is_kind(texts[place]) for place in row]
            assert [number == numbers[0] for number in numbers] == [kind == kinds[0] for kind in kinds]
        scores = run.json("run.json")["baseline"]["test"]
        counts = [[n for n in np.bincount(numbers).tolist() if n] for numbers in same]
        assert scores["sensitivity"] == pytest.approx(np.mean([entropy(row) for row in counts]), abs=1e-12)
        by_judge = "judge:openai" in answers.partition("+")[0]
        measures = scores["open"]["measures"]
        assert ("judge of sameness agrees with itself" in measures) == by_judge
        assert "S at 0.85" not in measures  # no embedding says what is the same
        if answers.startswith("free:my"):
            assert scores["f1"] < 1
            assert server.n_compared == server.n_rated == 0
        n_asked = server.n_asked
        run.psopt("resume", "run", "--api-base", server.base, code=0)
        assert server.n_asked == n_asked
        page = (run.folder / "run" / "report.html").read_text()
        run.psopt("report", "run", code=0)
        assert "What samples were answered" in page
        assert server.n_asked == n_asked  # the report needs no judge


def test_a_model_that_always_says_the_same_is_diagnosed_too(tmp_path: Path) -> None:
    with open_tasks.server_of_questions() as server:
        run = prepared(tmp_path, "free:judge:openai/rule", server)
        server.right = lambda _: "We send the invoice by mail."
        server.wrong = lambda _: ["We send the invoice by mail."]
        run.psopt("optimize", *run.data, *run.model, *SIZES, "--out", "run", code=0)
        assert run.json("run.json")["baseline"]["test"]["sensitivity"] == 0
        assert run.json("weak_spots.json")["before"][
            "groups"
        ]  # most questions are answered wrong, and they share words
        assert server.n_compared == 0


def test_a_model_of_entailment_compares_where_no_network_is(tmp_path: Path) -> None:
    save_nli(tmp_path / "nli")
    with open_tasks.server_of_questions() as server:
        run = prepared(tmp_path, "free:nli:nli", server)
        done = run.psopt(
            "check", *run.data, *run.model, "--rephrasings", "2", "--samples", "6", "--min-f1", "0.01", code=0
        )
        assert "the same if each follows from the other by nli" in " ".join((done.stdout + done.stderr).split())


def test_the_calls_of_judges_are_in_the_estimate(tmp_path: Path) -> None:
    def calls(answers: str) -> dict[str, int]:
        run.answers = answers
        done = run.psopt("optimize", "--dry-run", *run.data, *run.model, *SIZES, "--json", code=0)
        return {phase["what"]: phase["calls"] for phase in json.loads(done.stdout)["phases"]}

    with open_tasks.server_of_questions() as server:
        run = prepared(tmp_path, "free", server)
        assert not {"answers, rated", "answers, compared"} & set(calls("free"))
        judged = calls("free:judge:openai/rule+judge:openai/rule")
        rated, compared = judged.pop("answers, rated"), judged.pop("answers, compared")
        del judged["drafts of edits"]  # nobody judges these
        assert rated == 2 * sum(judged.values())
        assert compared == round(2 * 1.5 * 3 / 4 * sum(judged.values()))
        assert server.n_asked == 0


def test_a_judge_of_sameness_that_says_nothing_ends_the_run_in_one_line(tmp_path: Path) -> None:
    with open_tasks.server_of_questions() as server:
        run = prepared(tmp_path, "free:judge:openai/rule", server)
        server.compares = lambda _: "who knows"
        done = run.psopt("check", *run.data, *run.model, "--min-f1", "0.1", "--rephrasings", "3")
        assert done.returncode in (2, 3), done.stderr
        assert "neither yes nor no, but says such as 'who knows': take another" in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ("free:my_answers:none", "my_answers has no 'none'"),
        ("free:nli:nowhere/at/all", "there is no folder nowhere/at/all"),
        ("free:judge:gpt-4o", "say free, free:embedding:THRESHOLD"),
    ],
)
def test_what_there_is_not_is_refused(tmp_path: Path, answers: str, why: str) -> None:
    with open_tasks.server_of_questions() as server:
        run = prepared(tmp_path, answers, server)
        done = run.psopt("check", *run.data, *run.model, "--min-f1", "0.1", code=2)
        assert why in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr
        assert server.n_asked == 0


def test_sets_of_labels_that_are_the_same_or_not(tmp_path: Path) -> None:
    with open_tasks.server_of_complaints() as server:
        (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, server.rows)))
        run = Finished("labels+exact", tmp_path, server, None)  # type: ignore[arg-type]
        run.psopt("optimize", *run.data, *run.model, *SIZES, "--out", "run", code=0)
        scores = run.json("run.json")["baseline"]["test"]
        assert scores["sensitivity"] == pytest.approx(scores["open"]["measures"]["S of equal sets"], abs=1e-12)
        assert scores["consistency"] is not None
