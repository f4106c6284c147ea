"""Programs whose outputs are several labels, numbers or texts: by their types, or as told."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any, Literal

import pytest

dspy = pytest.importorskip("dspy")

from psopt import SensitivityOptimizer  # noqa: E402
from psopt.dspy_programs._outcome import find_outcome  # noqa: E402
from psopt.errors import DataError, InputError  # noqa: E402
from psopt.tasks import AnswerSpec  # noqa: E402

from tests import open_tasks  # noqa: E402
from tests.dspy_programs.keyword_lm import KeywordEngine  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

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


def compiled(signature: Any, rows: list[dict[str, Any]], wrong: Any, folder: Path, **options: Any) -> Any:
    (output,) = signature.output_fields
    examples = [dspy.Example({"text": row["text"], output: row["answer"]}).with_inputs("text") for row in rows]
    engine = OpenEngine({row["text"]: row["answer"] for row in rows}, wrong)
    lm = dspy.LM("test/open", engine=engine)
    optimizer = SensitivityOptimizer(
        num_trials=3, num_rephrasings=3, log_dir=folder / "run", cache_dir=folder / "cache", task_model=lm, **options
    )
    return optimizer.compile(dspy.Predict(signature), trainset=examples[:20], valset=examples[20:40])


def signature(kind: Any) -> Any:
    fields = {"text": (str, dspy.InputField()), "found": (kind, dspy.OutputField())}
    return dspy.Signature(fields, "Say what the text is about.")


def test_a_float_is_a_number(tmp_path: Path) -> None:
    rows = [{**row, "answer": open_tasks.amount_of(row["answer"])} for row in open_tasks.bills()]
    better = compiled(signature(float), rows, 4100.0, tmp_path)
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    assert manifest["answers"]["type"] == "number"
    scores = better.run.baseline.val
    assert scores.quality_name == "accuracy"
    assert 0.4 < scores.f1 < 0.95
    assert 0 < scores.sensitivity < 1
    assert scores.consistency is None


def test_a_list_of_literals_is_several_labels(tmp_path: Path) -> None:
    better = compiled(signature(list[Trouble]), open_tasks.complaints(), ["billing", "quality"], tmp_path)
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    assert manifest["answers"]["type"] == "labels"
    assert set(manifest["baseline"]["val"]["per_class"]) == {"account", "billing", "delivery", "quality"}
    assert 0.4 < better.run.baseline.val.f1 < 0.99


def test_text_is_what_it_is_told_to_be(tmp_path: Path) -> None:
    rows = [row for row in open_tasks.notices() if isinstance(row["answer"], str)]
    better = compiled(signature(str), rows, "the fair", tmp_path, answers="text:token-f1", label_field="found")
    assert better.run.baseline.val.quality_name == "token F1"


def test_functions_compare_and_rate_free_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = "def same(a, b):\n    return a[0] == b[0]\n\n\ndef worth(a, b):\n    return 0.5 if a == b else 0.25\n"
    (tmp_path / "own_of_program.py").write_text(own)
    monkeypatch.chdir(tmp_path)
    rows = open_tasks.questions()
    answers = "free:own_of_program:same+own_of_program:worth"
    better = compiled(signature(str), rows, "?", tmp_path, answers=answers, label_field="found")
    scores = better.run.baseline.val
    assert scores.quality_name == "rating"
    assert 0.25 < scores.f1 < 0.5
    assert 0 < scores.sensitivity < 1
    with pytest.raises(InputError, match="says what an answer is worth, and so does metric: give one of them"):
        compiled(signature(str), rows, "?", tmp_path, answers=answers, label_field="found", metric=lambda *_: 1.0)


@pytest.mark.parametrize(
    ("kind", "values", "answers"),
    [
        (float, [1.5 * number for number in range(12)], "number"),
        (int, [1, 2, 3] * 4, "label"),  # a rating: few values, met again and again
        (list[Trouble], [["billing"]] * 12, "labels"),
        (list[Trouble] | None, [["billing"]] * 12, "labels"),
        (bool, [True, False] * 6, "label"),
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


def test_what_can_not_be_read_is_named(tmp_path: Path) -> None:
    rows = [{**row, "answer": ["nonsense"]} for row in open_tasks.complaints()]
    with pytest.raises(DataError, match=r"found .* can't be read as labels; the program knows account, billing"):
        compiled(signature(list[Trouble]), rows, ["billing"], tmp_path)
    with pytest.raises(InputError, match="unknown answer type 'numbre'"):
        compiled(signature(float), rows, 1.0, tmp_path, answers="numbre")
    with pytest.raises(InputError, match="so does equivalence: give one"):
        compiled(signature(str), rows, "x", tmp_path, answers="text", equivalence=str.__eq__, label_field="found")
