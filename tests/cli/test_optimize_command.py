"""The main job as a user runs it: the bundled sample in miniature, in a process of its own."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.commands import run_command

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("torch", reason="the extra `local` is not installed")

SMALL = ["--trials", "4", "--samples", "24", "--rephrasings", "2", "--rounds", "2"]
SMALL += ["--test-samples", "24", "--heldout", "2"]  # embedding the answers to all of test takes longer than all else


def run_psopt(*arguments: str, cwd: Any, cache_dir: Any, alone: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a command; `alone` is in a process of its own, as a user's is."""
    env = {**os.environ, "PSOPT_OFFLINE": "1", "PSOPT_CACHE_DIR": str(cache_dir), "COLUMNS": "80"}
    if alone:
        command = [sys.executable, "-m", "psopt", *arguments]
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=1200)
    else:
        done = run_command(*arguments, cwd=cwd, env=env)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory, cache_dir: Path) -> Any:
    """A folder in which a small run has been made, and how to run psopt there."""
    folder = tmp_path_factory.mktemp("user")

    psopt: Any = functools.partial(run_psopt, cwd=folder, cache_dir=cache_dir)
    psopt.folder = folder
    psopt.done = psopt("optimize", "--dataset", "trec", *SMALL, "--out", "run", alone=True)
    return psopt


def read(user: Any, name: str, run: str = "run") -> Any:
    return json.loads((user.folder / run / name).read_text())


def test_the_table_shows_the_baseline_first_and_what_to_do_next(user: Any) -> None:
    lines = user.done.stdout.splitlines()
    rows = [line for line in lines if "–" in line and "%" not in line]
    assert "original" in rows[0]
    assert any(sign in row for row in rows for sign in "*>")  # the knee, or what is recommended
    assert "psopt export run" in user.done.stdout
    assert rows[1].split()[0].rstrip("*>°") == "A"
    assert "Measured with minilm, an embedding model" in " ".join(user.done.stdout.split())
    assert max(len(line) for line in lines) <= 110


def test_what_else_is_known_is_said_where_it_is_asked_for(user: Any) -> None:
    shutil.copytree(user.folder / "run", user.folder / "told")
    said = user("resume", "told", "--verbose").stdout
    assert "Ids: original " in said
    assert "Test: unseen samples, held-out rephrasings." in said
    run = read(user, "run.json")
    others = [entry["id"] for entry in run["front"] if entry["id"] != run["baseline"]["id"]]
    by_name = user("export", "run", "--pick", "A", "--format", "json").stdout
    assert by_name == user("export", "run", "--pick", others[0], "--format", "json").stdout


def test_the_bundled_sample_says_so_in_one_line(user: Any) -> None:
    (note,) = [line for line in user.done.stderr.splitlines() if line.startswith("Note:")]
    assert "sample" in note
    assert read(user, "run.json")["dataset"]["source"] == "bundled"


def test_every_file_of_the_contract_is_there(user: Any) -> None:
    run = read(user, "run.json")
    for name in ("run.json", "front.json", "report.html", "study.db"):
        assert (user.folder / "run" / name).stat().st_size > 0
    for entry in run["front"]:
        for name in (f"prompts/{entry['id']}.json", f"prompts/{entry['id']}.txt", f"predictions/{entry['id']}.npz"):
            assert (user.folder / "run" / name).is_file()


def test_run_json_holds_what_the_contract_says(user: Any) -> None:
    run = read(user, "run.json")
    assert {
        "schema_version", "psopt_version", "command", "seed", "model", "dataset", "rephrasings", "baseline", "front",
        "calls", "finish_reason", "seconds",
    } <= set(run)  # fmt: skip
    assert run["finish_reason"] == "trials"
    assert len(run["rephrasings"]["search"]) == 2
    assert [entry["knee"] for entry in run["front"]].count(True) == 1
    for scores in (run["baseline"]["val"], run["baseline"]["test"], run["front"][0]["test"]):
        assert {"f1", "macro_f1", "sensitivity", "consistency", "na_rate", "per_class", "ci"} <= set(scores)
        for name in ("f1", "sensitivity", "consistency"):
            low, high = scores["ci"][name]
            assert 0 <= low <= scores[name] <= high <= 1


