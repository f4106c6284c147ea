"""A prompt's scores with one model or several, by the worst or the mean; and what scores rest on, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.evaluation._objectives import OBJECTIVES, sign_of
from psopt.evaluation._scores import ModelScores, score_one_model
from psopt.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from psopt.evaluation._predictions import Predictions
    from psopt.evaluation._scores import Scores
    from psopt.settings import Over


# Each with what turns it into a gain
_COMBINED = {**{name: sign_of(name) for name in OBJECTIVES}, "macro_f1": 1, "na_rate": -1, "pss": -1}
_NOT_COMBINED = ("sensitivity_limit", "sensitivity_readable", "consistency_no_self_pairs", "posix")


def score(predictions: Predictions, *, intervals: bool = False) -> Scores:
    """Score labelled predictions, those of several models combined; `intervals` adds those of 95 %."""
    if not predictions.others:
        return score_one_model(predictions, intervals=intervals)
    of_models = {answers.model: score_one_model(answers, intervals=intervals) for answers in predictions.each}
    return combined_scores(of_models, predictions.over)


def combined_scores(of_models: Mapping[str, Scores], over: Over) -> Scores:
    """Combine the scores of several models: each measure is that of the model worst in it, or the mean.

    An interval is that of the worst model, or has the mean bounds, since the mean of correlated scores varies no more.
    Kinds of N/A are those of the model that has most; classes, families and shares of answers are the first model's.
    """
    each = list(of_models.values())
    values: dict[str, Any] = dict.fromkeys([*_NOT_COMBINED, *_COMBINED])
    bounds = dict(each[0].ci)
    for name, sign in _COMBINED.items():
        of_each = [getattr(scores, name) for scores in each]
        if None in of_each:
            continue
        worst = int(np.argmin([sign * value for value in of_each]))
        values[name] = of_each[worst] if over == "worst" else float(np.mean(of_each))
        if all(name in scores.ci for scores in each):
            low, high = np.mean([scores.ci[name] for scores in each], axis=0).tolist()
            bounds[name] = each[worst].ci[name] if over == "worst" else (low, high)
    most = max(each, key=lambda scores: scores.na_rate)
    values |= {"na_kinds": most.na_kinds, "na_examples": most.na_examples}
    per_model = {}
    for name, of in of_models.items():
        intervals = {measure: of.ci[measure] for measure in OBJECTIVES if measure in of.ci}
        per_model[name] = ModelScores(of.f1, of.sensitivity, of.consistency, of.na_rate, of.is_hollow, intervals)
    return replace(each[0], **values, ci=bounds, per_model=per_model, over=over)


def note_size(scores: Scores, *, limit: bool = True) -> str:
    """Say N and Q, with `limit` what S would be under many more wordings, and what the intervals cover.

    S grows with Q, and C grows with fewer samples: neither can be compared without N and Q.
    """
    varied = "wording" if scores.n_rephrasings == 1 else scores.varied
    sentences = [f"{counted(scores.n_samples or 0, 'sample')} x {scores.n_rephrasings} {varied}."]
    if limit and scores.sensitivity_limit is not None:
        now, at_limit = 100 * scores.sensitivity, 100 * scores.sensitivity_limit
        sentences.append(f"S is {now:.1f} under these, and about {at_limit:.1f} extrapolated to many more.")
    return " ".join([*sentences, f"{intervals_note(scores)}."])


def intervals_note(scores: Scores) -> str:
    """Say what the intervals cover: one wording cannot show how wordings scatter."""
    if scores.n_rephrasings == 1:
        return "95 % intervals cover the sampling of texts alone: one wording tells nothing of S"
    return f"95 % intervals cover the sampling of texts and of {scores.varied}"


def lone_classes_line(scores: Scores) -> str:
    """Say that C compares samples with themselves, where most classes have but one; empty elsewhere."""
    sizes = [of_class.n for of_class in scores.per_class.values()]
    if 2 * sizes.count(1) <= len(sizes) or scores.consistency is None:
        return ""
    return f"{sizes.count(1)} of {len(sizes)} classes have one sample, which C compares with itself: C says little."


def pooled(predictions: Predictions) -> Predictions:
    """Return several models' answers side by side, (N, models x Q), for diagnosis: S would mix in disagreement."""
    each = predictions.each
    if len(each) == 1:
        return predictions

    def side_by_side(name: str) -> NDArray[np.float64] | None:
        grids = [getattr(answers, name) for answers in each]
        return None if any(grid is None for grid in grids) else np.hstack(grids)

    no_labels = [
        replace(missed, rephrasing=missed.rephrasing + place * each[0].n_rephrasings)
        for place, answers in enumerate(each)
        for missed in answers.no_labels
    ]
    return replace(
        each[0],
        array=np.hstack([answers.array for answers in each]),
        probabilities=side_by_side("probabilities"),
        metric_scores=side_by_side("metric_scores"),
        families=sum((answers.families for answers in each), ()),
        rephrasings=sum((answers.rephrasings for answers in each), ()),
        no_labels=tuple(no_labels),
        same=None,
        confidence=None,
    )
