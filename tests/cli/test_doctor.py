"""`psopt doctor`: what a server takes, in a small table, remembered."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from psopt.cli import main
from psopt.testing import FakeServer as InProcess

from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def doctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "token")
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(tmp_path / "cache"))

    def call(*arguments: str) -> tuple[Any, Any, Any]:
        with pytest.raises(SystemExit) as ended:
            main(["doctor", *arguments])
        said = capsys.readouterr()
        return ended.value.code, said.out, said.err

    return call


def test_it_says_what_works_and_what_will_be_used(doctor: Any) -> None:
    with FakeServer(provider="vllm", structured="yes") as server:
        code, said, error = doctor("--model", "openai/test", "--api-base", server.url)
        assert (code, error) == (0, "")
        assert server.counts()["statuses"] == {"200": 5, "400": 2}
    lines = {line[:18].strip(): line[19:] for line in said.splitlines()}
    assert lines["chat"].split(maxsplit=1) == ["yes", "temperature 0, max_tokens 256, system message"]
    assert lines["structured output"].split() == ["yes", "json_schema"]
    assert lines["seed"].split(maxsplit=1) == ["yes", "seed; the same answer twice"]
    assert lines["log-probabilities"].split(maxsplit=1) == ["yes", "--logprobs, structured answers, top_logprobs 5"]
    assert lines["long prompts"].split(maxsplit=1)[0] == "no"  # this server answers with labels alone
    assert "tokens counted" in lines["long prompts"]
    assert "no header says any" in lines["limits"]
    assert lines["batches"].split(maxsplit=1)[0] == "yes"
    assert "5 calls" in lines["speed"]
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.parametrize("context", [100_000, 8_000])
def test_a_mark_at_the_front_of_a_long_prompt_tells_whether_that_is_read(context: int, doctor: Any) -> None:
    def answer(messages: Any) -> str:
        read = messages[-1]["content"][-context:]
        found = re.search(r"The password is (\S+)\.", read)
        return found[1] if found else "animal"

    with InProcess(answer) as server:
        code, said, _ = doctor("--model", "openai/test", "--api-base", server.url, "--json")
    found = {one["what"]: one for one in json.loads(said)["findings"]}["long prompts"]
    assert (code, found["works"]) == (0, "yes" if context > 20_000 else "no")


def test_what_it_learns_is_remembered(doctor: Any, tmp_path: Path) -> None:
    rows = [f"{split}{i},what {split} {i} ?,{'ab'[i % 2]},{split}" for split in ("train", "test") for i in range(20)]
    (tmp_path / "data.csv").write_text("\n".join(["id,text,label,split", *rows]) + "\n")
    with FakeServer(lacks="seed,temperature", batches="no") as server:
        code, said, _ = doctor("--model", "openai/test", "--api-base", server.url, "--json")
        found = {one["what"]: one for one in json.loads(said)["findings"]}
        assert (code, found["seed"]["works"], found["structured output"]["works"]) == (0, "no", "ignored")
        assert found["batches"] == {"what": "batches", "works": "no", "used": "leave --batch out"}
        server.reset()
        with pytest.raises(SystemExit) as ended:
            main(["diagnose", "--dataset", "data.csv", "--model", "openai/test", "--api-base", server.url, "--quiet"])
        assert ended.value.code == 0
        assert set(server.counts()["statuses"]) == {"200"}


def test_a_server_that_is_not_there_is_one_line(doctor: Any) -> None:
    code, _, error = doctor("--model", "openai/test", "--api-base", "http://127.0.0.1:9/v1")
    assert code == 2
    assert "no connection to http://127.0.0.1:9/v1: is the server running?" in error
    assert error.count("\n") == 1


def test_a_model_that_needs_no_doctor_is_said(doctor: Any) -> None:
    code, _, error = doctor("--model", "minilm")
    assert code == 2
    assert "doctor looks at openai/NAME" in error
