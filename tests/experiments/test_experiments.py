"""Every experiment runs, small, on the bundled samples, and the page of results says what their JSON says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from psopt.metrics import micro_f1, prediction_counts, sensitivity

from tests.experiments.conftest import EXPERIMENTS, RESULTS
from tests.fake_server import FakeServer

SMALL = ("--dataset", "trec", "--samples", "10", "--rephrasings", "3", "--seed", "0", "--trials", "3")
SEARCHING = ("ablation", "appendix_b", "appendix_c", "transfer")  # sim answers at once
# Those that need what is not here, take minutes, or are run below
BESIDES = """
    answer_lead confidence drafts dspy_equal_calls example_layers example_turns groups_on_trec label_map lm_edits
    lm_fixes lm_formats lm_promise lm_prosa lm_racing lm_table1 meaning_threshold minilm_constants near_constant
    prior_texts promise proposal_constants prosa_free racing real_grids samples_or_wordings shipping
    whose_words write_results
"""
SCRIPTS = sorted({path.stem for path in EXPERIMENTS.glob("[!_]*.py")} - set(BESIDES.split()))


@pytest.fixture
def page(run: Any, tmp_path: Path) -> Any:
    """Write the page of a folder of results."""

    def written(results: Path | str = "results") -> str:
        run("write_results", "--results", results, "--page", "page.md")
        return (tmp_path / "page.md").read_text("utf-8")

    return written


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_leaves_json_a_figure_and_its_part_of_the_page(
    script: str, run: Any, page: Any, tmp_path: Path
) -> None:
    model = "sim/" if script in SEARCHING else "minilm"
    found = run(script, *SMALL, "--model", model)
    assert found["setting"]["sources"] == {"trec": "bundled"}
    assert (tmp_path / "results" / f"{script}.svg").read_text("utf-8").endswith("</svg>\n")
    written = page()
    assert f"](results/{script}.svg)" in written
    assert f"trec (bundled); {model}" in written


def test_the_same_script_asks_a_server(run: Any) -> None:
    pytest.importorskip("openai")
    with FakeServer() as server:
        found = run("table1", *SMALL, "--model", "openai/test", "--api-base", server.url)
        assert server.counts()["requests"] == 3 * 10 * 3  # strategies, samples, wordings
    assert [row["model"] for row in found["rows"]] == ["openai/test"] * 3
    assert all(0 <= row["f1"] <= 1 for row in found["rows"])


def test_the_promise_is_counted_with_known_truths_and_told_by_the_readme(run: Any, page: Any) -> None:
    from _promise_page import readme_line  # type: ignore[import-not-found]

    found = run("promise", "--runs", "3", "--searches", "0", "--sizes", "60")
    by_kind = {cell["population"]: cell for cell in found["cells"]}
    assert {"no effect", "harmful", "small effects", "large effects"} <= set(by_kind)
    for cell in found["cells"]:
        for way in cell["ways"].values():
            assert 0 <= way["worse"] <= way["handed_back"] <= cell["runs"] == 3
            assert way["worse"] / 3 <= way["worse_most"] <= 1
    assert by_kind["F1 just lower, S better"]["ways"]["always"]["worse"] == 3
    assert by_kind["large effects"]["ways"]["sure"]["worse"] == 0
    assert by_kind["large effects"]["ways"]["always"]["gain"] > 0.1
    assert "a worse prompt was handed back in" in page()
    counted = readme_line(json.loads((RESULTS / "promise.json").read_text("utf-8")))
    assert counted in " ".join((EXPERIMENTS.parent / "README.md").read_text("utf-8").split())


def test_true_scores_are_what_many_answers_come_to() -> None:
    from _promise_population import LABELS, N_EDITS, Draw, Population  # type: ignore[import-not-found]

    rng = np.random.default_rng(0)
    population = Population(np.full(N_EDITS, 0.02), np.full(N_EDITS, 0.02))
    prompt = np.arange(N_EDITS) < 6
    f1, s = population.truth(prompt, 5)
    scores = []
    for _ in range(40):  # wordings are drawn anew, for they move all samples at once
        draw = Draw.of(rng, 500, 5)
        answers = draw.answers(population, prompt[None])[0]
        scores.append((micro_f1(answers, draw.truth), sensitivity(prediction_counts(answers, len(LABELS) + 1))))
    means, errors = np.mean(scores, axis=0), np.std(scores, axis=0) / np.sqrt(len(scores))
    assert (np.abs(means - (f1, s)) < 4 * errors).all()


def test_the_page_of_results_is_what_the_json_says(page: Any) -> None:
    assert (EXPERIMENTS / "RESULTS.md").read_text("utf-8") == page(RESULTS), "run experiments/write_results.py"


def test_a_claim_is_seen_only_beyond_chance_and_the_placebo() -> None:
    import _claims

    def row(difference: Any, p_value: Any) -> dict[str, Any]:
        against = {"sensitivity": {"difference": difference, "p_value": p_value}}
        return {"dataset": "trec", "strategy": "1-shot", "against_simple": against}

    assert _claims.one_shot([row(-0.1, 0.01)])[0] == "seen"
    assert _claims.one_shot([row(-0.1, 0.2)])[0] == "undecided"
    assert _claims.one_shot([row(0.1, 0.01)])[0] == "contradicted"
    # three seeds of one data set are one case, of which twice the median p-value holds
    assert _claims.one_shot([row(-0.1, 0.01), row(-0.1, 0.03), row(-0.1, 0.9)])[0] == "undecided"
    assert _claims.one_shot([row(-0.1, 0.01), row(-0.1, 0.02), row(-0.1, 0.9)])[0] == "seen"

    def fix(by_hand: Any, placebo: Any, n_texts: int = 1) -> dict[str, Any]:
        right = {"before": 3, "by hand": by_hand, "placebo": placebo}
        columns = {
            kind: {"right": [n] * n_texts, "sensitivity": [(30 - n) / 30] * n_texts} for kind, n in right.items()
        }
        return {"topic": "dates", "columns": columns, "rephrasings": 30}

    judge = _claims.improves("by hand")
    assert judge([fix(29, 3)])[0] == "seen"
    assert judge([fix(29, 30)])[0] == "not seen"
    assert judge([fix(14, 3)])[0] == "not seen"
    assert judge([fix(29, 3, n_texts=0)])[0].startswith("not testable")
    assert _claims.improves("by a writer")([fix(29, 3)])[0].startswith("not testable")


def test_an_aim_is_reached_by_what_was_measured_and_only_so_far_by_less_than_was_asked_for() -> None:
    from _aims import AIMS, verdicts

    def word(name: str, **parts: Any) -> str:
        empty: dict[str, Any] = {"runs": [], "cells": []}
        rows = {row[4]: row[3] for row in verdicts({name: empty | parts})}
        return rows[f"`{name}`"]

    def searches(racing: int) -> list[dict[str, Any]]:
        arms = {"plain": 1000, "racing": racing}
        return [
            {"model": "smollm2", "dataset": "trec", "seed": 0, "arm": arm, "answers": n, "hypervolume": 0.5}
            for arm, n in arms.items()
        ]

    def promised(n_runs: int, *, n_worse: int) -> list[dict[str, Any]]:
        truth = {"original": [0.5, 0.1], "recommended": [0.6, 0.1]}
        worse = {"original": [0.5, 0.1], "recommended": [0.4, 0.1]}
        return [
            {"model": "smollm2", "f1_alone": False, "truth": worse if run < n_worse else truth} for run in range(n_runs)
        ]

    nothing: dict[str, dict[str, Any]] = {
        aim.experiment: {"runs": {} if "calls" in aim.experiment else [], "cells": []} for aim in AIMS
    }
    nothing["real_grids"]["cells"] = {}
    for results in ({}, nothing):
        assert {row[3] for row in verdicts(results)} == {"**not measured**"}
    assert word("lm_racing", runs=searches(150)) == "reached so far"
    assert word("lm_racing", runs=searches(250)) == "**not reached**"
    assert word("lm_promise", runs=promised(200, n_worse=10)) == "reached"
    assert word("lm_promise", runs=promised(100, n_worse=5)) == "reached so far"
    assert word("lm_promise", runs=promised(200, n_worse=11)) == "**not reached**"


def test_hypervolume_is_a_share_of_the_cube() -> None:
    from ablation import hypervolume

    one = {"f1": 0.5, "sensitivity": 0.5, "consistency": 0.5}
    assert hypervolume([one]) == pytest.approx(1 / 8)
    assert hypervolume([one, {"f1": 1.0, "sensitivity": 0.5, "consistency": 0.25}]) == pytest.approx(3 / 16)


def test_what_racing_saves_is_counted(run: Any, page: Any) -> None:
    found = run("racing", "--small")
    of_sim = {row["arm"]: row for row in found["rows"] if row["dataset"] == "sim"}
    plain, raced = of_sim["plain"], of_sim["racing"]
    assert {row["dataset"] for row in found["rows"]} == {"sim", "messages"}
    assert plain["calls"]["val"] == plain["candidates"] * 100 * 3
    assert plain["share"] == plain["hypervolume"] == 1
    assert all(sum(row["fates"].values()) == row["calls"]["val"] for row in found["rows"])
    assert raced["stopped"] > 0
    assert raced["share"] < 1
    assert plain["stopped"] == 0
    written = page()
    assert "## Racing" in written
    assert f"| racing | {raced['share']:.1%} ({raced['share']:.1%}) |" in written
