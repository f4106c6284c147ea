"""The half-noised and the random predictor of appendix A."""

import numpy as np
import pytest
from psopt.metrics import joint_scores, noised_predictions, reference_scores, sample_consistency

Y = np.random.default_rng(0).integers(3, size=300)
PERFECT = np.tile(Y[:, None], (1, 40))


def test_half_of_the_answers_are_redrawn() -> None:
    noised = noised_predictions(PERFECT, 4)
    # a redrawn answer is the old one by chance 1 in 4: 1/2 * 3/4 of the answers change
    assert (noised != PERFECT).mean() == pytest.approx(3 / 8, abs=0.02)
    assert (noised_predictions(PERFECT, 4, share=0) == PERFECT).all()


def test_noise_is_seeded() -> None:
    assert (noised_predictions(PERFECT, 4, seed=0) == noised_predictions(PERFECT, 4, seed=0)).all()
    assert (noised_predictions(PERFECT, 4, seed=0) != noised_predictions(PERFECT, 4, seed=1)).any()


def test_the_references_stand_where_appendix_a_says() -> None:
    """The random predictor has S near 1 and, like all random samples of a class, high consistency; F1 unmasks it."""
    found = reference_scores(PERFECT, Y, 4)
    assert list(found) == ["predictor", "half_noised", "random"]
    assert found["predictor"].sensitivity == 0
    assert found["predictor"].f1 == 1
    assert 0.5 < found["half_noised"].sensitivity < 0.9
    assert found["random"].sensitivity > 0.95
    assert found["random"].consistency > 0.8
    assert found["random"].f1 == pytest.approx(1 / 4, abs=0.02)


def test_the_predictor_itself_stands_among_them_unchanged() -> None:
    predictions = noised_predictions(PERFECT, 4, 0.2)
    found = reference_scores(predictions, Y, 4)["predictor"]
    expected = joint_scores(predictions, Y, 4)
    assert (found.f1, found.sensitivity, found.consistency) == tuple(expected.values())


def test_the_axes_of_the_plot_come_along() -> None:
    found = reference_scores(PERFECT, Y, 4)["random"]
    assert found.sample_sensitivity.shape == found.sample_consistency.shape == Y.shape
    assert found.sample_sensitivity.mean() == pytest.approx(found.sensitivity)
    counts = np.eye(4, dtype=int)[noised_predictions(PERFECT, 4, 1.0)].sum(axis=1)
    assert (found.sample_consistency == sample_consistency(counts, Y)).all()


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_lies_between_none_and_all(share: float) -> None:
    with pytest.raises(ValueError, match="share is"):
        noised_predictions(PERFECT, 4, share)
