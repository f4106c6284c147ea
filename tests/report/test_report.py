"""The pages: self-contained, safe with hostile text, and built from the run directory alone."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.api import diagnose, optimize
from psopt.errors import InputError
from psopt.evaluation import Predictions
from psopt.report import diagnosis_page, fixed_and_broken, write_report
from psopt.report._class_figures import class_sensitivity, confusion, consistency_matrices
from psopt.report._run_report import history, most_severe
from psopt.runs import RunDirectory
from psopt.tasks import Sample, Task

from tests.conftest import KeywordModel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

HOSTILE = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def done(task: Task, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run on hostile texts, which no test changes."""
    model: Any = KeywordModel()
    model.is_free = True

    def hostile(samples: Sequence[Sample]) -> Any:
        return tuple(dataclasses.replace(sample, text=f"{sample.text} {HOSTILE}") for sample in samples)

    task = dataclasses.replace(
        task, train=hostile(task.train), test=hostile(task.test), description=f"Sort it. {HOSTILE}"
    )
    return optimize(task, trials=6, rounds=1, rephrasings=8, model=model, out=tmp_path_factory.mktemp("done") / "run")


@pytest.fixture
def run(done: Any, tmp_path: Path) -> Any:
    """A copy of it."""
    return dataclasses.replace(done, path=shutil.copytree(done.path, tmp_path / "run"))


@pytest.fixture
def pair() -> dict[str, Any]:
    """Three samples of class 0 and one of class 1 under four wordings; the second prompt is always right."""
    labels = [0, 0, 0, 1]
    samples = tuple(Sample(f"s{number}", f"text {number}", "ab"[label]) for number, label in enumerate(labels))
    first = np.array([[0, 0, 0, 0], [0, 1, 0, 1], [1, 1, 1, 1], [1, 1, 1, 0]])
    second = np.repeat(np.array(labels)[:, None], 4, axis=1)
    return {
        "original prompt": Predictions(first, samples, ("a", "b")),
        "knee": Predictions(second, samples, ("a", "b")),
    }


def test_the_report_is_one_file_that_loads_nothing(run: Any) -> None:
    page = (run.path / "report.html").read_text()
    without_plotly = re.sub(r"<script>/\*\*.+?</script>", "", page, flags=re.DOTALL)
    assert len(without_plotly) < 600_000
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!#)""", without_plotly)
    assert "default-src 'none'" in page


def test_text_from_the_data_is_escaped(run: Any) -> None:
    page = (run.path / "report.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert "\\u003cscript" not in page  # in figures it is text, not mark-up that happens to be encoded
    assert "\\u0026lt;script\\u0026gt;" in page


def test_it_shows_every_prompt_of_the_front_and_what_was_fixed(run: Any) -> None:
    page = (run.path / "report.html").read_text()
    for candidate in run.front:
        assert f'id="{candidate.id}"' in page
    assert "★ knee" in page
    assert re.search(r"\(\d+\)</td><td class=\"l better\">\S+ \(\d+\)</td>", page)
    marked_lines = re.findall(r"<mark>(.*?)</mark>", page)
    assert any("belongs to" in line or "what animal" in line or line.startswith("Number") for line in marked_lines)


def test_it_can_be_rebuilt_from_the_run_directory_alone(run: Any) -> None:
    page = (run.path / "report.html").read_text()
    (run.path / "report.html").unlink()
    write_report(RunDirectory.open(run.path))
    again = (run.path / "report.html").read_text()
    assert re.sub(r'"uid":"[^"]+"', "", again) == re.sub(r'"uid":"[^"]+"', "", page)


def test_the_verdict_stands_before_everything_else(run: Any) -> None:
    manifest = json.loads((run.path / "run.json").read_text("utf-8"))
    manifest["dataset"]["note"] = "186 of 398 samples are left out"
    (run.path / "run.json").write_text(json.dumps(manifest), "utf-8")
    write_report(RunDirectory.open(run.path))
    page = (run.path / "report.html").read_text("utf-8")
    places = [page.index(text) for text in ('<p class="note', 'class="cards"', "186 of 398 samples", "<nav>")]
    assert places == sorted(places)
    assert page[places[0] :].startswith(('<p class="note passed">Use prompt', '<p class="note">Keep yours'))


def test_leaving_edits_out_is_measured_where_that_costs_nothing(run: Any) -> None:
    left_out = json.loads((run.path / "contributions.json").read_text())["left_out"]
    names = {figure.name for figure in write_report(RunDirectory.open(run.path))}
    assert left_out
    assert "contributions" in names
    notes = next(one for one in left_out if one["what"] == "all notes" or one["edits"][0].startswith("n"))
    assert notes["without"]["f1"]["difference"] < 0


@pytest.mark.parametrize("name", ["samples.json", "trials.json", "contributions.json"])
def test_a_file_that_is_missing_is_named_with_what_mends_it(run: Any, name: str) -> None:
    (run.path / name).unlink()
    with pytest.raises(InputError, match=rf"has no {name}: write it anew with `psopt resume"):
        write_report(RunDirectory.open(run.path))


def test_a_damaged_file_is_named(run: Any) -> None:
    path = next((run.path / "predictions").iterdir())
    for one in (run.path / "predictions").iterdir():
        one.write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"\.npz can't be read"):
        write_report(RunDirectory.open(run.path))
    assert path.exists()


