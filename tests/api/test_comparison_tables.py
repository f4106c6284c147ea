"""A comparison as a frame, as tables for a README and a paper, and as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psopt
import pytest
from psopt.search_spaces import seed_prompt

if TYPE_CHECKING:
    from psopt.tasks import Task


@pytest.fixture
def compared(task: Task) -> Any:
    prompts = {name: seed_prompt(task, name) for name in ("simple", "1-shot")}
    return psopt.compare(task, prompts, model="sim", rephrasings=4, samples=30)


def test_a_frame_has_a_row_a_prompt_with_intervals_and_differences(compared: Any) -> None:
    frame = compared.to_frame()
    assert list(frame["prompt"]) == ["simple", "1-shot"]
    assert (frame["f1_low"] <= frame["f1"]).all()
    assert frame["pss"].between(0, 1).all()
    assert frame["f1_difference"].isna().tolist() == [True, False]
    assert frame["f1"][1] - frame["f1"][0] == pytest.approx(frame["f1_difference"][1])


def test_tables_hold_every_prompt_with_f1_s_and_c(compared: Any) -> None:
    head, rule, *rows = compared.to_markdown().splitlines()
    assert head == "| prompt | model | F1 | S | C | PSS | N | Q |"
    assert set(rule) <= set("| -")
    assert [row.split(" | ")[0] for row in rows] == ["| simple", "| 1-shot"]
    latex = compared.to_latex()
    assert latex.startswith(
        "\\begin{tabular}{llrrrrrr}\n\\toprule\nprompt & model & F1 & S & C & PSS & N & Q \\\\\n\\midrule\nsimple &"
    )
    assert latex.count("\\\\\n") == 3


def test_a_figure_has_a_point_a_prompt(compared: Any) -> None:
    figure = compared.figure()
    assert [trace.name for trace in figure.data] == ["simple, sim", "1-shot, sim"]
    assert all(trace.error_x.array[0] >= 0 for trace in figure.data)


def test_predictions_are_kept(compared: Any) -> None:
    assert compared[0].predictions.array.shape == (30, 4)
    assert len(compared) == 2
    assert isinstance(compared, list)
