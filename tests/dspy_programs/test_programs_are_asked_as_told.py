"""What a user says of servers, limits and caches holds for programs: their models, and those that write."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from tests.fake_server import FakeServer

dspy = pytest.importorskip("dspy", reason="the extra `dspy` is not installed")

from psopt import LMConfig, SensitivityOptimizer  # noqa: E402
from psopt.errors import AnswersMissingError, BudgetReachedError, ModelError  # noqa: E402

from tests.dspy_programs.programs_to_mend import examples, predict  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

TRAIN, VAL = examples(0, 3), examples(5, 3)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789")
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("DSPY_CACHEDIR", str(tmp_path / "dspy"))


def compiled(folder: Path, **options: Any) -> Any:
    given = {"num_trials": 2, "num_rephrasings": 2, "log_dir": folder, "num_threads": 4, **options}
    return SensitivityOptimizer(**given).compile(predict(), trainset=TRAIN, valset=VAL)


def test_another_server_s_answers_are_nobody_s(tmp_path: Path) -> None:
    """A server that only fails has answered nothing, whatever another one has said to the same before."""
    with FakeServer() as good, FakeServer(faults="500", fault_rate=1.0) as bad:
        one = compiled(tmp_path / "one", task_model="openai/test", lm=LMConfig(api_base=good.url, retries=1))
        assert one.run.baseline.val.f1 > 0
        with pytest.raises(AnswersMissingError, match="HTTP 500"):
            compiled(tmp_path / "two", task_model="openai/test", lm=LMConfig(api_base=bad.url, retries=1))
        assert bad.counts()["requests"] > 0


def test_a_dspy_lm_of_one_s_own_is_not_answered_from_dspy_s_cache(tmp_path: Path) -> None:
    with FakeServer() as good, FakeServer(faults="500", fault_rate=1.0) as bad:
        compiled(tmp_path / "one", task_model=dspy.LM("openai/test", api_base=good.url))
        with pytest.raises(ModelError):
            compiled(tmp_path / "two", task_model=dspy.LM("openai/test", api_base=bad.url, num_retries=0))
        assert bad.counts()["requests"] > 0


def test_answers_are_kept_in_the_cache_that_was_named_and_asked_for_once(tmp_path: Path) -> None:
    with FakeServer() as server:
        lm = LMConfig(api_base=server.url)
        options = {"task_model": "openai/test", "lm": lm, "cache_dir": tmp_path / "own"}
        compiled(tmp_path / "one", **options)
        n_asked = server.counts()["requests"]
        assert server.counts()["answered_twice"] == 0
        compiled(tmp_path / "two", **options)
        assert server.counts()["requests"] == n_asked
        assert server.last_request()["body"]["model"] == "test"
    with sqlite3.connect(tmp_path / "own" / "answers.db") as connection:
        assert connection.execute("SELECT count(*) FROM answers WHERE value LIKE '{\"text\"%'").fetchone()[0] == n_asked
    assert not (tmp_path / "cache" / "answers.db").exists()
    run = json.loads((tmp_path / "one" / "run.json").read_text())
    assert run["calls"]["made"] == n_asked
    (prompt,) = [json.loads(file.read_text()) for file in (tmp_path / "one" / "prompts").glob("*.json")][:1]
    assert prompt["measured"]["program"] == "python"


@pytest.mark.parametrize("model", ["by name", "an LM"])
def test_limits_hold_for_requests_tokens_and_cost(tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    prices = tmp_path / "prices.toml"
    lines = [f'"{kind}/test" = {{ in = 1000.0, out = 1000.0 }}' for kind in ("openai", "dspy/openai")]
    prices.write_text("\n".join(lines))
    monkeypatch.setenv("PSOPT_PRICES", str(prices))
    with FakeServer() as server:
        for limit in ({"max_calls": 20}, {"max_tokens_total": 9000}, {"max_cost": 9.0}):
            server.reset()
            name = next(iter(limit))
            lm = LMConfig(api_base=server.url, concurrency=2, max_tokens=60, **limit)
            given = "openai/test" if model == "by name" else dspy.LM("openai/test", api_base=server.url)
            with pytest.raises(BudgetReachedError, match=name):
                compiled(tmp_path / f"{name}", task_model=given, lm=lm, cache_dir=tmp_path / name)
            assert 0 < server.counts()["requests"] <= (20 if name == "max_calls" else 60)


def test_a_program_that_calls_tools_is_told_so(tmp_path: Path) -> None:
    from psopt.dspy_programs._lm import counted_lm
    from psopt.models import ModelProvider

    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

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