def test_s_by_class_is_the_mean_of_its_samples(pair: dict[str, Any]) -> None:
    before, after = class_sensitivity(pair).plot.data
    half = -(0.5 * np.log(0.5)) * 2 / np.log(3)  # answers a, b, a, b; with N/A there are three classes
    assert list(before.x) == ["a"]  # of b there is one sample only
    assert before.y[0] == pytest.approx(half / 3)
    assert after.y[0] == 0


def test_confusion_counts_the_answers_to_each_class(pair: dict[str, Any]) -> None:
    figure = confusion(pair)
    assert figure is not None
    before, after = figure.plot.data
    assert list(before.x) == ["a", "b", "N/A"]
    assert np.asarray(before.z).tolist() == [[50, 50, 0], [25, 75, 0]]
    assert np.asarray(after.z).tolist() == [[100, 0, 0], [0, 100, 0]]


def test_each_class_and_their_mean_stand_before_and_after(run: Any) -> None:
    page = (run.path / "report.html").read_text()
    manifest = json.loads((run.path / "run.json").read_text())
    assert "mean of the classes (macro-F1)" in page
    for label, scores in manifest["baseline"]["test"]["per_class"].items():
        row = page.partition(f'<tr><td class="l">{label}</td><td>{scores["n"]}</td>')[2].partition("</tr>")[0]
        assert f"{100 * scores['f1']:.1f}" in row
    assert "How far answers to a sample differ between wordings" in page


def test_a_topic_that_several_views_see_is_one_row() -> None:
    def seen(view: str, need: float, topic: str = '"year"') -> dict[str, Any]:
        return {"view": view, "need": need, "topic": topic, "label": "Number"}

    rows = most_severe(
        [seen("accuracy", 2.0), seen("sensitivity", 3.0), seen("accuracy", 2.5, '"who"'), seen("accuracy", 1.0)]
    )
    assert [(row["topic"], row["need"], row["view"]) for row in rows] == [
        ('"year"', 3.0, "sensitivity, accuracy"),
        ('"who"', 2.5, "accuracy"),
    ]


