"""The pages: self-contained, safe with hostile text, and built from the run directory alone."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from psopt.api import diagnose, optimize
from psopt.errors import InputError
from psopt.evaluation import Predictions
from psopt.report import diagnosis_page, fixed_and_broken, write_report
from psopt.report._class_figures import class_sensitivity, confusion
from psopt.report._wording_figures import flips
from psopt.runs import RunDirectory
from psopt.tasks import Sample, Task

from tests.commands import psopt
from tests.report.conftest import HOSTILE, changed_copy, hostile, read


@pytest.fixture(scope="module")
def page(done: Any) -> str:
    return (done.path / "report.html").read_text()


def rewritten(directory: RunDirectory, **files: Any) -> str:
    """The report of a run some of whose files have other contents."""
    changed = changed_copy(directory, **files)
    write_report(changed)
    return (changed.path / "report.html").read_text("utf-8")


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


def test_the_report_is_one_file_that_loads_nothing_and_escapes_the_data(page: str) -> None:
    without_plotly = re.sub(r"<script>/\*\*.+?</script>", "", page, flags=re.DOTALL)
    assert len(without_plotly) < 600_000
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!#)""", without_plotly)
    assert "default-src 'none'" in page
    assert "showSendToCloud: false" in page  # plotly's button would upload the texts
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert "\\u003cscript" not in page  # in figures it is text, not mark-up that happens to be encoded
    assert "\\u0026lt;script\\u0026gt;" in page


def test_it_shows_every_prompt_of_the_front_what_was_fixed_and_each_class(done: Any, page: str) -> None:
    for candidate in done.front:
        assert f'id="{candidate.id}"' in page
    assert "★ knee" in page
    assert re.search(r"\(\d+\)</td><td class=\"l better\">\S+ \(\d+\)</td>", page)
    marked_lines = re.findall(r"<mark>(.*?)</mark>", page)
    assert any("belongs to" in line or "what animal" in line or line.startswith("Number") for line in marked_lines)
    assert "mean of the classes (macro-F1)" in page
    for label, scores in done.baseline.test.to_dict()["per_class"].items():
        row = page.partition(f'<tr><td class="l">{label}</td><td>{scores["n"]}</td>')[2].partition("</tr>")[0]
        assert f"{100 * scores['f1']:.1f}" in row
    na_row = page.partition('<tr><td class="l">N/A</td>')[2].partition("</tr>")[0]
    assert f"{100 * done.baseline.test.na_rate:.1f} → " in na_row
    assert "How far answers to a sample differ between wordings" in page


def test_it_can_be_rebuilt_from_the_run_directory_alone_with_what_leaving_edits_out_costs(
    directory: RunDirectory, page: str
) -> None:
    copy = changed_copy(directory)
    (copy.path / "report.html").unlink()
    figures = write_report(copy)
    again = (copy.path / "report.html").read_text()
    assert re.sub(r'"uid":"[^"]+"', "", again) == re.sub(r'"uid":"[^"]+"', "", page)
    assert "contributions" in {figure.name for figure in figures}
    left_out = read(copy, "contributions")["left_out"]
    notes = next(one for one in left_out if one["what"] == "all notes" or one["edits"][0].startswith("n"))
    assert notes["without"]["f1"]["difference"] < 0


def test_the_verdict_stands_before_everything_else_and_a_class_that_lost_a_point_is_red(
    directory: RunDirectory,
) -> None:
    manifest = read(directory, "run")
    manifest["dataset"]["note"] = "186 of 398 samples are left out"
    classes = manifest["baseline"]["test"]["per_class"]
    label = next(iter(classes))
    after = read(directory, "front")["recommended"]["test"]["per_class"][label]
    classes[label] |= {"f1": after["f1"] + 0.02, "sensitivity": after["sensitivity"] + 0.02}
    page = rewritten(directory, run=manifest)
    places = [page.index(text) for text in ('<p class="note', 'class="cards"', "186 of 398 samples", "<nav>")]
    assert places == sorted(places)
    assert page[places[0] :].startswith(('<p class="note passed">Use prompt', '<p class="note">Keep yours'))
    row = page[page.index('id="classes"') :].partition(f'<tr><td class="l">{label}</td>')[2].partition("</tr>")[0]
    assert f'<b class="worse">{100 * after["f1"]:.1f}</b>' in row
    assert f"<b>{100 * after['sensitivity']:.1f}</b>" in row


def test_a_prompt_that_is_rejected_has_no_headline(directory: RunDirectory) -> None:
    manifest, front = read(directory, "run"), read(directory, "front")
    manifest["recommended"] |= {"verdict": "keep", "id": manifest["baseline"]["id"]}
    front["recommended"] = {**front["prompts"][0], **manifest["baseline"], "edits": []}
    page = rewritten(directory, run=manifest, front=front)
    cards = page[page.index('class="cards"') : page.index("<nav>")]
    assert f"{100 * manifest['baseline']['test']['f1']:.1f}</b>" in cards
    assert "→" not in cards
    assert "The best candidate, not recommended: A" in page


