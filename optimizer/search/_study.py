"""The Optuna study: three named objectives, one feasibility constraint, one boolean parameter an edit."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import warnings
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import optuna
import sqlalchemy.exc
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from psopt.errors import InputError, UnknownNameError, import_extra
from psopt.evaluation import OBJECTIVES
from psopt.search._options import SamplerName
from psopt.search_spaces import ORDERS, Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions, Scores

_EDITS = "psopt:edits"
_ORDER = "example-order"
_ANSWERS = "psopt:answers"


def open_study(storage: str, name: str, sampler: SamplerName, seed: int, *, resume: bool = False) -> optuna.Study:
    """Create a study, or load one to go on with it.

    Raises
    ------
    InputError
        If the storage can't be opened, or already holds a study of this name and `resume` is not asked for.
    """
    _hush()
    try:
        with _opening(storage):
            study = optuna.create_study(
                storage=make_storage(storage),
                study_name=name,
                directions=list(OBJECTIVES.values()),
                sampler=make_sampler(sampler, seed),
                load_if_exists=resume,
            )
            study.set_metric_names(list(OBJECTIVES))
    except optuna.exceptions.DuplicatedStudyError as error:
        raise InputError(f"the storage already holds a study {name!r}: add --resume, or --study-name NEW") from error
    return study


def join_study(storage: str, name: str, seed: int) -> optuna.Study:
    """Load a study that another process has started.

    Raises
    ------
    InputError
        If there is none, or the storage can't be opened.
    """
    _hush()
    with _opening(storage):
        kept = make_storage(storage)
        try:
            study = optuna.load_study(study_name=name, storage=kept)
        except KeyError:
            known = sorted(optuna.get_all_study_names(kept))
            raise UnknownNameError("study", name, known or ["none in this storage"]) from None
        sampler = json.loads(study.user_attrs.get("psopt:shared", "{}")).get("settings", {}).get("sampler", "tpe")
        study.sampler = make_sampler(sampler, seed)
    return study


def open_storage(url: str) -> optuna.storages.BaseStorage:
    """Open the storage of a URL.

    Raises
    ------
    InputError
        If it can't be opened.
    """
    _hush()
    with _opening(url):
        return make_storage(url)


def make_storage(url: str) -> optuna.storages.BaseStorage:
    """Make the storage of a URL; ``journal:PATH`` is a journal file, which several processes may share."""
    if url.startswith("journal:"):
        path = Path(url.removeprefix("journal:"))
        path.parent.mkdir(parents=True, exist_ok=True)
        return JournalStorage(JournalFileBackend(str(path)))
    if url.startswith("sqlite:"):
        return optuna.storages.RDBStorage(url, engine_kwargs={"connect_args": {"timeout": 60}})
    scheme, _, rest = url.partition("://")
    if scheme in {"postgres", "postgresql"}:
        import_extra("psycopg", "a PostgreSQL storage", "postgres")
        url = f"postgresql+psycopg://{rest}"
    return optuna.storages.RDBStorage(url, engine_kwargs={"pool_pre_ping": True})


def _hush() -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    # Metric names and TPE's groups are called experimental since 2021; they are what we need.
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)


@contextlib.contextmanager
def _opening(storage: str) -> Iterator[None]:
    """Say in one line what is wrong with a storage."""
    try:
        yield
    except InputError:
        raise
    except (
        optuna.exceptions.StorageInternalError,
        sqlalchemy.exc.SQLAlchemyError,
        ImportError,
        OSError,
        ValueError,
    ) as error:
        reason = str(error.__cause__ or error).splitlines()[0]
        extra = "; pip install 'psopt[postgres]'" if isinstance(error, ImportError) else ""
        raise InputError(f"the storage {without_password(storage)!r} can't be opened: {reason}{extra}") from error


def without_password(url: str) -> str:
    """A storage's URL without its password, which belongs into PGPASSWORD or ~/.pgpass and into no file of ours."""
    return re.sub(r"(://[^:/@\s]*):[^@\s]*@", r"\1@", url)


def make_sampler(name: SamplerName, seed: int) -> optuna.samplers.BaseSampler:
    """Make the sampler of this name; ``gp`` needs the extra ``local`` (torch)."""
    if name == "tpe":
        return optuna.samplers.TPESampler(multivariate=True, group=True, n_startup_trials=8, seed=seed)
    if name == "nsga2":
        return optuna.samplers.NSGAIISampler(population_size=12, seed=seed)
    if name == "gp":
        import_extra("torch", "the sampler gp", "local")
        return optuna.samplers.GPSampler(seed=seed)
    if name == "random":
        return optuna.samplers.RandomSampler(seed=seed)
    raise UnknownNameError("sampler", name, get_args(SamplerName))


def enqueue(study: optuna.Study, switches: Iterable[str], pool: Iterable[Edit], order: str | None = None) -> None:
    """Queue the candidate that applies the edits with these switches and no other edit of the pool."""
    on = set(switches)
    params: dict[str, bool | str] = {parameter(edit): edit.parameter_name in on for edit in pool}
    study.enqueue_trial(params if order is None else {**params, _ORDER: order})


