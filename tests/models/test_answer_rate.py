"""How fast a model answers is remembered beside its answers; what can't be read or written is done without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psopt.models.chat import AnswerRate, keep_rate, kept_rate
from psopt.models.chat._answer_rate import AskingTime

if TYPE_CHECKING:
    from pathlib import Path

FILE = "rates.json"
RATE = AnswerRate(1200.0, 32, "2026-11-22")
SERVER = "http://127.0.0.1:1/v1"


def test_a_rate_is_of_a_model_at_a_server(tmp_path: Path) -> None:
    keep_rate(tmp_path, "openai/a", SERVER, RATE)
    keep_rate(tmp_path, "openai/b", None, AnswerRate(60.0, 4, "2026-11-21"))
    assert kept_rate(tmp_path, "openai/a", SERVER) == RATE
    assert kept_rate(tmp_path, "openai/b", None) == AnswerRate(60.0, 4, "2026-11-21")
    assert kept_rate(tmp_path, "openai/a", "http://127.0.0.1:2/v1") is None
    keep_rate(tmp_path, "openai/a", SERVER, AnswerRate(600.0, 32, "2026-11-23"))
    assert kept_rate(tmp_path, "openai/a", SERVER) == AnswerRate(600.0, 32, "2026-11-23")
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"openai/a": 3}', '{"openai/a": {"per_minute": -1}}', "\x00"])
def test_a_file_that_is_damaged_is_as_none(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content)
    assert kept_rate(tmp_path, "openai/a", None) is None
    keep_rate(tmp_path, "openai/a", None, RATE)
    assert kept_rate(tmp_path, "openai/a", None) == RATE


def test_what_can_not_be_written_is_done_without(tmp_path: Path) -> None:
    keep_rate(tmp_path / "away", "openai/a", None, RATE)
    keep_rate(None, "openai/a", None, RATE)
    assert kept_rate(None, "openai/a", None) is None
    assert not any(tmp_path.iterdir())


def test_time_that_overlaps_counts_once(monkeypatch: Any) -> None:
    now = iter([0.0, 1.0, 5.0, 20.0, 25.0])
    monkeypatch.setattr("psopt.models.chat._answer_rate.time.monotonic", lambda: next(now))
    time = AskingTime()
    with time.asking(), time.asking():  # 0 to 5
        pass
    with time.asking():  # 20 to 25
        pass
    assert time.seconds == 10.0
    time.calls = 49
    assert time.rate(8) is None
    time.calls = 100
    rate = time.rate(8)
    assert rate
    assert (rate.per_minute, rate.concurrency) == (600.0, 8)
