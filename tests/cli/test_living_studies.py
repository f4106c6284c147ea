"""A study that is stopped, changed, gone on with and looked at."""

from __future__ import annotations

import functools
import json
import signal
from typing import TYPE_CHECKING, Any

import numpy as np
import optuna
import pytest

from tests import commands
from tests.cli.limited_runs import write_questions
from tests.processes import Process
from tests.waiting import wait_until

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

SMALL = ["--trials", "6", "--samples", "30", "--rephrasings", "3", "--rounds", "2"]
SMALL += ["--max-prompt-tokens", "9999"]  # hostile texts are long, and all examples are to be tried
HOSTILE = "<script>alert(1)</script> | *bold* ``` [x](http://e.vil)"
psopt = functools.partial(commands.psopt, columns=100)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_questions(tmp_path, end=f" {HOSTILE}")


def optimize(folder: Path, *arguments: str, code: int | None = None) -> subprocess.CompletedProcess[str]:
    model = [] if "--model" in arguments else ["--model", "sim/wobble=0.5,seed=3"]
    return psopt(folder, "optimize", "--dataset", "data.csv", *SMALL, "--out", "run", *model, *arguments, code=code)


def study_of(folder: Path) -> Any:
    return optuna.load_study(study_name="run", storage=f"sqlite:///{folder}/run/study.db")


def test_every_trial_can_be_understood_from_the_study_alone(data: Path) -> None:
    optimize(data, code=0)
    study = study_of(data)
    assert study.metric_names == ["f1", "sensitivity", "consistency"]
    assert {"task", "model", "dataset_sha256", "rephrasings_sha256", "psopt_version"} <= set(study.user_attrs)
    finished = [trial for trial in study.trials if trial.values]
    assert len(finished) == 6
    for trial in finished:
        assert {"prompt_id", "edits", "per_class", "na_rate", "calls", "tokens", "cost_usd", "seconds"} <= set(
            trial.user_attrs
        )
        assert set(trial.user_attrs["per_class"]) == {"aaa", "bbb"}
        artifacts = optuna.artifacts.get_all_artifact_meta(trial, storage=study._storage)
        files = {one.filename: data / "run" / "artifacts" / one.artifact_id for one in artifacts}
        prompt_id = trial.user_attrs["prompt_id"]
        assert np.load(files[f"{prompt_id}-val.npz"])["val"].shape == (30, 3)
        note = note_of(study, trial)
        assert all(f"| {label} | " in note for label in trial.user_attrs["per_class"])


def test_a_trials_note_shows_hostile_text_as_text(data: Path) -> None:
    optimize(data, code=0)
    study = study_of(data)
    first = next(trial for trial in study.trials if trial.values)
    note = note_of(study, first)
    assert note.startswith("# Prompt ")
    assert "## Added to the original prompt" in note
    assert "\\<script>" in note
    table = note.partition("## The prompt")[0]
    assert "<script>" not in table.replace("\\<", "")
    assert "&" not in table.replace("\\&", ""), "an entity"
    assert "| *bold*" not in table


def note_of(study: Any, trial: Any) -> str:
    """A trial's note, as the dashboard keeps it: in parts, with the study."""
    attributes = study._storage.get_study_system_attrs(study._study_id)
    prefix = f"dashboard:{trial._trial_id}:note_str:"
    parts = {int(name.removeprefix(prefix)): value for name, value in attributes.items() if name.startswith(prefix)}
    return "".join(parts[number] for number in sorted(parts))


def test_a_run_about_something_else_is_not_gone_on_with(data: Path) -> None:
    optimize(data, code=0)
    changed = optimize(data, "--resume", "--model", "sim/wobble=0.1", code=2)
    assert "the model (was sim/wobble=0.5,seed=3, is sim/wobble=0.1)" in changed.stderr
    text = (data / "data.csv").read_text()
    (data / "data.csv").write_text(text.replace("what is", "what was"))
    other = psopt(data, "resume", "run", "--trials", "8", code=2)
    assert "the samples (was " in other.stderr
    assert other.stderr.count("\n") == 1
    psopt(data, "resume", "run", "--trials", "8", "--force", code=0)
    assert json.loads((data / "run" / "run.json").read_text())["finish_reason"] == "trials"


def test_ctrl_c_leaves_a_run_that_can_be_gone_on_with(data: Path) -> None:
    sim = ["--model", "sim/wobble=0.5,seed=3"]
    words = ["optimize", "--dataset", "data.csv", *SMALL, "--trials", "400", "--out", "run", *sim]
    started = Process(words, cwd=data, env=commands.environment(data))
    wait_until(lambda: len(list((data / "run").glob("artifacts/*"))) >= 4, process=started)
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "psopt resume run" in said
    assert "Traceback" not in said
    n_before = len([trial for trial in study_of(data).trials if trial.values])
    assert json.loads((data / "run" / "run.json").read_text())["finish_reason"] == "interrupted"
    psopt(data, "resume", "run", "--trials", str(n_before + 2), code=0)
    states = [trial.state for trial in study_of(data).trials]
    assert optuna.trial.TrialState.RUNNING not in states
    assert states.count(optuna.trial.TrialState.COMPLETE) == n_before + 2
