"""What a study says by itself of the search in it, without the data, the model and the evaluator: for looking at it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optuna.trial import TrialState
from psopt.errors import InputError
from psopt.evaluation import AnswerShares, ClassScores, Scores
from psopt.search._front import Candidate
from psopt.search._study import make_sampler, study_storage
from psopt.search.distributed import RetryPolicy, StoredStudy, opening, read_rounds, stored_edits, without_password
from psopt.search.distributed._study_keys import BASELINE, PROMPT_ID, RACED
from psopt.search_spaces import CALIBRATE, Prompt, apply_edits, chosen_edits

if TYPE_CHECKING:
    import optuna
    from optuna.trial import FrozenTrial

_CONSTANT = "always answers "  # what a trial's attribute of that name begins with


def read_study(url: str, name: str) -> StoredStudy:
    """Load a study to look at it; nothing is written to it.

    Raises InputError if there is none, or its storage can't be opened.
    """
    policy = RetryPolicy()
    with opening(url), policy.suspended():
        storage = study_storage(url, policy)
        try:
            storage.get_study_id_from_name(name)
        except KeyError:
            raise InputError(f"the storage {without_password(url)!r} holds no study {name!r}") from None
        return StoredStudy(name, storage, make_sampler("tpe", 0), policy)


def keep_baseline(study: StoredStudy, prompt: Prompt) -> None:
    """Write the original prompt to its study, so that whoever loads it can build every prompt."""
    study.set_hidden_attr(BASELINE, prompt.to_dict())


def example_orders(study: StoredStudy) -> dict[int, str]:
    """Return in which of the `ORDERS` each evaluated trial has its few-shot examples, by the trials' numbers."""
    return {trial.number: chosen_edits(trial.params, ())[1] for trial in study.trials_in(TrialState.COMPLETE)}


def candidates_in(study: StoredStudy) -> list[Candidate]:
    """Return the candidates that were evaluated in whole, by trial, with the scores that their trials tell.

    They are in a study since psopt 0.2; the original prompt is the first, and without it there are none. Scores have no
    intervals, and nothing is known of how their answers are compared.
    """
    kept = study.hidden_attrs().get(BASELINE)
    if kept is None:
        return []
    baseline = Prompt.from_dict(kept)
    trials = [trial for trial in study.trials_in(TrialState.COMPLETE) if RACED not in trial.user_attrs]
    pool = [CALIBRATE, *(edit for edits in read_rounds(stored_edits(study)) for edit in edits)]
    candidates = []
    for trial in trials:
        edits, order = chosen_edits(trial.params, pool)
        prompt = apply_edits(baseline, edits, order)
        if prompt.id == trial.user_attrs.get(PROMPT_ID):  # else an edit of it is not stored yet
            candidates.append(Candidate(trial.number, prompt, edits, _scores(study, trial), order=order))
    return candidates if any(candidate.id == baseline.id for candidate in candidates) else []


def _scores(study: optuna.Study, trial: FrozenTrial) -> Scores:
    values: dict[str, Any] = dict(zip(study.metric_names or (), trial.values, strict=True))
    attributes = trial.user_attrs
    constant = attributes.get("constant")
    return Scores(
        f1=values["f1"],
        macro_f1=None,
        sensitivity=values["sensitivity"],
        consistency=values.get("consistency"),
        na_rate=attributes["na_rate"],
        per_class={label: ClassScores(**scores) for label, scores in attributes["per_class"].items()},
        ci={},
        constant=constant.removeprefix(_CONSTANT) if constant else None,
        shares=AnswerShares(**attributes["shares"]) if "shares" in attributes else None,
    )
