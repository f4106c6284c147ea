"""What is said of samples and wordings beside a table of val and test: N, Q, and C where N differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.evaluation import intervals_note

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.evaluation import Scores
    from psopt.search._front import Candidate


def size_lines(candidates: Mapping[str, Candidate]) -> list[str]:
    """Say N and Q of val and test, and C without self-pairs if their N differ, by what candidates are called.

    Nothing is said of runs from before 0.2, which don't know their N and Q.
    """
    first = next(iter(candidates.values()))
    splits = {"val": first.val, "test": first.test}
    known = {name: scores for name, scores in splits.items() if scores is not None and scores.n_samples is not None}
    if not known:
        return []
    sizes = [f"{name} {scores.n_samples} samples x {scores.n_rephrasings} wordings" for name, scores in known.items()]
    measured = "S is" if first.val.consistency is None else "S and C are"
    lines = [f"{measured} of {', '.join(sizes)}. {intervals_note(next(reversed(known.values())))}."]
    if len({scores.n_samples for scores in known.values()}) > 1 and first.val.consistency is not None:
        lines.append(_comparable(candidates))
    return lines


def _comparable(candidates: Mapping[str, Candidate]) -> str:
    """C without the pairs of a sample with itself: with them, C is higher where samples are fewer."""
    parts = []
    for name, candidate in candidates.items():
        val, test = (_percent(scores) for scores in (candidate.val, candidate.test))
        parts.append(f"{name} {val} on val, {test} on test")
    return f"C without each sample's pair with itself, comparable between these: {'; '.join(parts)}."


def _percent(scores: Scores | None) -> str:
    value = None if scores is None else scores.consistency_no_self_pairs
    return "–" if value is None else f"{100 * value:.1f}"
