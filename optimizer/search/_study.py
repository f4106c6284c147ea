"""The Optuna study of a search: named objectives, a sampler by its name, a storage that is waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import optuna
from psopt.answers import ONE_LABEL
from psopt.errors import InputError, UnknownNameError, import_extra
from psopt.evaluation import objectives_of
from psopt.search.distributed import RetryPolicy, StoredStudy, make_storage, opening, read_metadata, retrying
from psopt.search.distributed._study_keys import CHOSEN
from psopt.settings import SamplerName

if TYPE_CHECKING:
    from collections.abc import Callable

    from psopt.answers import AnswerType


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
    """Create a study, or load one to resume it; `tell` will hear of outages of its storage.

    Its objectives are those that `answers` have.

    Raises InputError if the storage can't be opened, or already holds a study of this name and `resume` is not asked
    for.
    """
    objectives = objectives_of(answers)
    policy = RetryPolicy(tell)
    with opening(url), policy.suspended():  # a storage must be there at the start
        storage = study_storage(url, policy)
        try:
            study = optuna.create_study(
                storage=storage, study_name=name, directions=list(objectives.values()), load_if_exists=resume
            )
        except optuna.exceptions.DuplicatedStudyError as error:
            raise InputError(
                f"the storage already holds a study {name!r}: add --resume, or --study-name NEW"
            ) from error
        study.set_metric_names(list(objectives))
        return StoredStudy(name, storage, make_sampler(sampler, seed), policy)


def join_study(url: str, name: str, seed: int, tell: Callable[[str], None] | None = None) -> StoredStudy:
    """Load a study that another process has started; `tell` will hear of outages of its storage.

    Raises InputError if there is none, it is none of psopt's, or the storage can't be opened.
    """
    policy = RetryPolicy(tell)
    with opening(url), policy.suspended():
        storage = study_storage(url, policy)
        try:
            study = optuna.load_study(study_name=name, storage=storage)
        except KeyError:
            names = sorted(optuna.get_all_study_names(storage))
            raise UnknownNameError("study", name, names or ["none in this storage"]) from None
        sampler: SamplerName = read_metadata(study).settings.get("sampler", "tpe")
        return StoredStudy(name, storage, make_sampler(sampler, seed), policy)


def study_storage(url: str, policy: RetryPolicy) -> optuna.storages.BaseStorage:
    """Make the storage of a study that is waited for while it is away."""
    # `get_storage` is how Optuna puts its cache above a database: without it each look reads all trials anew.
    return retrying(optuna.storages.get_storage(make_storage(url)), policy)


# Optuna's defaults, 10 and 50 trials at random, are a quarter of our usual 40 trials and all of them.
_TPE_STARTUP_TRIALS = 8
_NSGA2_POPULATION = 12


def make_sampler(name: SamplerName, seed: int) -> optuna.samplers.BaseSampler:
    """Make the sampler of this name; ``gp`` needs the extra ``local`` (torch)."""
    if name == "tpe":
        return optuna.samplers.TPESampler(
            multivariate=True, group=True, n_startup_trials=_TPE_STARTUP_TRIALS, seed=seed
        )
    if name == "nsga2":
        return optuna.samplers.NSGAIISampler(population_size=_NSGA2_POPULATION, seed=seed)
    if name == "gp":
        import_extra("torch", "the sampler gp", "local")
        return optuna.samplers.GPSampler(seed=seed)
    if name == "random":
        return optuna.samplers.RandomSampler(seed=seed)
    raise UnknownNameError("sampler", name, get_args(SamplerName))


def show_note(study: StoredStudy, text: str) -> None:
    """Write the study's note, in Markdown; what somebody has written into it stays, below a line."""
    from optuna_dashboard import get_note, save_note

    before = get_note(study) or ""
    _, line, theirs = before.partition(_THEIRS)
    kept = theirs.strip() if line else before.strip()  # without the line all of it is somebody's
    save_note(study, f"{text.rstrip()}\n\n{_THEIRS}\n" + (f"\n{kept}\n" if kept else ""))


def choose_trial(study: StoredStudy, number: int) -> None:
    """Write down which trial is to be used, or is the best so far."""
    study.set_hidden_attr(CHOSEN, number)


def chosen_trial(storage: optuna.storages.BaseStorage, study_id: int) -> int | None:
    """Return the number of the trial that is to be used; None in a study of before 0.2, or without trials.

    Raises KeyError if the storage has no such study.
    """
    number = storage.get_study_system_attrs(study_id).get(CHOSEN)
    return None if number is None else int(number)
