"""What the fake server says: a chat completion for a request, the same one each time."""

from __future__ import annotations

import ast
import hashlib
import json
import math
import re
from typing import TYPE_CHECKING, Any

from tests.fake_server._drafts import written
from tests.fake_server._known_texts import KnownTexts, frame_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.fake_server._options import FakeServerOptions

ANSWER_SHARE = 0.7  # of the probability, where there is no model to ask; the other labels share the rest
TOKEN = 3  # characters
END = "<|end|>"
_USAGE = ("prompt_tokens", "completion_tokens", "total_tokens")
_LABELS = re.compile(r"^Answer with exactly one of these labels and nothing else: (.*)$", re.MULTILINE)
_DSPY_FIELD = re.compile(r"starting with the field `\[\[ ## (\w+) ## \]\]`")
_DSPY_LABELS = re.compile(r"\(must be formatted as a valid Python Literal(\[.*?\])\)")


def digest(body: dict[str, Any]) -> str:
    """sha256 of a request's canonical JSON: messages and parameters, whatever their order."""
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class Answerer:
    """Answers requests; what is known of texts, where that is asked for, is read once."""

    def __init__(self, options: FakeServerOptions) -> None:
        columns = options.inputs.split(","), options.label_column
        self._known = KnownTexts(options.task, *columns) if options.task else None

    def answer(self, body: dict[str, Any], options: FakeServerOptions) -> dict[str, Any]:
        """Return a chat completion for a request."""
        asked = next(text_of(turn) for turn in reversed(body["messages"]) if turn["role"] == "user")
        text = written(asked, body.get("temperature") or 0.0, options.drafts)
        if text is not None:
            return self.completion(body, text)
        listed = _listed(body) or (_allowed(body) if options.structured == "yes" else [])
        turns = [text_of(turn) for turn in body["messages"]]
        knows = self._known if options.answer == "knows" else None
        labels = listed or (knows.labels if knows else ())
        if options.answer.startswith("fixed:"):
            answer = options.answer.removeprefix("fixed:")
        elif not labels:
            answer = "There are no labels to choose from."
        elif knows:
            answer = knows.answer("\n".join([*turns[:-1], ""]), asked)
        else:
            answer = labels[int(digest(_decisive(body, options.varies))[:12], 16) % len(labels)]
        start, end = "", ""
        if options.structured == "yes" and "response_format" in body:
            start, end = '{"label": "', '"}'
        elif field := _DSPY_FIELD.search(asked):
            start, end = f"[[ ## {field.group(1)} ## ]]\n", "\n\n[[ ## completed ## ]]"
        elif knows and not listed:
            start, end = frame_of("\n".join(turns))
        places = None
        is_told = options.logprobs == "yes" or (options.logprobs == "free" and "response_format" not in body)
        if is_told and body.get("logprobs"):
            places = token_logprobs(start, answer, end, _shares(answer, labels), body.get("top_logprobs") or 0)
        return self.completion(body, start + answer + end, places)

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
            "usage": dict(zip(_USAGE, (tokens_in, tokens_out, tokens_in + tokens_out), strict=True)),
        }


def _decisive(body: dict[str, Any], varies: float) -> Any:
    """What an answer by hash hangs on: the messages, and at a temperature the seed, for a share of them."""
    messages = body["messages"]
    is_drawn = (body.get("temperature") or 0.0) > 0 and int(digest(messages)[-8:], 16) / 16**8 < varies
    return [messages, body.get("seed")] if is_drawn else messages


def _listed(body: dict[str, Any]) -> list[str]:
    """The labels that some turn of the user's lists: the first, where examples are turns."""
    said = (text_of(turn) for turn in body["messages"] if turn["role"] == "user")
    return next(filter(None, map(_listed_in, said)), [])


def _allowed(body: dict[str, Any]) -> list[str]:
    """The labels that the schema of a `response_format` allows."""
    schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema") or {}
    return schema.get("properties", {}).get("label", {}).get("enum", [])


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
    likeliest = [{"token": text, "logprob": logprob} for text, logprob in ranked[:n_top]]
    return {"token": token, "logprob": dict(ranked)[token], "top_logprobs": likeliest}


def _tokens(text: str) -> list[str]:
    return [text[start : start + TOKEN] for start in range(0, len(text), TOKEN)]


def _shares(answer: str, labels: Sequence[str]) -> dict[str, float]:
    others = [label for label in labels if label != answer]
    return {answer: ANSWER_SHARE} | {label: (1 - ANSWER_SHARE) / len(others) for label in others}


def _listed_in(message: str) -> list[str]:
    """The labels that a rendered prompt lists, or that a DSPy program's signature allows."""
    if line := _LABELS.search(message):
        return line.group(1).split(", ")
    literal = _DSPY_LABELS.search(message)
    return list(ast.literal_eval(literal.group(1))) if literal else []


def text_of(message: Mapping[str, Any]) -> str:
    """A message's content, which may be a list of parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")
