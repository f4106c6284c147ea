"""What stands beside messages and beside labels is not taken for them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from psopt.errors import InputError
from psopt.templates import read_template

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.templates import ReadTemplate


def read(file: Path, text: str) -> ReadTemplate:
    file.write_text(text)
    return read_template(file, ["body"], labels=("sales", "billing"))


def test_a_system_text_beside_messages_is_not_dropped_in_silence(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Sort it: sales or billing.\n\n{body}"}]
    data = {"system": "Decide which team answers.", "messages": messages}
    with pytest.raises(InputError, match="make it the first of them, of role system"):
        read(tmp_path / "p.json", json.dumps(data))


@pytest.mark.parametrize(
    ("contract", "answer"),
    [
        ("Output strictly as JSON with keys `queue` and `why`.", "json:queue"),
        ('Return {"explanation": "..", "queue": ".."}', "json:queue"),
        ('Return {"queue": "..", "desk": ".."}', "label"),
        ("Reply in JSON with the key reason.", "label"),
    ],
)
def test_of_a_label_and_its_reason_the_label_is_read(tmp_path: Path, contract: str, answer: str) -> None:
    prompt = read(tmp_path / "p.txt", f"Decide whether sales or billing answers.\n\n{contract}\n\n{{body}}")
    assert prompt.template is not None
    assert prompt.template.answer == answer
