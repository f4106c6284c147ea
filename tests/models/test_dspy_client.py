"""Any `dspy.LM` as a task model: by name against a real server, and with an engine of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from psopt.errors import InputError, ModelError
from psopt.models import load_model
from psopt.models.chat import LMConfig
from psopt.search_spaces import Prompt
from psopt.tasks import Task

from tests.fake_server import FakeServer
from tests.models.conftest import KEY
from tests.sweeps import each

dspy = pytest.importorskip("dspy", reason="the extra `dspy` is not installed")

PROMPTS = [Prompt(description, ("Number", "Person"), "question") for description in ("Sort it.", "Classify it.")]
TEXTS = [f"What is thing {i} ?" for i in range(12)]
pytestmark = pytest.mark.usefixtures("quick")


class LengthEngine:
    """Answers by the length of what it is asked."""

    def __init__(self) -> None:
        self.n_calls = 0

    def complete(self, request: Any) -> Any:
        self.n_calls += 1
        text = "".join(part.text for message in request.messages for part in message.parts)
        label = ("Number", "Person")[len(text) % 2]
        message = dspy.lm15.Message(role="assistant", parts=(dspy.lm15.TextPart(label),))
        usage = dspy.lm15.Usage(input_tokens=10, output_tokens=1)
        return dspy.lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=usage)


def through(server: FakeServer, task: Task, folder: Path, name: str = "test", concurrency: int = 4) -> Any:
    options = LMConfig(api_base=server.url, concurrency=concurrency)
    return load_model(f"dspy/openai/{name}", task, cache_dir=folder, options=options)


def test_a_name_answers_as_the_server_does_and_is_asked_once(server: FakeServer, task: Task, tmp_path: Path) -> None:
    direct = load_model("openai/test", task, cache_dir=tmp_path / "a", options=LMConfig(api_base=server.url))
    expected = direct.predict(PROMPTS, TEXTS)
    server.reset()
    model = through(server, task, tmp_path / "b")
    assert (model.predict(PROMPTS, TEXTS) == expected).all()
    through(server, task, tmp_path / "b").predict(PROMPTS, TEXTS)
    assert server.counts()["requests"] == len(PROMPTS) * len(TEXTS)
    assert model.name == "dspy/openai/test"
    assert model.engine.budget.usage.tokens > 0


def test_an_engine_of_ones_own_is_used_and_not_kept_on_disk(task: Task, tmp_path: Path) -> None:
    engine = LengthEngine()
    model = load_model(dspy.LM("mine", engine=engine), task, cache_dir=tmp_path)
    found = model.predict(PROMPTS, TEXTS)
    model.predict(PROMPTS, TEXTS)
    assert engine.n_calls == len(PROMPTS) * len(TEXTS)
    assert set(found.ravel()) == {0, 1}
    load_model(dspy.LM("mine", engine=engine), task, cache_dir=tmp_path).predict(PROMPTS, TEXTS)
    assert engine.n_calls == 2 * len(PROMPTS) * len(TEXTS)


def test_faults_are_retried_a_wrong_key_is_not_repeated_and_headers_are_refused_rather_than_lost(
    server: FakeServer, task: Task, tmp_path: Path
) -> None:
    server.change(faults="429,500,reset,badjson", fault_rate=0.3)
    through(server, task, tmp_path).predict(PROMPTS, TEXTS)
    server.change(fault_rate=0.0, key="sk-other")
    with pytest.raises(ModelError, match="Incorrect API key") as caught:
        through(server, task, tmp_path / "c").predict(PROMPTS, TEXTS)
    assert KEY not in str(caught.value)
    with pytest.raises(InputError, match="send no --header"):
        load_model("dspy/openai/test", task, cache_dir=tmp_path, options=LMConfig(headers={"X-Team": "a"}))


REFUSING = ["reasoning gpt-5-mini", "tgi test", "no-system-role test", "alternating test"]


@each("provider_and_name", REFUSING)
def test_what_a_provider_refuses_is_left_out_and_remembered(
    provider_and_name: str, server: FakeServer, task: Task, tmp_path: Path
) -> None:
    provider, name = provider_and_name.split()
    server.change(provider=provider)
    server.reset()
    folder = tmp_path / provider_and_name
    assert through(server, task, folder, name, concurrency=8).predict(PROMPTS[:1], TEXTS).max() < 2
    statuses = server.counts()["statuses"]
    assert sum(statuses.values()) - statuses["200"] <= 5
    server.reset()
    through(server, task, folder, name, concurrency=8).predict(PROMPTS[1:], TEXTS)
    assert server.counts()["statuses"] == {"200": len(TEXTS)}
