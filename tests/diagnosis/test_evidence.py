"""What speaks for a group, who means alike, and where each sample stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.diagnosis import (
    carried_by,
    diagnose_predictions,
    distinctive_words,
    evidence,
    find_slices_by_meaning,
    joint_view,
)
from psopt.evaluation import Predictions
from psopt.tasks import Sample

if TYPE_CHECKING:
    from collections.abc import Sequence

LABELS = ("Number", "Entity")
COLORS = [f"what {word} of paint is on wall {i} ?" for i, word in enumerate(("color", "colour", "shade", "hue"))]
DATES = [f"when did king {i} die ?" for i in range(4)]


@pytest.fixture
def predictions() -> Any:
    """Colours are taken for Number under the second wording, dates for Entity under the third; the rest is right."""
    texts = [(text, "Entity") for text in COLORS] + [(text, "Number") for text in DATES]
    texts += [(f"how many legs has beast {i} ?", "Number") for i in range(4)]
    samples = tuple(Sample(f"s{i}", text, label) for i, (text, label) in enumerate(texts))
    truth = np.array([LABELS.index(label) for _, label in texts])
    array = np.repeat(truth[:, None], 4, axis=1)
    array[:4, 1] = 0
    array[4:8, 2] = 1
    return Predictions(array, samples, LABELS)


def test_clusters_are_of_one_class_and_one_confusion(predictions: Any) -> None:
    found = {(group.label, group.predicted): group for group in find_slices_by_meaning(predictions)}
    assert set(found) == {("Entity", "Number"), ("Number", "Entity")}
    assert set(found["Entity", "Number"].samples) == {"s0", "s1", "s2", "s3"}
    assert set(found["Number", "Entity"].samples) == {"s4", "s5", "s6", "s7"}
    assert all(group.how == "meaning" and group.gain == 0 for group in found.values())


def test_a_slice_is_named_by_words_that_tell_something(predictions: Any) -> None:
    topics = {group.label: group.topic for group in find_slices_by_meaning(predictions)}
    assert topics["Number"] == "like: die, king, when"  # not "did"
    assert "of" not in topics["Entity"]
    assert topics["Entity"].startswith("like: paint, wall")


def test_an_encoder_of_ones_own_decides_what_means_alike(predictions: Any) -> None:
    def embed(texts: Sequence[str]) -> Any:
        """Every text by itself."""
        return np.eye(len(texts), dtype=np.float32)

    assert find_slices_by_meaning(predictions, embed=embed) == ()


def test_evidence_names_the_wording_that_breaks_a_group_and_its_share(predictions: Any) -> None:
    for group in find_slices_by_meaning(predictions):
        facts = evidence(group, predictions)
        assert facts.share == pytest.approx(0.5)
        assert facts.worst_rephrasings == ((1,) if group.label == "Entity" else (2,))
        assert set(facts.typical) <= set(group.samples)
    assert (
        "when"
        in evidence(find_slices_by_meaning(predictions)[1], predictions).words
        + evidence(find_slices_by_meaning(predictions)[0], predictions).words
    )


def test_words_of_all_texts_tell_nothing() -> None:
    assert distinctive_words(["ox bee", "ox cat", "ox bee"], [0, 2]) == ("bee",)
    assert distinctive_words([], []) == ()


def test_the_joint_view_has_a_point_a_sample_and_noise_beside_it(predictions: Any) -> None:
    view = joint_view(predictions)
    assert len(view.sensitivity) == len(view.consistency) == 12
    assert view.sensitivity[8:] == (0.0,) * 4
    order = ["predictor", "half_noised", "random"]
    assert list(view.references) == order
    assert min(order, key=lambda name: view.references[name]["sensitivity"]) == "predictor"


def test_without_labels_there_is_no_joint_view_and_the_rest_works(predictions: Any) -> None:
    bare = tuple(Sample(one.id, one.text, None) for one in predictions.samples)
    unlabelled = Predictions(predictions.array, bare, LABELS)
    assert joint_view(unlabelled) is None
    assert find_slices_by_meaning(unlabelled) == ()
    data = diagnose_predictions(unlabelled).to_dict()
    assert data["joint"] is None
    assert data["carried"] == {"50%": 4, "80%": 7, "90%": 8}


def test_nothing_shakes_and_nothing_is_carried() -> None:
    assert carried_by([0.0, 0.0]) == {"50%": 0, "80%": 0, "90%": 0}


def test_texts_without_a_word_are_no_reason_to_fail(predictions: Any) -> None:
    wordless = tuple(Sample(one.id, "???", one.label) for one in predictions.samples)
    found = diagnose_predictions(Predictions(predictions.array, wordless, LABELS))
    assert len(found.evidence) == len(found.slices)
