"""`psopt.worker`: joins a study that `psopt optimize --storage` has started, on this machine or another."""

from __future__ import annotations

import os
import socket
import uuid
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt._version import __version__
from psopt.api._setup import make_evaluator, make_proposer
from psopt.errors import BudgetReachedError, InputError
from psopt.models import ModelProvider
from psopt.rephrasings import from_file
from psopt.runs import RunSettings
from psopt.search import Observer, Search, SearchProblem, join_study
from psopt.search.distributed import read_metadata
from psopt.search_spaces import Prompt

if TYPE_CHECKING:
    from psopt.search.distributed import StudyMetadata


def worker(
    storage: str,
    study_name: str,
    *,
    trials: int | None = None,
    dataset: str | None = None,
    cache_dir: str | Path | None = None,
    observer: Observer | None = None,
    **lm_changes: Any,
) -> int:
    """Propose and evaluate until the study's total of trials is reached; return how many prompts this worker evaluated.

    Task, prompt, rephrasings and edits come from the study; samples are loaded here, and must be the same.

    Parameters
    ----------
    storage, study_name : str
        As given to `psopt optimize`.
    trials : int, optional
        Stop after this many of the worker's own.
    dataset : str, optional
        Where the data are on this machine, if they are somewhere else.
    cache_dir : path, optional
    observer : Observer, optional
    **lm_changes
        Fields of `LMConfig` that differ here, such as ``api_base`` and ``concurrency``.

    Raises
    ------
    PsoptError
        If the study can't be joined, or the data differ.
    """
    observer = observer or Observer()
    study = join_study(storage, study_name, seed=uuid.uuid4().int % 2**31, tell=observer.phase)
    metadata = read_metadata(study)
    settings = _settings(metadata, dataset, lm_changes)
    task = settings.load_task()
    own, of_study = task.info.sha256, metadata.dataset_sha256
    if own != of_study:
        raise InputError(
            f"the data here are not those of the study: {settings.data.dataset} has sha256 {own[:12]}.., the study's "
            f"{of_study[:12]}..; say where the same data are with --dataset (and PSOPT_DATA_DIR)"
        )
    models = ModelProvider(cache_dir, settings.lm)
    evaluator = make_evaluator(task, settings, models, from_file(metadata.rephrasings))
    evaluator.show_progress(observer.answers)
    observer.started(task, Path(study_name))
    prompt = Prompt.from_dict(metadata.prompt)
    problem = SearchProblem(task, prompt, evaluator, settings.search, observer, make_proposer(settings, models))
    name = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
    search = Search(study, problem, worker=name, most_own=trials)
    try:
        search.run(completes_front=False)  # the process of `psopt optimize` does that
    except BudgetReachedError as error:
        raise BudgetReachedError(f"{error}; other workers go on, and so can this one") from error
    return search.n_own


def _settings(metadata: StudyMetadata, dataset: str | None, lm_changes: dict[str, Any]) -> RunSettings:
    """The settings of the study, with what differs here."""
    settings = RunSettings.from_dict(metadata.settings)
    if settings.program:
        raise InputError("a worker can't join the study of a DSPy program: it has no code of it")
    if metadata.psopt_version != __version__:
        raise InputError(f"the study is of psopt {metadata.psopt_version}, this is {__version__}: install the same")
    data = replace(settings.data, dataset=dataset or settings.data.dataset)
    return replace(settings, data=data, lm=settings.lm.changed(**lm_changes))
