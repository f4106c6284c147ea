"""`psopt.load_run`: what was found is there again, of runs that are finished, broken off or under way."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import psopt
import pytest
from psopt.errors import BudgetReachedError, InputError
from psopt.evaluation import scores_from_dict
from psopt.search import Observer

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.search import Candidate
    from psopt.tasks import Task

    from tests.conftest import KeywordModel

SMALL: dict[str, Any] = {"rephrasings": 3, "heldout": 3, "rounds": 1, "seed": 7, "race": "off"}


def by_first_word(messages: list[dict[str, str]]) -> str:
    return "Person" if "Who" in messages[-1]["content"] else "Number"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> psopt.Run:
    """Tests look at it, and change copies."""
    rows = [(f"{'When' if n % 2 else 'Who'} is thing {n} ?", ("Person", "Number")[n % 2]) for n in range(60)]
    task = psopt.Task.from_records(rows, name="toy", noun="question")
    folder = tmp_path_factory.mktemp("loaded")
    return psopt.optimize(task, model=by_first_word, trials=6, out=folder / "run", cache_dir=folder, **SMALL)


def told(candidate: Candidate) -> Any:
    scores = [candidate.val.to_dict(), candidate.test.to_dict() if candidate.test else None]
    return (candidate.trial, candidate.prompt, candidate.edits, candidate.order, json.loads(json.dumps(scores)))


def test_a_finished_run_is_what_it_was(run: psopt.Run) -> None:
    loaded = psopt.load_run(run.path)
    assert [told(candidate) for candidate in loaded.front] == [told(candidate) for candidate in run.front]
    for which in ("baseline", "short", "recommended"):
        assert told(getattr(loaded, which)) == told(getattr(run, which)), which
    for which in ("knee", "f1", "sensitivity", "consistency", "short", "recommended"):
        assert loaded.pick(which).id == run.pick(which).id
    assert loaded.recommendation.to_dict() == run.recommendation.to_dict()
    assert loaded.finish_reason == run.finish_reason
    assert [trial.values for trial in loaded.study.trials] == [trial.values for trial in run.study.trials]
    assert repr(loaded) == repr(run)


def test_nothing_is_written(run: psopt.Run) -> None:
    def content() -> dict[str, bytes]:
        return {str(file): file.read_bytes() for file in run.path.rglob("*") if file.is_file()}

    before = content()
    psopt.load_run(str(run.path))
    assert content() == before


class Stopper(Observer):
    """Breaks a search off after some candidates."""

    def __init__(self, error: BaseException, after: int) -> None:
        self.error = error
        self.after = after

    def trial(self, candidate: Candidate, n_done: int, n_total: int) -> None:
        if n_done >= self.after:
            raise self.error


def test_a_run_that_was_broken_off_has_its_front(task: Task, keyword_model: KeywordModel, tmp_path: Path) -> None:
    stopper = Stopper(KeyboardInterrupt(), after=2)
    with pytest.raises(KeyboardInterrupt):
        psopt.optimize(task, model=keyword_model, trials=6, out=tmp_path / "run", observer=stopper, **SMALL)
    loaded = psopt.load_run(tmp_path / "run")
    assert loaded.finish_reason == "interrupted"
    assert loaded.front
    assert all(candidate.test is None for candidate in loaded.front)
    assert loaded.recommended.id == loaded.baseline.id
    assert loaded.recommendation.verdict.reason


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
            try:
                psopt.load_run(self.folder)
            except InputError as error:
                self.early = str(error)

    def trial(self, candidate: Candidate, n_done: int, n_total: int) -> None:
        assert self.folder is not None
        self.seen.append(psopt.load_run(self.folder))


def test_a_run_under_way_can_be_looked_at(task: Task, keyword_model: KeywordModel, tmp_path: Path) -> None:
    looker = Looker()
    run = psopt.optimize(task, model=keyword_model, trials=6, out=tmp_path / "run", observer=looker, **SMALL)
    last = looker.seen[-1]
    assert last.finish_reason == "running"
    assert last.baseline.id == run.baseline.id
    assert last.baseline.val.f1 == run.baseline.val.f1
    assert last.baseline.val.per_class.keys() == run.baseline.val.per_class.keys()
    assert {candidate.id for candidate in last.front} == {candidate.id for candidate in run.front}
    assert looker.early.endswith(f"resume with `psopt resume {run.path}`")


def test_a_run_that_met_a_limit_says_so(task: Task, tmp_path: Path) -> None:
    limits = psopt.LMConfig(max_calls=400)
    with pytest.raises(BudgetReachedError) as caught:
        psopt.optimize(
            task, model=by_first_word, trials=40, out=tmp_path / "run", lm=limits, cache_dir=tmp_path, **SMALL
        )
    loaded = psopt.load_run(tmp_path / "run")
    assert loaded.finish_reason == "budget"
    if caught.value.run:
        assert loaded.recommended.id == caught.value.run.recommended.id


def damage(run: Path, file: str, how: str) -> None:
    if how == "gone":
        (run / file).unlink()
    elif how == "cut":
        (run / file).write_text((run / file).read_text()[:200])
    else:
        (run / file).write_text("{}")


@pytest.mark.parametrize(
    ("file", "how", "said"),
    [
        ("run.json", "gone", "is no run directory"),
        ("run.json", "cut", "run.json is damaged"),
        ("run.json", "emptied", 'it lacks "settings"'),
        ("front.json", "gone", "front.json can't be read"),
        ("front.json", "emptied", 'it lacks "prompts"'),
        ("study.db", "gone", "has lost its study.db"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(run: psopt.Run, file: str, how: str, said: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run.path, copy)
    damage(copy, file, how)
    with pytest.raises(InputError, match=said) as caught:
        psopt.load_run(copy)
    assert "\n" not in str(caught.value)
    assert (copy / file).exists() == (how != "gone")


def test_scores_are_read_back_as_they_were(run: psopt.Run) -> None:
    scores = run.baseline.test
    assert scores_from_dict(json.loads(json.dumps(scores.to_dict()))).to_dict() == scores.to_dict()
