"""`psopt report A B`: what two runs hand back, beside each other."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from psopt.api import optimize
from psopt.errors import InputError
from psopt.evaluation import Predictions, compare_paired
from psopt.report import compare_runs, fixed_and_broken, measure_rows, names_of, runs_of, runs_page
from psopt.report._side_by_side import side_by_side
from psopt.report._theme import MOST_DRAWN, drawn
from psopt.runs import RunDirectory
from psopt.tasks import Sample, Task

from tests.conftest import KeywordModel


@pytest.fixture(scope="module")
def run(task: Task, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run that no test changes."""
    model: Any = KeywordModel()
    model.is_free = True
    out = tmp_path_factory.mktemp("runs") / "run"
    return optimize(task, trials=6, rounds=1, rephrasings=8, model=model, out=out)


def changed_copy(original: Any, name: str, **files: Any) -> RunDirectory:
    """A copy of a run with files of it changed: a function of what each held."""
    folder = Path(tempfile.mkdtemp(dir=original.path.parent)) / name
    shutil.copytree(original.path, folder)
    for file, change in files.items():
        path = folder / f"{file}.json"
        path.write_text(json.dumps(change(json.loads(path.read_text()))))
    return RunDirectory.open(folder)


def shown_answers(run: Any, pick: str) -> Predictions:
    """What the compared prompt of a run answered on test."""
    return compare_runs(RunDirectory.open(run.path), RunDirectory.open(run.path), pick).first.predictions


def test_a_run_against_itself_differs_in_nothing(run: Any) -> None:
    directory = RunDirectory.open(run.path)
    runs = compare_runs(directory, directory)
    assert {difference.difference for difference in runs.differences.values()} == {0.0}
    assert runs.changed_settings == {}
    assert fixed_and_broken(runs.common[0], runs.common[1]) == []
    assert names_of(runs_of([runs])) == ["run 1", "run 2"]
    assert "Nothing." in runs_page([runs])[0]


def test_prompts_are_tested_on_the_samples_and_wordings_that_both_have(run: Any) -> None:
    first = RunDirectory.open(run.path)
    second = changed_copy(run, "other")
    n = len(json.loads((run.path / "samples.json").read_text())["test"])
    for file in (second.path / "predictions").glob("*.npz"):  # the second run tested on all but two samples
        arrays = dict(np.load(file))
        if "test" in arrays:
            np.savez(file, **{**arrays, "test": arrays["test"][2:], "test_ids": arrays["test_ids"][2:]})
    runs = compare_runs(first, second, "f1")
    kept = np.arange(2, n)
    same = shown_answers(run, "f1").of_samples(kept)
    assert runs.differences == compare_paired(same, same)
    assert f"Paired on {n - 2} test samples and {len(run_wordings(first))} held-out wordings" in runs.basis


def run_wordings(directory: RunDirectory) -> list[str]:
    return list(directory.read_json("run.json")["rephrasings"]["heldout"])


def test_baseline_against_chosen_is_the_difference_of_their_answers(run: Any) -> None:
    """The second run as it is, the first with its baseline recommended: as `compare_paired` has them."""

    def keep_baseline(front: dict[str, Any]) -> dict[str, Any]:
        baseline = json.loads((run.path / "run.json").read_text())["baseline"]
        return {**front, "recommended": {**front["prompts"][0], "id": baseline["id"], "edits": []}}

    first = changed_copy(run, "kept", front=keep_baseline)
    runs = compare_runs(first, RunDirectory.open(run.path))
    assert runs.first.contents.chosen["id"] == run.baseline.id
    assert runs.second.contents.chosen["id"] == run.recommended.id
    assert run.recommended.id != run.baseline.id
    found = runs.differences["f1"].difference
    assert found == pytest.approx(run.recommended.test.f1 - run.baseline.test.f1, abs=1e-12)
    assert measure_rows([runs])[0]["verdicts"] == [runs.verdict("f1")]
    moved = fixed_and_broken(runs.common[0], runs.common[1])
    assert moved
    assert all(row["right"][0] != row["right"][1] for row in moved)
    data = json.loads(json.dumps(runs.to_dict()))
    assert data["against_first"]["f1"]["difference"] == pytest.approx(found)
    assert [shown["id"] for shown in data["runs"]] == [run.baseline.id, run.recommended.id]


