"""Which answers are the same, where only pairs can be compared, and each comparison costs something."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence


def classes_by_pairs(
    answers: Sequence[Sequence[str]], are_same: Callable[[list[tuple[int, str, str]]], Sequence[bool]]
) -> list[list[int]]:
    """Put the answers to each sample into classes: each is compared with the first of every class, until one fits.

    As in Farquhar et al., "Detecting hallucinations in large language models using semantic entropy", 2024. Answers are
    taken in the order of their texts, so that classes are no matter of which wording was answered first. Of all samples
    one pair each is asked for at a time.

    Parameters
    ----------
    answers : sequence of sequence of str
        The different answers to each sample.
    are_same : callable
        Takes the number of a sample and two of its answers, many at once, and says of each whether they are the same.

    Returns
    -------
    classes : list of list of int
        Equal numbers, from 0 on, for answers that are the same.

    Examples
    --------
    >>> by_first_letter = lambda pairs: [first[0] == second[0] for _, first, second in pairs]
    >>> classes_by_pairs([["yes", "no", "yep"], ["no"]], by_first_letter)
    [[1, 0, 1], [0]]
    """
    groupings = [_grouping(texts) for texts in answers]
    classes: list[list[int]] = [[] for _ in answers]
    said: dict[int, bool | None] = dict.fromkeys(range(len(answers)))
    while said:
        pairs: list[tuple[int, str, str]] = []
        for number, is_same in said.items():
            try:
                first, second = groupings[number].send(is_same)
            except StopIteration as done:
                classes[number] = done.value
            else:
                pairs.append((number, first, second))
        said = {pair[0]: is_same for pair, is_same in zip(pairs, are_same(pairs) if pairs else (), strict=True)}
    return classes


def _grouping(answers: Sequence[str]) -> Generator[tuple[str, str], bool | None, list[int]]:
    """Asks for pairs of answers to one sample and is told whether they are the same; returns the classes."""
    leaders: list[str] = []
    class_of: dict[str, int] = {}
    for answer in sorted(answers):
        for number, leader in enumerate(leaders):
            if (yield leader, answer):
                class_of[answer] = number
                break
        else:
            class_of[answer] = len(leaders)
            leaders.append(answer)
    return [class_of[answer] for answer in answers]
