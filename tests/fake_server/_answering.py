"""What the fake server says: a chat completion for a request, the same one each time."""

from __future__ import annotations

import hashlib
import json
import math
from typing import TYPE_CHECKING, Any

from tests.fake_server._answer_form import answer_frame, schema_frame, thought_about
from tests.fake_server._conversation import read_conversation
from tests.fake_server._drafts import written
from tests.fake_server._prompt_reading import dspy_field, listed_labels, text_of
from tests.fake_server._reading_model import ReadingModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.fake_server._answer_form import Frame
    from tests.fake_server._conversation import Conversation
    from tests.fake_server._options import FakeServerOptions

ANSWER_SHARE = 0.7  # of the probability, where there is no model to ask; the other labels share the rest
TOKEN = 3  # characters
END = "<|end|>"


class BadRequestError(Exception):
    """A request that makes no sense."""


def digest(body: dict[str, Any]) -> str:
    """sha256 of a request's canonical JSON: messages and parameters, whatever their order."""
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class Answerer:
    """Answers requests; a model of psopt's own, where it is asked for, is loaded once."""

    def __init__(self) -> None:
        self._models: dict[str, ReadingModel] = {}

    async def load(self, options: FakeServerOptions) -> ReadingModel | None:
        """Load the model that reads prompts, if there is one, so that the first request need not wait for it."""
        name = options.reading_model
        if not name:
            return None
        if name not in self._models:
            self._models[name] = ReadingModel(name, options.task, options.task_columns)
        await self._models[name].load()
        return self._models[name]

    async def answer(self, body: dict[str, Any], options: FakeServerOptions) -> dict[str, Any]:
        """Return a chat completion for a request."""
        message = _user_message(body)
        text = written(message, body.get("temperature") or 0.0, options.drafts)
        if text is not None:
            return self.completion(body, text)
        model = await self.load(options)
        labels = _labels(body, options, model)
        shares: dict[str, float] | None = None
        if options.answer.startswith("fixed:"):
            answer = options.answer.removeprefix("fixed:")
        elif not labels:
            answer = "There are no labels to choose from."
        elif model:
            answer, shares = await model.label(body["messages"], tuple(labels))
        else:
            answer = labels[int(digest(_decisive(body, options.varies))[:12], 16) % len(labels)]
        before, after = _frame(body, message, labels, options, model)
        places = None
        is_told = options.logprobs == "yes" or (options.logprobs == "free" and "response_format" not in body)
        if is_told and body.get("logprobs"):
            shares = shares or _shares(answer, labels)
            places = token_logprobs(before, answer, after, shares, body.get("top_logprobs") or 0)
        return self.completion(body, before + answer + after, places)

    @staticmethod
    def completion(
        body: dict[str, Any], text: str | None, places: list[dict[str, Any]] | None = None
    ) -> dict[str, Any]:
        """Return the answer's JSON: a token of `usage` is four characters, `max_tokens` cuts."""
        tokens_in = sum(len(str(turn.get("content") or "")) for turn in body.get("messages", ())) // 4
        most = body.get("max_completion_tokens") or body.get("max_tokens")
        tokens_out = max(1, len(text or "") // 4)
        reason = "stop"
        if text and most and tokens_out > most:
            text = text[: most * 4]
            tokens_out = most
            reason = "length"
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text, "refusal": None},
            "logprobs": {"content": places, "refusal": None} if places else None,
            "finish_reason": reason,
        }
        return {
            "id": f"chatcmpl-{digest(body)[:12]}",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model", "test"),
            "choices": [choice],
            "usage": {
                "prompt_tokens": tokens_in,
                "completion_tokens": tokens_out,
                "total_tokens": tokens_in + tokens_out,
            },
        }


def _decisive(body: dict[str, Any], varies: float) -> Any:
    """What an answer by hash hangs on: the messages, and at a temperature the seed, for a share of them."""
    messages = body["messages"]
    is_drawn = (body.get("temperature") or 0.0) > 0 and int(digest(messages)[-8:], 16) / 16**8 < varies
    return [messages, body.get("seed")] if is_drawn else messages


def _listed(body: dict[str, Any]) -> list[str]:
    """The labels that some turn of the user's lists: the first, where examples are turns."""
    said = (text_of(turn) for turn in body["messages"] if turn["role"] == "user")
    return next(filter(None, map(listed_labels, said)), [])