def test_the_history_tells_which_trial_came_nearer_and_what_it_added() -> None:
    def trial(number: int, f1: float, edits: list[str], *, feasible: bool = True) -> dict[str, Any]:
        scores = {"f1": f1, "sensitivity": 0.1, "consistency": 0.5}
        return {"trial": number, "id": f"p{number}", "edits": edits, "feasible": feasible, **scores}

    trials = [
        trial(3, 0.8, ["a", "c"]),
        trial(0, 0.5, []),
        trial(1, 0.7, ["a", "b"]),
        trial(2, 0.6, ["b"]),
        trial(4, 0.9, ["x"], feasible=False),
    ]
    rows = history(trials)
    assert [(row["id"], row["added"], row["n_left_out"]) for row in rows] == [
        ("p0", [], 0),
        ("p1", ["a", "b"], 0),
        ("p3", ["c"], 1),
    ]
    many = [trial(number, 0.5 + number / 100, [f"e{edit}" for edit in range(number)]) for number in range(30)]
    assert [row["trial"] for row in history(many)] == [0, *range(11, 30)]
    (last,) = [row for row in history([trial(0, 0.5, []), many[20]]) if row["trial"] == 20]
    assert (len(last["added"]), last["n_added"]) == (6, 20)


def test_samples_that_are_answered_otherwise_come_with_both_answers_broken_ones_first(pair: dict[str, Any]) -> None:
    first, second = pair.values()
    rows = fixed_and_broken(first, second)
    assert [(row["id"], row["kind"], row["right"]) for row in rows] == [
        ("s3", "fixed", [0.75, 1]),
        ("s1", "fixed", [0.5, 1]),
        ("s2", "fixed", [0, 1]),
    ]
    assert rows[1]["answers"] == ["a (2), b (2)", "a (4)"]
    assert [row["kind"] for row in fixed_and_broken(second, first)] == ["broken"] * 3
    assert [row["id"] for row in fixed_and_broken(second, first, most=1)] == ["s2"]


def test_a_prompt_that_is_rejected_has_no_headline(run: Any) -> None:
    manifest = json.loads((run.path / "run.json").read_text("utf-8"))
    front = json.loads((run.path / "front.json").read_text("utf-8"))
    original = manifest["baseline"]["id"]
    manifest["recommended"] |= {"verdict": "keep", "id": original}
    front["recommended"] = {**front["prompts"][0], **manifest["baseline"], "edits": []}
    (run.path / "run.json").write_text(json.dumps(manifest), "utf-8")
    (run.path / "front.json").write_text(json.dumps(front), "utf-8")
    write_report(RunDirectory.open(run.path))
    page = (run.path / "report.html").read_text("utf-8")
    cards = page[page.index('class="cards"') : page.index("<nav>")]
    assert f"{100 * manifest['baseline']['test']['f1']:.1f}</b>" in cards
    assert "→" not in cards
    assert "The best candidate, not recommended: A" in page


def test_a_class_that_lost_a_point_is_red(run: Any) -> None:
    manifest = json.loads((run.path / "run.json").read_text("utf-8"))
    classes = manifest["baseline"]["test"]["per_class"]
    label = next(iter(classes))
    front = json.loads((run.path / "front.json").read_text("utf-8"))
    after = front["recommended"]["test"]["per_class"][label]
    classes[label] |= {"f1": after["f1"] + 0.02, "sensitivity": after["sensitivity"] + 0.02}
    (run.path / "run.json").write_text(json.dumps(manifest), "utf-8")
    write_report(RunDirectory.open(run.path))
    page = (run.path / "report.html").read_text("utf-8")
    row = page[page.index('id="classes"') :].partition(f'<tr><td class="l">{label}</td>')[2].partition("</tr>")[0]
    assert f'<b class="worse">{100 * after["f1"]:.1f}</b>' in row
    assert f"<b>{100 * after['sensitivity']:.1f}</b>" in row


def test_matrices_hold_the_consistency_of_each_pair(pair: dict[str, Any]) -> None:
    before, _ = consistency_matrices(pair).plot.data
    cells = dict(zip(before.x, np.asarray(before.z).tolist(), strict=True))
    row = next(row for text, row in cells.items() if "text 0" in text)
    assert sorted(row) == [0, 50, 100]  # alike to itself, half to text 1, not at all to text 2


