"""What the test server says: a chat completion for a request, the same one each time."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

from prompt_reading import PromptReader, dspy_field, listed_labels
from writing import written

ANSWER_SHARE = 0.7  # of the probability, where there is no model to ask; the other labels share the rest
TOKEN = 3  # characters
END = "<|end|>"


class BadRequestError(Exception):
    """A request that makes no sense."""


def digest(body: dict[str, Any]) -> str:
    """sha256 of a request's canonical JSON: messages and parameters, whatever their order."""
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class Answerer:
    """Answers requests; minilm, where it is asked for, is loaded once.

    Parameters
    ----------
    task : str
        The task that lends minilm its unlabelled texts.
    """

    def __init__(self, task: str) -> None:
        self._task = task
        self.drafts = "good"
        self._reader: PromptReader | None = None

    async def load(self) -> None:
        """Load minilm, so that the first request need not wait for it."""
        if self._reader is None:
            self._reader = PromptReader(self._task)
        await self._reader.load()

    async def answer(self, body: dict[str, Any], way: str, *, structured: bool, logprobs: bool) -> dict[str, Any]:
        """Return a chat completion.

        Parameters
        ----------
        body : dict
            The request.
        way : str
            hash, minilm or fixed:TEXT.
        structured : bool
            Whether to follow `response_format`.
        logprobs : bool
            Whether to give log-probabilities to who asks for them.
        """
        message = _user_message(body)
        labels = (_allowed_labels(body) if structured else None) or listed_labels(message)
        text = written(message, body.get("temperature") or 0.0, self.drafts)
        if text is not None:
            return self.completion(body, text)
        if way.startswith("fixed:"):
            said, shares = way.removeprefix("fixed:"), None
        elif not labels:
            said, shares = "There are no labels to choose from.", None
        elif way == "minilm":
            await self.load()
            said, shares = await self._reader.label(message, tuple(labels))
        else:
            said, shares = labels[int(digest(body["messages"])[:12], 16) % len(labels)], None
        before, after = "", ""
        if structured and "response_format" in body:
            before, after = '{"label": "', '"}'
        elif field := dspy_field(message):
            before, after = f"[[ ## {field} ## ]]\n", "\n\n[[ ## completed ## ]]"
        places = None
        if logprobs and body.get("logprobs"):
            shares = shares or _shares(said, labels)
            places = token_logprobs(before, said, after, shares, body.get("top_logprobs") or 0)
        return self.completion(body, before + said + after, places)

    @staticmethod
    def completion(body: dict[str, Any], said: str | None, places: list[dict] | None = None) -> dict[str, Any]:
        """Return the answer's JSON: a token of `usage` is four characters, `max_tokens` cuts."""
        tokens_in = sum(len(str(one.get("content") or "")) for one in body.get("messages", ())) // 4
        most = body.get("max_completion_tokens") or body.get("max_tokens") or math.inf
        tokens_out = max(1, len(said or "") // 4)
        reason = "stop"
        if said and tokens_out > most:
            said, tokens_out, reason = said[: most * 4], most, "length"
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": said, "refusal": None},
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


def token_logprobs(before: str, said: str, after: str, shares: dict[str, float], n_top: int) -> list[dict]:
    """Log-probabilities of the tokens of an answer: those of the labels that may still follow, the rest is certain.

    >>> first, second = token_logprobs("", "Number", "", {"Number": 0.7, "Entity": 0.2, "Nut": 0.1}, 2)
    >>> [(one["token"], round(math.exp(one["logprob"]), 3)) for one in first["top_logprobs"]]
    [('Num', 0.7), ('Ent', 0.2)]
    >>> first["token"], second["token"], second["logprob"]
    ('Num', 'ber', 0.0)
    """
    places = [_place(token, {token: 1.0}, n_top) for token in _tokens(before)]
    for index, token in enumerate(_tokens(said)):
        start = index * TOKEN
        next_tokens: dict[str, float] = {}
        for label, share in shares.items():
            if label.startswith(said[:start]):
                following = label[start : start + TOKEN] or END
                next_tokens[following] = next_tokens.get(following, 0.0) + share
        places.append(_place(token, next_tokens, n_top))
    return [*places, *(_place(token, {token: 1.0}, n_top) for token in _tokens(after))]


def _place(token: str, shares: dict[str, float], n_top: int) -> dict[str, Any]:
    total = sum(shares.values())
    ranked = sorted(((one, math.log(share / total)) for one, share in shares.items()), key=lambda pair: -pair[1])
    return {
        **_token(token, dict(ranked)[token]),
        "top_logprobs": [_token(one, logprob) for one, logprob in ranked[:n_top]],
    }


def _token(text: str, logprob: float) -> dict[str, Any]:
    return {"token": text, "logprob": logprob, "bytes": list(text.encode())}


def _tokens(text: str) -> list[str]:
    return [text[start : start + TOKEN] for start in range(0, len(text), TOKEN)]


def _shares(said: str, labels: list[str]) -> dict[str, float]:
    others = [label for label in labels if label != said]
    return {said: ANSWER_SHARE} | {label: (1 - ANSWER_SHARE) / len(others) for label in others}


def _user_message(body: dict[str, Any]) -> str:
    try:
        return next(one["content"] for one in reversed(body["messages"]) if one["role"] == "user")
    except (KeyError, TypeError, StopIteration):
        raise BadRequestError("'messages' must hold a user message") from None


def _allowed_labels(body: dict[str, Any]) -> list[str] | None:
    """The one enumeration in a `response_format`."""
    schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema") or {}
    return next((one["enum"] for one in schema.get("properties", {}).values() if "enum" in one), None)
