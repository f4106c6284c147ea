"""MLflow: a psopt run is an MLflow run, and each trial is nested in it."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, import_extra
from psopt.search.distributed import without_password
from psopt.text import one_line
from psopt.tracking._base import Tracker

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from psopt.tracking._base import Ending, RunRecord, TrialRecord


_STATUS = {"finished": "FINISHED", "failed": "FAILED", "killed": "KILLED"}
# By default its client tries for 4 minutes to reach a server that is gone, while the run waits.
_PATIENCE = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2", "MLFLOW_HTTP_REQUEST_TIMEOUT": "15"}
_LONGEST_REASON = 400  # characters: those of a server that is gone come after its address
_LONGEST_PARAM = 6000  # characters (mlflow.utils.validation.MAX_PARAM_VAL_LENGTH)
_MOST_PARAMS = 100  # per request (mlflow.utils.validation.MAX_PARAMS_TAGS_PER_BATCH)


class MLflowTracker(Tracker):
    """Records a run by MLflow's client, so that any run that your own program has open stays unchanged."""

    def __init__(self, experiment: str = "") -> None:
        self.name = f"mlflow:{experiment}" if experiment else "mlflow"
        self._experiment = experiment or os.environ.get("MLFLOW_EXPERIMENT_NAME") or "psopt"
        self._stack = ExitStack()

    def check(self) -> None:
        """Import MLflow, and look for its store, which this may create."""
        mlflow = import_extra("mlflow", "--log mlflow", "mlflow")
        logging.getLogger("alembic").setLevel(logging.ERROR)  # it logs how it creates the store
        uri = str(mlflow.get_tracking_uri())
        self.place = without_password(uri)
        try:
            with unless_set(**_PATIENCE):
                self._client = mlflow.MlflowClient(uri)
                self._client.search_experiments(max_results=1)
        except (mlflow.MlflowException, OSError) as error:
            reason = without_password(one_line(str(error)))[:_LONGEST_REASON]
            raise InputError(
                f"tracker mlflow: {self.place} can't be used ({reason}): see MLFLOW_TRACKING_URI"
            ) from error

    def start(self, run: RunRecord, kept: dict[str, Any]) -> None:
        """Begin the run that all trials are nested in, or reopen it if it still exists."""
        self._stack.enter_context(unless_set(**_PATIENCE, MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT="true"))
        experiment = self._client.get_experiment_by_name(self._experiment)
        self._of = experiment.experiment_id if experiment else self._client.create_experiment(self._experiment)
        earlier = self._client.search_runs([self._of], f"tags.`psopt.id` = '{kept.get('id')}'")
        if not earlier:
            kept.clear()
            kept["id"] = f"{time.time_ns():x}"
        tags = {"psopt.id": kept["id"]}
        self._run = (earlier or [self._client.create_run(self._of, tags=tags, run_name=run.name)])[0]
        self._client.update_run(self._run.info.run_id, status="RUNNING")
        # MLflow allows no change of parameters: a resumed run keeps those it began with.
        new = {name: value for name, value in run.params.items() if name not in self._run.data.params}
        self._log(self._run.info.run_id, new, {}, run.tags)
        self.place += f", run {self._run.info.run_id}"

    def trial(self, trial: TrialRecord) -> None:
        """Record a trial as a nested run, and its scores in the run itself, as a series over trials."""
        run_id = self._run.info.run_id
        scores = "of the whole of val"
        if trial.raced:
            scores = f"estimated: {trial.raced}"
        tags = {"mlflow.parentRunId": run_id, "psopt.trial": str(trial.number), "psopt.scores": scores}
        nested = self._client.create_run(self._of, tags=tags, run_name=f"trial {trial.number}").info.run_id
        self._log(nested, trial.params, trial.metrics, {})
        self._client.set_terminated(nested)
        over_trials = {f"trials/{name}": value for name, value in trial.metrics.items()}
        self._log(run_id, {}, over_trials, {}, step=trial.number)

    def end(self, run: RunRecord, ending: Ending) -> None:
        """Record scores and files, and end the run."""
        run_id = self._run.info.run_id
        try:
            self._log(run_id, {}, run.metrics, {**run.tags, "mlflow.note.content": run.note})
            if ending == "finished":
                for file in run.files:
                    folder = None if len(file.parts) == 1 else file.parent.as_posix()
                    self._client.log_artifact(run_id, str(run.folder / file), folder)
        finally:
            self._client.set_terminated(run_id, _STATUS[ending])

    def close(self) -> None:
        """Restore the environment."""
        self._stack.close()

    def _log(
        self,
        run_id: str,
        params: Mapping[str, Any],
        metrics: Mapping[str, float],
        tags: Mapping[str, str],
        step: int = 0,
    ) -> None:
        from mlflow.entities import Metric, Param, RunTag

        listed = [Param(name, str(value)[:_LONGEST_PARAM]) for name, value in params.items()]
        measured = [Metric(name, value, int(time.time() * 1000), step) for name, value in metrics.items()]
        self._client.log_batch(run_id, measured, listed[:_MOST_PARAMS], [RunTag(*tag) for tag in tags.items()])


@contextlib.contextmanager
def unless_set(**variables: str) -> Iterator[None]:
    """Set environment variables for a while, except those that the user has set."""
    new = {name: value for name, value in variables.items() if name not in os.environ}
    os.environ.update(new)
    try:
        yield
    finally:
        for name in new:
            os.environ.pop(name, None)
