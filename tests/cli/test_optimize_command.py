"""The main job as a user runs it: the bundled sample in miniature."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from psopt.metrics import consistency, micro_f1, prediction_counts, sensitivity
from psopt.tasks import load_task

from tests.cli.limited_runs import read
from tests.commands import environment, psopt

pytest.importorskip("torch", reason="the extra `local` is not installed")

SMALL = ["--dataset", "trec", "--trials", "4", "--samples", "24", "--rephrasings", "2", "--rounds", "2"]
# embedding the answers to all of test takes longer than all else
SMALL += ["--test-samples", "24", "--heldout", "2", "--leave-one-out", "0"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("user")


@pytest.fixture(scope="module")
def done(folder: Path, cache_dir: Path) -> subprocess.CompletedProcess[str]:
    """What a small run in the folder has said."""
    here: Any = {"PSOPT_OFFLINE": "1", "PSOPT_CACHE_DIR": str(cache_dir)}
    return psopt(folder, "optimize", *SMALL, "--out", "run", "--verbose", code=0, **here)


def test_the_table_shows_the_baseline_first_and_what_to_do_next(done: Any, folder: Path) -> None:
    lines = done.stdout.splitlines()
    rows = [line for line in lines if "–" in line and "%" not in line]
    assert "original" in rows[0]
    assert rows[1].split()[0].rstrip("*>°") == "A"
    assert any(sign in row for row in rows for sign in "*>")  # the knee, or what is recommended
    assert "psopt export run" in done.stdout
    assert "Ids: original " in done.stdout
    assert "Measured with minilm, an embedding model" in " ".join(done.stdout.split())
    assert max(len(line) for line in lines) <= 110
    (note,) = [line for line in done.stderr.splitlines() if line.startswith("Note:")]
    assert "sample" in note  # the bundled one
    assert read(folder)["dataset"]["source"] == "bundled"


def test_every_file_of_the_contract_is_there_and_run_json_holds_what_it_says(done: Any, folder: Path) -> None:
    run, folder = read(folder), folder / "run"
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


def test_the_scores_can_be_computed_again_from_the_predictions(done: Any, folder: Path) -> None:
    entry = read(folder)["front"][0]
    with np.load(folder / "run" / "predictions" / f"{entry['id']}.npz") as arrays:
        predictions, ids, labels = arrays["test"], arrays["test_ids"], list(arrays["labels"])
    truth = {sample.id: sample.label for sample in load_task("trec").test}
    y = np.array([labels.index(truth[one]) for one in ids])
    counts = prediction_counts(predictions, len(labels))
    assert micro_f1(predictions, y) == entry["test"]["f1"]
    assert sensitivity(counts) == entry["test"]["sensitivity"]
    assert consistency(counts, y) == entry["test"]["consistency"]


def test_the_same_command_gives_the_same_front_byte_for_byte(done: Any, folder: Path, cache_dir: Path) -> None:
    """In a process of its own, where Python's hashes are others."""
    command = [sys.executable, "-m", "psopt", "optimize", *SMALL, "--out", "again", "--quiet"]
    here = environment(folder, PSOPT_OFFLINE="1", PSOPT_CACHE_DIR=str(cache_dir))
    again = subprocess.run(command, cwd=folder, env=here, capture_output=True, timeout=1200)
    assert (again.returncode, again.stdout, again.stderr) == (0, b"", b"")
    assert (folder / "again" / "front.json").read_bytes() == (folder / "run" / "front.json").read_bytes()
