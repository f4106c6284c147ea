"""`psopt doctor`: what a server takes, in a small table, remembered."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from psopt.testing import FakeServer as InProcess

from tests.cli.limited_runs import write_questions
from tests.cli.telling import check_refused
from tests.commands import psopt
from tests.fake_server import FakeServer

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path


def doctor(folder: Path, url: str, *more: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    words = ["doctor", "--model", "openai/test", "--api-base", url, *more]
    return psopt(folder, *words, OPENAI_API_KEY="token", code=code)


def findings(folder: Path, url: str) -> Any:
    return {one["what"]: one for one in json.loads(doctor(folder, url, "--json").stdout)["findings"]}


def test_it_says_what_works_and_what_will_be_used(tmp_path: Path) -> None:
    with FakeServer(provider="vllm", structured="yes") as server:
        done = doctor(tmp_path, server.url)
        assert done.stderr == ""
        assert server.counts()["statuses"] == {"200": 5, "400": 2}
    lines = {line[:18].strip(): " ".join(line[19:].split()) for line in done.stdout.splitlines()}
    assert lines["chat"] == "yes temperature 0, max_tokens 256, system message"
    assert lines["structured output"] == "yes json_schema"
    assert lines["seed"] == "yes seed; the same answer twice"
    assert lines["log-probabilities"] == "yes --logprobs, structured answers, top_logprobs 5"
    assert lines["long prompts"].startswith("no ")  # this server answers with labels alone
    assert "tokens counted" in lines["long prompts"]
    assert lines["batches"].startswith("yes ")
    assert "5 calls" in lines["speed"]
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(("context", "works"), [(100_000, "yes"), (8_000, "no")])
def test_a_mark_at_the_front_of_a_long_prompt_tells_whether_that_is_read(
    tmp_path: Path, context: int, works: str
) -> None:
    def answer(messages: Any) -> str:
        found = re.search(r"The password is (\S+)\.", messages[-1]["content"][-context:])
        return found[1] if found else "animal"

    with InProcess(answer) as server:
        assert findings(tmp_path, server.url)["long prompts"]["works"] == works


def test_what_it_learns_is_remembered(tmp_path: Path) -> None:
    write_questions(tmp_path, 20)
    with FakeServer(lacks="seed,temperature", batches="no") as server:
        found = findings(tmp_path, server.url)
        assert (found["seed"]["works"], found["structured output"]["works"]) == ("no", "ignored")
        assert found["batches"] == {"what": "batches", "works": "no", "used": "leave --batch out"}
        server.reset()
        given = ["--dataset", "data.csv", "--model", "openai/test", "--api-base", server.url, "--quiet"]
        psopt(tmp_path, "diagnose", *given, OPENAI_API_KEY="token", code=0)
        assert set(server.counts()["statuses"]) == {"200"}


def test_a_server_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    done = doctor(tmp_path, "http://127.0.0.1:9/v1", code=2)
    check_refused(done, "no connection to http://127.0.0.1:9/v1: is the server running?")
