"""ProSA's study: its sets are read from the official forms, and a scripted server's S and PSS are measured exactly."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from psopt.errors import DataError

from tests.experiments.conftest import EXPERIMENTS, RESULTS
from tests.sweeps import each

ALL = ["commonsenseqa", "arc_challenge", "math", "alpaca_eval", "arena_hard"]
LABELS = ["CommonsenseQA", "ARC-Challenge"]
TWELVE = [*LABELS, "MATH"]
THREE = ["AlpacaEval", "Arena-Hard", "AlpacaEval, requests", "Arena-Hard, requests"]
# Two of three answers right, and the third wrong: ln 3 - 2/3 ln 2 nats.
TWO_OF_THREE = math.log(3) - 2 / 3 * math.log(2)
# Two thirds right, the others wrong in two ways, a sixth each.
AND_TWO_SIXTHS = 2 / 3 * math.log(3 / 2) + 1 / 3 * math.log(6)
# Of twelve answers 8 are right and 4 wrong: 32 of 66 pairs differ.
OF_TWELVE = 32 / 66


@pytest.fixture(scope="module")
def measured(cache_dir: Path) -> Iterator[dict[str, Any]]:
    """What the experiment measures offline, before it is rounded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PSOPT_CACHE_DIR", str(cache_dir))
        patch.syspath_prepend(EXPERIMENTS)
        from prosa_free import offline  # type: ignore[import-not-found]

        yield offline(argparse.Namespace(sets=ALL, limit=None))


def of(measured: dict[str, Any], name: str, model: str, shots: int = 0) -> Any:
    wanted = (name, f"openai/{model}", shots)
    (row,) = (row for row in measured["rows"] if (row["set"], row["model"], row["shots"]) == wanted)
    return row


@pytest.mark.parametrize(
    ("names", "model", "quality", "pss", "sensitivity"),
    [
        (TWELVE, "steady", 3 / 4, 0, {6: 0, 12: 0}),
        # one question in four is answered rightly under 8 of 12 wordings
        (TWELVE, "wavering", (1 + 2 / 3 + 1) / 4, OF_TWELVE / 4, {n: TWO_OF_THREE / 4 / math.log(n) for n in (6, 12)}),
        # all are, half of them under 4: PSS is the same for 4 and for 8, and blind to the two ways of erring
        (TWELVE, "scattered", 1 / 2, OF_TWELVE, {n: (math.log(3) + AND_TWO_SIXTHS) / 2 / math.log(n) for n in (6, 12)}),
        # a wrong answer is rated 5 after the reference and 3 before it: (4 - 1) / 9 = 1/3, and 2/3 lie between
        (THREE, "steady", (3 + 1 / 3) / 4, 0, {3: 0}),
        (THREE, "wavering", (2 + 7 / 9 + 1 / 3) / 4, 2 / 3 * 2 / 3 / 4, {3: TWO_OF_THREE / 4 / math.log(3)}),
        (THREE, "scattered", 2 / 3, 2 / 3 * 2 / 3, {3: (math.log(3) + TWO_OF_THREE) / 2 / math.log(3)}),
    ],
)
def test_what_is_measured_is_what_the_script_says(
    measured: Any, names: list[str], model: str, quality: float, pss: float, sensitivity: dict[int, float]
) -> None:
    for name in names:
        row = of(measured, name, model)
        # S is normalised by what there is to answer: five letters and N/A, or as many texts as there are wordings
        n_classes = 6 if name in LABELS else row["q"]
        assert row["quality"] == pytest.approx(quality, abs=1e-12)
        assert row["pss"] == pytest.approx(pss, abs=1e-12)
        assert row["sensitivity"] == pytest.approx(sensitivity[n_classes], abs=1e-12)
        assert (row["n"], row["na_rate"]) == (12, 0)


