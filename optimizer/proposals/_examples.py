"""Few-shot examples, chosen from train: some typical of their class, some from weak spots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.diagnosis import need
from psopt.prompts import Edit, Provenance
from psopt.wording import words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.tasks import Sample

_LONGEST_EXAMPLE = 400


def examples_from_train(predictions: Predictions, *, typical: int = 1, weak: int = 1) -> list[Edit]:
    """Choose for every label `typical` samples nearest to the class's centre and its `weak` most sensitive ones.

    Chosen among the diagnosed train samples; long texts (over 400 characters) are passed over, so that prompts stay
    short.
    """
    samples, unstable = predictions.samples, need(predictions, "sensitivity")
    centrality = _nearness_to_class(samples)
    edits = []
    for label in predictions.labels:
        members = [
            index
            for index, sample in enumerate(samples)
            if sample.label == label and len(sample.text) <= _LONGEST_EXAMPLE
        ]
        central = sorted(members, key=lambda index: -centrality[index])[:typical]
        shaking = [index for index in members if unstable[index] > 0 and index not in central]
        shaking.sort(key=lambda index: -unstable[index])
        edits += [_example(samples[index], label, "typical") for index in central]
        edits += [_example(samples[index], label, "weak spot") for index in shaking[:weak]]
    return edits


def _example(sample: Sample, label: str, topic: str) -> Edit:
    return Edit("example", label, sample.text, Provenance("rules", "sensitivity", topic, (sample.id,)))


def _nearness_to_class(samples: Sequence[Sample]) -> NDArray[np.float64]:
    """Cosine of each text's words (TF-IDF) with the mean of its class."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectors = TfidfVectorizer(tokenizer=words_of, token_pattern=None).fit_transform([sample.text for sample in samples])
    nearness = np.zeros(len(samples))
    for label in {sample.label for sample in samples}:
        members = np.array([index for index, sample in enumerate(samples) if sample.label == label])
        centre = np.asarray(vectors[members].mean(axis=0)).ravel()
        nearness[members] = (vectors[members] @ centre) / max(float(np.linalg.norm(centre)), 1e-12)
    return nearness
