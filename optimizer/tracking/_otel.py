"""OpenTelemetry: a run is a span, its trials are spans in it, and so is each call to a language model.

Calls follow the GenAI semantic conventions (opentelemetry.io/docs/specs/semconv/gen-ai, spans of clients), as of
version 1.37. Their names are written here: the package that holds them is marked as in development, and moves.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from psopt._version import __version__
from psopt.errors import InputError, import_extra
from psopt.tracking._base import Tracker
from psopt.tracking._reachable import why_unreachable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.models.chat import CallEnd, CallStart, CallWatcher, OnCallEnd
    from psopt.search_spaces import Prompt
    from psopt.tracking._base import Ending
    from psopt.tracking._run_record import RunRecord
    from psopt.tracking._trial_record import TrialRecord

_PROTOCOL = "http/protobuf"
_ENDPOINT = "http://localhost:4318"  # of OTLP over HTTP, as the specification has it
# What `gen_ai.provider.name` is for the kinds of names that psopt knows; of others the kind itself.
_PROVIDERS = {"openai": "openai", "azure": "azure.ai.openai"}
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"  # the variable of OpenTelemetry's own instrumentation
_WITH_CONTENT = {"true", "1", "span_only", "span_and_event"}
_REQUEST = {
    "gen_ai.request.max_tokens": ("max_tokens", "max_completion_tokens"),
    "gen_ai.request.temperature": ("temperature",),
    "gen_ai.request.top_p": ("top_p",),
    "gen_ai.request.seed": ("seed", "random_seed"),
}
_DEFAULT_PORTS = {"http": 80, "https": 443}
_ENDING = 10_000  # milliseconds for what is left to be sent


class OTelTracker(Tracker):
    """Makes spans, and sends them where OpenTelemetry's own variables say: OTEL_EXPORTER_OTLP_ENDPOINT and so on.

    A program that has set a tracer provider of its own gets the spans by that one.

    Parameters
    ----------
    provider : TracerProvider, optional
        In place of both.
    """

    name = "otel"

    def __init__(self, provider: Any = None) -> None:
        self._given = provider
        self._provider: Any = None
        self._is_own = False
        self._tracer: Any = None
        self._run_span: Any = None
        self._trial_span: Any = None
        self._trial_number = -1
        self._phase = ""
        self._failure = ""
        self._has_content = os.environ.get(_CONTENT, "").strip().lower() in _WITH_CONTENT

    def check(self) -> None:
        """Import OpenTelemetry, and look for who takes the spans."""
        trace = import_extra("opentelemetry.trace", "--log otel", "otel")
        sdk = import_extra("opentelemetry.sdk.trace", "--log otel", "otel")
        theirs = trace.get_tracer_provider()
        if self._given is not None or isinstance(theirs, sdk.TracerProvider):
            self._provider = self._given or theirs
        else:
            self._provider = self._own_provider(sdk)
            self._is_own = True
        self._tracer = self._provider.get_tracer("psopt", __version__)

    def start(self, run: RunRecord, kept: dict[str, Any]) -> None:
        """Begin the run's span; the calls that came before it, which wrote rephrasings, are in it too.

        A run that is resumed is another trace, which links to those of the parts before.
        """
        span = self._root()
        earlier = kept.setdefault("spans", [])
        for trace_id, span_id in earlier:
            span.add_link(_context(trace_id, span_id))
        own = span.get_span_context()
        earlier.append([f"{own.trace_id:032x}", f"{own.span_id:016x}"])
        span.update_name(f"psopt {run.name}")
        span.set_attributes({**{f"psopt.settings.{name}": value for name, value in run.params.items()}, **run.tags})

    def begin_trial(self, number: int, prompt: Prompt) -> None:
        """Begin a trial's span."""
        self._end_trial(failed=True)
        attributes = {"psopt.trial": number, "psopt.prompt_id": prompt.id}
        self._trial_span = self._span(f"trial {number}", self._root(), attributes)
        self._trial_number = number

    def trial(self, trial: TrialRecord) -> None:
        """End the trial's span with its scores; other workers' trials, and earlier ones, have none."""
        if self._trial_span is None or trial.number != self._trial_number:
            return
        scores = {f"psopt.{name}": value for name, value in trial.metrics.items()}
        self._trial_span.set_attributes({**scores, "psopt.n_edits": len(trial.edits), "psopt.raced": trial.raced})
        if self._has_content:
            self._trial_span.set_attribute("psopt.edits", trial.edits)
        self._end_trial()

    def phase(self, what: str) -> None:
        """Note what the run goes on to, as an event."""
        self._phase = what
        self._root().add_event("psopt.phase", {"psopt.phase": what})
        if self._failure:
            raise ConnectionError(self._failure)

    def end(self, run: RunRecord, ending: Ending) -> None:
        """End the run's span with its scores, and send what is left."""
        self._end_trial(failed=True)
        self._run_span.set_attributes({**run.tags, **{f"psopt.{name}": value for name, value in run.metrics.items()}})
        if ending != "finished":
            self._fail(self._run_span, ending, "")
        self._send_rest()
        if self._failure:
            raise ConnectionError(self._failure)

    def close(self) -> None:
        """Send what calls there were of a run that never began."""
        if not self._failure:
            self._send_rest()

    def _send_rest(self) -> None:
        if self._run_span is None:
            return
        self._run_span.end()
        self._run_span = None
        self._provider.force_flush(_ENDING)
        if self._is_own:
            self._provider.shutdown()

    @property
    def call_watcher(self) -> CallWatcher | None:
        """Makes a span for each call."""
        return self._watch

    def _watch(self, call: CallStart) -> OnCallEnd:
        attributes = {**call_attributes(call), **({"psopt.phase": self._phase} if self._phase else {})}
        if self._has_content:
            attributes["gen_ai.input.messages"] = _messages(call.request.get("messages", ()))
        kind = importlib.import_module("opentelemetry.trace").SpanKind.CLIENT
        name = f"chat {attributes['gen_ai.request.model']}"
        span = self._span(name, self._trial_span or self._root(), attributes, kind=kind)

        def end(outcome: CallEnd) -> None:
            span.set_attributes(end_attributes(outcome))
            if self._has_content and outcome.text is not None:
                said = {"role": "assistant", "content": outcome.text, "finish_reason": outcome.finish_reason}
                span.set_attribute("gen_ai.output.messages", _messages([said]))
            if outcome.error:
                self._fail(span, outcome.error, outcome.message if self._has_content else "")
            span.end()

        return end

    def _root(self) -> Any:
        """The run's span, begun where it is first needed."""
        if self._run_span is None:
            self._run_span = self._span("psopt", None, {})
        return self._run_span

    def _span(self, name: str, parent: Any, attributes: Mapping[str, Any], **more: Any) -> Any:
        trace = importlib.import_module("opentelemetry.trace")
        context = trace.set_span_in_context(parent) if parent is not None else None
        return self._tracer.start_span(name, context=context, attributes=attributes, **more)

    def _end_trial(self, *, failed: bool = False) -> None:
        if self._trial_span is None:
            return
        if failed:
            self._fail(self._trial_span, "failed", "")
        self._trial_span.end()
        self._trial_span = None

    def _fail(self, span: Any, error: str, message: str) -> None:
        trace = importlib.import_module("opentelemetry.trace")
        span.set_attribute("error.type", error)
        span.set_status(trace.Status(trace.StatusCode.ERROR, message or None))

    def _own_provider(self, sdk: Any) -> Any:
        """A provider for this run alone, made as OpenTelemetry's variables say."""
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        exporter = self._exporter()
        named = "OTEL_SERVICE_NAME" in os.environ or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
        provider = sdk.TracerProvider(
            resource=Resource.create({} if named else {"service.name": "psopt"}), shutdown_on_exit=False
        )
        if exporter is not None:
            provider.add_span_processor(BatchSpanProcessor(_telling(exporter, self._not_sent)))
        return provider

    def _exporter(self) -> Any:
        """What sends the spans; None where they are to go nowhere.

        Raises
        ------
        InputError
            If the variables ask for what psopt has not, or nobody answers there.
        """
        kind = os.environ.get("OTEL_TRACES_EXPORTER", "otlp").strip() or "otlp"
        if kind == "none" or os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
            return None
        if kind == "console":
            self.place = "spans on standard error"
            return importlib.import_module("opentelemetry.sdk.trace.export").ConsoleSpanExporter(out=sys.stderr)
        if kind != "otlp":
            raise InputError(f"--log otel: OTEL_TRACES_EXPORTER={kind} is none of otlp, console and none")
        if (protocol := _told("PROTOCOL") or _PROTOCOL) != _PROTOCOL:
            raise InputError(
                f"--log otel: spans are sent as {_PROTOCOL}, not {protocol} (OTEL_EXPORTER_OTLP_PROTOCOL); most "
                "receivers of grpc take them too, at port 4318"
            )
        http = import_extra("opentelemetry.exporter.otlp.proto.http.trace_exporter", "--log otel", "otel")
        endpoint = _told("ENDPOINT") or _ENDPOINT
        address = urlsplit(endpoint)
        shown = f"{address.scheme}://{address.netloc.rpartition('@')[2]}{address.path}"
        if reason := why_unreachable(endpoint):
            raise InputError(
                f"--log otel: nobody takes spans at {shown} ({reason}): see OTEL_EXPORTER_OTLP_ENDPOINT, "
                "or OTEL_TRACES_EXPORTER=console"
            )
        self.place = f"spans to {shown}"
        return http.OTLPSpanExporter()

    def _not_sent(self, reason: str) -> None:
        self._failure = self._failure or reason


