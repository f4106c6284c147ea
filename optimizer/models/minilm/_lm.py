"""minilm as a language model for DSPy: an engine that reads the messages of DSPy's adapters and answers in their form.

It fills outputs of a class (Literal, Enum, bool) as the task model minilm would, and any other with the words of the
inputs that fit the instructions best. So DSPy programs run offline, free and deterministically, and change their
answers as they do with language models; but it is none.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from psopt.errors import import_extra
from psopt.models.minilm._model import MiniLM
from psopt.models.minilm._request import Reading, read_request
from psopt.tasks import read_bundled
from psopt.text import FUNCTION_WORDS, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_MOST_PHRASES = 24


def minilm_lm(reference_texts: Sequence[str] = (), *, cache_dir: Path | None = None, **settings: Any) -> Any:
    """Make a `dspy.LM` of the embedded model.

    Parameters
    ----------
    reference_texts : sequence of str, optional
        Unlabelled texts of the task, 20 or more: what is usual among them tells nothing. By default questions of the
        sample of TREC that psopt brings along, which suits questions best.
    cache_dir : Path, optional
        Where embeddings are kept between runs.
    **settings
        For `dspy.LM`, such as ``cache``.

    Raises
    ------
    MissingExtraError
        If dspy or torch is not installed.
    """
    dspy = import_extra("dspy", "minilm_lm", "dspy")
    engine = MiniLMEngine(reference_texts, cache_dir=cache_dir)
    return dspy.LM("psopt/minilm", engine=engine, async_engine=AsyncMiniLMEngine(engine), **settings)


class MiniLMEngine:
    """Answers requests that DSPy's ChatAdapter or JSONAdapter made; see `minilm_lm`.

    Attributes
    ----------
    n_calls : int
        How often it was asked.
    """

    def __init__(self, reference_texts: Sequence[str] = (), *, cache_dir: Path | None = None) -> None:
        self._reference = tuple(reference_texts) or _default_reference()
        self._model = MiniLM(self._reference, cache_dir=cache_dir)
        self._lock = threading.Lock()
        self.n_calls = 0

    def dump_state(self) -> dict[str, Any]:
        """Return what makes up the engine, as JSON data."""
        return {"reference_texts": list(self._reference)}

    @classmethod
    def load_state(cls, state: dict[str, Any]) -> MiniLMEngine:
        """Make the engine again."""
        return cls(state["reference_texts"])

    def complete(self, request: Any) -> Any:
        """Answer one request (an `lm15.Request`) with an `lm15.Response`."""
        from dspy import lm15

        text = self.answer(read_request(request))
        asked = len(str(request.system)) + sum(len(part.text) for message in request.messages for part in message.parts)
        return lm15.Response(
            id=None,
            model=request.model,
            message=lm15.Message(role="assistant", parts=(lm15.TextPart(text),)),
            finish_reason="stop",
            usage=lm15.Usage(input_tokens=asked // 4, output_tokens=len(text) // 4),
        )

    def answer(self, reading: Reading) -> str:
        """Fill the outputs in the form that was asked for."""
        with self._lock:
            self.n_calls += 1
            values = {field.name: self._value(field.name, reading) for field in reading.outputs}
        if reading.as_json:
            return json.dumps(values, ensure_ascii=False)
        parts = [f"[[ ## {name} ## ]]\n{value}" for name, value in values.items()]
        return "\n\n".join([*parts, "[[ ## completed ## ]]"])

    def _value(self, name: str, reading: Reading) -> str:
        labels = next(field.labels for field in reading.outputs if field.name == name)
        if not labels:
            phrase = self._phrase(reading)
            return f"It is about {phrase}." if name in {"reasoning", "rationale"} else phrase
        prompt = reading.prompt(name)
        predicted = int(self._model.predict([prompt], [reading.text])[0, 0])
        return labels[predicted] if predicted < len(labels) else ""

    def _phrase(self, reading: Reading) -> str:
        """The words of the text that are nearest to it as the instructions see it."""
        phrases = list(dict.fromkeys(_phrases(reading.text)))[:_MOST_PHRASES]
        if not phrases:
            return reading.text.strip() or "nothing"
        encode = self._model.encoder.encode
        wanted = encode([f"{reading.description} {reading.text}"])
        return phrases[int((encode(phrases) @ wanted.T)[:, 0].argmax())]


class AsyncMiniLMEngine:
    """The same for programs that are awaited; it computes, so there is nothing to wait for."""

    def __init__(self, engine: MiniLMEngine) -> None:
        self._engine = engine

    def dump_state(self) -> dict[str, Any]:
        """Return what makes up the engine, as JSON data."""
        return self._engine.dump_state()

    @classmethod
    def load_state(cls, state: dict[str, Any]) -> AsyncMiniLMEngine:
        """Make the engine again."""
        return cls(MiniLMEngine.load_state(state))

    async def complete(self, request: Any) -> Any:
        """Answer one request; see `MiniLMEngine.complete`."""
        return self._engine.complete(request)


def _phrases(text: str) -> Iterator[str]:
    """One and two content words in a row."""
    words = words_of(text)
    for start, word in enumerate(words):
        if word in FUNCTION_WORDS:
            continue
        yield word
        if start + 1 < len(words) and words[start + 1] not in FUNCTION_WORDS:
            yield f"{word} {words[start + 1]}"


def _default_reference() -> tuple[str, ...]:
    train, _ = read_bundled("trec")
    return tuple(sample.text for sample in train)
