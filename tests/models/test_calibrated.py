"""Batch calibration: by hand on three texts and three labels, and what it leaves alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from psopt.api import Classifier
from psopt.errors import InputError
from psopt.models import CalibratedModel, Capabilities, LabelledTexts, ModelProvider
from psopt.models.chat import Budget, LMConfig
from psopt.runs import read_source
from psopt.search_spaces import CALIBRATE, Calibration, Prompt, apply_edits
from psopt.settings import AnsweringOptions
from psopt.tasks import InputColumns, Task

from tests.sweeps import each

LABELS = ("A", "B", "C")
PROMPT = Prompt("Say which.", LABELS)
CALIBRATED = apply_edits(PROMPT, [CALIBRATE])
# p(label | text): "A" is the likeliest answer to every text.
ROWS = {"x": (0.6, 0.3, 0.1), "y": (0.8, 0.1, 0.1), "z": (0.5, 0.1, 0.4)}
REWORDED = "Decide which."
TEXTS = [f"{name}{number}" for number in range(4) for name in ROWS]  # twelve texts, four of each kind


@dataclass
class Biased:
    """A model that prefers "A", with `n_a` of N/A."""

    n_a: float = 0.0
    name: str = "biased"
    likelihood: str = "mean"
    asked: list[str] = field(default_factory=list)
    capabilities = Capabilities(has_probabilities=True, has_label_prior=True)

    def predict(self, prompts: Sequence[Prompt], texts: Sequence[str], _: object = None) -> NDArray[np.int64]:
        return np.asarray(self.predict_proba(prompts, texts).argmax(axis=2))

    def predict_proba(self, prompts: Sequence[Prompt], texts: Sequence[str], _: object = None) -> NDArray[np.float64]:
        self.asked += texts
        rows = [
            [[*((1 - self.n_a) * p for p in self._row(prompt, text)), self.n_a] for prompt in prompts] for text in texts
        ]
        return np.array(rows)

    @staticmethod
    def _row(prompt: Prompt, text: str) -> list[float]:
        """A rephrasing doubles the weight of "B" under every text alike."""
        weights = np.array(ROWS[text[0]]) * ((1, 2, 1) if prompt.description == REWORDED else (1, 1, 1))
        return (weights / weights.sum()).tolist()


def calibrated(texts: Sequence[str] = TEXTS, *, is_always: bool = False, **biased: Any) -> CalibratedModel:
    model: Any = Biased(**biased)
    return CalibratedModel(model, texts, Budget(), is_always=is_always)


def _task() -> Task:
    texts = [f"{name}{number}" for number in range(20) for name in ROWS]
    return Task.from_records([{"text": text, "label": "ABC"[place % 3]} for place, text in enumerate(texts)])


def test_the_mean_log_probability_of_each_label_is_subtracted() -> None:
    # Means of logarithms: A (ln .6 + ln .8 + ln .5) / 3 = ln .24^(1/3), B ln .003^(1/3), C ln .004^(1/3).
    a, b, c = (product ** (1 / 3) for product in (0.24, 0.003, 0.004))
    model = calibrated()
    x = [0.6 / a, 0.3 / b, 0.1 / c]  # .966, 2.080, .630: B has most left
    assert model.predict_proba([CALIBRATED], ["x"])[0, 0] == pytest.approx([p / sum(x) for p in x] + [0.0])
    assert model.predict([CALIBRATED], ["x", "y", "z"])[:, 0].tolist() == [1, 0, 2]
    assert Biased().predict([PROMPT], ["x", "y", "z"])[:, 0].tolist() == [0, 0, 0]
    prior = model.measured(CALIBRATED).calibration
    assert prior is not None
    assert prior.prior == pytest.approx((math.log(a), math.log(b), math.log(c)))
    assert (prior.n_texts, prior.model, prior.prompt) == (12, "biased", CALIBRATED.id)
    with_na = calibrated(n_a=0.7)  # stays as probable as it was
    assert with_na.predict_proba([CALIBRATED], ["x"])[0, 0] == pytest.approx([0.3 * p / sum(x) for p in x] + [0.7])
    assert with_na.predict([CALIBRATED], ["x"]).tolist() == [[3]]


def test_a_prior_is_measured_once_and_counted_and_no_model_is_calibrated_twice() -> None:
    provider, inner = ModelProvider(), Biased()
    model = provider.answering(inner, _task())
    assert isinstance(model, CalibratedModel)
    assert provider.answering(model, _task()) is model
    model.predict([CALIBRATED], ["x"])
    model.predict([CALIBRATED], ["y"])
    assert len(inner.asked) == 30 + 2
    assert provider.budget.usage.made == 30


def test_a_rephrasing_is_asked_about_fewer_texts_and_has_the_prior_of_all() -> None:
    # Thirty texts, of which the first fifteen that are spread over them have other shares of x, y and z.
    texts = [f"{name}{place}" for place, name in enumerate("xyzzy" * 6)]
    reworded = CALIBRATED.described_as(REWORDED)
    model, inner = calibrated(texts), Biased()
    assert model.prior_calls([reworded]) == 30 + 15
    assert model.prior_calls([CALIBRATED, reworded, reworded]) == 30 + 15
    # Logarithms of weights, since what is equal for all labels changes no answer
    of_all = np.log([inner._row(reworded, text) for text in texts]).mean(axis=0)
    proportional = np.log([0.6, 0.3, 0.1]) + np.log([1, 2, 1]) - of_all
    expected = np.exp(proportional) / np.exp(proportional).sum()
    assert model.predict_proba([reworded], ["x"])[0, 0, :3] == pytest.approx(expected)
    assert model.prior_calls([CALIBRATED, reworded]) == 0
    brought = Prompt.from_dict(model.measured(CALIBRATED).to_dict())
    elsewhere = calibrated(texts)
    assert elsewhere.prior_calls([brought]) == 0
    assert elsewhere.prior_calls([brought.described_as(REWORDED)]) == 15 + 15
    assert elsewhere.predict_proba([brought.described_as(REWORDED)], ["x"])[0, 0, :3] == pytest.approx(
        expected, abs=1e-5
    )


def test_a_prompt_that_brings_its_prior_needs_no_texts() -> None:
    read = Prompt.from_dict(calibrated().measured(CALIBRATED).to_dict())
    assert read.id == CALIBRATED.id
    elsewhere = calibrated(texts=[])
    for same in (read, read.described_as(read.description), read.described_as(read.description, read.form)):
        assert elsewhere.predict([same], ["x", "y", "z"])[:, 0].tolist() == [1, 0, 2]
    with pytest.raises(InputError, match="takes at least 10 texts, not 0"):  # under other words it is another prior
        elsewhere.predict([read.described_as("Tell which.")], ["x"])
    with pytest.raises(InputError, match="brings no label prior of other"):
        calibrated(texts=[], name="other").predict([read], ["x"])


READ = {"method": "batch", "prior": {"A": -1, "B": -2, "C": -3}, "n_texts": 9, "model": "m", "prompt": "p"}


def test_calibration_is_part_of_a_prompt_and_its_id_and_the_measured_prior_is_not() -> None:
    assert "calibration" not in PROMPT.to_dict()
    assert CALIBRATED.to_dict()["calibration"] == {"method": "batch"}
    with_prior = Prompt.from_dict({**CALIBRATED.to_dict(), "calibration": READ})
    assert with_prior.calibration == Calibration((-1.0, -2.0, -3.0), 9, "m", "p")
    assert with_prior.id == CALIBRATED.id != PROMPT.id
    for calibration, why in (
        ({"method": "magic"}, "'batch' or 'supervised', not 'magic'"),
        ({"method": "batch", "prior": {"A": 1}}, "can't be read"),
        ({**READ, "method": "supervised", "label_map": [[1.0, 0.0, 0.0]] * 3}, "can't be read"),
    ):
        with pytest.raises(InputError, match=why):
            Prompt.from_dict({**CALIBRATED.to_dict(), "calibration": calibration})


@each("calibration, answers", [("auto", [[0, 1]]), ("off", [[0, 0]]), ("batch", [[1, 1]])])
def test_models_with_label_probabilities_are_calibrated_as_asked(calibration: Any, answers: Any) -> None:
    model = ModelProvider(lm=LMConfig(calibration=calibration)).answering(Biased(), _task())
    assert model.predict([PROMPT, CALIBRATED], ["x"]).tolist() == answers


def test_a_model_without_probabilities_can_not_be_calibrated_by_force() -> None:
    with pytest.raises(InputError, match="needs a language model's probabilities of labels, and function/"):
        ModelProvider(lm=LMConfig(calibration="batch")).answering(lambda messages: "A", _task())
    with pytest.raises(InputError, match="unknown calibration 'yes'"):
        LMConfig(calibration="yes")  # type: ignore[arg-type]


def _labelled(n: int = 48) -> LabelledTexts:
    """Texts of three kinds, of which the calibrated model confuses two: all "z" are labelled "A"."""
    texts = [f"{'xyz'[place % 3]}{place}" for place in range(n)]
    return LabelledTexts(CALIBRATED, texts, [{"x": 1, "y": 0, "z": 0}[text[0]] for text in texts])


def test_labelled_texts_teach_what_the_evidence_means_once() -> None:
    answering: Any = Biased()
    model = CalibratedModel(answering, TEXTS, Budget()).learning_from(_labelled())
    assert model.prior_calls([CALIBRATED]) == len(TEXTS) + 48 - 4  # that are among both
    assert model.predict([CALIBRATED], ["x", "y", "z"])[:, 0].tolist() == [1, 0, 0]  # without labels z was C
    n_asked = len(answering.asked)
    other = CALIBRATED.described_as("Tell which.")
    assert model.prior_calls([other]) == len(TEXTS)  # fewer than fifteen; the map is learnt once
    assert model.predict([other], ["z"])[0, 0] == 0
    assert len(answering.asked) == n_asked + len(TEXTS) + 1
    measured = Prompt.from_dict(model.measured(CALIBRATED).to_dict())  # handed over, it brings the map
    assert measured.to_dict()["calibration"]["method"] == "supervised"
    assert calibrated(texts=[]).predict([measured], ["x", "y", "z"])[:, 0].tolist() == [1, 0, 0]
    assert calibrated().predict([measured.described_as("Tell which.")], ["z"])[0, 0] == 0
    assert calibrated(name="another").predict([measured], ["z"])[0, 0] == 2


def test_a_classifier_without_texts_to_measure_a_prior_on_is_refused_at_once() -> None:
    source = read_source(calibrated().measured(CALIBRATED))
    inner: Any = Biased()
    assert Classifier(source, InputColumns(), model=inner)(["x"])[0].label == "B"
    voting = AnsweringOptions(wordings=2)
    with pytest.raises(InputError, match=r"takes at least 10 texts, not 0.* a run directory brings"):
        Classifier(source, InputColumns(), voting, model=inner)
    assert len(Classifier(source, InputColumns(), voting, model=inner, sample_texts=TEXTS)(["x"])) == 1