def drop_queued(study: optuna.Study) -> None:
    """Take back what waits in the queue."""
    for _ in study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.WAITING,)):
        trial = study.ask()
        trial.set_user_attr("dropped", "a shorter prompt is tried in its place")
        study.tell(trial, state=optuna.trial.TrialState.PRUNED)


def suggest(trial: optuna.Trial, pool: Iterable[Edit], orders: Sequence[str]) -> tuple[tuple[Edit, ...], str]:
    """Ask the sampler for a subset of the pool, in the pool's order, and if it holds examples for one of `orders`."""
    edits = tuple(edit for edit in pool if trial.suggest_categorical(parameter(edit), [False, True]))
    if len(orders) > 1 and any(edit.kind == "example" for edit in edits):
        return edits, trial.suggest_categorical(_ORDER, orders)
    return edits, orders[0]


def parameter(edit: Edit) -> str:
    """The name in the study of what switches an edit on."""
    return f"edit:{edit.parameter_name}"


def chosen_edits(params: Mapping[str, Any], pool: Iterable[Edit]) -> tuple[tuple[Edit, ...], str]:
    """The edits that a trial's parameters switch on, in the pool's order, and the order of the examples."""
    return tuple(edit for edit in pool if params.get(parameter(edit))), params.get(_ORDER, ORDERS[0])


def tell(study: optuna.Study, trial: optuna.Trial, scores: Scores, least_f1: float) -> None:
    """Finish a trial with its scores, if nobody else has; it is feasible if its F1 reaches `least_f1`."""
    trial.set_constraint("f1", least_f1 - scores.f1)
    if scores.f1 < least_f1:
        trial.set_user_attr(
            "infeasible", f"F1 {scores.f1:.4f} is below {least_f1:.4f}, the seed prompt's less a margin"
        )
    values = [scores.f1, scores.sensitivity, scores.consistency]
    # With the state said, a value that is no number is an error; without it, Optuna fails the trial and goes on.
    study.tell(trial, values, state=optuna.trial.TrialState.COMPLETE, skip_if_finished=True)


def keep_pool(study: optuna.Study, round_number: int, edits: Iterable[Edit], worker: str = "") -> None:
    """Store a round's new edits in the study, so that whoever loads it can build every prompt."""
    key = f"{_EDITS}:{round_number}" + (f":{worker}" if worker else "")
    study.set_user_attr(key, json.dumps([edit.to_dict() for edit in edits]))


def kept_pools(study: optuna.Study) -> list[list[Edit]]:
    """Return the new edits of each round so far, most to gain first, whichever worker proposed them.

    Two edits always stand in the same order, so that the same choice makes the same prompt for every worker.
    """
    rounds: dict[int, dict[str, Edit]] = {}
    known: set[str] = set()
    stored = {name: value for name, value in study.user_attrs.items() if name.startswith(f"{_EDITS}:")}
    for name in sorted(stored, key=lambda name: (int(name.split(":")[2]), name)):
        new = [Edit.from_dict(one) for one in json.loads(stored[name])]
        rounds.setdefault(int(name.split(":")[2]), {}).update({edit.id: edit for edit in new if edit.id not in known})
        known |= {edit.id for edit in new}
    pools: list[list[Edit]] = []
    while len(pools) in rounds:
        pools.append(sorted(rounds[len(pools)].values(), key=lambda edit: (-edit.gain, edit.id)))
    return pools


def keep_answers(trial: optuna.Trial, predictions: Predictions) -> None:
    """Store what was answered on val with the trial, out of sight: no worker has to ask again."""
    content: dict[str, Any] = {"shape": list(predictions.array.shape), "int16": _packed(predictions.array, np.int16)}
    if predictions.probabilities is not None:
        content["probabilities"] = {
            "shape": list(predictions.probabilities.shape),
            "float64": _packed(predictions.probabilities, np.float64),
        }
    trial.study._storage.set_trial_system_attr(trial._trial_id, _ANSWERS, content)


def kept_answers(trial: optuna.trial.FrozenTrial) -> tuple[NDArray[np.int64], NDArray[np.float64] | None] | None:
    """Return what `keep_answers` stored, answers and probabilities, or None."""
    content = trial.system_attrs.get(_ANSWERS)
    if content is None:
        return None
    answers = _unpacked(content["int16"], np.int16, content["shape"]).astype(np.int64)
    soft = content.get("probabilities")
    return answers, None if soft is None else _unpacked(soft["float64"], np.float64, soft["shape"])


def _packed(array: NDArray[Any], kind: type[np.generic]) -> str:
    return base64.b64encode(zlib.compress(np.ascontiguousarray(array, dtype=kind).tobytes())).decode()


def _unpacked(packed: str, kind: type[np.generic], shape: Sequence[int]) -> NDArray[Any]:
    return np.frombuffer(zlib.decompress(base64.b64decode(packed)), dtype=kind).reshape(shape)
