"""Prompts of the user's own with the models that run here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psopt
import pytest

from tests.docs.pages import ROOT
from tests.models.tiny_lm import save_model

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ROOT / "examples" / "own_prompt"
COLUMNS: dict[str, Any] = {"inputs": ["subject", "body"], "label_column": "team"}


@pytest.fixture(scope="module")
def task() -> psopt.Task:
    return psopt.Task.from_csv(FOLDER / "mail.csv", **COLUMNS)


def test_minilm_reads_instructions_and_notes_of_a_prompt(task: psopt.Task, cache_dir: Path) -> None:
    pytest.importorskip("torch", reason="the extra `local` is not installed")
    small: dict[str, Any] = {"model": "minilm", "rephrasings": 10, "samples": 20, "cache_dir": cache_dir}
    predictions = psopt.measure(task, FOLDER / "plain.txt", **small)
    array = predictions.array
    truth = [task.labels.index(str(sample.label)) for sample in predictions.samples]
    assert (array != array[:, :1]).any()
    assert (array[:, 0] == truth).mean() > 0.5  # by chance .25


def test_a_local_model_scores_labels_where_the_answer_has_them(task: psopt.Task, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra `local` is not installed")
    pytest.importorskip("transformers", reason="the extra `local` is not installed")
    model = f"hf/{save_model(tmp_path / 'tiny')}"
    small: dict[str, Any] = {"model": model, "rephrasings": 2, "samples": 6, "cache_dir": tmp_path / "cache"}
    measured = [psopt.measure(task, FOLDER / style, **small) for style in ("turns.yaml", "reasoned.json")]
    for predictions in measured:
        assert predictions.array.max() < len(task.labels)  # its labels are scored: none is N/A
    assert (measured[0].array != measured[1].array).any()
