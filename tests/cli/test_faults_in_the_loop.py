"""What stands at the loop's edges raises once, be it Optuna, the model or the disk: the run ends in one line.

What was found until then is saved, and the run can be gone on with.
"""

from __future__ import annotations

import importlib
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import optuna
import pytest

from tests.commands import exit_code

if TYPE_CHECKING:
    from psopt.tasks import Task

# What stands at the loop's edges, and which call of it fails: later ones, once a trial is done.
CALLS = [
    ("optuna:Study.ask", 2),
    ("optuna:Study.tell", 2),
    ("optuna:Study.set_user_attr", 7),
    ("optuna:Trial.set_user_attr", 8),
    ("optuna.samplers:TPESampler.after_trial", 2),
    ("optuna.artifacts:upload_artifact", 2),
    ("tests.conftest:KeywordModel.predict", 4),
    ("psopt.evaluation:Evaluator.predictions", 2),
    ("psopt.search:Search.__init__", 1),
    ("psopt.runs:RunRecorder.save", 2),
    ("psopt.runs:RunRecorder.save_for_report", 1),
    ("psopt.runs:RunDirectory.write_json", 3),
    ("psopt.runs:RunDirectory.write_predictions", 1),
    ("jinja2:Environment.get_template", 1),
]
BUGS = [RuntimeError("a bug"), ValueError("a bug"), KeyError("a bug")]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: Task, keyword_model: Any) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("psopt.models.ModelProvider.answering", lambda *_: keyword_model)
    rows = ["id,text,label,split"]
    for split in ("train", "val", "test"):
        rows += [f"{one.id},{one.text},{one.label},{split}" for one in getattr(task, split)[:16]]
    (tmp_path / "toy.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


OPTIMIZE = ["optimize", "--dataset", "toy.csv", "--trials", "4", "--rephrasings", "2", "--rounds", "1", "--out", "run"]


def break_once(monkeypatch: pytest.MonkeyPatch, place: str, number: int, error: Any) -> Any:
    """Let call `number` of what `place` names raise an error, and the others do what they do."""
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

    monkeypatch.setattr(owner, name, staticmethod(broken) if isinstance(kept, classmethod) else broken)
    return calls


def finished(run: Path) -> Any:
    if not (run / "study.db").exists():
        return 0
    storage = optuna.storages.RDBStorage(f"sqlite:///{run}/study.db")
    studies = storage.get_all_studies()
    trials = [trial for one in studies for trial in storage.get_all_trials(one._study_id)]
    return sum(trial.state == optuna.trial.TrialState.COMPLETE for trial in trials)


def check_end(
    here: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: str, number: int, error: Any
) -> tuple[Any, Any]:
    """Run with a fault; check that it ends in one line, and that the run can be gone on with."""
    with monkeypatch.context() as patch:
        if not place.startswith("jinja2"):  # plotly's figures take longer than all else
            patch.setattr("psopt.api._finishing.write_report", lambda _: [])
        patch.setattr("psopt.api._optimize.timed_pace", lambda *_: None)  # how much is timed hangs on the machine
        calls = break_once(patch, place, number, error)
        code = exit_code(*OPTIMIZE)
    monkeypatch.setattr("psopt.api._finishing.write_report", lambda _: [])
    said = capsys.readouterr().err
    assert len(calls) >= number, "the call that was to fail was never made"
    assert "Traceback" not in said
    lines = [line for line in said.splitlines() if line.startswith("psopt: ")]
    assert len(lines) == 1, said
    assert said.splitlines()[-1] == lines[0]
    n_finished = finished(here / "run")
    known = (here / "run" / "run.json").exists()
    if known:
        assert "resume with: psopt resume run" in lines[0]
    else:
        assert not (here / "run").exists()
    assert exit_code("resume", "run") == 0 if known else exit_code(*OPTIMIZE) == 0
    run = json.loads((here / "run" / "run.json").read_text())
    assert run["finish_reason"] in {"trials", "exhausted"}
    assert finished(here / "run") >= n_finished
    return code, lines[0]


@pytest.mark.parametrize(("place", "number"), CALLS)
def test_a_bug_ends_the_run_in_one_line_and_its_traceback_is_kept(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: str, number: int
) -> None:
    error = BUGS[CALLS.index((place, number)) % len(BUGS)]
    code, line = check_end(here, capsys, monkeypatch, place, number, error)
    assert code == 70
    assert f"this is a bug of psopt, please report it: {type(error).__name__}: " in line
    log = line.partition("the traceback is in ")[2].partition(";")[0]
    assert "Traceback (most recent call last)" in Path(log).read_text("utf-8")


@pytest.mark.parametrize("place", ["psopt.api._finishing:write_report", "psopt.runs:RunRecorder.save_prompts"])
def test_a_fault_after_the_final_test_loses_no_test_score(
    here: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("psopt.api._finishing.write_report", lambda _: [])
        break_once(patch, place, 1, RuntimeError("a bug"))
        assert exit_code(*OPTIMIZE) == 70
    run = json.loads((here / "run" / "run.json").read_text())
    front = json.loads((here / "run" / "front.json").read_text())
    assert run["finish_reason"] == "failed"
    assert all(prompt["test"] for prompt in [run["baseline"], run["short"], *run["front"], *front["prompts"]])


SET_UP = [
    ("psopt.runs:RunDirectory.make", 1),
    ("psopt.runs:RunDirectory.write_json", 1),
    ("psopt.runs:RunDirectory.write_json", 2),
    ("optuna:create_study", 1),
    ("optuna:Study.set_metric_names", 1),
    ("psopt.search:Search.__init__", 1),
    ("optuna:Study.ask", 1),
]


@pytest.mark.parametrize(("place", "number"), SET_UP)
def test_ctrl_c_in_the_first_seconds_leaves_nothing_or_what_can_be_gone_on_with(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: str, number: int
) -> None:
    monkeypatch.setattr("psopt.api._finishing.write_report", lambda _: [])
    with monkeypatch.context() as patch:
        break_once(patch, place, number, KeyboardInterrupt())
        assert exit_code(*OPTIMIZE) == 130
    assert "Traceback" not in capsys.readouterr().err
    if (here / "run" / "run.json").exists():
        shutil.copytree(here / "run", here / "resumed")
        assert exit_code("resume", "resumed") == 0, capsys.readouterr().err
        assert finished(here / "resumed") >= 4
    assert exit_code(*OPTIMIZE) == 0, capsys.readouterr().err
    assert finished(here / "run") >= 4
