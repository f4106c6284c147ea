"""Metrics as DSPy's optimizers take them, and runs or metrics that fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dspy
import pytest
from psopt import SensitivityOptimizer
from psopt.answers import AnswerType
from psopt.dspy_programs._outcome import judge
from psopt.errors import InputError, ModelError

from tests.dspy_programs.compiling import TRAIN, VAL, compiled, manifest
from tests.dspy_programs.keyword_lm import KeywordEngine, response
from tests.dspy_programs.programs_to_mend import Sort, Sorter, Topic, predict
from tests.fake_server import FakeServer
from tests.fake_server._drafts import written
from tests.sweeps import each

NUMBERS: Any = (40, 10)  # trials and rephrasings, as they were told in 0.1
WITHOUT_LABELS = [dspy.Example(question=one.question).with_inputs("question") for one in TRAIN + VAL]
UNLABELLED = WITHOUT_LABELS[:20], WITHOUT_LABELS[20:36], WITHOUT_LABELS[36:]


def two(example: Any, prediction: Any) -> bool:
    return bool(prediction.label == example.label)


def with_trace(example: Any, prediction: Any, trace: Any) -> float:
    assert trace is None
    return float(two(example, prediction))


def of_gepa(gold: Any, pred: Any, trace: Any, pred_name: Any, pred_trace: Any) -> Any:
    return dspy.Prediction(score=float(two(gold, pred)), feedback=f"It asks for a {gold.label}.")


def as_mapping(gold: Any, pred: Any, trace: Any = None) -> Any:
    return {"score": float(two(gold, pred)), "feedback": ""}


class Callable:
    def __call__(self, example: Any, prediction: Any, trace: Any = None) -> Any:
        return two(example, prediction)

    def method(self, example: Any, prediction: Any, trace: Any = None) -> Any:
        return two(example, prediction)


def test_every_metric_of_dspy_s_is_taken_and_what_is_no_share_is_refused() -> None:
    right, wrong = (dspy.Example(question="who ?", label=label) for label in ("Person", "Number"))
    for metric in (two, with_trace, as_mapping, Callable(), Callable().method):
        assert judge(metric, right, right) == (1.0, "")
        assert judge(metric, right, wrong) == (0.0, "")
    assert judge(of_gepa, right, wrong) == (0.0, "It asks for a Person.")
    for value in ("good", 7):
        with pytest.raises(InputError, match=f"the metric returned {value!r}"):
            judge(lambda *_, given=value: given, right, wrong)
    assert SensitivityOptimizer(two, auto="light").metric is two
    with pytest.raises(InputError, match="the metric comes first, and 40 is none: name the others"):
        SensitivityOptimizer(*NUMBERS)


def is_short(example: Any, prediction: Any, trace: Any = None) -> bool:
    return len(prediction.topic) < 9


def is_person(example: Any, prediction: Any, trace: Any = None) -> bool:
    return bool(prediction.label == "Person")


@each("signature, metric", [(Topic, is_short), (Sort, is_person)])
def test_with_a_metric_examples_need_no_labels(signature: Any, metric: Any, tmp_path: Path) -> None:
    folder = tmp_path / metric.__name__
    better = compiled(dspy.Predict(signature), folder, None, UNLABELLED, metric=metric, num_rephrasings=3)
    baseline = better.run.baseline.val
    assert 0 < baseline.f1 < 1
    assert baseline.sensitivity > 0
    assert baseline.consistency is None
    assert repr(baseline).startswith("<Scores: metric ")
    read_back = AnswerType.from_dict(manifest(better)["answers"])
    assert "; metric stands where F1 stands else, and C is not defined" in read_back.note
    demos = [demo for candidate in better.front for demo in candidate.program.demos]
    assert all(metric(None, demo) for demo in demos)


class WritingEngine(KeywordEngine):
    """Keeps what it is asked to write, and writes as the fake server does."""

    def complete(self, request: Any) -> Any:
        self.seen.append("".join(part.text for message in request.messages for part in message.parts))
        # of each temperature another wording
        return response(request, written(self.seen[-1], len(self.seen) / 20, "good") or "Hm.")


def test_feedback_reaches_the_model_that_writes_notes(tmp_path: Path) -> None:
    engine = WritingEngine()
    writer = dspy.LM("test/writer", engine=engine, cache=False)
    compiled(predict(), tmp_path, metric=of_gepa, prompt_model=writer, num_rephrasings=3)
    assert any("said of it" in text and "It asks for a Number." in text for text in engine.seen)


class Breaks(Sorter):
    """Fails on texts with some words in them."""

    def __init__(self, *words: str) -> None:
        super().__init__()
        self.words = words

    def forward(self, question: str) -> Any:
        if any(word in question for word in self.words):
            raise KeyError("no such box")
        return self.sort(question=question)


def test_texts_on_which_a_program_fails_are_told_and_tried_again_by_the_next_process(tmp_path: Path) -> None:
    better = compiled(Breaks("box 3 ", "box 8 "), tmp_path, max_errors=2)
    assert better.failures == {
        "how many are in box 3 ?": "KeyError: 'no such box'",
        "how many are in box 8 ?": "KeyError: 'no such box'",
    }
    assert better.run.baseline.val.na_rate == pytest.approx(1 / 20)
    assert manifest(better)["calls"]["failed"] > 0
    assert compiled(Breaks(), tmp_path, num_trials=3).failures == {}


@each(
    "words, most, says",
    [
        (("box 7 ", "box 8 ", "box 9 "), 2, r"after 2 other texts \(max_errors=2\): KeyError: 'no such box'"),
        (("box 8 ",), 0, "the program failed on 'how many are in box 8"),
        ((" ",), 100, "the program fails on every text: KeyError"),
    ],
)
def test_with_too_many_failing_texts_the_run_ends(words: tuple[str, ...], most: int, says: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=says):
        compiled(Breaks(*words), tmp_path, max_errors=most)


def test_a_metric_takes_the_place_of_f1_and_scores_nothing_where_it_raises(tmp_path: Path) -> None:
    def picky(example: Any, prediction: Any, trace: Any = None) -> bool:
        if "box 8 " in example.question:
            raise ValueError("what box?")
        return two(example, prediction)

    better = compiled(predict(), tmp_path, metric=picky, num_trials=1)
    plain = compiled(predict(), tmp_path / "plain", num_trials=1)
    assert better.failures == {"how many are in box 8 ?": "ValueError: what box?"}
    assert better.run.baseline.val.na_rate == 0
    assert better.run.baseline.val.f1 == pytest.approx(plain.run.baseline.val.f1 - 1 / 20)
    assert (plain.run.baseline.val.quality_name, better.run.baseline.val.quality_name) == ("F1", "metric")


def test_a_server_that_never_answers_one_text_costs_that_text_alone(tmp_path: Path) -> None:
    with FakeServer() as server:

        def lm_at(url: str) -> Any:
            return dspy.LM("openai/test", api_base=url, cache=False, num_retries=0)

        class Filtered(Sorter):
            """A text that the server refuses: it is asked for at a wrong address."""

            def forward(self, question: str) -> Any:
                with dspy.context(lm=lm_at(f"{server.url}/no" if "box 8 " in question else server.url)):
                    return self.sort(question=question)

        better = compiled(Filtered(), tmp_path, lm_at(server.url), num_trials=1)
    assert list(better.failures) == ["how many are in box 8 ?"]
    assert "404" in better.failures["how many are in box 8 ?"] or "NotFound" in str(better.failures)
