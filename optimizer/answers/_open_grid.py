"""Open answers as numbers, as small as labels; and grids of them: which are the same, alike, and worth something."""

from __future__ import annotations

import hashlib
import itertools
from typing import TYPE_CHECKING

import numpy as np
from psopt.tasks import references_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from psopt.answers._open_answers import OpenAnswers

    Codes = NDArray[np.int64]

FIRST_CODE = 1 << 40
"""Below it are labels, N/A, and -1 where not asked."""
_BITS = 60  # of a digest: added to FIRST_CODE they still fit an int64
_NA = -1  # the class of answers that can't be read
_texts: dict[int, str] = {}


def code_of(text: str) -> int:
    """Return the number of an answer, a hash of the text: equal answers have equal numbers, in any process.

    The chance that any two of a million different answers share one (60 bits of BLAKE2) is one in two million.
    """
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    code = FIRST_CODE + int.from_bytes(digest) % (1 << _BITS)
    _texts[code] = text
    return code


def text_of(code: int) -> str:
    """Return the answer behind a number from `code_of`, given here or by a process whose answers were taken over."""
    return _texts[code]


def packed(codes: NDArray[np.int64]) -> tuple[NDArray[np.int32], list[str]]:
    """Return a grid of open answers for storage: indices of the texts, N/A after the last, -1 where not asked."""
    distinct = np.unique(codes[codes >= FIRST_CODE])
    places = np.searchsorted(distinct, codes)
    places = np.where(codes >= FIRST_CODE, places, np.where(codes < 0, -1, len(distinct)))
    return places.astype(np.int32), [text_of(code) for code in distinct.tolist()]


def unpacked(places: NDArray[np.integer], texts: Sequence[str], n_labels: int) -> NDArray[np.int64]:
    """Return the numbers of the answers that `packed` has stored, for a task with `n_labels` labels."""
    codes = np.array([*map(code_of, texts), n_labels, -1], dtype=np.int64)  # the last is where -1 points to
    return np.asarray(codes[places])


def places_of(codes: Codes, rule: OpenAnswers) -> Codes:
    """Number the answers to each sample, (N, Q), in the order of first appearance: the same ones share a number.

    N/A has its own; -1 stands where not asked, in `codes` and in the result.
    """
    answers = distinct_answers(codes)
    rule.prepare(list(itertools.chain.from_iterable(answers)))
    return numbered(codes, [rule.classes(texts) if texts else [] for texts in answers])


def distinct_answers(codes: Codes) -> list[list[str]]:
    """Return the different answers to each sample that could be read, in the order of their first appearance."""
    return [list(map(text_of, _read(row))) for row in codes.tolist()]


def _read(codes: Sequence[int]) -> list[int]:
    return [code for code in dict.fromkeys(codes) if code >= FIRST_CODE]


def numbered(codes: Codes, classes: Sequence[Sequence[int]]) -> Codes:
    """Number the answers to each sample, as `places_of` does, by the classes of its `distinct_answers`."""
    places = np.full(codes.shape, -1, dtype=np.int64)
    for row, answers in enumerate(codes.tolist()):
        class_of = dict(zip(_read(answers), classes[row], strict=True))
        numbers: dict[int, int] = {}
        for column, code in enumerate(answers):
            if code >= 0:
                places[row, column] = numbers.setdefault(class_of.get(code, _NA), len(numbers))
    return places


def similarities_of(codes: Codes, places: Codes, rule: OpenAnswers, n_classes: int) -> NDArray[np.float64] | None:
    """How alike the answers to each sample are, (N, C, C), by their places; None where they are the same or not."""
    if not rule.is_graded:
        return None
    n_samples = len(codes)
    kernels = np.broadcast_to(np.eye(n_classes), (n_samples, n_classes, n_classes)).copy()
    similarities: dict[tuple[int, int], float] = {}
    for row in range(n_samples):
        of_place = {int(place): int(code) for place, code in zip(places[row], codes[row], strict=True) if place >= 0}
        read = [(place, code) for place, code in of_place.items() if code >= FIRST_CODE]
        for number, (place, code) in enumerate(read):
            for earlier_place, earlier_code in read[:number]:
                pair = (min(code, earlier_code), max(code, earlier_code))
                if pair not in similarities:
                    similarities[pair] = rule.similarity(text_of(pair[0]), text_of(pair[1]))
                kernels[row, place, earlier_place] = kernels[row, earlier_place, place] = similarities[pair]
    return kernels


def worths_of(codes: Codes, truth: Codes, rule: OpenAnswers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What each answer is worth given the right one's code, (N, Q) in [0, 1], and how much it weighs, (N, Q)."""
    pairs = np.stack([codes, np.broadcast_to(truth[:, None], codes.shape)], axis=-1).reshape(-1, 2)
    distinct, place = np.unique(pairs, axis=0, return_inverse=True)
    worths, weights = np.zeros(len(distinct)), np.zeros(len(distinct))
    references = itertools.chain.from_iterable(references_of(text_of(code)) for code in np.unique(truth).tolist())
    rule.prepare([*map(text_of, np.unique(codes[codes >= FIRST_CODE]).tolist()), *references])
    for number, (code, right) in enumerate(distinct.tolist()):
        if code >= FIRST_CODE:
            weights[number] = rule.claims(text_of(code), text_of(right))
            worths[number] = rule.worth(text_of(code), text_of(right))
        elif code >= 0:
            weights[number] = rule.claims(None, text_of(right))
    return worths[place].reshape(codes.shape), weights[place].reshape(codes.shape)


def classes_by_pairs(
    answers: Sequence[Sequence[str]], are_same: Callable[[list[tuple[int, str, str]]], Sequence[bool]]
) -> list[list[int]]:
    """Put the answers to each sample into classes: each is compared with the first of every class, until one fits.

    As in Farquhar et al., "Detecting hallucinations in large language models using semantic entropy", 2024. Answers are
    taken in the order of their texts, so that classes do not depend on which wording was answered first. `are_same`
    takes many triples, a sample's number and two of its answers, and returns for each whether they are the same. The
    result has equal numbers, from 0 on, for answers that are.

    >>> by_first_letter = lambda pairs: [first[0] == second[0] for _, first, second in pairs]
    >>> classes_by_pairs([["yes", "no", "yep"], ["no"]], by_first_letter)
    [[1, 0, 1], [0]]
    """
    class_of: list[dict[str, int]] = [{} for _ in answers]
    left = [sorted(texts) for texts in answers]
    for number in itertools.count():
        pairs: list[tuple[int, str, str]] = []
        for sample, texts in enumerate(left):
            if texts:
                class_of[sample][texts[0]] = number
                pairs += [(sample, texts[0], other) for other in texts[1:]]
        if not pairs:
            break
        left = [[] for _ in answers]
        for (sample, _, answer), is_same in zip(pairs, are_same(pairs), strict=True):
            if is_same:
                class_of[sample][answer] = number
            else:
                left[sample].append(answer)
    return [[numbers[answer] for answer in texts] for numbers, texts in zip(class_of, answers, strict=True)]
