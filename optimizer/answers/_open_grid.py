"""A grid of open answers: which are the same, how alike they are, and what they are worth, sample by sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.answers._book import FIRST_CODE, text_of
from psopt.tasks import references_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.answers._open_answers import OpenAnswers

    Codes = NDArray[np.int64]

_NA = -1  # the class of answers that can't be read


def places_of(codes: Codes, rule: OpenAnswers) -> Codes:
    """Number the answers to each sample: those that are the same have one number, N/A one of its own.

    Parameters
    ----------
    codes : (N, Q) int
        -1 where nobody has asked.

    Returns
    -------
    places : (N, Q) int
        In [0, Q), in the order of the answers' first appearance; -1 where nobody has asked.
    """
    answers = distinct_answers(codes)
    rule.prepare([text for texts in answers for text in texts])
    return numbered(codes, [rule.classes(texts) if texts else [] for texts in answers])


def distinct_answers(codes: Codes) -> list[list[str]]:
    """Return the different answers to each sample that could be read, in the order of their first appearance."""
    return [[text_of(code) for code in dict.fromkeys(row.tolist()) if code >= FIRST_CODE] for row in codes]


def numbered(codes: Codes, classes: Sequence[Sequence[int]]) -> Codes:
    """Number the answers to each sample, as `places_of` does, by the classes of its `distinct_answers`."""
    places = np.full(codes.shape, -1, dtype=np.int64)
    for row, answers in enumerate(codes.tolist()):
        read = [code for code in dict.fromkeys(answers) if code >= FIRST_CODE]
        class_of = dict(zip(read, classes[row], strict=True))
        numbers: dict[int, int] = {}
        for column, code in enumerate(answers):
            if code >= 0:
                places[row, column] = numbers.setdefault(class_of.get(code, _NA), len(numbers))
    return places


def similarities_of(codes: Codes, places: Codes, rule: OpenAnswers, n_classes: int) -> NDArray[np.float64] | None:
    """How alike the answers to each sample are, (N, C, C), by their places; None where they are the same or not.

    N/A is like no other answer.
    """
    if not rule.is_graded:
        return None
    n_samples = len(codes)
    kernels = np.broadcast_to(np.eye(n_classes), (n_samples, n_classes, n_classes)).copy()
    known: dict[tuple[int, int], float] = {}
    for row in range(n_samples):
        of_place = {int(place): int(code) for place, code in zip(places[row], codes[row], strict=True) if place >= 0}
        read = [(place, code) for place, code in of_place.items() if code >= FIRST_CODE]
        for number, (place, code) in enumerate(read):
            for other, other_code in read[:number]:
                pair = (min(code, other_code), max(code, other_code))
                if pair not in known:
                    known[pair] = rule.similarity(text_of(pair[0]), text_of(pair[1]))
                kernels[row, place, other] = kernels[row, other, place] = known[pair]
    return kernels


def worths_of(codes: Codes, truth: Codes, rule: OpenAnswers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What each answer is worth beside what is right, (N, Q) in [0, 1], and how much it weighs, (N, Q).

    Parameters
    ----------
    codes : (N, Q) int
        -1 where nobody has asked: worth nothing, and without weight.
    truth : (N,) int
        The number of what is right.
    """
    pairs = np.stack([codes, np.broadcast_to(truth[:, None], codes.shape)], axis=-1).reshape(-1, 2)
    distinct, place = np.unique(pairs, axis=0, return_inverse=True)
    worths, weights = np.zeros(len(distinct)), np.zeros(len(distinct))
    references = [right for code in np.unique(truth).tolist() for right in references_of(text_of(code))]
    rule.prepare([text_of(code) for code in np.unique(codes[codes >= FIRST_CODE]).tolist()] + references)
    for number, (code, right) in enumerate(distinct.tolist()):
        if code >= 0:
            answer = text_of(code) if code >= FIRST_CODE else None
            weights[number] = rule.claims(answer, text_of(right))
            worths[number] = 0.0 if answer is None else rule.worth(answer, text_of(right))
    return worths[place].reshape(codes.shape), weights[place].reshape(codes.shape)
