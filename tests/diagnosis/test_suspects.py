"""Suspect labels: samples that are always given the same answer, never the label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from psopt.answers import AnswerType, code_of
from psopt.diagnosis import find_suspects, suspects_line, without_suspects
from psopt.evaluation import Predictions
from psopt.models import NOT_ASKED
from psopt.tasks import AnswerSpec, Sample

LABELS = ("billing", "delivery")
WORDS = ("the invoice number {i} shows too many dollars", "the parcel number {i} never arrived")
Q = 4


def samples(n: int = 40, wrong: tuple[int, ...] = ()) -> tuple[Sample, ...]:
    """Samples whose words tell the class; those of `wrong` have the other label."""
    return tuple(Sample(f"s{i}", WORDS[i % 2].format(i=i), LABELS[(i + (i in wrong)) % 2], None) for i in range(n))


def by_words(n: int = 40) -> NDArray[np.int64]:
    """The answers of a model that goes by the words, the same under all wordings."""
    return np.repeat(np.arange(n)[:, None] % 2, Q, axis=1)


def test_what_is_answered_alike_and_never_as_labelled_is_listed() -> None:
    found = find_suspects(Predictions(by_words(), samples(wrong=(4,)), LABELS))
    (suspect,) = found.samples
    assert (suspect.id, suspect.label, suspect.answered) == ("s4", "delivery", "billing")
    assert (suspect.n_wordings, suspect.by_words, suspect.is_kept_out) == (Q, True, True)
    assert suspect.of_class == 1 / 21
    assert not suspect.is_rather_the_model
    assert found.line.startswith("1 of 40 samples (2.5 %) is always given the same answer, never the label")
    every = {"n_samples": 2, "samples": 2 * found.to_dict()["samples"]}
    assert suspects_line(every).startswith("2 of 2 samples (100.0 %) are always given the same answer")


def test_another_answer_under_one_wording_clears_a_label_and_one_wording_tells_nothing() -> None:
    given = samples(wrong=(4,))
    for other in (1, 2):  # the second names no label
        answers = by_words()
        answers[4, 2] = other
        assert not find_suspects(Predictions(answers, given, LABELS)).samples
    assert not find_suspects(Predictions(by_words()[:, :1], given, LABELS)).samples
    answers = by_words()
    answers[4, 1:] = NOT_ASKED
    assert not find_suspects(Predictions(answers, given, LABELS)).samples
    answers[4, 1] = 0
    (suspect,) = find_suspects(Predictions(answers, given, LABELS)).samples
    assert suspect.n_wordings == 2


def test_a_class_that_the_model_does_not_know_is_laid_to_the_model() -> None:
    always_billing = np.zeros((40, Q), dtype=np.int64)
    found = find_suspects(Predictions(always_billing, samples(), LABELS))
    assert {suspect.label for suspect in found.samples} == {"delivery"}
    assert all(suspect.is_rather_the_model and suspect.of_class == 1 for suspect in found.samples)
    assert not found.kept_out  # the words speak for the labels: these are what there is to learn from
    assert "20 of them are of classes that the model gets wrong too often" in found.line


def test_without_suspects_the_others_stay_as_they_are() -> None:
    whole = Predictions(by_words(), samples(wrong=(4, 9)), LABELS)
    trusted = without_suspects(whole)
    assert [sample.id for sample in trusted.samples] == [f"s{i}" for i in range(40) if i not in (4, 9)]
    assert trusted.n_rephrasings == Q
    clean = Predictions(by_words(), samples(), LABELS)
    assert without_suspects(clean) is clean
    lost = Predictions(1 - by_words(2), samples(2), LABELS)
    assert len(find_suspects(lost).kept_out) == 2
    assert without_suspects(lost) is lost  # something must be left to diagnose


def test_without_labels_nothing_is_suspect() -> None:
    unlabelled = tuple(Sample(str(i), "a text") for i in range(4))
    found = find_suspects(Predictions(by_words(4), unlabelled, LABELS))
    assert (found.samples, found.n_samples, found.line) == ((), 4, "")
    assert suspects_line(found.to_dict()) == ""


def test_open_answers_are_suspect_too() -> None:
    given = tuple(Sample(f"s{i}", f"text {i}", str(i)) for i in range(40))
    answers = np.array([[code_of(str(i if i != 7 else 70))] * Q for i in range(40)])
    numbers = AnswerType(spec=AnswerSpec("number"))
    (suspect,) = find_suspects(Predictions(answers, given, (), answers=numbers)).samples
    assert (suspect.id, suspect.label, suspect.answered, suspect.by_words) == ("s7", "7", "70", None)
    assert suspect.is_kept_out
