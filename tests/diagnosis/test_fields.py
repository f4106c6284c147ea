"""Rows of several columns: what failing samples share is named by the column in which it stands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from psopt.diagnosis import find_slices
from psopt.evaluation import Predictions
from psopt.tasks import Row, Sample

LABELS = ("billing", "sales")


def row(subject: str, body: str) -> Row:
    return Row.of({"id": "x", "subject": subject, "body": body, "reason": "invoice"}, ("subject", "body"))


@pytest.fixture
def predictions() -> Any:
    """Bills are said in the subject and taken for sales by half; sales mails say "invoice" in the body only."""
    texts = [(row(f"Invoice {word}", f"please fix {word}"), 0) for word in ("oak", "elm", "ash", "fir", "yew", "bay")]
    texts += [(row(f"Offer {word}", f"with invoice later {word}"), 1) for word in ("red", "tan", "sky", "pea", "gem")]
    truth = np.array([label for _, label in texts])
    array = np.repeat(truth[:, None], 4, axis=1)
    array[:6, :2] = 1
    samples = tuple(Sample(str(index), text, LABELS[label]) for index, (text, label) in enumerate(texts))
    return Predictions(array, samples, LABELS)


@pytest.mark.parametrize("view", ["sensitivity", "accuracy"])
def test_a_slice_names_the_field_that_tells_in_readable_words(predictions: Any, view: Any) -> None:
    """The word "invoice" is in every mail, so that it tells something of subjects alone."""
    found = find_slices(predictions, view)
    assert found[0].label == "billing"
    assert "invoice" not in found[0].phrases
    assert all(phrase.split(": ")[0] in ("subject", "body") for phrase in found[0].phrases)
    beginnings = ('subject begins with "', 'subject contains "', 'body begins with "', 'body contains "')
    assert all(part.startswith(beginnings) for part in found[0].topic.split("; "))
    phrases = " ".join(phrase for one in found for phrase in one.phrases)
    assert "reason" not in phrases
    assert "id:" not in phrases
