"""`psopt report A B`: what two runs hand back, beside each other."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from psopt.errors import InputError
from psopt.evaluation import compare_paired
from psopt.report import compare_runs, fixed_and_broken, write_report
from psopt.runs import RunDirectory

from tests.report.conftest import changed_copy, read


def test_a_run_against_itself_differs_in_nothing(directory: RunDirectory) -> None:
    compared = compare_runs([directory, directory])
    (runs,) = compared.pairs
    assert {difference.difference for difference in runs.differences.values()} == {0.0}
    assert compared.to_dict()["changed_settings"] == {}
    assert fixed_and_broken(runs.common[0], runs.common[1]) == []
    assert compared.names == ["run 1", "run 2"]
    assert "Nothing." in compared.page()[0]


def test_prompts_are_tested_on_the_samples_and_wordings_that_both_have(directory: RunDirectory) -> None:
    second = changed_copy(directory)
    for file in (second.path / "predictions").glob("*.npz"):  # the second run tested on all but two samples
        arrays = dict(np.load(file))
        if "test" in arrays:
            np.savez(file, **{**arrays, "test": arrays["test"][2:], "test_ids": arrays["test_ids"][2:]})
    (runs,) = compare_runs([directory, second], "f1").pairs
    n, n_wordings = len(read(directory, "samples")["test"]), len(read(directory, "run")["rephrasings"]["heldout"])
    same = runs.first.answers.of_samples(np.arange(2, n))
    assert runs.differences == compare_paired(same, same)
    assert f"Paired on {n - 2} test samples and {n_wordings} held-out wordings" in runs.basis


def test_baseline_against_chosen_is_the_difference_of_their_answers(done: Any, directory: RunDirectory) -> None:
    front = read(directory, "front")
    keep_baseline = {**front["prompts"][0], "id": done.baseline.id, "edits": []}
    compared = compare_runs([changed_copy(directory, front={**front, "recommended": keep_baseline}), directory])
    (runs,) = compared.pairs
    assert done.recommended.id != done.baseline.id
    found = runs.differences["f1"].difference
    assert found == pytest.approx(done.recommended.test.f1 - done.baseline.test.f1, abs=1e-12)
    moved = fixed_and_broken(runs.common[0], runs.common[1])
    assert moved
    assert all(row["right"][0] != row["right"][1] for row in moved)
    data = json.loads(json.dumps(compared.to_dict()))
    assert data["against_first"]["f1"]["difference"] == pytest.approx(found)
    assert [shown["id"] for shown in data["runs"]] == [done.baseline.id, done.recommended.id]
    page = compared.page()[0]
    verdict = runs.verdict("f1").replace("no difference", "")
    assert f'<b class="{verdict}">{100 * found:+.1f}</b>' in page
    assert "&lt;script&gt;alert" in page
    assert "<script>alert" not in page


def test_what_can_t_be_paired_is_said_and_shown_all_the_same(directory: RunDirectory) -> None:
    samples = read(directory, "samples")
    new = [{**sample, "text": "new"} for sample in samples["test"]]
    for change, reason in (
        ({"labels": samples["labels"][::-1]}, "their labels differ"),
        ({"test": new}, "they were tested on different samples"),
    ):
        compared = compare_runs([directory, changed_copy(directory, samples=samples | change)])
        (runs,) = compared.pairs
        paths = f"{runs.second.directory.path} and {directory.path}"
        assert runs.sentence == f"{paths} are not tested against each other: {reason}."
        page, _ = compared.page()
        assert reason in page
        assert "Samples that moved" not in page


def test_a_run_that_is_not_finished_is_named(directory: RunDirectory) -> None:
    unfinished = changed_copy(directory, run=read(directory, "run") | {"front": []})
    with pytest.raises(InputError, match=r"other was not scored on test yet.*psopt resume"):
        compare_runs([directory, unfinished])


def test_several_runs_are_one_page_with_what_is_set_otherwise_and_a_table_to_copy(directory: RunDirectory) -> None:
    content = read(directory, "run")
    directories = [directory]
    for seed, name in enumerate("bc"):
        content["settings"] |= {"seed": seed, "command": "psopt optimize"}
        directories.append(changed_copy(directory, name, run=content))
    compared = compare_runs(directories)
    assert [pair.to_dict()["changed_settings"] for pair in compared.pairs] == [{"seed": [42, 0]}, {"seed": [42, 1]}]
    page, figures = compared.page()
    assert [figure.name for figure in figures] == ["fronts"]
    assert {"run", "b", "c"} <= {trace.name for trace in figures[0].plot.data}
    copied = page.partition('id="as-markdown" data-text="')[2].partition('"')[0].splitlines()
    assert copied[0].startswith("| run | model | F1 | S | C | tokens per call |")
    assert [line.split(" | ")[0] for line in copied[2:]] == ["| run", "| b", "| c"]
    assert "\\begin{tabular}{llrrrr}" in page
    assert '<td class="l">seed</td><td class="l">42</td><td class="l">0</td><td class="l">1</td>' in page


def test_what_differs_between_the_prompts_is_shown_as_a_diff(directory: RunDirectory) -> None:
    runs = []
    for name, *end in (("a", "<old>"), ("b", "new", "newer")):
        runs.append(changed_copy(directory, name))
        file = runs[-1].path / "prompts" / f"{read(directory, 'front')['recommended']['id']}.json"
        text = "\n".join([*"abcdefgh", *end, "z"])
        file.write_text(json.dumps(json.loads(file.read_text()) | {"description": text}))
    page = compare_runs(runs).page()[0].partition('<pre class="diff">')[2].partition("</pre>")[0]
    lines = re.findall(r'<span class="(.*?)">(.*?)</span>', page)
    same = [("", f" {line}") for line in "fgh"]
    assert lines[3:10] == [*same, ("old", "-&lt;old&gt;"), ("new", "+new"), ("new", "+newer"), ("", " z")]
    assert "run 1 and run 2: the same prompt." in compare_runs([runs[0], runs[0]]).page()[0]


def test_figures_say_that_they_show_some(directory: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psopt.report._theme.MOST_DRAWN", 30)
    (figure,) = [one for one in write_report(changed_copy(directory)) if one.name == "joint-view"]
    first, second = ([text.partition("<br>")[0] for text in trace.hovertext] for trace in figure.plot.data[-2:])
    assert len(set(first)) == 30
    assert first == second
    assert re.findall("Shown are .*", figure.caption) == ["Shown are 30 of 40 samples, drawn at random."]
