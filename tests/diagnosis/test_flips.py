"""The share of verdicts that flip: samples that some wording answers otherwise than the original."""

from __future__ import annotations

import numpy as np
import pytest
from psopt.diagnosis import Diagnosis, PromptReport
from psopt.evaluation import Predictions
from psopt.search_spaces import Prompt
from psopt.tasks import Sample

SAMPLES = tuple(Sample(str(number), f"text {number}", "a") for number in range(4))
ANSWERS = np.array([[0, 0, 0], [0, 1, 0], [1, 1, 2], [2, 2, 2]])  # a, b, and N/A as the last class


def report(rephrasings: tuple[str, ...]) -> PromptReport:
    predictions = Predictions(ANSWERS, SAMPLES, ("a", "b"), rephrasings=rephrasings)
    nothing = Diagnosis.__new__(Diagnosis)  # what is diagnosed is no part of it
    return PromptReport(Prompt("Judge it.", ("a", "b")), predictions, 0.2, 0.0, None, nothing)


def test_answers_are_compared_with_those_under_the_original() -> None:
    found = report(("Judge it.", "Decide it.", "Say it."))
    assert found.flips is not None
    assert found.flips.tolist() == [False, True, True, False]  # by hand: row 2 has an a and a b, row 3 an N/A
    assert found.flips_line.startswith("Flips: 2 of 4 samples (50 %, 95 % interval ")
    assert found.flips_line.endswith("are answered otherwise under some of 2 rewordings than under the original")


@pytest.mark.parametrize("rephrasings", [("Decide it.", "Say it.", "Judge it."), ()])
def test_without_the_original_among_the_wordings_none_is_told(rephrasings: tuple[str, ...]) -> None:
    assert report(rephrasings).flips is None
    assert report(rephrasings).flips_line == ""
