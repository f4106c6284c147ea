"""How the experiments on language models get from tokens to answers, by hand."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from psopt.models.scoring import label_tree

TREE = label_tree([[1, 2], [1, 3], [4, 5]])  # two labels begin alike; the last token of the third is a matter of course
STEPS = np.log([[0.6, 0.3, 0.6, 0.1, 0.2, 0.9]])  # 1; 2 behind it; 1; 3 behind it; 4; 5 behind it


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(Path(__file__).resolve().parent.parent / "experiments")
    return importlib.import_module("_lm_rules")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("whole", [0.18, 0.06, 0.18]),
        ("mean", [0.18**0.5, 0.06**0.5, 0.18**0.5]),
        ("decoded", [0.75 * 0.75, 0.75 * 0.25, 0.25]),
    ],
)
def test_a_label_is_scored_in_three_ways(rules: Any, kind: str, expected: list[float]) -> None:
    np.testing.assert_allclose(np.exp(rules.label_scores(TREE, STEPS, kind))[0], expected)


def test_the_prior_is_taken_out_by_what_is_asked_for(rules: Any) -> None:
    texts = np.log([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2]])
    unlabelled = np.log([[0.6, 0.3, 0.1], [0.6, 0.3, 0.1]])
    content_free = np.log([[0.8, 0.1, 0.1]])
    scored = rules.Scored(texts, unlabelled, content_free)
    shares = np.array([0.9, 0.05, 0.05])
    assert rules.answers(scored, "none", shares).tolist() == [0, 0]
    assert rules.answers(scored, "batch", shares).tolist() == [0, 2]  # .7 / .6; .2 / .1
    assert rules.answers(scored, "content-free", shares).tolist() == [1, 1]  # .2 / .1; .3 / .1
    assert rules.answers(scored, "classes", shares).tolist() == [0, 0]


def test_answers_are_kept_as_letters(rules: Any) -> None:
    columns = [rules.as_letters(column) for column in ([0, 2], [1, 1])]
    assert columns == ["ac", "bb"]
    assert rules.from_letters(columns).tolist() == [[0, 1], [2, 1]]