def test_a_file_that_is_missing_or_damaged_is_named_with_what_mends_it(directory: RunDirectory) -> None:
    copy = changed_copy(directory)
    for path in (copy.path / "predictions").iterdir():
        path.write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"\.npz can't be read, .*: write it anew with `psopt resume"):
        write_report(copy)
    (copy.path / "contributions.json").unlink()
    with pytest.raises(InputError, match=r"has no contributions.json: write it anew with `psopt resume"):
        write_report(copy)


def test_s_of_a_class_is_the_mean_of_its_samples_and_confusion_counts_the_answers(pair: dict[str, Any]) -> None:
    before, after = class_sensitivity(pair).plot.data
    half = -(0.5 * np.log(0.5)) * 2 / np.log(3)  # answers a, b, a, b; with N/A there are three classes
    assert list(before.x) == ["a"]  # of b there is one sample only
    assert before.y[0] == pytest.approx(half / 3)
    assert after.y[0] == 0
    figure = confusion(pair)
    assert figure is not None
    before, after = figure.plot.data
    assert list(before.x) == ["a", "b", "N/A"]
    assert np.asarray(before.z).tolist() == [[50, 50, 0], [25, 75, 0]]
    assert np.asarray(after.z).tolist() == [[100, 0, 0], [0, 100, 0]]


@pytest.mark.parametrize(
    ("labels", "shown"),
    [(("1", "3000"), ["1", "3000"]), (("x" * 40 + "a", "x" * 40 + "b"), ["x" * 23 + "…", "x" * 23 + "… (2)"])],
)
def test_labels_stay_apart_on_axes_if_they_are_numbers_or_begin_alike(
    pair: dict[str, Any], labels: tuple[str, str], shown: list[str]
) -> None:
    for name, of in pair.items():
        samples = tuple(dataclasses.replace(one, label=labels["ab".index(one.label)]) for one in of.samples)
        pair[name] = dataclasses.replace(of, samples=samples, labels=labels)
    drawn = {draw: draw(pair) for draw in (class_sensitivity, confusion, flips)}
    assert list(drawn[confusion].plot.data[0].x) == [*shown, "N/A"]
    assert list(drawn[flips].plot.data[0].y) == [f"{shown[0]} –<br>{shown[1]}"]
    for draw, figure in drawn.items():
        layout = figure.plot.layout
        assert (layout.yaxis if draw is flips else layout.xaxis).type == "category"


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


def test_a_diagnosis_is_a_page_too_also_the_smallest_and_without_labels(task: Task, keyword_model: Any) -> None:
    def diagnosed(train: tuple[Sample, ...], rephrasings: int = 6) -> tuple[Any, str]:
        of = dataclasses.replace(task, train=train, val=(), test=())
        report = diagnose(of, model=keyword_model, rephrasings=rephrasings, samples=len(train))
        return report, diagnosis_page(report, f"toy {HOSTILE}", "keyword", "train")

    report, page = diagnosed(hostile(task.train))
    assert "<script>alert" not in page
    assert re.search(r"(Number|Person) \(\d\), (Number|Person) \(\d\)</td>", page)
    for name in ("joint-view", "consistency-matrices", "rephrasing-damage"):
        assert f'data-figure="{name}"' in page
    weakest = report.diagnosis.failure_cases["sensitivity"][0]
    assert f'<tr><td class="l">{weakest.id}</td><td>{100 * weakest.sensitivity:.1f}</td>' in page
    for n_rephrasings in (3, 1):
        assert 'data-figure="joint-view"' in diagnosed(task.train[:2], n_rephrasings)[1]
    _, page = diagnosed(tuple(dataclasses.replace(one, label=None) for one in task.train))
    assert 'data-figure="sample-sensitivity"' in page
    assert 'data-figure="joint-view"' not in page
    assert "Without labels" in page


def test_the_smallest_run_is_a_page(task: Task, keyword_model: Any, tmp_path: Path) -> None:
    few = dataclasses.replace(task, test=task.test[:1])
    found = optimize(few, trials=3, rounds=1, rephrasings=2, model=keyword_model, out=tmp_path / "run")
    assert (found.path / "report.html").is_file()
    (front,) = [figure for figure in write_report(RunDirectory.open(found.path)) if figure.name == "front"]
    assert front.plot.data[-1].hovertext[0].startswith(f"<b>{found.recommended.id}</b>, trial ")
    colours = front.plot.layout.coloraxis
    assert 0 <= colours.cmin < colours.cmax <= 1  # a C of more than 100 % was on the scale where all are near it


def test_figures_are_saved_as_png_and_svg(directory: RunDirectory, tmp_path: Path) -> None:
    pytest.importorskip("kaleido", reason="the extra `figures` is not installed")
    ended = psopt(
        tmp_path, "report", directory.path, directory.path, "--figures", "figures"
    )  # beside itself: one figure, not a dozen
    if "needs Chrome" in ended.stderr:
        pytest.skip("no Chrome or Chromium is installed")
    assert ended.returncode == 0, ended.stderr
    assert {"fronts.png", "fronts.svg"} <= {path.name for path in (tmp_path / "figures").iterdir()}
    assert (tmp_path / "figures" / "fronts.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "figures" / "fronts.svg").read_text()