def test_what_stands_as_known_is_measured_and_examples_settle_the_model_whose_script_says_so(measured: Any) -> None:
    assert len(measured["rows"]) == 3 * (len(TWELVE) + len(LABELS) + len(THREE))
    for row in measured["rows"]:
        assert row["pss"] == pytest.approx(row["known_pss"], abs=1e-12)
        assert row["sensitivity"] == pytest.approx(row["known_sensitivity"], abs=1e-12)
    for name in LABELS:
        assert of(measured, name, "wavering", 4)["pss"] == 0
        assert of(measured, name, "wavering", 4)["quality"] == pytest.approx(3 / 4)
        assert of(measured, name, "scattered", 4)["pss"] == pytest.approx(OF_TWELVE)


def test_confidence_goes_against_pss_where_the_script_says_so(measured: Any) -> None:
    rows = {(row["set"], row["model"].removeprefix("openai/")): row for row in measured["by_confidence"]}
    assert set(rows) == {(name, model) for name in LABELS for model in ("steady", "wavering", "scattered")}
    for name in LABELS:
        assert rows[name, "wavering"]["confidence"] == pytest.approx((3 * 0.9 + 0.6) / 4)
        assert rows[name, "wavering"]["rho"] == pytest.approx(-1)
        assert rows[name, "steady"]["rho"] is None  # nothing varies


def test_the_judge_is_asked_in_both_orders_and_calls_are_as_expected(measured: Any) -> None:
    row = of(measured, "AlpacaEval", "wavering")
    assert row["quality_name"] == "rating"
    # 12 right answers, one wrong one to each of 6 questions: 10 and 10, or 5 after the reference and 3 before it
    assert row["judge"]["judge's order bias"] == pytest.approx(6 / 18 * 2 / 9)
    # three models; sets of labels with and without examples, and once more for their confidence
    assert measured["expected_calls"] == {"answers": 3 * 12 * (12 * 7 + 3 * 4), "ratings": 3 * 12 * 3 * 4 * 2}
    # the first version of a request is the request, and its answer is in the cache
    n_answers = measured["expected_calls"]["answers"] - 3 * 12 * 2
    # a machine that stands still for seconds makes the engine give requests up and send them again
    assert n_answers <= measured["calls"]["answers"] <= n_answers + measured["calls"]["sent_again"]
    assert 0 < measured["calls"]["ratings"] <= measured["expected_calls"]["ratings"]


def test_models_and_a_judge_by_name_are_asked_and_tabled(run: Any, tmp_path: Path) -> None:
    from _prosa_cases import Case  # type: ignore[import-not-found]
    from _prosa_server import ScriptedServer  # type: ignore[import-not-found]
    from prosa_free import OWN_SAMPLES

    cases = [Case.read(sets()[name], OWN_SAMPLES, 4, "x/y", with_examples=False) for name in ("math", "arena_hard")]
    with ScriptedServer([(case.of, case.questions, case.wordings) for case in cases]) as server:
        words = ["--model", "openai/wavering", "--judge", "openai/scripted-judge", "--own-samples", "--limit", 4]
        words += ["--set", "math", "arena_hard", "--api-base", server.url]
        run("prosa_free", *words, "--dry-run")
        assert server.n_asked == {}
        assert not (tmp_path / "results").exists()
        run("prosa_free", *words)
        assert server.n_asked["wavering"] == 4 * 12 + 4 * 3
    found = json.loads((tmp_path / "results" / "prosa_free_models.json").read_text("utf-8"))
    assert found["expected_calls"] == {"answers": 60, "ratings": 24}
    assert [row["pss"] for row in found["rows"]] == [round(OF_TWELVE / 4, 4), round(1 / 9, 4)]
    page = (tmp_path / "results" / "prosa_free_models.md").read_text("utf-8")
    assert "| openai/wavering | 0.121 | 0.111 |" in page
    assert "| Llama3-70B-Instruct | not found | not found | not found | 0.016 | 0.258 |" in page
    run("write_results", "--page", "page.md")
    heading = "## ProSA: PSS by model and set\n\nopenai/wavering, judge openai/scripted-judge;"
    assert heading in (tmp_path / "page.md").read_text("utf-8")


def sets() -> dict[str, Any]:
    from _prosa_sets import SETS  # type: ignore[import-not-found]

    return {case.name: case for case in SETS}


