"""Any `dspy.LM` as a task model: by name against a real server, and with an engine of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import InputError, ModelError
from psopt.models import load_model
from psopt.models.chat import LMConfig
from psopt.search_spaces import Prompt

from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.tasks import Task

dspy = pytest.importorskip("dspy", reason="the extra `dspy` is not installed")

KEY = "sk-very-secret-0123456789"
PROMPTS = [Prompt(description, ("Number", "Person"), "question") for description in ("Sort it.", "Classify it.")]
TEXTS = [f"What is thing {i} ?" for i in range(12)]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("psopt.models.chat._request_scheduler._FIRST_WAIT", 0.01)


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


def test_a_name_answers_as_the_server_does_and_is_asked_once(task: Task, tmp_path: Path) -> None:
    with FakeServer() as server:
        options = LMConfig(api_base=server.url, concurrency=4)
        direct = load_model("openai/test", task, cache_dir=tmp_path / "a", options=LMConfig(api_base=server.url))
        through: Any = load_model("dspy/openai/test", task, cache_dir=tmp_path / "b", options=options)
        expected = direct.predict(PROMPTS, TEXTS)
        server.reset()
        assert (through.predict(PROMPTS, TEXTS) == expected).all()
        load_model("dspy/openai/test", task, cache_dir=tmp_path / "b", options=options).predict(PROMPTS, TEXTS)
        assert server.counts()["requests"] == len(PROMPTS) * len(TEXTS)
    assert through.name == "dspy/openai/test"
    assert through.engine.budget.usage.tokens > 0


def test_an_engine_of_ones_own_is_used_and_not_kept_on_disk(task: Task, tmp_path: Path) -> None:
    engine = LengthEngine()
    model = load_model(dspy.LM("mine", engine=engine), task, cache_dir=tmp_path)
    found = model.predict(PROMPTS, TEXTS)
    model.predict(PROMPTS, TEXTS)
    assert engine.n_calls == len(PROMPTS) * len(TEXTS)
    assert set(found.ravel()) == {0, 1}
    load_model(dspy.LM("mine", engine=engine), task, cache_dir=tmp_path).predict(PROMPTS, TEXTS)
    assert engine.n_calls == 2 * len(PROMPTS) * len(TEXTS)


def test_faults_are_retried_and_a_wrong_key_is_not_repeated(task: Task, tmp_path: Path) -> None:
    with FakeServer(faults="429,500,reset,badjson", fault_rate=0.3) as server:
        options = LMConfig(api_base=server.url, concurrency=4)
        load_model("dspy/openai/test", task, cache_dir=tmp_path, options=options).predict(PROMPTS, TEXTS)
        server.change(fault_rate=0.0, key="sk-other")
        with pytest.raises(ModelError, match="Incorrect API key") as caught:
            load_model("dspy/openai/test", task, cache_dir=tmp_path / "c", options=options).predict(PROMPTS, TEXTS)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("provider", "name"),
    [
        ("reasoning", "gpt-5-mini"),
        ("reasoning", "test"),
        ("tgi", "test"),
        ("no-system-role", "test"),
        ("alternating", "test"),
    ],
)
def test_what_a_provider_refuses_is_left_out_and_remembered(
    task: Task, tmp_path: Path, provider: str, name: str
) -> None:
    with FakeServer(provider=provider) as server:
        options = LMConfig(api_base=server.url, concurrency=8)
        model = load_model(f"dspy/openai/{name}", task, cache_dir=tmp_path, options=options)
        assert model.predict(PROMPTS[:1], TEXTS).max() < 2
        statuses = server.counts()["statuses"]
        assert sum(statuses.values()) - statuses["200"] <= 5
        server.reset()
        load_model(f"dspy/openai/{name}", task, cache_dir=tmp_path, options=options).predict(PROMPTS[1:], TEXTS)
        assert server.counts()["statuses"] == {"200": len(TEXTS)}


def test_headers_are_refused_rather_than_lost(task: Task, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="send no --header"):
        load_model("dspy/openai/test", task, cache_dir=tmp_path, options=LMConfig(headers={"X-Team": "a"}))
