"""What stands at the loop's edges raises once, be it Optuna, the model or the disk: the run ends in one line.

What was found until then is saved, and the run can be gone on with.
"""

from __future__ import annotations

import importlib
import shutil
from typing import TYPE_CHECKING, Any

import optuna
import pytest

from tests.cli.limited_runs import read
from tests.commands import psopt

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from psopt.tasks import Task

# What stands at the loop's edges, and which call of it fails: later ones, once a trial is done.
CALLS = [
    ("optuna:Study.ask", 2, RuntimeError),
    ("optuna:Trial.set_user_attr", 8, KeyError),
    ("tests.conftest:KeywordModel.predict", 4, ValueError),
    ("psopt.search:Search.__init__", 1, RuntimeError),
    ("psopt.runs:RunRecorder.save", 2, ValueError),
    ("psopt.api._finishing:write_report", 1, RuntimeError),
]
OPTIMIZE = ["optimize", "--dataset", "toy.csv", "--trials", "4", "--rephrasings", "2", "--rounds", "1", "--out", "run"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: Task, keyword_model: Any) -> Path:
    monkeypatch.setattr("psopt.models.ModelProvider.answering", lambda *_: keyword_model)
    monkeypatch.setattr("psopt.api._optimize.timed_pace", lambda *_: None)  # how much is timed hangs on the machine
    monkeypatch.setattr("psopt.api._finishing.write_report", lambda _: [])  # figures take longer than all else
    rows = ["id,text,label,split"]
    for split in ("train", "val", "test"):
        rows += [f"{one.id},{one.text},{one.label},{split}" for one in getattr(task, split)[:8]]
    (tmp_path / "toy.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def optimize_with_fault(here: Path, place: str, number: int, error: BaseException) -> subprocess.CompletedProcess[str]:
    """Run, where call `number` of what `place` names raises an error, and the others do what they do."""
    module, _, path = place.partition(":")
    *classes, name = path.split(".")
    owner = importlib.import_module(module)
    for one in classes:
        owner = getattr(owner, one)
    kept, real, calls = vars(owner)[name], getattr(owner, name), []

    def broken(*given: Any, **named: Any) -> Any:
        calls.append(place)
        if len(calls) == number:
            raise error
        return real(*given, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, staticmethod(broken) if isinstance(kept, classmethod) else broken)
        done = psopt(here, *OPTIMIZE)
    assert len(calls) >= number, "the call that was to fail was never made"
    assert "Traceback" not in done.stderr
    return done


def finished(run: Path) -> Any:
    if not (run / "study.db").exists():
        return 0
    storage = optuna.storages.RDBStorage(f"sqlite:///{run}/study.db")
    studies = storage.get_all_studies()
    trials = [trial for one in studies for trial in storage.get_all_trials(one._study_id)]
    return sum(trial.state == optuna.trial.TrialState.COMPLETE for trial in trials)


@pytest.mark.parametrize(("place", "number", "kind"), CALLS)
def test_a_bug_ends_the_run_in_one_line_and_its_traceback_is_kept(
    here: Path, place: str, number: int, kind: type[Exception]
) -> None:
    done = optimize_with_fault(here, place, number, kind("a bug"))
    assert done.returncode == 70
    lines = done.stderr.splitlines()
    assert [line for line in lines if line.startswith("psopt: ")] == lines[-1:]
    assert f"this is a bug of psopt, please report it: {kind.__name__}: " in lines[-1]
    log = lines[-1].partition("the traceback is in ")[2].partition(";")[0]
    assert "Traceback (most recent call last)" in (here / log).read_text("utf-8")
    n_finished = finished(here / "run")
    is_there = (here / "run").exists()
    assert ("resume with: psopt resume run" in lines[-1]) == is_there
    psopt(here, *(["resume", "run"] if is_there else OPTIMIZE), code=0)
    assert read(here)["finish_reason"] in {"trials", "exhausted"}
    assert finished(here / "run") >= n_finished


@pytest.mark.parametrize("place", ["psopt.api._finishing:write_report", "psopt.runs:RunRecorder.save_prompts"])
def test_a_fault_after_the_final_test_loses_no_test_score(here: Path, place: str) -> None:
    assert optimize_with_fault(here, place, 1, RuntimeError("a bug")).returncode == 70
    run, front = read(here), read(here, "front.json")
    assert run["finish_reason"] == "failed"
    assert all(prompt["test"] for prompt in [run["baseline"], run["short"], *run["front"], *front["prompts"]])


@pytest.mark.parametrize("place", ["psopt.runs:RunDirectory.write_json", "optuna:create_study", "optuna:Study.ask"])
def test_ctrl_c_in_the_first_seconds_leaves_nothing_or_what_can_be_gone_on_with(here: Path, place: str) -> None:
    assert optimize_with_fault(here, place, 1, KeyboardInterrupt()).returncode == 130
    if (here / "run" / "run.json").exists():
        shutil.copytree(here / "run", here / "resumed")
        psopt(here, "resume", "resumed", code=0)
        assert finished(here / "resumed") >= 4
    psopt(here, *OPTIMIZE, code=0)
    assert finished(here / "run") >= 4
