"""A real MLflow with a SQLite store: what a run leaves there, and what becomes of it when things go wrong."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import psopt
import pytest
from psopt.tracking import MLflowTracker

from tests.commands import exit_code
from tests.sweeps import each
from tests.tracking.small_runs import arguments, optimize

mlflow = pytest.importorskip("mlflow", reason="the extra `mlflow` is not installed")


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store: to make one takes MLflow seconds."""
    file = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    mlflow.MlflowClient(f"sqlite:///{file}").search_experiments()
    return file


def new_store(empty: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A client of a new store, to which runs are told from now on."""
    shutil.copy(empty, file)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{file}")
    return mlflow.MlflowClient(f"sqlite:///{file}")


@pytest.fixture
def store(empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    for name in ("MLFLOW_EXPERIMENT_NAME", "MLFLOW_EXPERIMENT_ID", "MLFLOW_REGISTRY_URI"):
        monkeypatch.delenv(name, raising=False)
    return new_store(empty, tmp_path / "mlflow.db", monkeypatch)


def runs_of(store: Any, experiment: str) -> tuple[Any, list[Any]]:
    """The run of an experiment, and those nested in it by their trials."""
    place = [store.get_experiment_by_name(experiment).experiment_id]
    found = store.search_runs(place)
    nested = [run for run in found if "mlflow.parentRunId" in run.data.tags]
    (parent,) = (run for run in found if "mlflow.parentRunId" not in run.data.tags)
    assert {run.data.tags["mlflow.parentRunId"] for run in nested} <= {parent.info.run_id}
    return parent, sorted(nested, key=lambda run: int(run.data.tags["psopt.trial"]))


@pytest.mark.usefixtures("report")
def test_a_run_is_in_mlflow_with_its_files(store: Any, tmp_path: Path) -> None:
    run = optimize(tmp_path / "run", callbacks=["mlflow:tickets"])
    parent, nested = runs_of(store, "tickets")
    manifest = json.loads((run.path / "run.json").read_text())
    assert (parent.info.status, parent.info.run_name) == ("FINISHED", "run")
    assert (parent.data.params["trials"], parent.data.params["lm.max_tokens"]) == ("4", "256")
    assert parent.data.tags["psopt.dataset_sha256"] == manifest["dataset"]["sha256"]
    assert parent.data.tags["psopt.version"] == psopt.__version__
    for role, candidate in (("baseline", run.baseline), ("recommended", run.recommended)):
        assert parent.data.metrics[f"{role}/val/f1"] == candidate.val.f1
        assert parent.data.metrics[f"{role}/test/sensitivity"] == candidate.test.sensitivity
        assert parent.data.metrics[f"{role}/test/consistency_low"] == candidate.test.ci["consistency"][0]
    files = {file.path for file in store.list_artifacts(parent.info.run_id)}
    assert {"report.html", "run.json", "front.json", "prompts"} <= files
    prompts = {file.path for file in store.list_artifacts(parent.info.run_id, "prompts")}
    assert f"prompts/{run.recommended.id}.txt" in prompts
    # each trial is a run of its own, and a point of the parent's curves
    trials = json.loads((run.path / "trials.json").read_text())["trials"]
    assert [trial.info.status for trial in nested] == ["FINISHED"] * 4
    for entry, trial in zip(trials, nested, strict=True):
        assert trial.data.params["prompt_id"] == entry["id"]
        assert trial.data.params["n_edits"] == str(len(entry["edits"]))
        for name in ("f1", "sensitivity", "consistency"):
            assert trial.data.metrics[name] == entry[name]
        assert trial.data.metrics["tokens"] == 0
    over_trials = store.get_metric_history(parent.info.run_id, "trials/f1")
    assert [(point.step, point.value) for point in over_trials] == [(entry["trial"], entry["f1"]) for entry in trials]


def test_an_interrupted_run_goes_on_in_the_same_one_and_is_recorded_in_whole_in_another_store(
    store: Any, empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(study: Any, trial: Any) -> None:
        if trial.number == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        optimize(tmp_path / "run", callbacks=["mlflow", interrupt])
    before, nested = runs_of(store, "psopt")
    assert (before.info.status, len(nested)) == ("KILLED", 3)
    assert before.data.tags["psopt.finish_reason"] == "interrupted"
    again = psopt.resume(tmp_path / "run")  # with the tracker that it has had
    parent, nested = runs_of(store, "psopt")
    assert parent.info.run_id == before.info.run_id
    assert (parent.info.status, len(nested)) == ("FINISHED", 4)
    assert parent.data.metrics["front/prompts"] == len(again.front)
    assert parent.data.tags["psopt.recommended"] == again.recommended.id
    other = new_store(empty, tmp_path / "other.db", monkeypatch)
    psopt.resume(tmp_path / "run", trials=5)
    trials = [run.data.tags["psopt.trial"] for run in runs_of(other, "psopt")[1]]
    assert trials[:4] == ["0", "1", "2", "3"]
    assert len(trials) == 5  # the numbers of trials that tell nothing new are left out


def test_the_command_line_keeps_the_tracker_and_can_drop_it(store: Any, tmp_path: Path) -> None:
    def kept() -> Any:
        return json.loads((tmp_path / "run" / "run.json").read_text())["settings"]["log"]

    assert exit_code(*arguments(tmp_path, "--log", "mlflow", "--quiet")) == 0
    assert kept() == ["mlflow"]
    again = ["resume", tmp_path / "run", "--cache-dir", tmp_path / "cache", "--trials=5", "--quiet", "--log=off"]
    assert exit_code(*again) == 0
    assert len(runs_of(store, "psopt")[1]) == 4
    assert kept() == []


@each(
    "uri, message",
    [
        ("http://me:secret@127.0.0.1:9", "tracker mlflow: http://me@127.0.0.1:9 can't be used ("),
        ("sqlite:////dev/null/no/mlflow.db", "tracker mlflow: sqlite:////dev/null/no/mlflow.db can't be used ("),
    ],
)
def test_a_store_that_is_not_there_ends_the_command_in_one_line(
    uri: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")  # which it would wait for
    assert exit_code(*arguments(tmp_path, "--log", "mlflow")) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert "secret" not in line
    assert not (tmp_path / "run").exists()


def test_a_store_that_goes_away_costs_a_line_and_nothing_else(
    store: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")  # of psopt's own two it would wait for seconds
    tracker = MLflowTracker()

    def cut(study: Any, trial: Any) -> None:
        if trial.number == 1:  # as if a server had ended
            tracker._client = mlflow.MlflowClient("http://127.0.0.1:9")

    with caplog.at_level(logging.WARNING, "psopt.tracking"):
        run = optimize(tmp_path / "run", callbacks=[cut, tracker])
    (record,) = (record for record in caplog.records if record.name == "psopt.tracking")
    assert record.getMessage().startswith("mlflow failed and is left out from now on")
    assert run.finish_reason == "trials"
    psopt.resume(tmp_path / "run", trials=5, callbacks=["mlflow"])
    parent, nested = runs_of(store, "psopt")
    assert (parent.info.status, len(nested)) == ("FINISHED", 5)
