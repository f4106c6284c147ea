"""MLflow: a run of psopt is a run, each trial one nested in it, and the recommended prompt stands in its registry."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import time
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, import_extra
from psopt.tracking._base import Tracker
from psopt.tracking._environment import unless_set
from psopt.tracking._reachable import why_unreachable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from psopt.tracking._base import Ending
    from psopt.tracking._run_record import RunRecord
    from psopt.tracking._trial_record import TrialRecord

_EXPERIMENT = "psopt"
_STATUS = {"finished": "FINISHED", "failed": "FAILED", "killed": "KILLED"}
# Of its client: by default a server that is gone is looked for 7 times, 4 minutes long, while the run stands still.
_PATIENCE = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2", "MLFLOW_HTTP_REQUEST_TIMEOUT": "15"}
_SILENCE = {"MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true"}  # which is for the run's result
_LONGEST_REASON = 300  # characters of an error that ends a command
_LONGEST_PARAM = 6000  # characters (mlflow.utils.validation.MAX_PARAM_VAL_LENGTH)
_LONGEST_DIGEST = 36  # characters (mlflow.utils.validation.MAX_DATASET_DIGEST_SIZE)
_MOST_PARAMS = 100  # a request (mlflow.utils.validation.MAX_PARAMS_TAGS_PER_BATCH)


class MLflowTracker(Tracker):
    """Records a run by MLflow's client, so that whatever run a program of yours has open stays as it is.

    Where it goes is said by MLflow's own variables: MLFLOW_TRACKING_URI, MLFLOW_EXPERIMENT_NAME.

    Parameters
    ----------
    experiment : str
        By default MLFLOW_EXPERIMENT_NAME's, else ``psopt``.
    """

    def __init__(self, experiment: str = "") -> None:
        self.name = f"mlflow:{experiment}" if experiment else "mlflow"
        self._experiment = experiment
        self._client: Any = None
        self._kept: dict[str, Any] = {}

    def check(self) -> None:
        """Import MLflow, and look for its store, which may be made by that."""
        mlflow = import_extra("mlflow", "--log mlflow", "mlflow")
        from mlflow.exceptions import MlflowException

        with _patience():
            uri = str(mlflow.get_tracking_uri())
            if uri.startswith(("http://", "https://")) and (reason := why_unreachable(uri)):
                raise InputError(f"--log mlflow: nobody answers at {_public(uri)} ({reason}): see MLFLOW_TRACKING_URI")
            try:
                self._client = mlflow.MlflowClient(uri)
                self._client.search_experiments(max_results=1)
            except (MlflowException, OSError) as error:
                reason = " ".join(str(error).split())[:_LONGEST_REASON]
                raise InputError(
                    f"--log mlflow: {_public(uri)} can't be used ({reason}): see MLFLOW_TRACKING_URI"
                ) from error

    def start(self, run: RunRecord, kept: dict[str, Any]) -> None:
        """Begin the run that all trials are nested in, or open it again."""
        self._kept = kept
        with _patience():
            if not self._is_there():
                kept.clear()
                kept["experiment_id"] = self._experiment_id()
                tags = {"mlflow.source.name": "psopt", "mlflow.source.type": "LOCAL"}
                made = self._client.create_run(kept["experiment_id"], tags=tags, run_name=run.name)
                kept["run_id"] = made.info.run_id
                self._add_data(run)
            self._client.update_run(kept["run_id"], status="RUNNING")
            self.place = self._address()
            # MLflow lets no parameter be changed: those of a run that is resumed are what it began with.
            known = self._client.get_run(kept["run_id"]).data.params
            new = {name: value for name, value in run.params.items() if name not in known}
            self._log(kept["run_id"], params=new, tags=run.tags)

    def trial(self, trial: TrialRecord) -> None:
        """Record a trial as a nested run, and its scores over the trials in the run itself."""
        from mlflow.entities import Metric

        nested = self._kept.setdefault("nested", {})
        with _patience():
            begun, done = _milliseconds(trial.begun), _milliseconds(trial.done)
            is_new = str(trial.number) not in nested
            if is_new:
                tags = {"mlflow.parentRunId": self._kept["run_id"], "psopt.trial": str(trial.number)}
                name = f"trial {trial.number}"
                made = self._client.create_run(self._kept["experiment_id"], start_time=begun, tags=tags, run_name=name)
                nested[str(trial.number)] = made.info.run_id
            run_id = nested[str(trial.number)]
            tags = {"psopt.scores": f"estimated: {trial.raced}" if trial.raced else "of the whole of val"}
            known = {} if is_new else self._client.get_run(run_id).data.params
            new = {name: value for name, value in trial.params.items() if name not in known}
            self._log(run_id, params=new, metrics=trial.metrics, tags=tags)
            self._client.set_terminated(run_id, end_time=done)
            over_trials = [
                Metric(f"trials/{name}", value, done or int(time.time() * 1000), trial.number)
                for name, value in trial.metrics.items()
            ]
            self._client.log_batch(self._kept["run_id"], metrics=over_trials)

    def end(self, run: RunRecord, ending: Ending) -> None:
        """Record scores, files and the recommended prompt, and end the run."""
        run_id = self._kept["run_id"]
        with _patience():
            try:
                tags = {**run.tags, **({"mlflow.note.content": run.note} if run.note else {})}
                self._log(run_id, metrics=run.metrics, tags=tags)
                if ending == "finished":
                    self._add_files(run)
                    self._register(run)
            finally:
                self._client.set_terminated(run_id, _STATUS[ending])

    def _add_data(self, run: RunRecord) -> None:
        """Name the data, by a fingerprint that is no longer than MLflow allows."""
        from mlflow.entities import Dataset, DatasetInput, InputTag

        data = run.manifest["dataset"]
        source = json.dumps({"name": data["name"], "source": data["source"]})
        named = Dataset(data["name"], data["sha256"][:_LONGEST_DIGEST], "psopt", source)
        self._client.log_inputs(
            self._kept["run_id"], [DatasetInput(named, [InputTag("mlflow.data.context", "search")])]
        )

    def _add_files(self, run: RunRecord) -> None:
        for file in run.files:
            folder = None if len(file.parts) == 1 else file.parent.as_posix()
            self._client.log_artifact(self._kept["run_id"], str(run.folder / file), folder)

    def _is_there(self) -> bool:
        """Whether the run of an earlier part is in this store; it may be another one, or deleted."""
        from mlflow.exceptions import MlflowException

        if "run_id" not in self._kept:
            return False
        try:
            return bool(self._client.get_run(self._kept["run_id"]).info.lifecycle_stage == "active")
        except MlflowException as error:
            if error.error_code == "RESOURCE_DOES_NOT_EXIST":
                return False
            raise

    def _address(self) -> str:
        """The run's page at a server; else where the store is."""
        uri = _public(str(self._client.tracking_uri))
        if uri.startswith(("http://", "https://")):
            return f"{uri.rstrip('/')}/#/experiments/{self._kept['experiment_id']}/runs/{self._kept['run_id']}"
        return f"run {self._kept['run_id']} in {uri}"

    def _experiment_id(self) -> str:
        if not self._experiment and (told := os.environ.get("MLFLOW_EXPERIMENT_ID")):
            return told
        name = self._experiment or os.environ.get("MLFLOW_EXPERIMENT_NAME") or _EXPERIMENT
        there = self._client.get_experiment_by_name(name)
        return str(there.experiment_id if there else self._client.create_experiment(name))

    def _log(
        self,
        run_id: str,
        *,
        params: Mapping[str, Any] | None = None,
        metrics: Mapping[str, float] | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        """Log values, as many as a request takes at once."""
        from mlflow.entities import Metric, Param, RunTag

        now = int(time.time() * 1000)
        listed = [Param(name, str(value)[:_LONGEST_PARAM]) for name, value in (params or {}).items()]
        self._client.log_batch(
            run_id,
            params=listed[:_MOST_PARAMS],
            metrics=[Metric(name, value, now, 0) for name, value in (metrics or {}).items()],
            tags=[RunTag(name, value) for name, value in (tags or {}).items()],
        )
        for first in range(_MOST_PARAMS, len(listed), _MOST_PARAMS):
            self._client.log_batch(run_id, params=listed[first : first + _MOST_PARAMS])

    def _register(self, run: RunRecord) -> None:
        """Put the recommended prompt into the registry, unless it is this run's there already."""
        messages = run.recommended_messages
        recommended = run.recommended
        if messages is None or recommended is None or self._kept.get("prompt", {}).get("id") == recommended["id"]:
            return
        name = "psopt-" + re.sub(r"[^A-Za-z0-9_.-]+", "-", run.manifest["dataset"]["name"])
        tags = {
            "psopt.run_id": self._kept["run_id"],
            "psopt.prompt_id": recommended["id"],
            "psopt.verdict": run.tags.get("psopt.verdict", ""),
            "psopt.model": run.manifest["model"],
        }
        version = self._client.register_prompt(name, messages, commit_message=run.note, tags=tags)
        self._kept["prompt"] = {"id": recommended["id"], "uri": version.uri}
        self._client.set_tag(self._kept["run_id"], "psopt.prompt", version.uri)
        self._client.link_prompt_version_to_run(self._kept["run_id"], version)


@contextlib.contextmanager
def _patience() -> Iterator[None]:
    """Let MLflow's client wait no longer than a run can stand still for, and say nothing by the way."""
    loggers = [logging.getLogger(name) for name in ("mlflow", "alembic", "urllib3.connectionpool")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with unless_set(_PATIENCE | _SILENCE):
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)


def _public(uri: str) -> str:
    """An address without a password."""
    return re.sub(r"//[^/@]*@", "//", uri)
