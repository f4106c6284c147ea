"""Scores of open answers, against hand-worked cases and against what others compute."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from psopt.answers import ONE_LABEL, AnswerType, NoLabel, code_of, packed, unpacked
from psopt.evaluation import (
    Predictions,
    answer_shares,
    compare_paired,
    objective_values,
    readable_sensitivity,
    score,
    shares_line,
    why_worthless,
)
from psopt.metrics import prediction_counts, sample_sensitivity
from psopt.search.racing._race import sample_gains
from psopt.tasks import AnswerSpec, Sample, written_set
from sklearn.metrics import accuracy_score, f1_score

LABELS = ("a", "b", "c")


def predictions_of(
    spec: str, answers: Sequence[Sequence[str | None]], right: Sequence[str], labels: tuple[str, ...] = ()
) -> Predictions:
    """None is N/A, and the empty text a cell that nobody has asked for."""
    array = [
        [len(labels) if answer is None else -1 if answer == "" else code_of(answer) for answer in row]
        for row in answers
    ]
    samples = tuple(Sample(str(place), f"text {place}", reference) for place, reference in enumerate(right))
    answer_type = AnswerType(spec=AnswerSpec.read("test", spec))
    return Predictions(np.array(array), samples, labels, answers=answer_type)


def random_sets(seed: int) -> tuple[Predictions, Any, Any]:
    rng = np.random.default_rng(seed)
    true = rng.random((40, 3)) < 0.4
    given = true[:, None, :] ^ (rng.random((40, 6, 3)) < 0.15)
    return sets_of(true, given), true, given


def sets_of(true: Any, given: Any) -> Predictions:
    def written(row: Any) -> str:
        return written_set([label for label, is_in in zip(LABELS, row, strict=True) if is_in], LABELS)

    return predictions_of(
        "labels", [[written(answer) for answer in row] for row in given], [*map(written, true)], LABELS
    )


def test_nearly_the_same_set_everywhere_is_near_constant_and_one_that_follows_the_text_is_not() -> None:
    right, true, given = random_sets(0)
    flips = np.random.default_rng(1).random(given.shape) < 0.05
    all_labels, no_label = sets_of(true, ~flips), sets_of(true, flips)
    n_true = true.sum(axis=0)
    best = max(2 * n / (40 * k + n_true.sum()) for k, n in enumerate(np.sort(n_true)[::-1].cumsum().tolist(), start=1))
    for predictions, usual in ((right, None), (all_labels, "a, b, c"), (no_label, "no label")):
        shares = score(predictions).shares
        assert shares is not None
        assert shares.near_constant == usual
        assert shares.constant_f1 == pytest.approx(best)
        assert shares.class_shares == pytest.approx(dict(zip(LABELS, true.mean(axis=0).tolist(), strict=True)))
    # also from a part of the grid, as a race has it
    part = np.where(np.arange(6) < np.arange(40)[:, None] % 6 + 1, all_labels.array, -1)
    so_far = answer_shares(replace(all_labels, array=part))
    assert so_far is not None
    assert so_far.near_constant == "a, b, c"
    line = shares_line(score(all_labels).to_dict(), "B")
    f1 = 100 * score(all_labels).f1
    assert line == (
        f"B answers nearly the same to most texts (a, b, c). Its micro-F1 is {f1:.1f}, and {100 * best:.1f} for the "
        "best constant answer: its S and C say nothing."
    )
    # answers that have nothing to do with the text, but are not all the same
    by_chance = sets_of(true, np.random.default_rng(2).random(given.shape) < 0.4)
    assert score(by_chance).is_hollow
    assert why_worthless(by_chance).endswith("for the best constant answer")


def test_numbers_within_tolerance_are_one_class() -> None:
    predictions = predictions_of("number:0.5", [["10", "10.4", "12", None], ["3", "3", "3", "3"]], ["10", "4"])
    scores = score(predictions)
    # of the first: two alike, one other, one N/A; entropy of (2, 1, 1) / 4 by ln 4
    entropy = (0.5 * math.log(2) + 0.5 * math.log(4)) / math.log(4)
    assert scores.sensitivity == pytest.approx(entropy / 2)
    assert scores.f1 == pytest.approx(2 / 8)
    assert scores.consistency is None
    assert scores.na_rate == pytest.approx(1 / 8)
    assert scores.open.measures["mean absolute error"] == pytest.approx((0 + 0.4 + 2 + 4) / 7)
    assert list(scores.gains) == pytest.approx([scores.f1, -scores.sensitivity])


def test_s_of_texts_is_the_entropy_of_the_classes_that_they_are() -> None:
    rng = np.random.default_rng(3)
    words = np.array(["Paris", "paris.", "Lyon", "the Lyon", "Nice"])
    classes = np.array([0, 0, 1, 1, 2])
    drawn = rng.integers(0, 5, (30, 8))
    predictions = predictions_of("text", words[drawn].tolist(), ["Paris"] * 30)
    by_classes = sample_sensitivity(prediction_counts(classes[drawn], 8))
    assert predictions.sensitivities == pytest.approx(by_classes, abs=1e-12)
    assert score(predictions).f1 == pytest.approx((classes[drawn] == 0).mean())


def test_texts_that_share_words_are_partly_alike() -> None:
    """Two answers half and half, with a token F1 of .8: eigenvalues .9 and .1."""
    predictions = predictions_of("text:token-f1", [["the blue door", "a blue wooden door"]], ["blue door"])
    nats = -(0.9 * math.log(0.9) + 0.1 * math.log(0.1))
    assert score(predictions).sensitivity == pytest.approx(nats / math.log(2))
    assert score(predictions).f1 == pytest.approx((1 + 0.8) / 2)


def test_f1_of_sets_is_that_of_scikit_learn_and_lies_in_its_intervals() -> None:
    predictions, true, given = random_sets(1)
    y, answered = np.repeat(true, given.shape[1], axis=0), given.reshape(-1, 3)
    scores = score(predictions, intervals=True)
    assert scores.f1 == pytest.approx(f1_score(y, answered, average="micro"))
    assert scores.macro_f1 == pytest.approx(f1_score(y, answered, average="macro"))
    assert scores.open.measures["subset accuracy"] == pytest.approx(accuracy_score(y, answered))
    of_labels: list[Any] = list(scores.per_class.values())
    assert [of_label.f1 for of_label in of_labels] == pytest.approx(list(f1_score(y, answered, average=None)))
    assert [of_label.n for of_label in of_labels] == true.sum(axis=0).tolist()
    for name in ("f1", "macro_f1", "sensitivity", "consistency"):
        low, high = scores.ci[name]
        assert low < getattr(scores, name) < high
    for of_label in of_labels:
        low, high = of_label.ci["f1"]
        assert low < of_label.f1 < high
    assert not any(of_label.ci for of_label in score(predictions).per_class.values())


def test_c_is_an_objective_where_answers_name_labels() -> None:
    texts = predictions_of("text", [["a b", "a", None], ["c", "d", "d"]], ["a", "c"])
    codes = np.array([[0, 1, 3], [2, 2, 1]])
    of_labels = replace(texts, array=codes, labels=LABELS, answers=ONE_LABEL)
    for named in (random_sets(5)[0], of_labels):
        assert "consistency" in objective_values(score(named))
    assert "consistency" not in objective_values(score(texts))


def test_c_of_sets_is_pooled_over_labels() -> None:
    """Label a: its samples name it in all, half and none of the answers; distances .5, 1 and .5 of nine pairs."""
    rows: list[list[str | None]] = [['["a"]', '["a"]'], ['["a"]', "[]"], ['["b"]', None]]
    predictions = predictions_of("labels", rows, ['["a"]', '["a"]', '["a"]'], LABELS)
    # shares of (given, not given, N/A): (1, 0, 0), (.5, .5, 0), (0, .5, .5)
    assert score(predictions).consistency == pytest.approx(1 - 2 * (0.5 + 1 + 0.5) / 9)
    # a sample without a label is in no class
    unlabelled = score(predictions_of("labels", [["[]", "[]"], ['["a"]', "[]"]], ["[]", "[]"], LABELS))
    assert (unlabelled.consistency, unlabelled.f1) == (None, 0.0)  # not a label is right, and one is wrong
    assert unlabelled.sensitivity > 0


def test_gains_of_samples_have_the_scores_as_their_means() -> None:
    predictions, _, _ = random_sets(2)
    scores = score(predictions)
    gains = sample_gains(predictions)
    assert gains.shape == (40, 3)
    assert gains[:, 0].mean() == pytest.approx(scores.f1)
    assert gains[:, 2].mean() == pytest.approx(predictions.label_rows.contributions.mean())
    of_two = sample_gains(predictions_of("number", [["1", "2", "1"], ["3", "3", "3"]], ["1", "3"]))
    # two of three answers alike: 3/2 (1 - 5/9) = 2/3
    assert of_two == pytest.approx(np.array([[2 / 3, -2 / 3], [1, 0]]))


def test_differences_of_sets_are_those_of_their_scores() -> None:
    first, _, _ = random_sets(1)
    second = replace(first, array=first.array[::-1])  # each sample gets another one's answers
    before, after = score(first), score(second)
    for name, difference in compare_paired(first, second).items():
        assert difference.difference == pytest.approx(getattr(after, name) - getattr(before, name))
        assert difference.low < difference.difference < difference.high


def test_of_answers_that_are_the_same_equal_ones_count_and_n_a_and_what_nobody_asked_for_stay_out() -> None:
    texts = predictions_of("text", [["Paris", "paris.", None, "Lyon", "Paris"]], ["Paris"])
    assert texts.answers_to(0) == {"Paris": 3, "N/A": 1, "Lyon": 1}
    read = predictions_of("number", [["1", None, "1", None], ["2", "3", None, None]], ["1", "2"])
    assert readable_sensitivity(read) == pytest.approx(math.log(2) / math.log(4) / 2)
    in_part = predictions_of("number", [["1", "2", ""], ["3", "3", "3"]], ["1", "3"])
    assert in_part.sensitivities == pytest.approx([math.log(2) / math.log(3), 0])
    assert in_part.share_right == pytest.approx([0.5, 1])


def test_one_answer_to_everything_is_worth_nothing() -> None:
    scores = score(predictions_of("number", [["1", "1"], ["1", "1"]], ["1", "3"]))
    assert (scores.constant, scores.is_hollow, scores.sensitivity) == ("1", True, 0)


def test_grids_survive_being_kept() -> None:
    codes = np.array([[code_of("a"), 3, -1], [code_of("東京"), code_of("a"), code_of("")]])
    places, texts = packed(codes)
    assert places.dtype == np.int32
    assert unpacked(places, texts, 3).tolist() == codes.tolist()


def test_predictions_bring_their_texts_to_other_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    made = predictions_of("number", [["3", "4"], ["5", None]], ["3", "5"])
    pickled, answers = pickle.dumps(made), [made.answers_to(index) for index in range(2)]
    monkeypatch.setattr("psopt.answers._open_grid._texts", {})
    read = pickle.loads(pickled)
    assert [read.answers_to(index) for index in range(2)] == answers == [{"3": 1, "4": 1}, {"5": 1, "N/A": 1}]
    assert score(read) == score(made)


def test_predictions_for_some_samples_are_what_they_are_in_whole() -> None:
    answers: list[list[str | None]] = [["x", "y", "x"], [None, "y", "y"], ["z", "z", "w"]]
    whole = replace(
        predictions_of("text", answers, ["x", "y", "z"]),
        metric_scores=np.arange(9).reshape(3, 3) / 8,
        same=np.array([[0, 0, 0], [0, 1, 1], [0, 0, 1]]),
        no_labels=(NoLabel(1, 0, "empty", ""),),
    )
    part = whole.of_samples(np.array([2, 1]))
    assert [sample.label for sample in part.samples] == ["z", "y"]
    assert whole.quality is not None
    np.testing.assert_array_equal(part.quality, whole.quality[[2, 1]])
    np.testing.assert_allclose(part.sensitivities, whole.sensitivities[[2, 1]])
    assert whole.sensitivities[0] == 0  # whatever the texts: they are told to be the same
    assert [(missed.sample, missed.kind) for missed in part.no_labels] == [(1, "empty")]
    only = whole.of_samples(np.array([True, False, False]))
    assert (only.array.shape, only.no_labels) == ((1, 3), ())
    assert [columns.tolist() for columns in whole.under([2, 0]).places] == [[0, 0], [1, 0], [1, 0]]
