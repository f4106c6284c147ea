"""Runs of two models: `psopt report A B` beside each other, and `psopt migrate` of a run's prompt to another model."""

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

from tests.cli.limited_runs import read, write_questions
from tests.cli.telling import check_refused, check_says
from tests.commands import psopt as psopt_in
from tests.fake_server import FakeServer
from tests.processes import Process
from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path

GOOD = "sim/wobble=0.2,accuracy=0.9,na=0"
WEAK = "sim/wobble=0.4,accuracy=0.6,na=0"


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs of a good and of a weak model on the same data; no test changes them."""
    folder = write_questions(tmp_path_factory.mktemp("two"), 40)
    sizes = ["--trials", "4", "--rounds", "1", "--rephrasings", "4", "--heldout", "5"]
    for name, model in (("good", GOOD), ("weak", WEAK)):
        given = ["--dataset", "data.csv", "--model", model, "--out", f"runs/{name}", "--quiet"]
        psopt_in(folder, "optimize", *given, *sizes, code=0)
    return folder


def test_two_runs_are_a_table_and_a_page_and_as_json_data_alone(two_runs: Path) -> None:
    done = psopt_in(two_runs, "report", "runs/weak", "runs/good", code=0)
    paired = "Paired on 40 test samples and 5 held-out wordings that both have."
    check_says(done.stdout, "runs/good against runs/weak: F1 better (+", paired)
    assert done.stdout.rstrip().endswith("runs/good/against-weak.html")
    page = (two_runs / "runs/good/against-weak.html").read_text("utf-8")
    check_says(page, "good against weak", "accuracy=0.9")  # which was set otherwise
    words = ["report", ".", "../good", "--html", "page.html", "--json"]
    data = json.loads(psopt_in(two_runs / "runs" / "weak", *words, code=0).stdout)
    assert data["against_first"]["f1"]["verdict"] == "better"
    assert [shown["run"] for shown in data["runs"]] == [".", "../good"]
    assert data["report"] == "page.html"
    assert (two_runs / "runs/weak/page.html").is_file()
    assert data["changed_settings"]["model"] == [WEAK, GOOD]


@pytest.fixture
def folder(two_runs: Path, tmp_path: Path) -> Path:
    """A folder with data and a run of the good model, which is the old one."""
    shutil.copy(two_runs / "data.csv", tmp_path)
    shutil.copytree(two_runs / "runs" / "good", tmp_path / "run")
    return tmp_path


def test_what_a_worse_model_breaks_is_shown(folder: Path) -> None:
    done = psopt_in(folder, "migrate", "run", "--model", WEAK, "--no-search", code=0)
    worse = f"{WEAK} with the same prompt is worse than {GOOD} was"
    check_says(done.stdout, worse, "surely", "Broken: 'what is ")  # surely: of the classes
    assert not (folder / "runs").exists()  # measuring makes no run


def test_the_search_starts_from_the_run_s_prompt_on_its_samples_and_wordings(folder: Path) -> None:
    words = ["migrate", "run", "--model", WEAK, "--out", "new", "--json"]
    data = json.loads(psopt_in(folder, *words, code=0).stdout)
    old, new = read(folder), read(folder, run="new")
    assert new["baseline"]["id"] == data["old"]["id"] == data["moved"][0]["id"] == old["recommended"]["id"]
    assert new["rephrasings"]["sha256"] == old["rephrasings"]["sha256"]
    assert new["settings"]["trials"] == old["settings"]["trials"]
    # what is said of the old model is what its run has kept, not a new answer
    kept = next(one for one in (old["baseline"], *old["front"]) if one["id"] == data["old"]["id"])
    assert data["old"]["test"]["f1"] == kept["test"]["f1"]
    assert data["moved"][0]["test"]["f1"] == new["baseline"]["test"]["f1"]
    assert json.loads(psopt_in(folder, *words, "--resume").stdout)["moved"] == data["moved"]


def test_the_old_model_is_not_called(folder: Path) -> None:
    run = read(folder)
    run["model"] = run["settings"]["model"] = "openai/retired"  # nothing answers there
    (folder / "run/run.json").write_text(json.dumps(run))
    done = psopt_in(folder, "migrate", "run", "--model", GOOD, "--no-search", "--json", code=0)
    moved = json.loads(done.stdout)["moved"][0]
    # it is the model that had answered, and answers the same
    assert (moved["fixed"], moved["broken"]) == (0, 0)
    assert moved["against_old"]["f1"]["difference"] == 0


def test_an_interrupted_migration_names_the_command_that_gives_its_verdict_and_limits_count(folder: Path) -> None:
    with FakeServer(faults="hang", fault_rate=1.0) as server:
        words = ["migrate", "run", "--model", "openai/new", "--api-base", server.url]
        done = psopt_in(folder, *words, "--no-search", "--dry-run", "--json", code=0)
        assert json.loads(done.stdout)["calls"] == 40 * 5
        words += ["--concurrency", "32"]
        started = Process(words, cwd=folder, env={**os.environ, "PSOPT_CACHE_DIR": str(folder / "cache")})
        server.wait_for(requests=1, seconds=240)
        started.send_signal(signal.SIGTERM)
        _, said = started.communicate(timeout=60)
        assert started.returncode == 130, said
        again = said.split("as well: psopt ")[1].split("\n")[0]
        assert again == shlex.join([*words, "--out", "runs/data-openai-new", "--resume"])
        server.change(fault_rate=0.0)
        met = psopt_in(folder, *words, "--no-search", "--max-calls", "150", "--cache-dir", "other", code=3)
        assert "the same command with a higher limit goes on from there" in met.stderr
        done = psopt_in(folder, *shlex.split(again), code=0)
    check_says(done.stdout, f"than {GOOD} was")


@each(
    "words, said",
    [
        (["migrate", "run", "--model", GOOD], "is of sim/wobble=0.2,accuracy=0.9,na=0 already"),
        (["migrate", "run", "--model", "nomodel"], "unknown model 'nomodel'"),
        (["migrate", "run", "--model", WEAK, "--no-search", "--trials", "3"], "--no-search only measures"),
        (["migrate", "run", "--model", WEAK, "--resume"], "--resume needs --out"),
        (["report", "run", "nowhere"], "no run directory"),
        (["report", "run", "run", "--html", "nowhere/page.html"], "there is no folder"),
        (["report", "run", "--html", "page.html"], "--html is of several runs"),
        (["report", "run", "--figures", "run/run.json"], "--figures run/run.json is a file: name a folder"),
        (["report"] + 6 * ["run"], "6 runs are too many for one page: give 5 at most"),
    ],
)
def test_bad_input_is_one_line(folder: Path, words: list[str], said: str) -> None:
    check_refused(psopt_in(folder, *words), said)


def test_python_takes_a_model_that_is_made_already(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(folder / "cache"))
    moved = psopt.migrate("run", model=lambda _: "aaa", search=False)
    assert moved.moved[0].verdict == "worse"
    assert moved.moved[0].scores.constant == "aaa"
    with pytest.raises(InputError, match="no option 'trails'"):
        psopt.migrate("run", model=WEAK, trails=3)
