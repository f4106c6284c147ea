"""Spans as OpenTelemetry's own exporters get them: in memory, and by OTLP over a socket."""

from __future__ import annotations

import http.server
import json
import logging
import threading
from typing import TYPE_CHECKING, Any

import psopt
import pytest
from psopt.cli import main
from psopt.tracking import OTelTracker

from tests.cli.limited_runs import write_questions
from tests.cli.test_signals import PROGRAM
from tests.fake_server import FakeServer
from tests.tracking.small_runs import arguments, optimize

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest.importorskip("opentelemetry.sdk", reason="the extra `otel` is not installed")

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-no-use-0123456789")
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_SERVICE_NAME"):
        monkeypatch.delenv(name, raising=False)
    return write_questions(tmp_path, 20)


@pytest.fixture
def memory() -> InMemorySpanExporter:
    return InMemorySpanExporter()


def tracker(memory: InMemorySpanExporter) -> OTelTracker:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    return OTelTracker(provider)


def ask(folder: Path, server: FakeServer, tracker: OTelTracker, **options: Any) -> psopt.Run:
    """Optimize a prompt for a server that has answered nothing yet; the cache is the folder's."""
    return psopt.optimize(
        psopt.load_task(str(folder / "data.csv")),
        **{
            "model": "openai/test",
            "lm": psopt.LMConfig(api_base=server.url),
            "trials": 3,
            "rounds": 1,
            "rephrasings": 2,
            "heldout": 2,
            "cache_dir": folder / "cache",
            "out": folder / "run",
            "callbacks": [tracker],
            **options,
        },
    )


def spans_of(memory: InMemorySpanExporter) -> list[Any]:
    return [*memory.get_finished_spans()]


def calls_of(memory: InMemorySpanExporter) -> list[Any]:
    return [span for span in spans_of(memory) if span.name == "chat test"]


def test_each_call_is_a_span_by_the_conventions_within_a_trial_and_the_run(
    folder: Path, memory: InMemorySpanExporter
) -> None:
    with FakeServer() as server:
        run = ask(folder, server, tracker(memory))
        n_requests = server.counts()["requests"]
        port = server.port
    spans = {span.context.span_id: span for span in spans_of(memory)}
    (root,) = (span for span in spans.values() if span.parent is None)
    trials = [span for span in spans.values() if span.name.startswith("trial ")]
    calls = calls_of(memory)
    assert len(calls) == n_requests == json.loads((run.path / "run.json").read_text())["calls"]["made"]
    assert root.name == "psopt run"
    assert root.attributes["psopt.baseline/val/f1"] == run.baseline.val.f1
    assert [span.attributes["psopt.trial"] for span in trials] == [0, 1, 2]
    assert trials[0].attributes["psopt.f1"] == run.baseline.val.f1
    assert {spans[span.parent.span_id].name for span in trials} == {"psopt run"}
    assert {spans[span.parent.span_id].name for span in calls} == {"psopt run", "trial 0", "trial 1", "trial 2"}
    said = dict(calls[0].attributes)
    assert calls[0].kind.name == "CLIENT"
    assert said["gen_ai.usage.input_tokens"] > 10
    assert said["gen_ai.usage.output_tokens"] >= 1
    fixed = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "test",
        "gen_ai.request.max_tokens": 256,
        "gen_ai.request.temperature": 0.0,
        "gen_ai.request.seed": 42,
        "gen_ai.response.finish_reasons": ("stop",),
        "server.address": "127.0.0.1",
        "server.port": port,
    }
    assert {name: said[name] for name in fixed} == fixed
    # No text of the data, of a prompt or of an answer is in what is sent unless that is asked for.
    assert "is called" not in "".join(span.to_json() for span in spans.values())
    assert not any("messages" in name for span in calls for name in span.attributes)


def test_answers_from_the_cache_are_no_calls(folder: Path, memory: InMemorySpanExporter) -> None:
    with FakeServer() as server:
        ask(folder, server, tracker(InMemorySpanExporter()))
        ask(folder, server, tracker(memory), out=folder / "again")
    assert calls_of(memory) == []
    assert len(spans_of(memory)) == 4