def refused(read: Any, where: str, said: str) -> None:
    with pytest.raises(DataError) as error:
        read()
    assert str(error.value).startswith(where)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_choices_are_lettered_in_both_official_forms(tmp_path: Path) -> None:
    from _prosa_sets import Question, read_choices

    texts = ["ice", "steam", "sand"]
    listed = [{"label": str(number), "text": text} for number, text in enumerate(texts, 1)]
    one = {"question": {"stem": "What melts?", "choices": listed}}
    other = {"question": "What melts?", "choices": {"label": ["1", "2", "3"], "text": texts}}
    path = tmp_path / "test.jsonl"
    for row in (one, other):
        path.write_text(f"{json.dumps({'id': 'q', **row, 'answerKey': '1'})}\n\n", "utf-8")
        assert read_choices(path) == [Question("q", "What melts?\nA. ice\nB. steam\nC. sand", "A")]


def test_math_is_read_from_folders_and_from_lines(tmp_path: Path) -> None:
    from _prosa_sets import read_math

    row = {"problem": "Halve it.", "level": "Level 1", "type": "Algebra", "solution": r"So \boxed{\dfrac12}."}
    folder, lines = tmp_path / "test", tmp_path / "test.jsonl"
    for subject in (folder / "algebra", folder / "geometry", tmp_path / "empty"):
        subject.mkdir(parents=True)
    for number in (2, 10):
        (folder / "algebra" / f"{number}.json").write_text(json.dumps({**row, "problem": f"P{number}"}))
    read = [(question.id, question.text, question.right) for question in read_math(folder)]
    assert read == [("1", "P2", "0.5"), ("2", "P10", "0.5")]
    lines.write_text(json.dumps({**row, "unique_id": "test/algebra/2.json"}))
    assert [(question.id, question.right) for question in read_math(lines)] == [("test/algebra/2.json", "0.5")]
    faulty = folder / "geometry" / "1.json"
    faulty.write_text(json.dumps({**row, "solution": "It is 5."}))
    refused(lambda: read_math(folder), f"{faulty}: ", "no \\boxed{..}")
    faulty.write_bytes(b"\xff\xfe")
    refused(lambda: read_math(folder), f"{faulty} ", "no text in UTF-8")
    refused(lambda: read_math(tmp_path / "empty"), f"{tmp_path / 'empty'}: ", "holds no SUBJECT/NUMBER.json")


def test_alpaca_eval_is_a_list_of_instructions(tmp_path: Path) -> None:
    from _prosa_sets import Question, read_alpaca

    path = tmp_path / "alpaca_eval.json"
    row = {"dataset": "d", "instruction": "Say hello.", "output": "Hello!", "generator": "g"}
    path.write_text(json.dumps([row]))
    assert read_alpaca(path) == [Question("1", "Say hello.", "Hello!")]
    faults = [
        ([row, {**row, "output": 3}], ", row 2", "the output must be a text, and is 3"),
        ([row, "x"], ", row 2", "is no JSON object"),
        ({}, "", "is no JSON list"),
    ]
    for content, where, said in faults:
        path.write_text(json.dumps(content))
        refused(lambda: read_alpaca(path), f"{path}{where}: ", said)


OLD = {"question_id": "q1", "model_id": "m", "choices": [{"index": 0, "turns": [{"content": "Use find."}]}]}
ASKED = {"role": "user", "content": "How?"}
NEW = {"uid": "q1", "model": "m", "messages": [ASKED, {"role": "assistant", "content": {"answer": "Use find."}}]}
ARENA_FORMS: list[tuple[Any, Any]] = [
    ({"question_id": "q1", "cluster": "c", "turns": [{"content": "How?"}]}, OLD),
    ({"uid": "q1", "category": "c", "prompt": "How?"}, NEW),
]


def test_arena_hard_is_read_with_its_baseline_in_both_forms(tmp_path: Path) -> None:
    from _prosa_sets import Question, read_arena

    questions, answers = tmp_path / "question.jsonl", tmp_path / "answers.jsonl"
    for question, answer in ARENA_FORMS:
        questions.write_text(json.dumps(question))
        answers.write_text(json.dumps(answer))
        assert read_arena(questions, answers) == [Question("q1", "How?", "Use find.")]
        answers.write_text(json.dumps({**answer, "question_id": "q2", "uid": "q2"}))
        refused(lambda: read_arena(questions, answers), f"{questions}, line 1: ", "has no answer to question q1")


