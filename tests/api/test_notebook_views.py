"""What a notebook shows: short reprs, small HTML in which data are texts, DataFrames, figures and tables."""

from __future__ import annotations

import sys
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import psopt
import pytest
from psopt.errors import InputError, MissingExtraError
from psopt.search_spaces import Example, seed_prompt

pd = pytest.importorskip("pandas", reason="among the extra `pandas`")

EVIL = "<script>alert(1)</script><b onclick='x'>&amp;"
VOID = {"br", "hr", "img"}
MOST = 25_000  # characters of a cell; a report page has 5 million


def by_first_word(messages: list[dict[str, str]]) -> str:
    said = messages[-1]["content"]
    return "none of them" if "thing 7 " in said else EVIL if "Who" in said.split("Question:")[-1] else "Number"


@pytest.fixture(scope="module")
def task() -> psopt.Task:
    rows = [(f"{'When' if n % 2 else 'Who'} is thing {n} {EVIL} ?", (EVIL, "Number")[n % 2]) for n in range(60)]
    return psopt.Task.from_records(rows, name="toy", noun="question")


@pytest.fixture(scope="module")
def run(task: psopt.Task, tmp_path_factory: pytest.TempPathFactory) -> psopt.Run:
    folder = tmp_path_factory.mktemp("shown")
    options: dict[str, Any] = {"rephrasings": 3, "heldout": 3, "rounds": 1, "race": "off", "cache_dir": folder}
    return psopt.optimize(task, model=by_first_word, trials=4, out=folder / "run", **options)


@pytest.fixture(scope="module")
def diagnosis(task: psopt.Task, tmp_path_factory: pytest.TempPathFactory) -> psopt.PromptReport:
    folder = tmp_path_factory.mktemp("shown")
    return psopt.diagnose(task, model=by_first_word, rephrasings=3, cache_dir=folder)


