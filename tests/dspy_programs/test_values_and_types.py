"""Values and types that programs have beside text: their outputs are several labels, numbers or texts too."""

from __future__ import annotations

import copy
import decimal
import enum
import json
import zlib
from pathlib import Path
from typing import Any, Literal

import dspy
import numpy as np
import pytest
from psopt.dspy_programs._outcome import find_outcome
from psopt.errors import DataError
from psopt.tasks import AnswerSpec

from tests import open_tasks
from tests.dspy_programs.compiling import TRAIN, VAL, compiled, examples_offered, manifest
from tests.dspy_programs.keyword_lm import KeywordEngine, lm_of
from tests.dspy_programs.programs_to_mend import answered, predict
from tests.sweeps import each

VALUES = {
    "a": (np.int64(3), 3),
    "b": (decimal.Decimal("1.50"), "1.50"),
    "e": ({"a": [np.float32(2)]}, {"a": [2.0]}),
    "f": (b"abc", "b'abc'"),
}


def test_a_demonstration_of_any_value_is_saved_and_loaded(tmp_path: Path) -> None:
    program = predict()
    values = {name: value for name, (value, _) in VALUES.items()}
    program.demos = [dspy.Example(question="who ?", **values, label="Person")]
    better = compiled(program, tmp_path)
    file = tmp_path / "run" / "programs" / f"{better.front[0].id}.json"
    kept = {name: kept for name, (_, kept) in VALUES.items()}
    assert json.loads(file.read_text())["demos"][0] == {"question": "who ?", **kept, "label": "Person"}
    predict().load(file)
    assert program.demos[0].e is values["e"]
    assert copy.deepcopy(better).run is better.run
    better.save(tmp_path / "whole", save_program=True)
    loaded = dspy.load(tmp_path / "whole", allow_pickle=True)
    assert loaded.run.recommended.id == better.run.recommended.id
    assert loaded.score == better.score


class WithHistory(dspy.Signature):
    """Sort the question by what it asks for."""

    question: str = dspy.InputField()
    history: dspy.History = dspy.InputField()
    label: Literal["Number", "Person"] = dspy.OutputField()


class NeedsHistory(dspy.ChatAdapter):
    def format(self, signature: Any, demos: Any, inputs: Any) -> Any:
        assert inputs["history"].messages
        return super().format(signature, demos, inputs)


def test_a_conversation_is_an_input(tmp_path: Path) -> None:
    history = dspy.History(messages=[{"question": "who ?", "label": "Person"}])

    def given(made: list[Any]) -> list[Any]:
        return [dspy.Example(**one.toDict(), history=history).with_inputs("question", "history") for one in made]

    with dspy.context(adapter=NeedsHistory()):
        better = compiled(dspy.Predict(WithHistory), tmp_path, None, (given(TRAIN), given(VAL)), num_trials=1)
    assert better.run.baseline.val.f1 > 0.5


class Kind(enum.Enum):
    COUNT = "a count"
    WHO = "who"


class Stars(enum.IntEnum):
    LOW = 1
    HIGH = 2


class VerdictEngine(KeywordEngine):
    """Gives what numbers there are as an int."""

    def value(self, field: Any, reading: Any) -> Any:
        said = super().value(field, reading)
        return int(said) if said in {"1", "2"} else said


@each(
    "kind, values, labels",
    [(Kind, (Kind.COUNT, Kind.WHO), {"a count", "who"}), (Stars, (Stars.LOW, Stars.HIGH), {"1", "2"})],
)
def test_enums_and_numbered_stars_are_classes(kind: Any, values: Any, labels: Any, tmp_path: Path) -> None:
    fields = {"question": (str, dspy.InputField()), "verdict": (kind, dspy.OutputField())}
    program = dspy.ChainOfThought(dspy.Signature(fields, "Judge the question."))
    sets = [answered(of, "verdict", lambda one: values[one.label == "Person"]) for of in (TRAIN, VAL)]
    with dspy.context(adapter=dspy.JSONAdapter()):
        better = compiled(program, tmp_path / kind.__name__, lm_of(VerdictEngine()), sets)
    assert 0.5 < better.run.baseline.val.f1 <= 1
    assert {edit["label"] for edit in examples_offered(better)} == labels


Trouble = Literal["account", "billing", "delivery", "quality"]


