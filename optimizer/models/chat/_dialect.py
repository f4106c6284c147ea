"""How a request is written for one server and model: everything that is wanted and not known to be refused."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

from psopt.models.chat._errors import ModelRefusedError
from psopt.models.chat._features import (
    ALTERNATIVES,
    BOTH,
    FEWER_ALTERNATIVES,
    MOST_ALTERNATIVES,
    TOKENS_ALONE,
    features_of,
    without_refused,
)
from psopt.models.chat._model_profiles import profile_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.models.chat._client import Query
    from psopt.models.chat._features import Body, Feature
    from psopt.search_spaces import Messages
    from psopt.settings import LMConfig


class Dialect:
    """Writes requests, and learns what to leave out."""

    def __init__(self, model: str, options: LMConfig) -> None:
        self._model = model
        self._options = options
        self._profile = profile_of(model)
        self._extra = dict(options.extra_body or {})
        self._refused: set[str] = set()
        self._own_forms: set[str] = set()

    def leave_out(self, feature: str) -> None:
        """Write requests without a feature from now on."""
        self._refused.add(feature)

    def take_back(self, feature: str) -> None:
        """Write requests with a feature again."""
        self._refused.discard(feature)

    def negotiable(self, body: Body) -> list[Feature]:
        """Return the features of a request that it can do without; not what is the user's own."""
        own = {*self._extra, *(["response_format"] if self.has_own_form(body) else [])}
        return [feature for feature in features_of(body) if feature.field not in own]

    def has_own_form(self, body: Body) -> bool:
        """Whether a request's response format is one of the user's, and none of psopt's."""
        return _canonical(body.get("response_format")) in self._own_forms

    def body(self, query: Query) -> Body:
        """Write the body of a chat completion.

        Raises ModelRefusedError if probabilities are wanted, and are not to be had.
        """
        temperature = self._options.temperature if query.temperature is None else query.temperature
        body: Body = {"model": self._model, "messages": query.messages, "temperature": temperature}
        seed = self._profile.seed
        if not self._lacks(seed):
            body[seed] = self._options.request_seed
        self._add_length(body, query.max_tokens)
        if query.response_format:
            body["response_format"], canonical = _own_form(query.response_format)
            self._own_forms.add(canonical)
        has_logprobs = self._options.logprobs and bool(query.labels)
        if query.has_confidence:
            body["logprobs"] = self._tokens_alone()
        elif query.labels and self._is_held(query, has_logprobs=has_logprobs):
            self._add_form(body, query.labels)
        if has_logprobs:
            n_alternatives = self._n_alternatives(is_held=bool(labels_asked_for(body)))
            body |= {"logprobs": True, "top_logprobs": n_alternatives}
        body = without_refused(body, self._refused | self._profile.lacks)
        if self._extra:
            body |= self._extra
            return {name: value for name, value in body.items() if value is not None}
        return body

    def _lacks(self, feature: str) -> bool:
        return feature in self._refused or feature in self._profile.lacks

    def _add_length(self, body: Body, wanted: int | None) -> None:
        """The limit on tokens under the name that the server takes; a profile says only which to try first."""
        names = ["max_tokens", "max_completion_tokens"]
        if "max_tokens" in self._profile.lacks:
            names.reverse()
        name = next((name for name in names if name not in self._refused), None)
        if name is not None:
            body[name] = (wanted or self._options.max_tokens) + self._profile.room

    def _is_held(self, query: Query, *, has_logprobs: bool) -> bool:
        """Whether an answer is held to a form of psopt's: never one to the user's own messages."""
        wanted = self._options.structured and not query.is_own
        return wanted and not (has_logprobs and self._lacks(BOTH))

    def _n_alternatives(self, *, is_held: bool) -> int:
        if self._lacks("logprobs"):
            raise self._no_logprobs()
        if self._lacks("many logprobs"):
            return FEWER_ALTERNATIVES
        return MOST_ALTERNATIVES if is_held and not self._lacks("most logprobs") else ALTERNATIVES

    def _tokens_alone(self) -> bool:
        if TOKENS_ALONE in self._refused or "logprobs" in self._profile.lacks:
            raise self._no_logprobs()
        return True

    def _no_logprobs(self) -> ModelRefusedError:
        return ModelRefusedError(f"{self._model} gives no log-probabilities at this server: leave --logprobs out")

    def _add_form(self, body: Body, labels: Sequence[str]) -> None:
        """Hold the answer to the labels, or at least to JSON; for that, OpenAI and DeepSeek want it in the messages."""
        if not self._lacks("json_schema"):
            body["response_format"] = _one_of(labels)
        elif not self._lacks("json_object"):
            body["response_format"] = {"type": "json_object"}
            body["messages"] = _asking_for_json(body["messages"])


def labels_asked_for(body: Body) -> Sequence[str]:
    """Return the labels that a request of psopt's holds the answer to; none where it names none."""
    schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema") or {}
    labels: Sequence[str] = ((schema.get("properties") or {}).get("label") or {}).get("enum") or ()
    return labels


def _one_of(labels: Sequence[str]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"label": {"type": "string", "enum": list(labels)}},
        "required": ["label"],
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}


@functools.lru_cache(maxsize=64)
def _own_form(text: str) -> tuple[Any, str]:
    """A response format of the user's, and how it is recognized: parsed once, as no request changes it."""
    form = json.loads(text)
    return form, _canonical(form)


def _canonical(form: Any) -> str:
    return json.dumps(form, sort_keys=True)


def _asking_for_json(messages: Messages) -> Messages:
    """Ask for JSON in the system message: what the user wrote stays as it is, the text to classify last."""
    asked = f"Answer in JSON: {json.dumps({'label': '...'})}"
    if messages and messages[0]["role"] == "system":
        return [{"role": "system", "content": f"{messages[0]['content']}\n{asked}"}, *messages[1:]]
    return [{"role": "system", "content": asked}, *messages]