class Tags(HTMLParser):
    """Fails where tags are not closed in their order, and keeps their names, attributes and texts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_is_small_whole_and_holds_no_script_and_reprs_are_a_line(
    task: psopt.Task, run: psopt.Run, diagnosis: psopt.PromptReport
) -> None:
    own = psopt.Prompt("Sort it.", task.labels, "question", examples=(Example(EVIL, "Number"),) * 3)
    for shown in (task, run, diagnosis, own, run.baseline.test, run.recommended.prompt):
        html = shown._repr_html_()
        assert len(html) < MOST
        tags = Tags()
        tags.feed(html)
        assert tags.open == []
        assert not {"script", "style", "link", "img", "iframe"} & set(tags.seen)
        assert not any(name.startswith("on") for name in tags.attributes)
        assert "http" not in html
        assert "alert(1)" in tags.text or shown is run.recommended.prompt
        assert len(repr(shown)) < 300
        assert "\n" not in repr(shown)


def test_a_run_shows_its_front_and_what_it_recommends(run: psopt.Run) -> None:
    html = run._repr_html_()
    assert all(candidate.id in html for candidate in run.front)
    assert "original prompt" in html
    assert f">{100 * run.baseline.val.f1:.1f}</td>" in html, "in percent, as the verdict above it"
    assert ">original</td>" in html


def test_a_row_a_prompt_of_the_front(run: psopt.Run) -> None:
    frame = run.to_frame()
    assert frame["id"].tolist() == [candidate.id for candidate in run.front]
    for candidate, (_, row) in zip(run.front, frame.iterrows(), strict=True):
        low, high = candidate.test.ci["f1"]
        assert (row["test_f1"], row["test_f1_low"], row["test_f1_high"]) == (candidate.test.f1, low, high)
        assert row["val_sensitivity"] == candidate.val.sensitivity
        assert row["tokens"] == candidate.length["tokens"]
        assert row["n_edits"] == len(candidate.edits) == len(row["edits"])
    assert frame["role"].str.contains("knee").sum() == 1
    with_seed = run.to_frame(seed_prompt=True)
    assert with_seed["role"].str.contains("original prompt").sum() == 1
    assert psopt.load_run(run.path).to_frame().equals(frame)


def test_a_row_a_trial(run: psopt.Run) -> None:
    frame = run.trials_frame()
    assert frame["trial"].tolist() == [trial.number for trial in run.study.trials]
    whole = frame[frame["state"] == "complete"].set_index("id")
    assert whole.loc[run.baseline.id, "f1"] == run.baseline.val.f1
    assert set(whole[whole["on_front"]].index) == {candidate.id for candidate in run.front}
    assert (whole["calls"] >= 0).all()
    assert pd.api.types.is_datetime64_any_dtype(frame["started"])


def test_a_row_a_sample(diagnosis: psopt.PromptReport) -> None:
    frame = diagnosis.to_frame()
    predictions = diagnosis.predictions
    assert frame["id"].tolist() == [sample.id for sample in predictions.samples]
    assert frame["sensitivity"].tolist() == predictions.sensitivities.tolist()
    shares = frame[[f"share_{label}" for label in predictions.labels]].sum(axis=1) + frame["share_na"]
    assert shares.round(9).eq(1).all()
    assert frame["share_na"].mean() == pytest.approx(diagnosis.na_rate)
    assert [sum(answers.values()) for answers in frame["answers"]] == [3] * len(frame)
    named = {case.id for cases in diagnosis.diagnosis.failure_cases.values() for case in cases}
    assert set(frame.loc[frame["weak"], "id"]) >= named
    assert frame["text"].map(type).eq(str).all()


def test_without_pandas_a_line_says_how_to_get_it(
    run: psopt.Run, diagnosis: psopt.PromptReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    for asked in (run.to_frame, run.trials_frame, diagnosis.to_frame):
        with pytest.raises(MissingExtraError, match=r"needs pandas, .* not installed: pip install 'psopt\[pandas\]'"):
            asked()


def test_figures_are_of_plotly_and_hold_every_prompt_and_sample(run: psopt.Run, diagnosis: psopt.PromptReport) -> None:
    figure = run.figure()
    drawn = {text.split("</b>")[0].removeprefix("<b>") for trace in figure.data for text in trace.hovertext}
    frame = run.trials_frame()
    whole = frame[(frame["state"] == "complete") & frame["raced"].isna()]
    assert drawn == set(whole["id"])
    assert psopt.load_run(run.path).figure() == figure
    (of_prompt,) = [trace for trace in diagnosis.figure().data if trace.name == "prompt"]
    assert len(of_prompt.x) == len(diagnosis.predictions.samples)
    assert "<script>" not in str(figure.to_json())
    with pytest.raises(InputError, match=r"psopt\.load_run"):  # one that was put together by hand
        replace(run, draw=None).figure()


@pytest.fixture(scope="module")
def compared(task: psopt.Task) -> Any:
    prompts = {name: seed_prompt(task, name) for name in ("simple", "1-shot")}
    return psopt.compare(task, prompts, model="sim", rephrasings=4, samples=10)


def test_of_a_comparison_a_frame_has_a_row_and_a_figure_a_point_a_prompt(compared: Any) -> None:
    frame = compared.to_frame()
    assert list(frame["prompt"]) == ["simple", "1-shot"]
    assert (frame["f1_low"] <= frame["f1"]).all()
    assert frame["pss"].between(0, 1).all()
    assert frame["f1_difference"].isna().tolist() == [True, False]
    assert frame["f1"][1] - frame["f1"][0] == pytest.approx(frame["f1_difference"][1])
    figure = compared.figure()
    assert [trace.name for trace in figure.data] == ["simple, sim", "1-shot, sim"]
    assert all(trace.error_x.array[0] >= 0 for trace in figure.data)
    assert compared[0].predictions.array.shape == (10, 4)
    assert (len(compared), isinstance(compared, list)) == (2, True)


def test_tables_hold_every_prompt_with_f1_s_and_c(compared: Any) -> None:
    head, rule, *rows = compared.to_markdown().splitlines()
    assert head == "| prompt | model | F1 | S | C | PSS | N | Q |"
    assert set(rule) <= set("| -")
    assert [row.split(" | ")[0] for row in rows] == ["| simple", "| 1-shot"]
    latex = compared.to_latex()
    columns = "prompt & model & F1 & S & C & PSS & N & Q"
    assert latex.startswith(f"\\begin{{tabular}}{{llrrrrrr}}\n\\toprule\n{columns} \\\\\n\\midrule\nsimple &")
    assert latex.count("\\\\\n") == 3