def test_a_diagnosis_is_a_page_too(task: Task, keyword_model: Any) -> None:
    samples = tuple(dataclasses.replace(one, text=f"{one.text} {HOSTILE}") for one in task.train)
    report = diagnose(dataclasses.replace(task, train=samples), model=keyword_model, rephrasings=6)
    page = diagnosis_page(report, f"toy {HOSTILE}", "keyword", "train")
    assert "<script>alert" not in page
    assert re.search(r"(Number|Person) \(\d\), (Number|Person) \(\d\)</td>", page)
    for name in ("joint-view", "consistency-matrices", "rephrasing-damage"):
        assert f'data-figure="{name}"' in page


def test_the_page_of_a_diagnosis_names_samples_by_their_ids(task: Task, keyword_model: Any) -> None:
    report = diagnose(task, model=keyword_model, rephrasings=6)
    page = diagnosis_page(report, "toy", "keyword", "train")
    weakest = report.diagnosis.failure_cases["sensitivity"][0]
    assert f'<tr><td class="l">{weakest.id}</td><td>{100 * weakest.sensitivity:.1f}</td>' in page


def test_a_diagnosis_without_labels_shows_what_can_be_known(task: Task, keyword_model: Any) -> None:
    samples = tuple(dataclasses.replace(one, label=None) for one in task.train)
    task = dataclasses.replace(task, train=samples, val=(), test=())
    page = diagnosis_page(diagnose(task, model=keyword_model, rephrasings=6), "toy", "keyword", "train")
    assert 'data-figure="sample-sensitivity"' in page
    assert 'data-figure="joint-view"' not in page
    assert "Without labels" in page


@pytest.mark.parametrize(("n_samples", "n_rephrasings"), [(2, 3), (3, 1), (2, 1), (4, 2)])
def test_the_smallest_diagnosis_is_a_page(task: Task, keyword_model: Any, n_samples: int, n_rephrasings: int) -> None:
    few = dataclasses.replace(task, train=task.train[:n_samples])
    report = diagnose(few, model=keyword_model, rephrasings=n_rephrasings, samples=n_samples)
    assert 'data-figure="joint-view"' in diagnosis_page(report, "toy", "keyword", "train")


@pytest.mark.parametrize("n_test", [1, 2, 3])
def test_the_smallest_run_has_a_report(task: Task, keyword_model: Any, tmp_path: Path, n_test: int) -> None:
    few = dataclasses.replace(task, test=task.test[:n_test])
    found = optimize(few, trials=3, rounds=1, rephrasings=2, model=keyword_model, out=tmp_path / "run")
    assert (found.path / "report.html").is_file()


def test_figures_are_saved_as_png_and_svg(run: Any, tmp_path: Path) -> None:
    pytest.importorskip("kaleido", reason="the extra `figures` is not installed")
    done = psopt_report(run.path, tmp_path / "figures", str(run.path))  # beside itself: one figure, not a dozen
    if "needs Chrome" in done.stderr:
        pytest.skip("no Chrome or Chromium is installed")
    assert done.returncode == 0, done.stderr
    assert {"fronts.png", "fronts.svg"} <= {path.name for path in (tmp_path / "figures").iterdir()}
    assert (tmp_path / "figures" / "fronts.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "figures" / "fronts.svg").read_text()


def test_without_a_browser_figures_can_t_be_saved_and_that_is_said(run: Any, tmp_path: Path) -> None:
    pytest.importorskip("kaleido", reason="the extra `figures` is not installed")
    done = psopt_report(run.path, tmp_path / "figures", PATH=str(tmp_path), BROWSER_PATH=str(tmp_path / "none"))
    assert done.returncode == 2
    assert "--figures needs Chrome or Chromium" in done.stderr
    assert "Traceback" not in done.stderr


def psopt_report(run: Any, figures: Any, *runs: str, **environment: Any) -> subprocess.CompletedProcess[str]:
    import os

    command = [sys.executable, "-P", "-m", "psopt", "report", str(run), *runs, "--figures", str(figures)]
    env = {**os.environ, **environment}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