def _labels(body: dict[str, Any], options: FakeServerOptions, model: ReadingModel | None) -> Sequence[str]:
    """What may be answered: what the request allows, psopt's own form or DSPy's lists, or the server was told."""
    told = options.told_labels or (model.labels if model else ())
    allowed = _allowed_labels(body, told) if options.structured == "yes" else None
    return allowed or _listed(body) or told


def _frame(
    body: dict[str, Any], message: str, labels: Sequence[str], options: FakeServerOptions, model: ReadingModel | None
) -> Frame:
    """What stands before and after the label, in the form that the request asks for."""
    listed = _listed(body)
    if options.structured == "yes" and "response_format" in body:
        schema = _schema(body)
        if schema or listed:
            return schema_frame(schema, labels, "" if listed else thought_about(message))
    if field := dspy_field(message):
        return f"[[ ## {field} ## ]]\n", "\n\n[[ ## completed ## ]]"
    if listed or not labels or options.answer.startswith("fixed:"):
        return "", ""
    return answer_frame(_read(body, labels, model), labels)


def _read(body: dict[str, Any], labels: Sequence[str], model: ReadingModel | None) -> Conversation:
    messages = body["messages"]
    return model.conversation(messages, labels) if model else read_conversation(messages, labels)


def token_logprobs(before: str, answer: str, after: str, shares: dict[str, float], n_top: int) -> list[dict[str, Any]]:
    """Log-probabilities of the tokens of an answer: those of the labels that may still follow, the rest is certain.

    >>> first, second = token_logprobs("", "Number", "", {"Number": 0.7, "Entity": 0.2, "Nut": 0.1}, 2)
    >>> [(token["token"], round(math.exp(token["logprob"]), 3)) for token in first["top_logprobs"]]
    [('Num', 0.7), ('Ent', 0.2)]
    >>> first["token"], second["token"], second["logprob"]
    ('Num', 'ber', 0.0)
    """
    places = [_place(token, {token: 1.0}, n_top) for token in _tokens(before)]
    for index, token in enumerate(_tokens(answer)):
        start = index * TOKEN
        next_tokens: dict[str, float] = {}
        for label, share in shares.items():
            if label.startswith(answer[:start]):
                following = label[start : start + TOKEN] or END
                next_tokens[following] = next_tokens.get(following, 0.0) + share
        places.append(_place(token, next_tokens, n_top))
    return [*places, *(_place(token, {token: 1.0}, n_top) for token in _tokens(after))]


def _place(token: str, shares: dict[str, float], n_top: int) -> dict[str, Any]:
    total = sum(shares.values())
    ranked = sorted(((text, math.log(share / total)) for text, share in shares.items()), key=lambda pair: -pair[1])
    return {
        **_token(token, dict(ranked)[token]),
        "top_logprobs": [_token(text, logprob) for text, logprob in ranked[:n_top]],
    }


def _token(text: str, logprob: float) -> dict[str, Any]:
    return {"token": text, "logprob": logprob, "bytes": list(text.encode())}


def _tokens(text: str) -> list[str]:
    return [text[start : start + TOKEN] for start in range(0, len(text), TOKEN)]


def _shares(answer: str, labels: Sequence[str]) -> dict[str, float]:
    others = [label for label in labels if label != answer]
    return {answer: ANSWER_SHARE} | {label: (1 - ANSWER_SHARE) / len(others) for label in others}


def _user_message(body: dict[str, Any]) -> str:
    try:
        return next(text_of(turn) for turn in reversed(body["messages"]) if turn["role"] == "user")
    except (KeyError, TypeError, AttributeError, StopIteration):
        raise BadRequestError("'messages' must hold a user message") from None


def _schema(body: dict[str, Any]) -> dict[str, Any]:
    """The schema of a `response_format`."""
    schema: dict[str, Any] = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema") or {}
    return schema


def _allowed_labels(body: dict[str, Any], told: Sequence[str]) -> list[str] | None:
    """The enumeration in a `response_format`; of several the one that holds the labels, where they were told."""
    properties = _schema(body).get("properties", {}).values()
    enumerations = [field["enum"] for field in properties if "enum" in field]
    return next((choices for choices in enumerations if told and set(told) <= set(choices)), None) or next(
        iter(enumerations), None
    )
