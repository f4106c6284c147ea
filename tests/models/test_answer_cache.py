"""Answers on disk: kept once, shared by processes, and nothing that could be run."""

from __future__ import annotations

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from psopt.errors import InputError
from psopt.models import AnswerCache, answer_key
from psopt.models.chat import LMConfig, load_writer

from tests.fake_server import FakeServer


def test_several_connections_write_to_one_cache_at_once(tmp_path: Path) -> None:
    values = {answer_key(number=number): {"text": f"answer {number}"} for number in range(60)}

    def write(_: int) -> None:
        cache = AnswerCache(tmp_path)  # a connection of its own, as another process has one
        for key, value in values.items():
            cache.put(key, value)
            assert cache.get(key) == value

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(write, range(3)))
    assert AnswerCache(tmp_path).get_many(values) == values


def test_a_value_that_is_kept_stays_as_json_under_a_key_that_depends_on_every_part(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path)
    cache.put(b"key", {"text": "Zürich"})
    cache.put(b"key", 2)
    assert cache.get(b"key") == {"text": "Zürich"}
    assert cache.get(b"other") is None
    with sqlite3.connect(tmp_path / "answers.db") as connection:
        ((value,),) = connection.execute("SELECT value FROM answers").fetchall()
    assert json.loads(value) == {"text": "Zürich"}
    assert answer_key(a=1, b="x") == answer_key(b="x", a=1)
    assert len({answer_key(a=1), answer_key(a=2), answer_key(b=1), answer_key(a="1"), answer_key(a=[1])}) == 5


def test_a_file_that_is_no_cache_is_an_error_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "answers.db").write_text("no database " * 500)
    with pytest.raises(InputError, match="can't be used: file is not a database; choose another --cache-dir"):
        AnswerCache(tmp_path)


@pytest.mark.usefixtures("quick")
def test_above_temperature_0_a_sample_index_tells_answers_apart(server: FakeServer, tmp_path: Path) -> None:
    server.change(answer="fixed:Well.")
    question = [[{"role": "user", "content": "Write."}]]
    writer = load_writer("openai/test", cache_dir=tmp_path, options=LMConfig(api_base=server.url))
    for sample in (0, 1, 2, 0, 1, 2):
        writer.write(question, temperature=0.8, sample=sample)
    assert server.counts()["requests"] == 3
    writer.write(question)
    assert server.counts()["requests"] == 4
