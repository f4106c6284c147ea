"""`psopt migrate`: a run's prompt on another model."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
from typing import TYPE_CHECKING

import psopt
import pytest
from psopt.errors import InputError

from tests.commands import psopt as psopt_in
from tests.fake_server import FakeServer
from tests.processes import Process

if TYPE_CHECKING:
    from pathlib import Path

OLD = "sim/wobble=0.2,accuracy=0.9,na=0"
WORSE = "sim/wobble=0.4,accuracy=0.6,na=0"
SIZES = ["--trials", "4", "--rounds", "1", "--rephrasings", "4", "--heldout", "5"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data and a run of the old model in it."""
    folder = tmp_path_factory.mktemp("migrate")
    rows = ["id,text,label,split"]
    for split in ("train", "val", "test"):
        rows += [f"{split}{i},text {split} {i},{'Number' if i % 2 else 'Person'},{split}" for i in range(40)]
    (folder / "data.csv").write_text("\n".join(rows) + "\n")
    psopt_in(folder, "optimize", "--dataset", "data.csv", "--model", OLD, *SIZES, "--out", "run", "--quiet", code=0)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "own")
    return tmp_path / "own"


def test_what_a_worse_model_breaks_is_shown(folder: Path) -> None:
    done = psopt_in(folder, "migrate", "run", "--model", WORSE, "--no-search", code=0)
    words = " ".join(done.stdout.split())
    assert f"{WORSE} with the same prompt is worse than {OLD} was" in words
    assert "surely" in words  # of the classes
    assert "Broken: 'text test" in words
    assert not (folder / "runs").exists()  # measuring makes no run


def test_the_search_starts_from_the_run_s_prompt_on_its_samples_and_wordings(folder: Path) -> None:
    done = psopt_in(folder, "migrate", "run", "--model", WORSE, "--out", "new", "--json", code=0)
    data = json.loads(done.stdout)
    old, new = (json.loads((folder / name / "run.json").read_text()) for name in ("run", "new"))
    assert new["baseline"]["id"] == data["old"]["id"] == data["moved"][0]["id"] == old["recommended"]["id"]
    assert new["rephrasings"]["sha256"] == old["rephrasings"]["sha256"]
    assert new["settings"]["trials"] == old["settings"]["trials"]
    # what is said of the old model is what its run has kept, not a new answer
    kept = next(one for one in (old["baseline"], *old["front"]) if one["id"] == data["old"]["id"])
    assert data["old"]["test"]["f1"] == kept["test"]["f1"]
    assert data["moved"][0]["test"]["f1"] == new["baseline"]["test"]["f1"]
    again = psopt_in(folder, "migrate", "run", "--model", WORSE, "--out", "new", "--resume", "--json")
    assert json.loads(again.stdout)["moved"] == data["moved"]


def test_the_old_model_is_not_called(folder: Path) -> None:
    manifest = json.loads((folder / "run/run.json").read_text())
    for part in (manifest, manifest["settings"]):
        part["model"] = "openai/retired"  # nothing answers there
    (folder / "run/run.json").write_text(json.dumps(manifest))
    done = psopt_in(folder, "migrate", "run", "--model", OLD, "--no-search", "--json", code=0)
    moved = json.loads(done.stdout)["moved"][0]
    # it is the model that had answered, and answers the same
    assert (moved["fixed"], moved["broken"]) == (0, 0)
    assert moved["against_old"]["f1"]["difference"] == 0


def test_limits_count(folder: Path, server: FakeServer) -> None:
    measured = ["migrate", "run", "--model", "openai/new", "--api-base", server.url, "--no-search"]
    done = psopt_in(folder, *measured, "--dry-run", "--json")
    assert json.loads(done.stdout)["calls"] == 40 * 5
    psopt_in(folder, *measured, "--max-calls", "150", code=3)


def test_an_interrupted_migration_names_the_command_that_gives_its_verdict(folder: Path) -> None:
    with FakeServer(faults="hang", fault_rate=1.0) as server:
        words = ["migrate", "run", "--model", "openai/new", "--api-base", server.url, "--concurrency", "4"]
        started = Process(words, cwd=folder, env={**os.environ, "PSOPT_CACHE_DIR": str(folder / "cache")})
        server.wait_for(requests=1, seconds=240)
        started.send_signal(signal.SIGTERM)
        _, said = started.communicate(timeout=60)
        assert started.returncode == 130, said
        again = said.split("as well: psopt ")[1].split("\n")[0]
        assert again == shlex.join([*words, "--out", "runs/data-openai-new", "--resume"])
        server.change(fault_rate=0.0)
        done = psopt_in(folder, *shlex.split(again))
    assert done.returncode == 0, done.stderr
    assert f"than {OLD} was" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "--model", OLD], "is of sim/wobble=0.2,accuracy=0.9,na=0 already"),
        (["nowhere", "--model", WORSE], "no run directory"),
        (["run", "--model", "nomodel"], "unknown model 'nomodel'"),
        (["run", "--model", WORSE, "--no-search", "--trials", "3"], "--no-search only measures"),
        (["run", "--model", WORSE, "--resume"], "--resume needs --out"),
    ],
)
def test_bad_input_is_one_line(folder: Path, words: list[str], said: str) -> None:
    done = psopt_in(folder, "migrate", *words, code=2)
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_changed_data_and_lost_answers_are_said(folder: Path) -> None:
    manifest = folder / "run/run.json"
    kept = manifest.read_text()
    sha256 = json.loads(kept)["dataset"]["sha256"]
    manifest.write_text(kept.replace(sha256, 64 * "0"))
    assert "have changed since" in psopt_in(folder, "migrate", "run", "--model", WORSE).stderr
    manifest.write_text(kept)
    for file in (folder / "run/predictions").iterdir():
        file.unlink()
    assert "write it anew" in psopt_in(folder, "migrate", "run", "--model", WORSE).stderr


def test_python_takes_a_model_that_is_made_already(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(folder / "cache"))
    moved = psopt.migrate("run", model=lambda _: "Person", search=False)
    assert moved.moved[0].verdict == "worse"
    assert moved.moved[0].scores.constant == "Person"
    with pytest.raises(InputError, match="no option 'trails'"):
        psopt.migrate("run", model=WORSE, trails=3)
