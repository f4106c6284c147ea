"""A run whose answers can't be read ends after twenty of them, and leaves nothing behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psopt
import pytest
from psopt.errors import InputError, NoLabelsError
from psopt.models import AnswerCache
from psopt.models.chat import Budget, ChatModel, Engine, LMConfig
from psopt.models.chat._client import Answer, ChatClient
from psopt.search_spaces import Prompt
from psopt.templates import Field, Message, Part, Template

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.tasks import Task


class FixedClient(ChatClient):
    """Says the same to everything."""

    name = "openai/fixed"
    endpoint = "memory"

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.n_calls = 0

    def request(self, query: Any) -> dict[str, Any]:
        return {"messages": query.messages}

    async def send(self, _: Any) -> Answer:
        self.n_calls += 1
        return Answer(self.answer, 10, 5)


@pytest.mark.parametrize(
    ("spec", "error", "n_calls"), [("json:kind", NoLabelsError, 20), ("operator:neg", InputError, 1)]
)
def test_nothing_is_left_of_a_run_whose_answers_are_not_read(
    task: Task, tmp_path: Path, spec: str, error: type[Exception], n_calls: int
) -> None:
    client: Any = FixedClient("kind: " + task.labels[0])
    options = LMConfig(concurrency=1)
    model = ChatModel(Engine(client, AnswerCache(None), Budget(), options))
    messages = (Message("user", (Part(0), "\n", Field("text", "{text}"))),)
    prompt = Prompt("Sort it.", task.labels, template=Template(messages, answer=spec))
    with pytest.raises(error, match=f"--answer {spec}") as raised:
        psopt.optimize(task, prompt=prompt, model=model, trials=3, rephrasings=3, out=tmp_path / "run")
    assert client.n_calls == n_calls
    assert "go on with" not in str(raised.value)
    assert not (tmp_path / "run").exists()