def test_the_scores_can_be_computed_again_from_the_predictions(user: Any) -> None:
    from psopt.metrics import consistency, micro_f1, prediction_counts, sensitivity
    from psopt.tasks import load_task

    entry = read(user, "run.json")["front"][0]
    with np.load(user.folder / "run" / "predictions" / f"{entry['id']}.npz") as arrays:
        predictions, ids, labels = arrays["test"], arrays["test_ids"], list(arrays["labels"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PSOPT_OFFLINE", "1")
        truth = {sample.id: sample.label for sample in load_task("trec").test}
    y = np.array([labels.index(truth[one]) for one in ids])
    counts = prediction_counts(predictions, len(labels))
    assert micro_f1(predictions, y) == entry["test"]["f1"]
    assert sensitivity(counts) == entry["test"]["sensitivity"]
    assert consistency(counts, y) == entry["test"]["consistency"]


def test_every_edit_names_train_samples_it_was_drawn_from(user: Any) -> None:
    for entry in read(user, "run.json")["front"]:
        for edit in entry["edits"]:
            assert edit["provenance"]["samples"]
            assert all(one.startswith("train-") for one in edit["provenance"]["samples"])


def test_the_same_command_gives_the_same_front_byte_for_byte_and_another_seed_another(user: Any) -> None:
    again = user("optimize", "--dataset", "trec", *SMALL, "--out", "again", "--quiet", alone=True)
    assert again.stdout == again.stderr == ""
    other = user("optimize", "--dataset", "trec", *SMALL, "--out", "other", "--json", "--seed", "0")
    assert json.loads(other.stdout)["front"] == read(user, "run.json", "other")["front"]
    assert other.stderr == ""
    fronts = [(user.folder / run / "front.json").read_bytes() for run in ("run", "again", "other")]
    assert fronts[0] == fronts[1] != fronts[2]


def test_without_out_runs_are_numbered(user: Any) -> None:
    (user.folder / "runs" / "trec-minilm").mkdir(parents=True)
    user("optimize", "--dataset", "trec", *SMALL[2:], "--trials", "1", "--quiet")
    assert (user.folder / "runs" / "trec-minilm-2" / "run.json").is_file()


def test_export_gives_the_knee_as_text_and_as_a_prompt_to_use_again(user: Any) -> None:
    knee = next(entry for entry in read(user, "run.json")["front"] if entry["knee"])
    text = user("export", "run", "--pick", "knee", "--format", "text").stdout
    assert text == (user.folder / "run" / "prompts" / f"{knee['id']}.txt").read_text()
    (user.folder / "knee.json").write_text(user("export", "run", "--pick", "knee", "--format", "json").stdout)
    again = user(
        "diagnose", "--dataset", "trec", "--prompt", "knee.json", "--samples", "40", "--rephrasings", "3", "--json"
    )
    exported = json.loads((user.folder / "knee.json").read_text())
    assert exported.pop("measured")["model"] == json.loads(again.stdout)["model"] == "minilm"
    assert json.loads(again.stdout)["prompt"] == exported


def test_resume_adds_trials_to_a_finished_run(user: Any) -> None:
    shutil.copytree(user.folder / "run", user.folder / "more")
    user("resume", "more", "--trials", "6", "--quiet")
    import optuna

    study = optuna.load_study(study_name="run", storage=f"sqlite:///{user.folder / 'more' / 'study.db'}")
    assert len([trial for trial in study.trials if trial.state == optuna.trial.TrialState.COMPLETE]) == 6
    assert read(user, "run.json", "more")["settings"]["trials"] == 6


def test_diagnose_without_labels_works_and_says_what_it_can_t_tell(user: Any) -> None:
    (user.folder / "texts.csv").write_text("text\n" + "\n".join(f"when did thing {i} end" for i in range(20)))
    (user.folder / "task.toml").write_text('labels = ["Number", "Person"]\nnoun = "question"\n')
    options = ["--dataset", "texts.csv", "--task-file", "task.toml", "--rephrasings", "3"]
    assert "Without labels" in user("diagnose", *options).stdout
    report = json.loads(user("diagnose", *options, "--json").stdout)
    assert report["labelled"] is False
    assert 0 <= report["sensitivity"] <= 1
    assert "f1" not in report
