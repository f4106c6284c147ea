"""The Optuna study of a search: opened, joined, or read without data and model. It waits out outages of its storage."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import optuna
from optuna.trial import TrialState
from psopt.answers import ONE_LABEL
from psopt.errors import InputError, UnknownNameError, import_extra
from psopt.evaluation import AnswerShares, ClassScores, Scores, objectives_of
from psopt.search._front import Candidate
from psopt.search.distributed._storage import storage_at
from psopt.search.distributed._stored_study import BASELINE, PROMPT_ID, RACED, StoredStudy, read_rounds
from psopt.search_spaces import CALIBRATE, Prompt, apply_edits, chosen_edits

if TYPE_CHECKING:
    from collections.abc import Callable

    from optuna.trial import FrozenTrial
    from psopt.answers import AnswerType
    from psopt.settings import SamplerName


_THEIRS = "---\n\n*What is written below this line stays.*"


def open_study(
    url: str,
    name: str,
    sampler: SamplerName,
    seed: int,
    *,
    answers: AnswerType = ONE_LABEL,
    resume: bool = False,
    tell: Callable[[str], None] | None = None,
) -> StoredStudy:
    """Create a study with the objectives of `answers`, or load one to resume it; `tell` is called about outages.

    Raises InputError if the storage can't be opened, or already holds a study of this name and `resume` is False.
    """
    objectives = objectives_of(answers)
    with storage_at(url, tell) as (storage, policy):
        try:
            study = optuna.create_study(
                storage=storage, study_name=name, directions=list(objectives.values()), load_if_exists=resume
            )
        except optuna.exceptions.DuplicatedStudyError as error:
            exists = f"the storage already holds a study {name!r}: add --resume, or --study-name NEW"
            raise InputError(exists) from error
        study.set_metric_names(list(objectives))
        return StoredStudy(name, storage, make_sampler(sampler, seed), policy)


def read_study(url: str, name: str, tell: Callable[[str], None] | None = None) -> StoredStudy:
    """Load a study that another process has started; raises InputError if there is none, or it can't be opened."""
    with storage_at(url, tell, is_there=True) as (storage, policy):
        try:
            return StoredStudy(name, storage, make_sampler("random", 0), policy)
        except KeyError:
            names = sorted(optuna.get_all_study_names(storage))
            raise UnknownNameError("study", name, names or ["none in this storage"]) from None


def join_study(url: str, name: str, seed: int, tell: Callable[[str], None] | None = None) -> StoredStudy:
    """Load a study to search in it, as `read_study` does; raises InputError also if it is not one of psopt's."""
    study = read_study(url, name, tell)
    study.sampler = make_sampler(study.read_metadata().settings.get("sampler", "tpe"), seed)
    return study


# Optuna begins with 10 random trials (TPE) and 50 (NSGA-II): a quarter of our usual 40, and more than all of them.
_TPE_STARTUP_TRIALS = 8
_NSGA2_POPULATION = 12  # three generations in 40 trials


def make_sampler(name: SamplerName, seed: int) -> optuna.samplers.BaseSampler:
    """Make the sampler of this name; ``gp`` needs the extra ``local`` (torch)."""
    if name == "tpe":
        n_random = _TPE_STARTUP_TRIALS
        return optuna.samplers.TPESampler(multivariate=True, group=True, n_startup_trials=n_random, seed=seed)
    if name == "nsga2":
        return optuna.samplers.NSGAIISampler(population_size=_NSGA2_POPULATION, seed=seed)
    if name == "gp":
        import_extra("torch", "the sampler gp", "local")
        return optuna.samplers.GPSampler(seed=seed)
    return optuna.samplers.RandomSampler(seed=seed)


def show_note(study: StoredStudy, text: str) -> None:
    """Write the study's note, in Markdown; what people have added to it stays, below a line."""
    from optuna_dashboard import get_note, save_note

    theirs = (get_note(study) or "").split(_THEIRS, 1)[-1].strip()  # without the line, people wrote all of it
    parts = [text.rstrip(), _THEIRS, theirs]
    save_note(study, "\n\n".join(filter(None, parts)) + "\n")


_CONSTANT = "always answers "  # the beginning of a trial's attribute ``constant``


def candidates_in(study: StoredStudy) -> list[Candidate]:
    """Return the candidates that were evaluated completely, the original prompt first, with their trials' scores.

    Without the original prompt there are none. Scores have no intervals, and know nothing of how answers are compared.
    """
    baseline_data = study.hidden_attrs().get(BASELINE)
    if baseline_data is None:
        return []
    baseline = Prompt.from_dict(baseline_data)
    pool = [CALIBRATE, *itertools.chain.from_iterable(read_rounds(study.stored_edits()))]
    candidates = []
    for trial in study.trials_in(TrialState.COMPLETE):
        edits, order = chosen_edits(trial.params, pool)
        prompt = apply_edits(baseline, edits, order)
        is_stored = prompt.id == trial.user_attrs.get(PROMPT_ID)  # otherwise one of its edits is not stored yet
        if is_stored and RACED not in trial.user_attrs:
            candidates.append(Candidate(trial.number, prompt, edits, _scores(study, trial), order=order))
    candidates.sort(key=lambda candidate: candidate.id != baseline.id)
    return candidates if candidates and candidates[0].id == baseline.id else []


def _scores(study: optuna.Study, trial: FrozenTrial) -> Scores:
    values: dict[str, Any] = dict(zip(study.metric_names or (), trial.values, strict=True))
    attributes = trial.user_attrs
    constant = attributes.get("constant") or None
    return Scores(
        f1=values["f1"],
        macro_f1=None,
        sensitivity=values["sensitivity"],
        consistency=values.get("consistency"),
        na_rate=attributes["na_rate"],
        per_class={label: ClassScores(**scores) for label, scores in attributes["per_class"].items()},
        ci={},
        constant=constant and constant.removeprefix(_CONSTANT),
        shares=AnswerShares(**attributes["shares"]) if "shares" in attributes else None,
    )
