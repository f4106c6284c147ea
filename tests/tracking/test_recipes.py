"""The trackers of `examples/trackers`, named on the command line as a user names copies of them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.limited_runs import write_questions
from tests.commands import exit_code
from tests.fake_server import FakeServer
from tests.tracking.small_runs import arguments

RECIPES = Path(__file__).parents[2] / "examples" / "trackers"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for recipe in RECIPES.glob("*.py"):
        shutil.copy(recipe, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("report")
def test_wandb_offline(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    wandb.teardown()  # what it has read of the environment before
    assert exit_code(*arguments(folder, "--log", "wandb_tracker:WandbTracker")) == 0
    wandb.teardown()
    (written,) = folder.glob("wandb/offline-run-*/*.wandb")
    content = written.read_bytes()
    for name in (b"trials/sensitivity", b"recommended/test/f1", b"report.html"):
        assert name in content
    assert "left out" not in capsys.readouterr().err


def test_opentelemetry_has_a_span_for_each_request(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-no-use-0123456789")
    write_questions(folder, 20)
    with FakeServer(faults="429", fault_rate=0.2) as server:
        words = ["optimize", "--dataset", "data.csv", "--model", "openai/test", "--log", "otel_tracker:OTelTracker"]
        words += ["--api-base", server.url, "--trials", "2", "--rephrasings", "2", "--out", "run"]
        assert exit_code(*words, "--heldout", "2", "--cache-dir", "cache", "--quiet") == 0
        n_requests = server.counts()["requests"]
    spans: list[Any] = [*memory.get_finished_spans()]
    calls = [span for span in spans if span.name == "chat test"]
    assert len(calls) == n_requests
    (run,) = (span for span in spans if span.name == "psopt run")
    assert {span.parent.span_id for span in calls} == {run.context.span_id}
    failed = [span for span in calls if not span.status.is_ok]
    assert {span.attributes["error.type"] for span in failed} == {"429"}
    assert all(span.attributes["gen_ai.usage.input_tokens"] > 10 for span in calls if span.status.is_ok)
    assert {"psopt.model", "psopt.recommended/test/f1", "psopt.settings.trials"} <= {*run.attributes}
    assert "is called" not in "".join(span.to_json() for span in spans)  # no text of the data is sent
