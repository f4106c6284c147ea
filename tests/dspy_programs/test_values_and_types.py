"""Values and types that programs have beside text, and what can fail is tried before the first call."""

from __future__ import annotations

import copy
import decimal
import json
import pathlib
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

dspy: Any = pytest.importorskip("dspy", reason="the extra `dspy` is not installed")

from psopt import SensitivityOptimizer  # noqa: E402
from psopt.errors import InputError, NoLabelsError  # noqa: E402

from tests.dspy_programs.keyword_lm import keyword_lm  # noqa: E402
from tests.dspy_programs.programs_to_mend import Sort, examples, predict  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

TRAIN, VAL = examples(0, 5), examples(5, 5)


def compiled(program: Any, folder: Path, lm: Any = None, given: Any = (TRAIN, VAL), **options: Any) -> Any:
    settings = {"num_trials": 2, "num_rephrasings": 2, "log_dir": folder / "run", "num_threads": 2, "gate": "off"}
    with dspy.context(lm=lm or keyword_lm()):
        return SensitivityOptimizer(**{**settings, **options}).compile(program, trainset=given[0], valset=given[1])


VALUES = {
    "a": (np.int64(3), 3),
    "b": (decimal.Decimal("1.50"), "1.50"),
    "c": ({"a"}, ["a"]),
    "d": (pathlib.PurePosixPath("a/b"), "a/b"),
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
    assert program.demos[0].c is values["c"]


class WithHistory(dspy.Signature):
    """Sort the question by what it asks for."""

    question: str = dspy.InputField()
    history: dspy.History = dspy.InputField()
    label: Literal["Number", "Person"] = dspy.OutputField()


@pytest.mark.parametrize("adapter", [None, dspy.JSONAdapter()])
def test_a_conversation_is_an_input(adapter: Any, tmp_path: Path) -> None:
    history = dspy.History(messages=[{"question": "who ?", "label": "Person"}])

    def given(made: list[Any]) -> list[Any]:
        return [dspy.Example(**one.toDict(), history=history).with_inputs("question", "history") for one in made]

    with dspy.context(adapter=adapter):
        better = compiled(dspy.Predict(WithHistory), tmp_path, given=(given(TRAIN), given(VAL)))
    assert better.run.baseline.val.f1 > 0.5


class MaySayNothing(dspy.Module):
    """Names of men are nobody's question."""

    def __init__(self) -> None:
        super().__init__()
        self.sort = dspy.Predict(Sort.with_updated_fields("label", type_=Literal["Number", "Person"] | None))
        self.ask = dspy.Predict(Sort)

    def forward(self, question: str) -> Any:
        label = self.ask(question=question).label
        return dspy.Prediction(label=None if "name of" in question else label)


def test_none_is_an_answer_where_the_type_allows_it(tmp_path: Path) -> None:
    def given(made: list[Any]) -> list[Any]:
        return [
            dspy.Example(question=one.question, label=None if "name of" in one.question else one.label).with_inputs(
                "question"
            )
            for one in made
        ]

    better = compiled(MaySayNothing(), tmp_path, given=(given(TRAIN), given(VAL)), label_field="label")
    assert better.run.baseline.val.per_class["None"].f1 == 1.0


class ForgetsTheLabel(dspy.Module):
    def __init__(self) -> None:
        super().__init__()
        self.sort = dspy.Predict(Sort)

    def forward(self, question: str) -> Any:
        return dspy.Prediction(kind=self.sort(question=question).label)


def test_a_prediction_without_the_label_is_told_as_that(tmp_path: Path) -> None:
    with pytest.raises(NoLabelsError, match="has no 'label', but kind; let forward return") as caught:
        compiled(ForgetsTheLabel(), tmp_path)
    assert "max_tokens" not in str(caught.value)


def test_what_comes_back_can_be_copied_and_saved_as_a_whole(tmp_path: Path) -> None:
    better = compiled(predict(), tmp_path)
    twin = copy.deepcopy(better)
    assert twin.run is better.run
    better.save(tmp_path / "whole", save_program=True)
    loaded = dspy.load(tmp_path / "whole", allow_pickle=True)
    assert loaded.run.recommended.id == better.run.recommended.id
    assert loaded.score == better.score


def test_a_storage_is_opened_before_the_first_call(tmp_path: Path) -> None:
    lm = keyword_lm()
    with pytest.raises(InputError, match=r"no URL: write sqlite:///st.db"):
        compiled(predict(), tmp_path, lm, storage="st.db")
    assert lm._engine_spec.n_calls == 0


def test_a_wish_to_stop_by_optunas_own_way_ends_the_search(tmp_path: Path) -> None:
    import optuna

    better = compiled(predict(), tmp_path, num_trials=12, callbacks=[optuna.study.MaxTrialsCallback(3)])
    assert len(better.trial_logs) == 3
    assert better.run.recommended
