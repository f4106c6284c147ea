"""A run whose answers can't be read ends after twenty of them, and leaves nothing behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psopt
import pytest
from psopt.errors import InputError, NoLabelsError
from psopt.search_spaces import Prompt
from psopt.templates import Field, Message, Part, Template

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.tasks import Task


@pytest.mark.parametrize(
    ("spec", "error", "n_calls"), [("json:kind", NoLabelsError, 20), ("operator:neg", InputError, 1)]
)
def test_nothing_is_left_of_a_run_whose_answers_are_not_read(
    task: Task, tmp_path: Path, spec: str, error: type[Exception], n_calls: int
) -> None:
    asked = []

    def model(messages: Any) -> str:
        asked.append(messages)
        return f"kind: {task.labels[0]}"

    messages = (Message("user", (Part(0), "\n", Field("text", "{text}"))),)
    prompt = Prompt("Sort it.", task.labels, template=Template(messages, answer=spec))
    with pytest.raises(error, match=f"--answer {spec}") as raised:
        psopt.optimize(task, prompt=prompt, model=model, trials=3, rephrasings=3, concurrency=1, out=tmp_path / "run")
    assert len(asked) == n_calls
    assert "go on with" not in str(raised.value)
    assert not (tmp_path / "run").exists()
