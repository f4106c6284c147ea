"""The main job as a user runs it: the bundled sample in miniature, in a process of its own."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import optuna
import pytest
from psopt.metrics import consistency, micro_f1, prediction_counts, sensitivity
from psopt.tasks import load_task

from tests.cli.limited_runs import read
from tests.commands import run_command

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("torch", reason="the extra `local` is not installed")

SMALL = ["--dataset", "trec", "--trials", "4", "--samples", "24", "--rephrasings", "2", "--rounds", "2"]
SMALL += ["--test-samples", "24", "--heldout", "2"]  # embedding the answers to all of test takes longer than all else


def run_psopt(*arguments: str, cwd: Any, cache_dir: Any, alone: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a command; `alone` is in a process of its own, as a user's is."""
    env = {**os.environ, "PSOPT_OFFLINE": "1", "PSOPT_CACHE_DIR": str(cache_dir), "COLUMNS": "80"}
    if not alone:
        return run_command(*arguments, cwd=cwd, env=env, code=0)
    command = [sys.executable, "-m", "psopt", *arguments]
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory, cache_dir: Path) -> Any:
    """A folder in which a small run has been made, and how to run psopt there."""
    folder = tmp_path_factory.mktemp("user")
    psopt: Any = functools.partial(run_psopt, cwd=folder, cache_dir=cache_dir)
    psopt.folder = folder
    psopt.done = psopt("optimize", *SMALL, "--out", "run", alone=True)
    return psopt


def test_the_table_shows_the_baseline_first_and_what_to_do_next(user: Any) -> None:
    lines = user.done.stdout.splitlines()
    rows = [line for line in lines if "–" in line and "%" not in line]
    assert "original" in rows[0]
    assert rows[1].split()[0].rstrip("*>°") == "A"
    assert any(sign in row for row in rows for sign in "*>")  # the knee, or what is recommended
    assert "psopt export run" in user.done.stdout
    assert "Measured with minilm, an embedding model" in " ".join(user.done.stdout.split())
    assert max(len(line) for line in lines) <= 110
    (note,) = [line for line in user.done.stderr.splitlines() if line.startswith("Note:")]
    assert "sample" in note  # the bundled one
    assert read(user.folder)["dataset"]["source"] == "bundled"


def test_every_file_of_the_contract_is_there_and_run_json_holds_what_it_says(user: Any) -> None:
    run, folder = read(user.folder), user.folder / "run"
    names = ["run.json", "front.json", "report.html", "study.db"]
    for name in (entry["id"] for entry in run["front"]):
        names += [f"prompts/{name}.json", f"prompts/{name}.txt", f"predictions/{name}.npz"]
    assert not [name for name in names if not (folder / name).is_file() or not (folder / name).stat().st_size]
    assert set(run) >= {"schema_version", "psopt_version", "command", "seed", "model", "calls", "seconds"}
    assert run["finish_reason"] == "trials"
    assert len(run["rephrasings"]["search"]) == 2
    assert [entry["knee"] for entry in run["front"]].count(True) == 1
    for scores in (run["baseline"]["val"], run["baseline"]["test"], run["front"][0]["test"]):
        assert {"macro_f1", "na_rate", "per_class"} <= set(scores)
        for name in ("f1", "sensitivity", "consistency"):
            low, high = scores["ci"][name]
            assert 0 <= low <= scores[name] <= high <= 1
    for edit in (edit for entry in run["front"] for edit in entry["edits"]):
        assert edit["provenance"]["samples"]
        assert all(one.startswith("train-") for one in edit["provenance"]["samples"])


def test_the_scores_can_be_computed_again_from_the_predictions(user: Any) -> None:
    entry = read(user.folder)["front"][0]
    with np.load(user.folder / "run" / "predictions" / f"{entry['id']}.npz") as arrays:
        predictions, ids, labels = arrays["test"], arrays["test_ids"], list(arrays["labels"])
    truth = {sample.id: sample.label for sample in load_task("trec").test}
    y = np.array([labels.index(truth[one]) for one in ids])
    counts = prediction_counts(predictions, len(labels))
    assert micro_f1(predictions, y) == entry["test"]["f1"]
    assert sensitivity(counts) == entry["test"]["sensitivity"]
    assert consistency(counts, y) == entry["test"]["consistency"]


def test_the_same_command_gives_the_same_front_byte_for_byte(user: Any) -> None:
    again = user("optimize", *SMALL, "--out", "again", "--quiet", alone=True)
    assert again.stdout == again.stderr == ""
    assert front(user, "again") == front(user, "run")


def front(user: Any, run: str) -> bytes:
    return bytes((user.folder / run / "front.json").read_bytes())


def test_resume_adds_trials_to_a_finished_run_and_says_more_where_that_is_asked_for(user: Any) -> None:
    shutil.copytree(user.folder / "run", user.folder / "more")
    said = user("resume", "more", "--trials", "6", "--verbose").stdout
    assert "Ids: original " in said
    assert "Test: unseen samples, held-out rephrasings." in said
    study = optuna.load_study(study_name="run", storage=f"sqlite:///{user.folder / 'more' / 'study.db'}")
    assert len([trial for trial in study.trials if trial.state == optuna.trial.TrialState.COMPLETE]) == 6
    assert read(user.folder, run="more")["settings"]["trials"] == 6
