"""The report of a run with hostile text in it."""

import dataclasses
import re

import pytest
from psopt import optimization
from psopt.report import write_report
from psopt.runs import RunDirectory

HOSTILE = '<script>alert("x")</script>'


@pytest.fixture
def run(task, keyword_model, tmp_path, monkeypatch):
    monkeypatch.setattr(optimization, "load_model", lambda *_, **__: keyword_model)
    hostile = tuple(dataclasses.replace(sample, text=f"{sample.text} {HOSTILE}") for sample in task.train)
    task = dataclasses.replace(task, train=hostile, description=f"Sort it. {HOSTILE}")
    return optimization.optimize(task, trials=6, rounds=1, rephrasings=8, out=tmp_path / "run")


def test_the_report_is_one_file_that_loads_nothing(run):
    page = (run.path / "report.html").read_text()
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!#)""", page)
    assert "<svg" in page


def test_text_from_the_data_is_escaped(run):
    page = (run.path / "report.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_it_shows_every_prompt_of_the_front_and_the_weak_spots_before_and_after(run):
    page = (run.path / "report.html").read_text()
    for candidate in run.front:
        assert f'id="{candidate.id}"' in page
    assert "★ knee" in page
    assert re.search("[1-7]/8</td><td>8/8", page)


def test_it_can_be_rebuilt_from_the_run_directory_alone(run):
    page = (run.path / "report.html").read_text()
    (run.path / "report.html").unlink()
    write_report(RunDirectory.open(run.path))
    assert (run.path / "report.html").read_text() == page
