"""Of an original prompt that answers nearly everything alike that is said, and what is better in F1 is handed back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psopt
import pytest
from psopt.report import diagnosis_page
from psopt.runs import recommendation_lines
from psopt.search_spaces import Prompt
from psopt.tasks import Task

LABELS = ("Number", "Person", "Place")
QUESTIONS = {"Number": "how many saw thing {}", "Person": "who built thing {}", "Place": "where is thing {}"}


class OneLabelModel:
    """Answers Number to 94 % of the texts, steadily; with a note or an example more is right, and less steadily."""

    name = "one-label"

    def predict(self, prompts: Sequence[Prompt], texts: Sequence[str], on_progress: Any = None) -> Any:
        return np.array([[self._answer(prompt, text) for prompt in prompts] for text in texts], dtype=np.int64)

    def _answer(self, prompt: Prompt, text: str) -> int:
        number = int(text.split()[-1])
        right = next(place for place, label in enumerate(LABELS) if text.startswith(QUESTIONS[label].split()[0]))
        if not (prompt.notes or prompt.definitions or prompt.examples):
            return right if number % 11 == 1 else 0
        is_steady = number % 10 < 6
        return right if is_steady or len(prompt.description) % 2 else (right + 1) % 3


@pytest.fixture(scope="module")
def task() -> Task:
    splits = [split for split in ("train", "val", "test") for _ in range(66)]
    return Task.from_records(
        {"text": QUESTIONS[LABELS[i % 3]].format(i), "label": LABELS[i % 3], "split": split}
        for i, split in enumerate(splits)
    )


@pytest.fixture(scope="module")
def run(task: Task, tmp_path_factory: pytest.TempPathFactory) -> psopt.Run:
    folder = tmp_path_factory.mktemp("near-constant")
    options: Any = {"trials": 6, "rounds": 1, "rephrasings": 4, "heldout": 4, "cache_dir": folder / "cache"}
    return psopt.optimize(task, model=OneLabelModel(), out=folder / "run", **options)


def test_what_is_better_in_f1_and_less_steady_is_handed_back(run: psopt.Run) -> None:
    kept = json.loads((run.path / "run.json").read_text())
    before, recommended = kept["baseline"]["test"], kept["recommended"]
    assert (before["near_constant"], before["sensitivity"]) == ("Number", 0)
    assert before["answer_shares"]["Number"] == pytest.approx(62 / 66)
    assert before["class_shares"]["Number"] == before["constant_f1"] == pytest.approx(1 / 3)
    assert run.recommended.test is not None
    assert run.recommended.test.f1 > before["f1"]
    assert run.recommended.test.sensitivity > 0.1
    assert (recommended["verdict"], recommended["tests"][0]["decisive"]) == ("better", ["f1"])
    lines = recommendation_lines(recommended)
    assert lines[0].endswith("Tested at 5 %: F1 is higher.")
    said = "The original prompt answers Number to 94 % of the texts, so its S and C say nothing: only F1 was tested."
    assert lines[1] == said
    assert run.baseline.id not in {candidate.id for candidate in run.front} | {run.pick("knee").id}
    assert psopt.load_run(run.path).baseline.val.near_constant == "Number"
    page = (run.path / "report.html").read_text()
    sentence = "The original prompt answers Number to 94 % of the texts, and 33 % are Number."
    assert page.index("S, sensitivity") < page.index(sentence) < page.index("By class")
    assert ">of the answers</th>" in page


def test_a_diagnosis_says_so_with_labels_and_without(task: Task, tmp_path: Path) -> None:
    options: Any = {"model": OneLabelModel(), "rephrasings": 3, "split": "test", "cache_dir": tmp_path}
    report = psopt.diagnose(task, **options)
    assert report.to_dict()["near_constant"] == "Number"
    assert "The prompt answers Number to 94 % of the texts" in diagnosis_page(report, "toy", "one-label", "test")
    assert "answers Number to 94 %" in report._repr_html_()
    unlabelled = replace(task, test=tuple(replace(sample, label=None) for sample in task.test))
    assert psopt.diagnose(unlabelled, **options).to_dict()["answer_shares"]["Number"] == pytest.approx(62 / 66)