def call_attributes(call: CallStart) -> dict[str, Any]:
    """What the conventions say of a request; its content is no part of that."""
    kind, _, name = call.model.partition("/")
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _PROVIDERS.get(kind, kind),
        "gen_ai.request.model": call.request.get("model") or name,
    }
    for attribute, fields in _REQUEST.items():
        value = next((call.request[field] for field in fields if call.request.get(field) is not None), None)
        if isinstance(value, int | float):
            attributes[attribute] = value
    if "response_format" in call.request:
        attributes["gen_ai.output.type"] = "json"
    address = urlsplit(call.endpoint or "")
    if address.hostname:
        attributes["server.address"] = address.hostname
        if port := address.port or _DEFAULT_PORTS.get(address.scheme):
            attributes["server.port"] = port
    return attributes


def end_attributes(outcome: CallEnd) -> dict[str, Any]:
    """What the conventions say of a response."""
    if outcome.error:
        return {}
    attributes: dict[str, Any] = {
        "gen_ai.usage.input_tokens": outcome.tokens_in,
        "gen_ai.usage.output_tokens": outcome.tokens_out,
        "gen_ai.response.finish_reasons": [outcome.finish_reason],
    }
    if outcome.cached_in:
        attributes["gen_ai.usage.cache_read.input_tokens"] = outcome.cached_in
    if outcome.reasoning:
        attributes["gen_ai.usage.reasoning.output_tokens"] = outcome.reasoning
    return attributes


