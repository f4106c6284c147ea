"""What a user says of servers, limits and caches holds for programs: their models, and those that write."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import dspy
import pytest
from psopt import LMConfig
from psopt.errors import AnswersMissingError, BudgetReachedError, ModelError

from tests.dspy_programs.compiling import FEW, compiled, manifest
from tests.dspy_programs.programs_to_mend import predict
from tests.fake_server import FakeServer
from tests.sweeps import each


@each("error", [AnswersMissingError, ModelError])
def test_another_server_s_answers_are_nobody_s(tmp_path: Path, error: type[Exception]) -> None:
    """A server that only fails has answered nothing, whatever another one has said to the same before.

    Nor does DSPy's own cache answer in its place, where the model is a `dspy.LM`.
    """

    def asked(folder: str, server: FakeServer) -> Any:
        own = {"task_model": dspy.LM("openai/test", api_base=server.url, num_retries=0)}
        named = {"task_model": "openai/test", "lm": LMConfig(api_base=server.url, retries=1)}
        options: Any = named if error is AnswersMissingError else own
        return compiled(predict(), tmp_path / error.__name__ / folder, None, FEW, num_trials=1, **options)

    with FakeServer() as good, FakeServer(faults="500", fault_rate=1.0) as bad:
        assert asked("one", good).run.baseline.val.f1 > 0
        with pytest.raises(error, match=r"HTTP 500|server_error"):
            asked("two", bad)
        assert bad.counts()["requests"] > 0


def test_answers_are_kept_in_the_cache_that_was_named_and_asked_for_once(tmp_path: Path) -> None:
    with FakeServer() as server:
        lm = LMConfig(api_base=server.url)
        options = {"task_model": "openai/test", "lm": lm, "cache_dir": tmp_path / "own", "num_trials": 1}
        one = compiled(predict(), tmp_path / "one", None, FEW, **options)
        n_asked = server.counts()["requests"]
        assert server.counts()["answered_twice"] == 0
        compiled(predict(), tmp_path / "two", None, FEW, **options)
        assert server.counts()["requests"] == n_asked
        assert server.last_request()["body"]["model"] == "test"
    with sqlite3.connect(tmp_path / "own" / "answers.db") as connection:
        assert connection.execute("SELECT count(*) FROM answers WHERE value LIKE '{\"text\"%'").fetchone()[0] == n_asked
    assert not (tmp_path / "cache" / "answers.db").exists()
    assert manifest(one)["calls"]["made"] == n_asked
    file = next((one.run.path / "prompts").glob("*.json"))
    assert json.loads(file.read_text())["measured"]["program"] == "python"


def test_limits_hold_for_requests_tokens_and_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f'"{kind}/test" = {{ in = 1000.0, out = 1000.0 }}' for kind in ("openai", "dspy/openai")]
    (tmp_path / "prices.toml").write_text("\n".join(lines))
    monkeypatch.setenv("PSOPT_PRICES", str(tmp_path / "prices.toml"))
    with FakeServer() as server:
        own = dspy.LM("openai/test", api_base=server.url)
        limits: Any = [("max_tokens_total", 9000, own), ("max_cost", 9.0, own)]
        for name, most, model in [*limits, ("max_cost", 8.0, "openai/test")]:
            server.reset()
            cache = tmp_path / f"{name} {most}"
            lm = LMConfig(api_base=server.url, concurrency=2, max_tokens=60).changed(**{name: most})
            with pytest.raises(BudgetReachedError, match=name):
                compiled(predict(), cache, None, FEW, task_model=model, lm=lm, cache_dir=cache)
            assert 0 < server.counts()["requests"] <= 60
        server.reset()
        enough = LMConfig(api_base=server.url, concurrency=2, max_calls=80)
        compiled(predict(), tmp_path, None, FEW, task_model=own, lm=enough, cache_dir=tmp_path)
        assert 60 < server.counts()["requests"] <= 80


def test_a_program_that_calls_tools_is_told_so(tmp_path: Path) -> None:
    from psopt.dspy_programs._lm import counted_lm
    from psopt.models import ModelProvider

    with FakeServer() as server:
        lm = counted_lm("openai/test", ModelProvider(tmp_path, LMConfig(api_base=server.url)))
        request = dspy.lm15.Request(
            model=lm.model,
            messages=(dspy.lm15.Message.user("1 + 1"),),
            tools=(dspy.lm15.FunctionTool(name="add", parameters={"type": "object", "properties": {}}),),
        )
        with pytest.raises(ModelError, match="calls tools"):
            lm._engine_spec.complete(request)
        assert server.counts()["requests"] == 0
