"""The Optuna study of a search: named objectives, a sampler, a storage that is waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import optuna
from psopt.answers import ONE_LABEL
from psopt.errors import InputError, UnknownNameError
from psopt.evaluation import objectives_of
from psopt.search._sampler import make_sampler
from psopt.search.distributed import RetryPolicy, StoredStudy, make_storage, opening, read_metadata, retrying

if TYPE_CHECKING:
    from collections.abc import Callable

    from psopt.answers import AnswerType
    from psopt.search._options import SamplerName


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

    Raises
    ------
    InputError
        If the storage can't be opened, or already holds a study of this name and `resume` is not asked for.
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

    Raises
    ------
    InputError
        If there is none, it is none of psopt's, or the storage can't be opened.
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
