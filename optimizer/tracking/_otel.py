"""OpenTelemetry: a run is a span, its trials are spans in it, and so is each call to a language model.

Calls follow the GenAI semantic conventions (opentelemetry.io/docs/specs/semconv/gen-ai, spans of clients), as of
version 1.37. Their names are written here: the package that holds them is marked as in development, and moves.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from psopt._version import __version__
from psopt.errors import InputError, import_extra
from psopt.tracking._base import Tracker
from psopt.tracking._surroundings import unless_set, why_unreachable

if TYPE_CHECKING:
    from psopt.models.chat import CallEnd, CallStart, OnCallEnd
    from psopt.search_spaces import Prompt
    from psopt.tracking._base import Ending
    from psopt.tracking._run_record import RunRecord
    from psopt.tracking._trial_record import TrialRecord

_ENDPOINT = "http://localhost:4318"  # of OTLP over HTTP, as the specification has it
_EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"


class OTelTracker(Tracker):
    """Makes spans, and sends them to the program's own tracer provider, else where OTEL_EXPORTER_OTLP_ENDPOINT says."""

    name = "otel"

    def __init__(self, provider: Any = None) -> None:
        self._provider = provider
        self._is_own = False
        self._spans: dict[str, Any] = {}
        self._failure = ""
        self.call_watcher = self._watch

    def check(self) -> None:
        """Import OpenTelemetry, and look for who takes the spans."""
        self._trace = import_extra("opentelemetry.trace", "--log otel", "otel")
        sdk = import_extra("opentelemetry.sdk.trace", "--log otel", "otel")
        theirs = self._trace.get_tracer_provider()
        if self._provider is None:
            self._is_own = not isinstance(theirs, sdk.TracerProvider)
            self._provider = self._own_provider(sdk) if self._is_own else theirs
        self._tracer = self._provider.get_tracer("psopt", __version__)

    def start(self, run: RunRecord, _: dict[str, Any]) -> None:
        """Name the run's span; the calls that came before it, which wrote rephrasings, are in it too."""
        self._run.update_name(f"psopt {run.name}")
        self._run.set_attributes({f"psopt.settings.{name}": value for name, value in run.params.items()})

    def begin_trial(self, number: int, prompt: Prompt) -> None:
        """Begin a trial's span; one that is open was broken off."""
        self._end("trial", "failed")
        attributes = {"psopt.trial": number, "psopt.prompt_id": prompt.id}
        self._spans["trial"] = self._begin(f"trial {number}", self._run, attributes)

    def trial(self, trial: TrialRecord) -> None:
        """End the trial's span with its scores; other workers' trials, and earlier ones, have none."""
        span = self._spans.get("trial")
        if span is not None and span.attributes["psopt.trial"] == trial.number:
            scores = {f"psopt.{name}": value for name, value in trial.metrics.items()}
            span.set_attributes({**scores, "psopt.n_edits": len(trial.edits), "psopt.raced": trial.raced})
            self._end("trial")

    def end(self, run: RunRecord, ending: Ending) -> None:
        """End the run's span with its scores, and send what is left."""
        self._run.set_attributes({**run.tags, **{f"psopt.{name}": value for name, value in run.metrics.items()}})
        self._end("trial", "failed")
        self._end("run", "" if ending == "finished" else ending)
        self.close()
        if self._failure:
            raise ConnectionError(self._failure)

    def close(self) -> None:
        """Send what is left, also of a run that never began."""
        self._end("trial", "failed")
        self._end("run")
        if self._is_own:
            self._provider.shutdown()
            self._is_own = False

    def _watch(self, call: CallStart) -> OnCallEnd:
        parent = self._spans.get("trial", self._run)
        attributes = _request_attributes(call)
        name = f"chat {attributes['gen_ai.request.model']}"
        span = self._begin(name, parent, attributes, self._trace.SpanKind.CLIENT)

        def end(outcome: CallEnd) -> None:
            if outcome.error:
                self._fail(span, outcome.error)
            else:
                span.set_attribute("gen_ai.usage.input_tokens", outcome.tokens_in)
                span.set_attribute("gen_ai.usage.output_tokens", outcome.tokens_out)
                span.set_attribute("gen_ai.response.finish_reasons", [outcome.finish_reason])
            span.end()

        return end

    @property
    def _run(self) -> Any:
        """The run's span, begun where it is first needed."""
        if "run" not in self._spans:
            self._spans["run"] = self._begin("psopt", None, {})
        return self._spans["run"]

    def _begin(self, name: str, parent: Any, attributes: dict[str, Any], kind: Any = None) -> Any:
        context = None if parent is None else self._trace.set_span_in_context(parent)
        kind = kind or self._trace.SpanKind.INTERNAL
        return self._tracer.start_span(name, context=context, attributes=attributes, kind=kind)

    def _end(self, which: str, error: str = "") -> None:
        if span := self._spans.pop(which, None):
            if error:
                self._fail(span, error)
            span.end()

    def _fail(self, span: Any, error: str) -> None:
        span.set_attribute("error.type", error)
        span.set_status(self._trace.StatusCode.ERROR)

    def _own_provider(self, sdk: Any) -> Any:
        """A provider for this run alone, made as OpenTelemetry's variables say."""
        export = import_extra("opentelemetry.sdk.trace.export", "--log otel", "otel")
        variables = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
        address = urlsplit(next(filter(None, map(os.environ.get, variables)), _ENDPOINT))
        shown = f"{address.scheme}://{address.netloc.rpartition('@')[2]}{address.path}"
        if reason := why_unreachable(address.geturl()):
            raise InputError(f"--log otel: nobody takes spans at {shown} ({reason}): see {variables[1]}")
        self.place = f"spans to {shown}"
        exporter = import_extra(_EXPORTER, "--log otel", "otel").OTLPSpanExporter()
        send = exporter.export
        logging.getLogger("opentelemetry.exporter").setLevel(logging.CRITICAL)  # what fails is said once, by psopt

        def export_and_tell(spans: Any) -> Any:
            result = send(spans)
            if result is not export.SpanExportResult.SUCCESS:
                self._failure = "spans could not be sent"
            return result

        exporter.export = export_and_tell
        with unless_set(OTEL_SERVICE_NAME="psopt"):
            provider = sdk.TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(export.BatchSpanProcessor(exporter))
        return provider


def _request_attributes(call: CallStart) -> dict[str, Any]:
    """What the conventions say of a request; its content is no part of that."""
    kind, _, name = call.model.partition("/")
    request, address = call.request, urlsplit(call.endpoint or "")
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "azure.ai.openai" if kind == "azure" else kind,
        "gen_ai.request.model": request.get("model") or name,
        "gen_ai.request.max_tokens": request.get("max_tokens") or request.get("max_completion_tokens"),
        **{f"gen_ai.request.{field}": request.get(field) for field in ("temperature", "top_p", "seed")},
        "server.address": address.hostname,
        "server.port": address.port or (443 if address.scheme == "https" else 80) if address.hostname else None,
    }
    return {name: value for name, value in attributes.items() if value is not None}
