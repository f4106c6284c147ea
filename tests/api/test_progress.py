"""`progress=`: bars in notebooks and terminals, silence in pipes, and whoever watches already is not disturbed."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import psopt
import pytest
from psopt.notebooks import TerminalBar, progress_bar
from psopt.search import Observer
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
    psopt.diagnose(task, model=lambda _: "Number", rephrasings=2, samples=10, cache_dir=tmp_path)
    assert any('max="20"' in state and "of 20 texts read" in state for state in cell.states)
    assert "psopt: 20 texts read" in cell.states[-1]


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
    progress_bar(None).close("all is read")
    assert capfd.readouterr().err == ""
    bar = progress_bar(True)
    assert isinstance(bar, TerminalBar)
    bar.show("texts [read]", 3, 9)
    bar.close("all is [read]")
    assert "3/9 all is [read]" in capfd.readouterr().err