def _context(trace_id: str, span_id: str) -> Any:
    trace = importlib.import_module("opentelemetry.trace")
    return trace.SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=True)


def _messages(messages: Sequence[Mapping[str, Any]]) -> str:
    """Messages as the conventions write them, as JSON: a role, and parts."""
    written = []
    for message in messages:
        rest = {name: value for name, value in message.items() if name not in {"role", "content"}}
        parts = [{"type": "text", "content": message.get("content")}]
        written.append({"role": message.get("role"), "parts": parts, **rest})
    return json.dumps(written, ensure_ascii=False)


def _told(what: str) -> str:
    """A variable of OTLP's, the one of traces first."""
    names = (f"OTEL_EXPORTER_OTLP_TRACES_{what}", f"OTEL_EXPORTER_OTLP_{what}")
    return next((os.environ[name].strip() for name in names if os.environ.get(name, "").strip()), "")


def _telling(exporter: Any, tell: Any) -> Any:
    """An exporter that tells when spans can't be sent, once and in psopt's words, in place of OpenTelemetry's log."""
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    for name in ("opentelemetry.exporter.otlp", "opentelemetry.exporter.http"):
        logging.getLogger(name).setLevel(logging.CRITICAL)

    class Telling(SpanExporter):
        def export(self, spans: Any) -> Any:
            result = exporter.export(spans)
            if result is not SpanExportResult.SUCCESS:
                tell("spans could not be sent")
            return result

        def shutdown(self) -> None:
            exporter.shutdown()

        def force_flush(self, timeout_millis: int = 30_000) -> bool:
            return bool(exporter.force_flush(timeout_millis))

    return Telling()
