"""Make OpenTelemetry spans: a run is a span, and each request to a language model is a span within it.

    pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http
    psopt optimize --dataset trec --model openai/gpt-5.4-mini --log otel_tracker:OTelTracker

Spans go to OTEL_EXPORTER_OTLP_ENDPOINT, unless your program has set its own tracer provider. Requests
follow the semantic conventions for generative AI. They contain no text of prompts, data or answers.
"""

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from psopt.tracking import Tracker


class OTelTracker(Tracker):
    """Makes spans for a run and its requests."""

    name = "otel"

    def __init__(self):
        if not isinstance(trace.get_tracer_provider(), TracerProvider):
            provider = TracerProvider()
            provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
            trace.set_tracer_provider(provider)
        self._tracer = trace.get_tracer("psopt")
        self._run = self._tracer.start_span("psopt")
        self.call_watcher = self._watch

    def start(self, run, _):
        """Name the run's span."""
        self._run.update_name(f"psopt {run.name}")
        self._run.set_attributes({f"psopt.settings.{name}": value for name, value in run.params.items()})

    def end(self, run, ending):
        """End the run's span with its scores."""
        scores = {name: value for name, value in run.metrics.items() if not name.endswith(("_low", "_high"))}
        self._run.set_attributes({**run.tags, **{f"psopt.{name}": value for name, value in scores.items()}})
        if ending != "finished":
            self._run.set_attribute("error.type", ending)

    def close(self):
        """Send the rest, even for a run that never began."""
        self._run.end()
        trace.get_tracer_provider().force_flush()

    def _watch(self, call):
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": call.model.partition("/")[0],
            "gen_ai.request.model": call.request.get("model") or call.model,
        }
        span = self._tracer.start_span(
            f"chat {attributes['gen_ai.request.model']}",
            context=trace.set_span_in_context(self._run),
            kind=trace.SpanKind.CLIENT,
            attributes=attributes,
        )

        def end(outcome):
            if outcome.error:
                span.set_attribute("error.type", outcome.error)
                span.set_status(trace.StatusCode.ERROR)
            else:
                span.set_attribute("gen_ai.usage.input_tokens", outcome.tokens_in)
                span.set_attribute("gen_ai.usage.output_tokens", outcome.tokens_out)
                span.set_attribute("gen_ai.response.finish_reasons", [outcome.finish_reason])
            span.end()

        return end