VERSIONS = (("How?", "Why?", "How?"), ("In what way?", "What for?", "By what?"), ("How so?", "Why so?", "How so?"))


@pytest.fixture
def in_versions(tmp_path: Path) -> Path:
    """A folder with both sets of requests, each of which is asked in three versions."""
    alpaca, arena = tmp_path / "alpaca_eval", tmp_path / "arena_hard"
    (arena / "model_answer").mkdir(parents=True)
    alpaca.mkdir()
    rows = [{"instruction": text, "output": "x"} for text in VERSIONS[0]]
    (alpaca / "alpaca_eval.json").write_text(json.dumps(rows))
    (arena / "question.jsonl").write_text(json.dumps({"question_id": "q1", "turns": [{"content": "How?"}]}))
    (arena / "model_answer" / "gpt-4-0314.jsonl").write_text(json.dumps(OLD))
    for number, texts in enumerate(VERSIONS, 1):
        (alpaca / f"alpaca_eval_v{number}.json").write_text(json.dumps(version(texts)))
        asked = {"question_id": "q1", "turns": [{"content": texts[0]}]}
        (arena / f"question_v{number}.jsonl").write_text(json.dumps(asked))
    return tmp_path


def version(texts: Sequence[str]) -> list[dict[str, Any]]:
    return [{"question": text, "others": {"index": f"AE-{n}"}} for n, text in enumerate(texts, 1)]


def test_each_request_is_asked_in_the_authors_versions(in_versions: Path) -> None:
    # the third stands there twice in a version, and is left out
    one, other = sets()["alpaca_eval"].questions_in_versions(in_versions)
    assert [question.text for question in one] == ["How?", "In what way?", "How so?"]
    assert [question.text for question in other] == ["Why?", "What for?", "Why so?"]
    (row,) = sets()["arena_hard"].questions_in_versions(in_versions)
    assert [question.text for question in row] == ["How?", "In what way?", "How so?"]
    assert {question.right for question in row} == {"Use find."}


@each(
    "first, second, are_same",
    [
        (r"\frac{3}{4}", r"\dfrac34", True),
        (r"\frac{3}{4}", "0.75", True),
        (r"\frac{-1}{2}", "-1/2", True),
        (r"\left(1, 2\right]", "(1,2]", True),
        (r"$x^2+1$", "x^2 + 1", True),
        (r"10,\!000", "10000", True),
        (r"25\%", "25", True),
        ("(1,2]", "[1,2]", False),
        ("x^2", "x-2", False),
        ("3,4", "34", False),
        (r"\frac{1}{3}", "0.33", False),
        ("1" * 20, "1" * 19 + "2", False),
        (r"\frac{1}{0}", "0", False),
    ],
)
def test_results_are_the_same_however_they_are_written(first: str, second: str, *, are_same: bool) -> None:
    from _prosa_math import canonical  # type: ignore[import-not-found]

    assert (canonical(first) == canonical(second)) == are_same


@each(
    "answer, result",
    [
        (r"First \boxed{3}, but then \boxed{\text{(C)}}", '"(C)"'),
        ("We add.\n**Final Answer:** 12", "12"),
        ("We add.\nThe answer is $x+1$.", '"x+1"'),
        ("12.", "12"),
        ("We add.\nThen we are done.", None),
        (r"We add: \boxed{3", None),
    ],
)
def test_a_result_is_read_from_what_a_model_writes(answer: str, result: str | None) -> None:
    from _prosa_math import answer_of

    assert answer_of(answer) == result


def test_the_page_in_the_results_is_what_the_json_says() -> None:
    from _prosa_page import prosa_free  # type: ignore[import-not-found]

    results = json.loads((RESULTS / "prosa_free.json").read_text("utf-8"))
    page = (RESULTS / "prosa_free.md").read_text("utf-8")
    assert page == f"# ProSA's table of PSS\n\n{results['setting']['words']}\n\n{prosa_free(results)}".rstrip() + "\n"