def test_under_other_wordings_intervals_are_of_samples_alone(run: Any) -> None:
    def other_wordings(content: dict[str, Any]) -> dict[str, Any]:
        wordings = [f"Now: {wording}" for wording in content["rephrasings"]["heldout"]]
        return {**content, "rephrasings": {**content["rephrasings"], "heldout": wordings}, "model": "another"}

    runs = compare_runs(RunDirectory.open(run.path), changed_copy(run, "other", run=other_wordings))
    assert "each run under its own held-out wordings" in runs.sentences[0]
    assert runs.differences["f1"].difference == 0.0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda samples: {**samples, "labels": [*samples["labels"][::-1]]}, "their labels differ"),
        (
            lambda samples: {**samples, "test": [{**sample, "text": "new"} for sample in samples["test"]]},
            "they were tested on different samples",
        ),
    ],
)
def test_what_can_t_be_paired_is_said_and_shown_all_the_same(run: Any, change: Any, reason: str) -> None:
    runs = compare_runs(RunDirectory.open(run.path), changed_copy(run, "other", samples=change))
    assert runs.sentences == [f"Not tested against each other: {reason}."]
    page, _ = runs_page([runs])
    assert reason in page
    assert "Samples that moved" not in page


def test_settings_that_differ_are_listed(run: Any) -> None:
    def seeded(content: dict[str, Any]) -> dict[str, Any]:
        return {**content, "settings": {**content["settings"], "seed": 7, "command": "psopt optimize"}}

    runs = compare_runs(RunDirectory.open(run.path), changed_copy(run, "other", run=seeded))
    assert runs.changed_settings == {"seed": (42, 7)}


def test_texts_are_escaped_and_the_page_loads_nothing(run: Any) -> None:
    def hostile(samples: dict[str, Any]) -> dict[str, Any]:
        return {**samples, "test": [{**sample, "text": "<script>alert(1)</script>"} for sample in samples["test"]]}

    both = [changed_copy(run, name, samples=hostile) for name in ("a", "b")]
    flipped = both[1].path / "predictions" / f"{run.recommended.id}.npz"
    arrays = dict(np.load(flipped))
    np.savez(flipped, **{**arrays, "test": (arrays["test"] + 1) % 2})
    page, figures = runs_page([compare_runs(both[0], both[1])])
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert(1)" not in page
    assert [figure.name for figure in figures] == ["fronts"]


def test_a_run_that_is_not_finished_is_named(run: Any) -> None:
    unfinished = changed_copy(run, "other", run=lambda content: {**content, "front": []})
    with pytest.raises(InputError, match=r"other was not scored on test yet.*psopt resume"):
        compare_runs(RunDirectory.open(run.path), unfinished)


def test_several_runs_are_one_page_with_a_table_to_copy(run: Any) -> None:
    first = RunDirectory.open(run.path)

    def seeded(seed: int) -> RunDirectory:
        def change(content: dict[str, Any]) -> dict[str, Any]:
            return {**content, "settings": {**content["settings"], "seed": seed}}

        return changed_copy(run, "bc"[seed], run=change)

    others = [seeded(0), seeded(1)]
    pairs = [compare_runs(first, other) for other in others]
    page, figures = runs_page(pairs)
    assert [figure.name for figure in figures] == ["fronts"]
    assert {"run", "b", "c"} <= {trace.name for trace in figures[0].plot.data}
    copied = page.partition('id="as-markdown" data-text="')[2].partition('"')[0].splitlines()
    assert copied[0].startswith("| run | model | F1 | S | C | tokens per call |")
    assert [line.split(" | ")[0] for line in copied[2:]] == ["| run", "| b", "| c"]
    assert "\\begin{tabular}{llrrrr}" in page
    assert '<td class="l">seed</td><td class="l">42</td><td class="l">0</td><td class="l">1</td>' in page


def test_two_columns_hold_both_texts_and_fold_what_stays() -> None:
    old = "\n".join([*"abcdefgh", "old", "z"])
    new = "\n".join([*"abcdefgh", "new", "newer", "z"])
    rows = side_by_side(old, new)
    assert rows[0].n_hidden == 6
    assert [(row.old, row.new) for row in rows[1:]] == [
        ("g", "g"),
        ("h", "h"),
        ("old", "new"),
        (None, "newer"),
        ("z", "z"),
    ]
    assert [row.is_changed for row in rows[1:]] == [False, False, True, True, False]
    assert side_by_side("a\nb", "a\nb")[0].n_hidden == 2


def test_of_very_many_samples_figures_show_some_and_say_so() -> None:
    n = MOST_DRAWN + 500
    samples = tuple(Sample(f"s{number}", "text", "a") for number in range(n))
    predictions = Predictions(np.arange(2 * n).reshape(n, 2) % 2, samples, ("a", "b"))
    few, note = drawn({"x": predictions, "y": predictions})
    assert [len(shown.samples) for shown in few.values()] == [MOST_DRAWN, MOST_DRAWN]
    assert few["x"].samples == few["y"].samples
    assert note == f" Shown are {MOST_DRAWN:,} of {n:,} samples, drawn at random."
    assert drawn(few) == (few, "")
