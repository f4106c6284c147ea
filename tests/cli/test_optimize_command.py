"""The main job as a user runs it: the bundled sample in miniature, in a process of its own."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.commands import run_command
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("torch", reason="the extra `local` is not installed")

SMALL = ["--trials", "4", "--samples", "40", "--rephrasings", "3", "--rounds", "2"]


def run_psopt(*arguments: str, cwd: Any, cache_dir: Any, alone: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a command; `alone` is in a process of its own, as a user's is."""
    env = {**os.environ, "PSOPT_OFFLINE": "1", "PSOPT_CACHE_DIR": str(cache_dir), "COLUMNS": "80"}
    env.pop("PSOPT_DATA_DIR", None)
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
    assert "baseline" in rows[0]
    assert any(sign in row for row in rows for sign in "*>")  # the knee, or what is recommended
    assert "psopt export run" in user.done.stdout
    length = r"Length, seed prompt -> (knee|recommended): about \d+( -> [\d,]+)? tokens a call"
    assert re.search(length, user.done.stdout)
    assert "psopt dashboard run" in user.done.stdout
    assert max(len(line) for line in lines) <= 110


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
    assert len(run["rephrasings"]["search"]) == 3
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
        patch.delenv("PSOPT_DATA_DIR", raising=False)
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


def test_the_same_command_gives_the_same_front_byte_for_byte_and_another_seed_another(
    user: Any, tmp_path: Path
) -> None:
    again = user("optimize", "--dataset", "trec", *SMALL, "--out", "again", "--quiet", alone=True)
    assert again.stdout == again.stderr == ""
    user("optimize", "--dataset", "trec", *SMALL, "--out", "cold", "--quiet", "--cache-dir", str(tmp_path / "cold"))
    user("optimize", "--dataset", "trec", *SMALL, "--out", "other", "--quiet", "--seed", "0")
    fronts = [(user.folder / run / "front.json").read_bytes() for run in ("run", "again", "cold", "other")]
    assert fronts[0] == fronts[1] == fronts[2] != fronts[3]


def test_json_prints_the_manifest_and_nothing_else(user: Any) -> None:
    done = user("optimize", "--dataset", "trec", *SMALL, "--out", "as-json", "--json", alone=True)
    assert json.loads(done.stdout)["front"] == read(user, "run.json", "as-json")["front"]
    assert done.stderr == ""


def test_without_out_runs_are_numbered(user: Any) -> None:
    for name in ("trec-minilm", "trec-minilm-2"):
        user("optimize", "--dataset", "trec", *SMALL[2:], "--trials", "1", "--quiet")
        assert (user.folder / "runs" / name / "run.json").is_file()


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
    user("optimize", "--dataset", "trec", *SMALL, "--out", "more", "--quiet")
    user("resume", "more", "--trials", "6", "--quiet")
    import optuna

    study = optuna.load_study(study_name="more", storage=f"sqlite:///{user.folder / 'more' / 'study.db'}")
    assert len([trial for trial in study.trials if trial.state == optuna.trial.TrialState.COMPLETE]) == 6
    assert read(user, "run.json", "more")["settings"]["trials"] == 6


def test_ctrl_c_saves_and_the_run_can_be_gone_on_with(user: Any, cache_dir: Path) -> None:
    env = {**os.environ, "PSOPT_OFFLINE": "1", "PSOPT_CACHE_DIR": str(cache_dir)}
    env.pop("PSOPT_DATA_DIR", None)
    command = [
        sys.executable,
        "-m",
        "psopt",
        "optimize",
        "--dataset",
        "trec",
        *SMALL[2:],
        "--trials",
        "400",
        "--out",
        "cut",
    ]
    process = subprocess.Popen(
        command,
        cwd=user.folder,
        env=env,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored where a background shell started it
    )
    for line in process.stderr:  # the search is under way once the second round is announced
        if "round 1: searching" in line:
            break
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "psopt resume cut" in errors
    assert "Traceback" not in errors
    assert read(user, "run.json", "cut")["finish_reason"] == "interrupted"
    user("resume", "cut", "--trials", "6", "--quiet")
    assert read(user, "run.json", "cut")["finish_reason"] == "trials"


def summaries(url: str) -> Any:
    """The studies that a dashboard shows, once it answers."""
    with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=60) as answer:
        return json.load(answer)["study_summaries"]
    return None


def test_the_dashboard_serves_the_study(user: Any) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "psopt", "dashboard", "run", "--port", str(port)]
    process = subprocess.Popen(command, cwd=user.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        studies = wait_until(lambda: summaries(f"http://127.0.0.1:{port}/api/studies"), process=process)
        assert [study["study_name"] for study in studies] == ["run"]
    finally:
        process.terminate()
        process.wait(timeout=30)


def test_a_file_of_one_s_own_is_optimized_too(user: Any) -> None:
    lines = ["body,team"]
    for i in range(60):
        lines += [
            f"I want my money for order {i} back {{text}},billing",
            f"the app {i} crashes when I start it,support",
        ]
    (user.folder / "tickets.csv").write_text("\n".join(lines))
    options = ["--text-column", "body", "--label-column", "team", *SMALL, "--out", "tickets", "--json"]
    run = json.loads(user("optimize", "--dataset", "tickets.csv", *options).stdout)
    assert run["dataset"]["source"] == "file"
    assert run["baseline"]["test"]["f1"] <= run["front"][0]["test"]["f1"] + 0.05


def test_diagnose_without_labels_works_and_says_what_it_can_t_tell(user: Any) -> None:
    (user.folder / "texts.csv").write_text("text\n" + "\n".join(f"when did thing {i} end" for i in range(20)))
    (user.folder / "task.toml").write_text('labels = ["Number", "Person"]\nnoun = "question"\n')
    options = ["--dataset", "texts.csv", "--task-file", "task.toml", "--rephrasings", "3"]
    assert "Without labels" in user("diagnose", *options).stdout
    report = json.loads(user("diagnose", *options, "--json").stdout)
    assert report["labelled"] is False
    assert 0 <= report["sensitivity"] <= 1
    assert "f1" not in report
