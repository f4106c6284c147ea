"""`psopt.load_run`: what was found is there again, of runs that are finished, broken off or under way."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import psopt
import pytest
from psopt.errors import InputError, ModelError
from psopt.runs import read_entry
from psopt.search import Candidate, Observer
from psopt.tasks import Task

from tests.conftest import KeywordModel

SMALL: dict[str, Any] = {"rephrasings": 3, "heldout": 3, "rounds": 1, "seed": 7, "race": "off"}


def by_first_word(messages: list[dict[str, str]]) -> str:
    return "Person" if "Who" in messages[-1]["content"] else "Number"


class Looker(Observer):
    """Loads the run while it is under way."""

    def __init__(self) -> None:
        self.seen: list[psopt.Run] = []
        self.early = ""
        self.folder: Path | None = None

    def started(self, task: Task, folder: Path) -> None:
        self.folder = folder

    def phase(self, what: str) -> None:
        if self.folder and not self.early:
            with pytest.raises(InputError) as said:
                psopt.load_run(self.folder)
            self.early = str(said.value)

    def trial(self, candidate: Candidate, n_done: int, n_total: int) -> None:
        assert self.folder is not None
        self.seen.append(psopt.load_run(self.folder))


@pytest.fixture(scope="module")
def looker() -> Looker:
    return Looker()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, looker: Looker) -> psopt.Run:
    """Tests look at it, and change copies."""
    rows = [(f"{'When' if n % 2 else 'Who'} is thing {n} ?", ("Person", "Number")[n % 2]) for n in range(60)]
    task = psopt.Task.from_records(rows, name="toy", noun="question")
    given: dict[str, Any] = {"model": by_first_word, "trials": 6, "observer": looker, **SMALL}
    folder = tmp_path_factory.mktemp("loaded")
    return psopt.optimize(task, out=folder / "run", cache_dir=folder, **given)


def told(candidate: Candidate) -> Any:
    scores = [candidate.val.to_dict(), candidate.test.to_dict() if candidate.test else None]
    return (candidate.trial, candidate.prompt, candidate.edits, json.loads(json.dumps(scores)))


def test_a_finished_run_is_what_it_was_and_nothing_is_written(run: psopt.Run) -> None:
    def content() -> dict[str, bytes]:
        return {str(file): file.read_bytes() for file in run.path.rglob("*") if file.is_file()}

    before = content()
    loaded = psopt.load_run(str(run.path))
    assert content() == before
    assert [told(candidate) for candidate in loaded.front] == [told(candidate) for candidate in run.front]
    for which in ("baseline", "short", "recommended"):
        assert told(getattr(loaded, which)) == told(getattr(run, which)), which
    for which in ("knee", "f1", "sensitivity", "consistency", "short", "original", "recommended", run.baseline.id):
        assert loaded.pick(which).id == run.pick(which).id
    assert loaded.recommendation.to_dict() == run.recommendation.to_dict()
    assert loaded.finish_reason == run.finish_reason
    assert [trial.values for trial in loaded.study.trials] == [trial.values for trial in run.study.trials]
    assert repr(loaded) == repr(run)


def test_a_run_that_comes_from_another_process_says_where_its_trials_are(run: psopt.Run) -> None:
    copy = pickle.loads(pickle.dumps(run))
    assert copy.pick("knee").id == run.pick("knee").id
    for call in (copy.trials_frame, copy.evaluated_trials):
        with pytest.raises(InputError, match=r"this copy of a run has no trials: psopt\.load_run\("):
            call()


def test_a_run_under_way_can_be_looked_at(run: psopt.Run, looker: Looker) -> None:
    last = looker.seen[-1]
    assert last.finish_reason == "running"
    assert last.baseline.id == run.baseline.id
    assert last.baseline.val.f1 == run.baseline.val.f1
    assert last.baseline.val.per_class.keys() == run.baseline.val.per_class.keys()
    assert {candidate.id for candidate in last.front} == {candidate.id for candidate in run.front}
    assert looker.early.endswith(f"resume with psopt.resume({str(run.path)!r})")


class Stopper(Observer):
    """Breaks a search off after two candidates."""

    def trial(self, candidate: Candidate, n_done: int, n_total: int) -> None:
        if n_done >= 2:
            raise KeyboardInterrupt


def test_a_run_that_was_broken_off_has_its_front(task: Task, keyword_model: KeywordModel, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        psopt.optimize(task, model=keyword_model, trials=6, out=tmp_path / "run", observer=Stopper(), **SMALL)
    loaded = psopt.load_run(tmp_path / "run")
    assert loaded.finish_reason == "interrupted"
    assert loaded.front
    assert all(candidate.test is None for candidate in loaded.front)
    assert loaded.recommended.id == loaded.baseline.id
    assert loaded.recommendation.verdict.reason
    with pytest.raises(ModelError, match=r"resume with: psopt\.optimize\(task, model=\.\., out='.+own'"):
        psopt.optimize(task, model={}.__getitem__, trials=1, out=tmp_path / "own", **SMALL)


@pytest.mark.parametrize(
    ("file", "left", "said"),
    [
        ("run.json", None, "is no run directory"),
        ("run.json", 200, "run.json is damaged"),
        ("run.json", "{}", 'it lacks "settings"'),
        ("front.json", None, r"has no front.json: write it anew with psopt\.resume\("),
        ("front.json", "{}", 'it lacks "prompts"'),
        ("front.json", "[]", "it is no JSON object"),
        ("study.db", None, "has lost its study.db"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(run: psopt.Run, file: str, left: Any, said: str, tmp_path: Path) -> None:
    copy = shutil.copytree(run.path, tmp_path / "copy")
    if left is None:
        (copy / file).unlink()
    else:
        (copy / file).write_text((copy / file).read_text()[:left] if isinstance(left, int) else left)
    with pytest.raises(InputError, match=said) as caught:
        psopt.load_run(copy)
    assert "\n" not in str(caught.value)
    if file == "front.json" and left:  # whatever reads it
        with pytest.raises(InputError, match=said):
            read_entry(copy, "recommended")
    assert (copy / file).exists() == (left is not None)
