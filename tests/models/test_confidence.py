"""Log-probabilities of what a chat model writes: asked for, kept beside the answer, and measured."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psopt
import pytest
from psopt.answers import code_of
from psopt.errors import InputError
from psopt.evaluation import score
from psopt.models import AnswerCache, Capabilities
from psopt.models.chat import LMConfig, chat_model
from psopt.search_spaces import Prompt
from psopt.tasks import Task

from tests.open_tasks import RuleServer

SURE = {"7": [0.9, 0.7], "8": [0.5, 0.1], "none at all": [0.3, 0.3, 0.6]}
"""The probabilities of each answer's tokens: .8, .3 and .4 in the mean."""
PROMPT = Prompt("Say how many there are.", (), "text", asks="number")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.fixture
def server() -> Iterator[RuleServer]:
    """Answers 7, which is right, 8, or nothing that can be read."""
    rows = [{"text": f"How many are seven and nothing, number {n}?", "answer": 7} for n in range(30)]
    with RuleServer(rows, lambda _: "7", lambda _: ["8", "none at all"], token_probabilities=SURE.__getitem__) as it:
        yield it


def measured(
    server: RuleServer, cache: Path | None, prompt: Any = PROMPT, model: Any = "openai/rule", **lm: Any
) -> Any:
    task = Task.from_records(server.rows, text_column="text", label_column="answer", answers="number", name="sums")
    options = LMConfig(api_base=server.base, **lm)
    return psopt.measure(task, prompt, model=model, rephrasings=4, split="all", lm=options, cache_dir=cache)


def model_at(base: str, cache: Path, **options: Any) -> Any:
    return chat_model("openai", "rule", AnswerCache(cache), LMConfig(api_base=base, **options))


def test_each_answer_has_the_mean_probability_of_its_tokens_and_is_asked_and_paid_once(
    server: RuleServer, tmp_path: Path
) -> None:
    of_answers = {code_of("7"): 0.8, code_of("8"): 0.3, 0: 0.4}  # no label, so that N/A is 0
    predictions = measured(server, tmp_path, logprobs=True)
    assert set(of_answers) == set(np.unique(predictions.array).tolist())
    expected = np.vectorize(of_answers.get)(predictions.array)
    assert predictions.confidence == pytest.approx(expected)
    scores: Any = score(predictions)
    assert scores.open.measures["confidence"] == pytest.approx(expected.mean())
    # Who always says 7 is sure; who errs is not, and not always the same.
    assert scores.open.measures["confidence against S"] < -0.5
    assert server.n_asked == server.n_asked_for_probabilities == predictions.array.size
    again = measured(server, tmp_path, logprobs=True)
    assert server.n_asked == predictions.array.size
    assert (again.confidence == predictions.confidence).all()
    assert score(again) == scores
    own = measured(server, tmp_path, "Count what is asked for.\nText: {text}\nAnswer:", logprobs=True)
    assert own.confidence == pytest.approx(np.vectorize(of_answers.get)(own.array))


def test_otherwise_nothing_is_asked_for_and_all_is_what_it_was(server: RuleServer, tmp_path: Path) -> None:
    """What is sent tells answers apart: those that earlier versions have paid for are found again."""
    plain = measured(server, tmp_path)
    assert plain.confidence is None
    assert server.n_asked_for_probabilities == 0
    with_confidence = score(measured(server, tmp_path, logprobs=True)).to_dict()
    for name in ("confidence", "confidence against S"):
        with_confidence["open"]["measures"].pop(name)
    assert with_confidence == score(plain).to_dict()
    before, asked = (
        model.engine.client.request(*model.queries([PROMPT], ["A text"]))
        for model in (model_at(server.base, tmp_path, logprobs=wanted) for wanted in (False, True))
    )
    assert {*before} == {"model", "messages", "temperature", "seed", "max_tokens"}
    assert asked == {**before, "logprobs": True}


def test_a_model_of_one_s_own_that_can_not_say_it_is_refused(server: RuleServer) -> None:
    own: Any = SimpleNamespace(name="mine", predict=lambda *_: None, capabilities=Capabilities(writes=True))
    with pytest.raises(InputError, match="model mine gives no probabilities: leave logprobs=True out"):
        measured(server, None, model=own, logprobs=True)
