"""Metrics as DSPy's optimizers take them, and runs or metrics that fail."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

dspy: Any = pytest.importorskip("dspy", reason="the extra `dspy` is not installed")

from psopt import SensitivityOptimizer  # noqa: E402
from psopt.errors import BudgetReachedError, InputError, ModelError  # noqa: E402

from tests.dspy_programs.keyword_lm import KeywordEngine, keyword_lm  # noqa: E402
from tests.dspy_programs.programs_to_mend import Sort, Topic, examples, predict  # noqa: E402
from tests.fake_server import FakeServer  # noqa: E402
from tests.fake_server._drafts import written  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

TRAIN, VAL = examples(0, 5), examples(5, 5)
NUMBERS: Any = (40, 10)  # trials and rephrasings, as they were told in 0.1
WITHOUT_LABELS = [dspy.Example(question=one.question).with_inputs("question") for one in TRAIN + VAL]


def compiled(program: Any, folder: Path, train: Any = None, val: Any = None, lm: Any = None, **options: Any) -> Any:
    given = {"num_trials": 3, "num_rephrasings": 3, "log_dir": folder / "run", "num_threads": 2, "gate": "off"}
    with dspy.context(lm=lm or keyword_lm()):
        optimizer = SensitivityOptimizer(**{**given, **options})
        return optimizer.compile(program, trainset=train or TRAIN, valset=val or VAL, testset=others(val or VAL))


def others(given: Any) -> Any:
    """Some examples of the same kinds, which nothing was chosen by."""
    return [one.copy(question=re.sub(r"\d+", r"10\g<0>", one.question)).with_inputs("question") for one in given[:6]]


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


def test_every_metric_of_dspy_s_is_taken(tmp_path: Path) -> None:
    plain = compiled(predict(), tmp_path, num_trials=1, num_rephrasings=2)
    for number, metric in enumerate((two, with_trace, of_gepa, as_mapping, Callable(), Callable().method)):
        better = compiled(predict(), tmp_path / str(number), metric=metric, num_trials=1, num_rephrasings=2)
        assert better.run.baseline.val.f1 == pytest.approx(plain.run.baseline.val.f1)


def test_the_metric_comes_first() -> None:
    assert SensitivityOptimizer(two, auto="light").metric is two
    with pytest.raises(InputError, match="the metric comes first, and 40 is none: name the others"):
        SensitivityOptimizer(*NUMBERS)


@pytest.mark.parametrize("metric", [lambda example: 1.0, lambda a, b, c, d, e, f: 1.0])
def test_a_metric_that_can_t_be_called_is_refused_at_once(metric: Any) -> None:
    with pytest.raises(InputError, match="psopt calls it with an example and a prediction"):
        SensitivityOptimizer(metric)


def test_with_a_metric_examples_need_no_labels(tmp_path: Path) -> None:
    def is_short(example: Any, prediction: Any, trace: Any = None) -> bool:
        return len(prediction.topic) < 9

    better = compiled(dspy.Predict(Topic), tmp_path, WITHOUT_LABELS[:20], WITHOUT_LABELS[20:], metric=is_short)
    baseline = better.run.baseline.val
    assert 0 < baseline.f1 < 1
    assert baseline.sensitivity > 0
    assert baseline.consistency is None
    demos = [demo for candidate in better.front for demo in candidate.program.demos]
    assert all(len(demo["topic"]) < 9 for demo in demos)  # what the metric calls right
    better.save(tmp_path / "better.json")


def test_of_a_class_without_labels_s_is_of_what_is_answered(tmp_path: Path) -> None:
    def is_person(example: Any, prediction: Any, trace: Any = None) -> bool:
        return bool(prediction.label == "Person")

    better = compiled(predict(), tmp_path, WITHOUT_LABELS[:20], WITHOUT_LABELS[20:], metric=is_person)
    plain = compiled(predict(), tmp_path / "plain")
    assert better.run.baseline.val.sensitivity > 0
    assert plain.run.baseline.val.sensitivity > 0


class WritingEngine(KeywordEngine):
    """Keeps what it is asked to write, and writes as the fake server does."""

    def complete(self, request: Any) -> Any:
        self.seen.append("".join(part.text for message in request.messages for part in message.parts))
        text = written(self.seen[-1], len(self.seen) / 20, "good") or "Hm."  # of each temperature another wording
        message = dspy.lm15.Message(role="assistant", parts=(dspy.lm15.TextPart(text),))
        usage = dspy.lm15.Usage(input_tokens=10, output_tokens=1)
        return dspy.lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=usage)


def test_feedback_reaches_the_model_that_writes_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(tmp_path / "cache"))  # or a second run would ask nothing
    engine = WritingEngine()
    compiled(predict(), tmp_path, metric=of_gepa, prompt_model=dspy.LM("test/writer", engine=engine, cache=False))
    assert any("said of it" in text and "It asks for a Number." in text for text in engine.seen)


class Breaks(dspy.Module):
    """Fails on texts with some words in them."""

    def __init__(self, *words: str) -> None:
        super().__init__()
        self.sort = dspy.Predict(Sort)
        self.words = words

    def forward(self, question: str) -> Any:
        if any(word in question for word in self.words):
            raise KeyError("no such box")
        return self.sort(question=question)


def test_a_program_that_fails_on_few_texts_is_compiled_and_that_is_said(tmp_path: Path) -> None:
    better = compiled(Breaks("box 3 ", "box 8 "), tmp_path)
    assert better.failures == {
        "how many are in box 3 ?": "KeyError: 'no such box'",
        "how many are in box 8 ?": "KeyError: 'no such box'",
    }
    assert better.run.baseline.val.na_rate == pytest.approx(1 / 20)
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["calls"]["failed"] > 0


def test_what_failed_is_tried_again_by_the_next_process(tmp_path: Path) -> None:
    compiled(Breaks("box 8 "), tmp_path)
    better = compiled(Breaks(), tmp_path, num_trials=4)
    assert better.failures == {}


def test_with_too_many_failing_texts_the_run_ends(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"after 2 other texts \(max_errors=2\): KeyError: 'no such box'"):
        compiled(Breaks("box 7 ", "box 8 ", "box 9 "), tmp_path, max_errors=2)
    with pytest.raises(ModelError, match="the program failed on 'how many are in box 8"):
        compiled(Breaks("box 8 "), tmp_path / "none", max_errors=0)
    assert compiled(Breaks("box 7 ", "box 8 "), tmp_path / "two", max_errors=2).failures


def test_a_program_that_always_fails_ends_after_its_first_runs(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="the program fails on every text: KeyError"):
        compiled(Breaks(" "), tmp_path, max_errors=100)


def test_a_metric_that_raises_scores_nothing(tmp_path: Path) -> None:
    def picky(example: Any, prediction: Any, trace: Any = None) -> bool:
        if "box 8 " in example.question:
            raise ValueError("what box?")
        return two(example, prediction)

    better = compiled(predict(), tmp_path, metric=picky)
    plain = compiled(predict(), tmp_path / "plain", metric=two)
    assert better.failures == {"how many are in box 8 ?": "ValueError: what box?"}
    assert better.run.baseline.val.na_rate == 0
    assert better.run.baseline.val.f1 == pytest.approx(plain.run.baseline.val.f1 - 1 / 20)


def test_a_server_that_never_answers_one_text_costs_that_text_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789")
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(tmp_path / "cache"))
    with FakeServer() as server:
        lm = dspy.LM("openai/test", api_base=server.url, cache=False, num_retries=0)

        class Filtered(Breaks):
            """A text that the server refuses: it is asked for at a wrong address."""

            def forward(self, question: str) -> Any:
                if self.words[0] in question:
                    with dspy.context(
                        lm=dspy.LM("openai/test", api_base=f"{server.url}/no", cache=False, num_retries=0)
                    ):
                        return self.sort(question=question)
                return self.sort(question=question)

        better = compiled(Filtered("box 8 "), tmp_path, lm=lm, num_trials=2)
    assert list(better.failures) == ["how many are in box 8 ?"]
    assert "404" in better.failures["how many are in box 8 ?"] or "NotFound" in str(better.failures)


def test_messages_speak_python(tmp_path: Path) -> None:
    with pytest.raises(BudgetReachedError, match="max_calls=20"):
        compiled(predict(), tmp_path, max_calls=20)
    with pytest.raises(InputError, match="answers='ordinal'"):
        compiled(predict(), tmp_path / "b", order=["Number", "Person"])
