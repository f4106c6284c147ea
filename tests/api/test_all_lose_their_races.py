"""A run whose candidates all stop early has compared them, and says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psopt
from psopt.tasks import Task

from tests.conftest import make_samples

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.search_spaces import Messages


def test_nobody_is_told_to_ask_more_where_every_candidate_was_clearly_worse(tmp_path: Path) -> None:
    records = [(sample.text, sample.label) for sample in make_samples("all", 200, 0)]
    label_of = dict(records)
    task = Task.from_records(records, description="Sort the question.", noun="question", seed=0)

    def answer(messages: Messages) -> Any:
        """Right as it is asked, wrong whenever an edit adds anything."""
        text = next(text for text in label_of if text in messages[-1]["content"])
        lines = [line for message in messages[1:] for line in message["content"].splitlines() if line.strip()]
        is_edited = len(lines) > 4
        return next(label for label in task.labels if (label == label_of[text]) != is_edited)

    sizes: Any = {"trials": 5, "rephrasings": 4, "heldout": 3, "rounds": 1}
    run = psopt.optimize(task, model=answer, race="on", out=tmp_path / "run", **sizes)
    assert run.recommendation.verdict.reason == "nothing on val was a better compromise"
    assert [candidate.trial for candidate in run.front] == [0]
    report = (tmp_path / "run" / "report.html").read_text("utf-8")
    n_stopped = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))["race"]["stopped"]
    assert n_stopped > 2
    assert f"1 prompt was evaluated on the same samples and rephrasings, {n_stopped} more on a part of them" in report