class OpenEngine(KeywordEngine):
    """Knows what is right, and errs on some texts by how it is asked."""

    def __init__(self, right: dict[str, Any], wrong: Any) -> None:
        super().__init__()
        self.right, self.wrong = right, wrong

    def value(self, field: Any, reading: Any) -> Any:
        answer = next(answer for text, answer in self.right.items() if text in reading.text)
        errs = zlib.crc32(f"{reading.description}{reading.text}".encode()) % 3 == 0
        shown = self.wrong if errs else answer
        return json.dumps(shown) if isinstance(shown, list) else shown


def answering(kind: Any, rows: list[dict[str, Any]], wrong: Any, folder: Path, **options: Any) -> Any:
    """A compilation of a program whose output is of this kind."""
    examples = [dspy.Example(text=row["text"], found=row["answer"]).with_inputs("text") for row in rows]
    lm = lm_of(OpenEngine({row["text"]: row["answer"] for row in rows}, wrong))
    options = {"num_trials": 1, "num_rephrasings": 3, "cache_dir": folder / "cache", "gate": None, **options}
    return compiled(dspy.Predict(signature(kind)), folder, lm, (examples[:20], examples[20:40]), **options)


def signature(kind: Any) -> Any:
    fields = {"text": (str, dspy.InputField()), "found": (kind, dspy.OutputField())}
    return dspy.Signature(fields, "Say what the text is about.")


def test_numbers_several_labels_and_texts_are_answers(tmp_path: Path) -> None:
    rows = [{**row, "answer": open_tasks.amount_of(row["answer"])} for row in open_tasks.bills()]
    better = answering(float, rows, 4100.0, tmp_path / "number")
    assert manifest(better)["answers"]["type"] == "number"
    scores = better.run.baseline.val
    assert scores.quality_name == "accuracy"
    assert 0.4 < scores.f1 < 0.95
    assert 0 < scores.sensitivity < 1
    assert scores.consistency is None
    better = answering(list[Trouble], open_tasks.complaints(), ["billing", "quality"], tmp_path / "labels")
    assert manifest(better)["answers"]["type"] == "labels"
    assert set(better.run.baseline.val.per_class) == {"account", "billing", "delivery", "quality"}
    assert 0.4 < better.run.baseline.val.f1 < 0.99
    rows = [{"text": row["text"], "answer": f"hall {n}"} for n, row in enumerate(open_tasks.notices())]
    better = answering(str, rows, "the fair", tmp_path / "text", answers="text:token-f1", label_field="found")
    assert better.run.baseline.val.quality_name == "token F1"


@each(
    "kind, values, answers",
    [
        (float, [1.5 * number for number in range(12)], "number"),
        (int, [1, 2, 3] * 4, "label"),  # a rating: few values, met again and again
        (list[Trouble], [["billing"]] * 12, "labels"),
        (Trouble, ["billing", "account"] * 6, "label"),
    ],
)
def test_the_type_says_what_an_answer_is(kind: Any, values: list[Any], answers: str) -> None:
    examples = [dspy.Example(text="x", found=value).with_inputs("text") for value in values]
    outcome = find_outcome(dspy.Predict(signature(kind)), examples, "found", None)
    assert outcome.spec.kind == answers


def test_labels_of_the_type_go_before_numbers_beside_them() -> None:
    fields = {
        "text": (str, dspy.InputField()),
        "team": (Trouble, dspy.OutputField()),
        "urgency": (float, dspy.OutputField()),
    }
    program = dspy.Predict(dspy.Signature(fields, "Read the mail."))
    examples = [dspy.Example(text="x", team="billing", urgency=0.1 * n).with_inputs("text") for n in range(12)]
    assert find_outcome(program, examples, None, None).field == "team"
    assert find_outcome(program, examples, None, None, AnswerSpec("number")).field == "urgency"
    unlabelled = [dspy.Example(text="x").with_inputs("text")]
    explained = dspy.Predict(program.signature.append("why", dspy.OutputField(), str))
    assert find_outcome(explained, unlabelled, None, None, has_metric=True).field == "team"


def test_what_can_not_be_read_is_named(tmp_path: Path) -> None:
    rows = [{**row, "answer": ["nonsense"]} for row in open_tasks.complaints()]
    with pytest.raises(DataError, match=r"found .* can't be read as labels; the program knows account, billing"):
        answering(list[Trouble], rows, ["billing"], tmp_path)
