"""A language model that shakes: it knows `who` and `how many`, and guesses at `when` by how it is asked."""

from __future__ import annotations

import json
import threading
import zlib
from typing import Any

import dspy
from dspy import lm15
from psopt.models.minilm import read_request


def response(request: Any, text: str) -> Any:
    message = lm15.Message(role="assistant", parts=(lm15.TextPart(text),))
    usage = lm15.Usage(input_tokens=10, output_tokens=2)
    return lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=usage)


class KeywordEngine:
    """Answers DSPy's adapters. `fails` says after how many calls it breaks down; `mumbles` at which word it mumbles."""

    def __init__(self, fails: int | None = None, mumbles: str = "") -> None:
        self.fails, self.mumbles, self.n_calls, self.lock = fails, mumbles, 0, threading.Lock()
        self.seen: list[Any] = []

    def dump_state(self) -> dict[str, Any]:
        return {}

    @classmethod
    def load_state(cls, state: Any) -> Any:
        return cls()

    def complete(self, request: Any) -> Any:
        with self.lock:
            self.n_calls += 1
            if self.fails is not None and self.n_calls > self.fails:
                raise lm15.ServerError("the house is on fire")
        reading = read_request(request)
        with self.lock:
            self.seen.append(reading)
        values = {field.name: self.value(field, reading) for field in reading.outputs}
        if self.mumbles and self.mumbles in reading.text:
            text = "Hm."
        elif reading.as_json:
            text = json.dumps(values)
        else:
            text = "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in values.items())
        return response(request, text)

    def value(self, field: Any, reading: Any) -> Any:
        if not field.labels:
            return self.topic(reading)
        text = reading.text.lower()
        if "who" in text or "name of" in text:
            return field.labels[1]
        if text.startswith("how many") or any("when" in bullet for bullet in reading.bullets):
            return field.labels[0]
        return field.labels[(zlib.crc32(reading.description.encode()) >> 3) % 2]  # wordings by rule differ in this bit

    def topic(self, reading: Any) -> Any:
        """Free text: what the question begins with; or, asked in an odd way, nothing that helps."""
        odd = "topic" in reading.outputs[0].name and zlib.crc32(reading.description.encode()) % 3 == 0
        return "something" if odd and not reading.demonstrations else reading.text.split()[0].lower()


class ShownEngine(KeywordEngine):
    """Is right where it is shown how it is done, and says the first class elsewhere."""

    def value(self, field: Any, reading: Any) -> Any:
        if not field.labels:
            return super().value(field, reading)
        is_person = "who" in reading.text or "name of" in reading.text
        return field.labels[int(is_person and bool(reading.demonstrations))]


class Awaited:
    """An engine as programs await it; what they ask counts as its own."""

    def __init__(self, engine: KeywordEngine) -> None:
        self.engine = engine

    def dump_state(self) -> dict[str, Any]:
        return {}

    async def complete(self, request: Any) -> Any:
        return self.engine.complete(request)


def lm_of(engine: KeywordEngine, name: str = "test/keywords") -> Any:
    return dspy.LM(name, engine=engine, async_engine=Awaited(engine), cache=False, num_retries=0)


def keyword_lm(**options: Any) -> Any:
    return lm_of(KeywordEngine(**options))


def n_calls(lm: Any) -> int:
    """How often a language model of these was asked."""
    return int(lm._engine_spec.n_calls)