def test_calls_that_fail_say_as_what(folder: Path, memory: InMemorySpanExporter) -> None:
    with FakeServer(faults="429,500", fault_rate=0.3) as server:
        ask(folder, server, tracker(memory))
        n_requests = server.counts()["requests"]
    calls = calls_of(memory)
    assert len(calls) == n_requests
    failed = [span for span in calls if not span.status.is_ok]
    assert {span.attributes["error.type"] for span in failed} == {"429", "500"}
    assert not any("gen_ai.usage.input_tokens" in span.attributes for span in failed)


def test_a_refused_key_is_an_error_of_the_call_and_of_the_run(folder: Path, memory: InMemorySpanExporter) -> None:
    with FakeServer(key="another") as server, pytest.raises(psopt.errors.ModelError):
        ask(folder, server, tracker(memory))
    (call,) = calls_of(memory)
    assert call.attributes["error.type"] == "ModelRefusedError"
    (root,) = (span for span in spans_of(memory) if span.parent is None)
    assert root.attributes["error.type"] == "failed"
    (trial,) = (span for span in spans_of(memory) if span.name == "trial 0")
    assert not trial.status.is_ok


class Receiver:
    """Takes OTLP over HTTP; answers with `status`."""

    def __init__(self, status: int = 200) -> None:
        receiver = self
        self.spans: list[Any] = []
        self.services: set[str] = set()
        self.status = status

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(405)
                self.end_headers()

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                assert self.path == "/v1/traces"
                for of_resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                    named = {pair.key: pair.value.string_value for pair in of_resource.resource.attributes}
                    receiver.services.add(named["service.name"])
                    receiver.spans += [span for scope in of_resource.scope_spans for span in scope.spans]
                self.send_response(receiver.status)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Say nothing."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    running = Receiver()
    yield running
    running.server.shutdown()
    running.server.server_close()


def run_command(words: list[str]) -> int:
    with pytest.raises(SystemExit) as end:
        main(words)
    return int(end.value.code or 0)


def test_spans_go_where_opentelemetrys_variables_say(
    folder: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
    with FakeServer() as server:
        words = ["optimize", "--dataset", str(folder / "data.csv"), "--model", "openai/test", "--log", "otel"]
        words += ["--api-base", server.url, "--trials", "2", "--rephrasings", "2", "--out", str(folder / "run")]
        assert run_command([*words, "--heldout", "2", "--cache-dir", str(folder / "cache")]) == 0
        n_requests = server.counts()["requests"]
    assert f"otel: spans to {receiver.url}" in capsys.readouterr().err
    assert sum(span.name == "chat test" for span in receiver.spans) == n_requests
    assert {span.name for span in receiver.spans} == {"chat test", "trial 0", "trial 1", "psopt run"}
    assert receiver.services == {"psopt"}


def test_the_calls_of_a_program_are_spans_too(
    folder: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("dspy", reason="the extra `dspy` is not installed")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    (folder / "traced_program.py").write_text(PROGRAM)
    with FakeServer() as server:
        words = ["optimize", "--dataset", "data.csv", "--model", "openai/test", "--program", "traced_program:program"]
        words += ["--api-base", server.url, "--trials", "2", "--rephrasings", "2", "--out", "run", "--log", "otel"]
        assert run_command([*words, "--heldout", "2", "--cache-dir", "cache", "--quiet"]) == 0
        n_requests = server.counts()["requests"]
    assert sum(span.name == "chat test" for span in receiver.spans) == n_requests
    assert {span.name for span in receiver.spans} == {"chat test", "trial 0", "trial 1", "psopt run"}


def test_nobody_who_takes_spans_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    assert run_command(arguments(tmp_path, "--log", "otel")) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--log otel: nobody takes spans at http://127.0.0.1:9" in line
    assert not (tmp_path / "run").exists()


def test_a_receiver_that_refuses_costs_a_line_and_nothing_else(
    tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.status = 400
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
    with caplog.at_level(logging.WARNING):
        run = optimize(tmp_path / "run", callbacks=["otel"])
    said = [record.getMessage() for record in caplog.records if not record.name.startswith("psopt.waiting")]
    assert said == [
        "otel failed and is left out from now on, the run goes on: ConnectionError: spans could not be sent"
    ]
    assert run.finish_reason == "trials"
