"""`progress=`: bars in notebooks and terminals, silence in pipes, and whoever watches already is not disturbed."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import psopt
import pytest
from psopt.notebooks import NotebookBar, TerminalBar, progress_bar
from psopt.search import Observer

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.tasks import Task

    from tests.conftest import KeywordModel

SMALL: dict[str, Any] = {"rephrasings": 3, "heldout": 3, "rounds": 1, "trials": 3, "race": "off"}


class Cell:
    """The output of a notebook's cell: what was displayed, and what stands there now."""

    def __init__(self) -> None:
        self.states: list[str] = []

    def display(self, shown: Any, display_id: bool = False) -> Cell:  # as IPython's
        self.update(shown)
        return self

    def update(self, shown: Any) -> None:
        self.states.append(shown.data)


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Cell:
    """This process looks like a kernel."""
    cell = Cell()
    shell = SimpleNamespace(kernel=object())
    ipython: Any = ModuleType("IPython")
    ipython.get_ipython = lambda: shell
    shows: Any = ModuleType("IPython.display")
    shows.HTML = lambda data: SimpleNamespace(data=data)
    shows.display = cell.display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", shows)
    monkeypatch.setattr("psopt.notebooks._progress_bar._LEAST_BETWEEN", 0.0)
    return cell


def test_a_notebook_shows_a_search_and_keeps_one_line_of_it(
    task: Task, keyword_model: KeywordModel, tmp_path: Path, cell: Cell
) -> None:
    run = psopt.optimize(task, model=keyword_model, out=tmp_path / "run", **SMALL)
    assert any('max="3" value="2"' in state and "2 of 3 trials; best F1" in state for state in cell.states)
    assert any("scoring the front on test" in state for state in cell.states)
    assert "<progress" not in cell.states[-1]
    assert f"psopt: 3 trials; best F1 {max(of.val.f1 for of in run.front):.3f}" in cell.states[-1]
    assert str(run.path) in cell.states[-1]


def test_a_notebook_shows_readings_and_their_end(task: Task, tmp_path: Path, cell: Cell) -> None:
    def answer(messages: list[dict[str, str]]) -> str:
        return "Number"

    psopt.diagnose(task, model=answer, rephrasings=2, samples=10, cache_dir=tmp_path)
    assert any('max="20"' in state and "of 20 texts read" in state for state in cell.states)
    assert "psopt: 20 texts read" in cell.states[-1]


def test_an_error_ends_the_bar_too(task: Task, tmp_path: Path, cell: Cell) -> None:
    def broken(messages: list[dict[str, str]]) -> str:
        raise ValueError

    with pytest.raises(psopt.errors.ModelError):
        psopt.optimize(task, model=broken, out=tmp_path / "run", cache_dir=tmp_path, **SMALL)
    assert "<progress" not in cell.states[-1]


def test_nothing_is_shown_to_whoever_watches_already_or_wants_none(
    task: Task, keyword_model: KeywordModel, tmp_path: Path, cell: Cell
) -> None:
    psopt.measure(task, model=keyword_model, rephrasings=2, on_progress=lambda *_: None)
    for name, options in (("watched", {"observer": Observer()}), ("off", {"progress": False})):
        psopt.optimize(task, model=keyword_model, out=tmp_path / name, **options, **{**SMALL, "trials": 1})
    assert cell.states == []


def test_in_a_pipe_nothing_is_shown_unless_it_is_wanted(
    task: Task, keyword_model: KeywordModel, capfd: pytest.CaptureFixture[str]
) -> None:
    psopt.measure(task, model=keyword_model, rephrasings=2)
    assert capfd.readouterr().err == ""
    assert progress_bar(None) is None
    bar = progress_bar(True)
    assert isinstance(bar, TerminalBar)
    bar.show("texts [read]", 3, 9)
    bar.close("all is [read]")
    assert "3/9 all is [read]" in capfd.readouterr().err


def test_data_in_a_bar_are_texts(cell: Cell) -> None:
    bar = NotebookBar()
    bar.show("<script>", 1, 2)
    bar.close("<script>")
    assert all("<script>" not in state and "&lt;script&gt;" in state for state in cell.states)


def test_a_bar_is_not_changed_more_often_than_one_sees(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psopt.notebooks._progress_bar._LEAST_BETWEEN", 0.2)
    times = iter([0.0, *(number / 100 for number in range(1000))])
    bar = NotebookBar(clock=lambda: next(times))
    for number in range(50):
        bar.show("texts", number, 50)
    assert len(cell.states) < 10
