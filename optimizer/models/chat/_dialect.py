"""How a request is written for one server and model: with everything that is wanted and not known to be refused."""

from __future__ import annotations

import functools
import json
import re
from operator import eq
from typing import TYPE_CHECKING, Any, NamedTuple

from psopt.errors import InputError
from psopt.models.chat._client import ChatClient, ModelRefusedError, UnsupportedError
from psopt.models.chat._refusals import Feature

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from psopt.models.chat._client import Query
    from psopt.models.chat._refusals import Refusal
    from psopt.search_spaces import Messages
    from psopt.settings import LMConfig

Body = dict[str, Any]
# top_logprobs: the maximum at OpenAI (API reference, chat completions), and at Together, Fireworks and earlier
# versions of vLLM.
ALTERNATIVES = 20
FEWER_ALTERNATIVES = 5
# For answers restricted to a form: llama.cpp sends what was likely before its grammar. There, of SmolLM2's six labels
# for TREC (25 questions) half were not among the likeliest 20, and one in 37 was not among the likeliest 128.
MOST_ALTERNATIVES = 128
BOTH = "structure with logprobs"  # a separate name: a server that refuses the two together may accept each
TOKENS_ALONE = "logprobs of tokens"  # a separate name: a server that refuses alternatives may accept these
LEAST_TEMPERATURE = 0.01  # where 0 is refused: the nearest value that TGI and others accept


_STRUCTURED = r"response_?format|json_schema|\bstructured|\bguided|\bgrammar|json.?(mode|object)"
_LOGPROBS = r"log_?prob(abilitie)?s"
_LENGTH = r"\bmax_(completion_)?tokens\b"
_ROLES = r"\balternat\w+|\bconsecutive\b|same role"
_SYSTEM = rf"\broles?\b|\bsystem (message|prompt|instruction)|\bdeveloper (message|instruction)|{_ROLES}"


def _has(field: str) -> Callable[[Body], bool]:
    return lambda body: field in body


def _has_form(*forms: str) -> Callable[[Body], bool]:
    return lambda body: (body.get("response_format") or {}).get("type") in forms


def _more_alternatives_than(n: int) -> Callable[[Body], bool]:
    return lambda body: bool(body.get("top_logprobs", 0) > n)


def asks_for_tokens_alone(body: Body) -> bool:
    """Whether a request asks for the log-probabilities of the tokens that are written, and for no others."""
    return bool(body.get("logprobs")) and not body.get("top_logprobs")


def _both(body: Body) -> bool:
    return _has_form("json_schema", "json_object")(body) and bool(body.get("top_logprobs"))


def _roles(body: Body) -> list[str]:
    return [message["role"] for message in body.get("messages", ())]  # there are none where files or batches are asked


_IN_BOTH = rf"(?s)(?=.*({_STRUCTURED}))(?=.*{_LOGPROBS})"
_POSITIVE = r"positive|greater than 0|> ?0|above 0|non-?zero"
# In the order in which they are given up where a refusal does not say what it is about: the most dispensable first.
FEATURES = (
    Feature("most logprobs", _more_alternatives_than(ALTERNATIVES), "top_logprobs", _LOGPROBS),
    Feature(BOTH, _both, "response_format", f"{_STRUCTURED}|{_LOGPROBS}", _IN_BOTH),
    Feature("json_schema", _has_form("json_schema"), "response_format", _STRUCTURED),
    Feature("json_object", _has_form("json_object"), "response_format", _STRUCTURED),
    Feature("seed", _has("seed"), "seed", r"\bseed\b"),
    Feature("random_seed", _has("random_seed"), "random_seed", r"\b(random_)?seed\b"),
    Feature("many logprobs", _more_alternatives_than(FEWER_ALTERNATIVES), "top_logprobs", _LOGPROBS),
    Feature("logprobs", lambda body: 0 < body.get("top_logprobs", 0) <= FEWER_ALTERNATIVES, "top_logprobs", _LOGPROBS),
    Feature(TOKENS_ALONE, asks_for_tokens_alone, "logprobs", _LOGPROBS),
    Feature("temperature 0", lambda body: body.get("temperature") == 0, "temperature", r"\btemperature\b", _POSITIVE),
    Feature("temperature", _has("temperature"), "temperature", r"\btemperature\b"),
    Feature("max_tokens", _has("max_tokens"), "max_tokens", _LENGTH),
    Feature("max_completion_tokens", _has("max_completion_tokens"), "max_completion_tokens", _LENGTH),
    Feature("consecutive roles", lambda body: any(map(eq, _roles(body), _roles(body)[1:])), "messages", _ROLES),
    Feature("system role", lambda body: "system" in _roles(body), "messages", _SYSTEM),
)


def without_refused(body: Body, lacks: Container[str]) -> Body:
    """Write a request without the temperatures and roles that its server refuses."""
    body = dict(body)
    if "temperature" in lacks:
        body.pop("temperature", None)
    elif "temperature 0" in lacks and body.get("temperature") == 0:
        body["temperature"] = LEAST_TEMPERATURE
    if "system role" in lacks:
        body["messages"] = without_system(body["messages"])
    if "consecutive roles" in lacks:
        body["messages"] = alternating(body["messages"])
    return body


def without_system(messages: Messages) -> Messages:
    """Put the text of system messages at the beginning of the user's first message."""
    system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
    others = [dict(message) for message in messages if message["role"] != "system"]
    if not others or others[0]["role"] != "user":
        return [{"role": "user", "content": system}, *others]
    others[0]["content"] = f"{system}\n\n{others[0]['content']}"
    return others


def alternating(messages: Messages) -> Messages:
    """Join consecutive messages of the same role."""
    joined: Messages = []
    for message in messages:
        if joined and joined[-1]["role"] == message["role"]:
            joined[-1] = {**message, "content": f"{joined[-1]['content']}\n\n{message['content']}"}
        else:
            joined.append(message)
    return joined


def refused_part(
    client: ChatClient, refusal: Refusal, request: Body, message: str, *, has_own_form: bool
) -> Exception | None:
    """Return the error that says which part of a request is refused; None where the refusal does not say it."""
    feature = refusal.names(client.negotiable(request))
    if feature is not None:
        return UnsupportedError(feature.name, message)
    if has_own_form and re.search(_STRUCTURED, refusal.text, re.IGNORECASE):
        return ModelRefusedError(
            f"{client.endpoint or 'the server'} does not take the prompt's response format for {client.name}: "
            f"{message}; leave --response-format out, or give one that it takes"
        )
    return None


# Reasoning counts towards the same limit as the answer. OpenAI advises reserving 25,000 tokens at first
# (platform.openai.com/docs/guides/reasoning); a label needs some hundreds, and unused tokens cost nothing.
REASONING_ROOM = 8_000


class Profile(NamedTuple):
    """What a family of models accepts: knowing it in advance avoids a refusal, though a refusal says more."""

    # Regular expression that matches the beginning of the model's name after the last slash (``openai/gpt-5`` at
    # OpenRouter), in lower case
    names: str
    lacks: frozenset[str] = frozenset()  # names of features (`FEATURES`) that are not sent
    room: int = 0  # tokens for reasoning, in addition to those of the answer
    seed: str = "seed"  # the field that holds the seed


_NO_CHOICE = frozenset({"temperature", "max_tokens", "logprobs"})
PROFILES = (
    # platform.openai.com/docs/guides/reasoning and /latest-model; gpt-5.1 and later take a temperature while they don't
    # reason, gpt-5-chat always
    Profile(r"o[134](-|$)|gpt-5(-mini|-nano|-pro|-codex)?(-\d{4}.*)?$", _NO_CHOICE, REASONING_ROOM),
    Profile(r"(gpt-(3\.5|4)|chatgpt)", frozenset({"most logprobs"})),  # /docs/api-reference/chat: top_logprobs up to 20
    # api-docs.deepseek.com/guides/json_mode and /reasoning_model
    Profile(r"deepseek-chat$", frozenset({"json_schema"})),
    Profile(r"deepseek-reasoner$", frozenset({"json_schema", "logprobs"}), REASONING_ROOM),
    # docs.mistral.ai/api: the names at Mistral's own service; elsewhere its models are called mistralai/Mistral-..
    Profile(
        r"((open-)?(mistral|ministral|magistral)-(tiny|small|medium|large|nemo|saba|\d+b)"
        r"|codestral|devstral|pixtral)(-(latest|\d{4}|small|medium|large|.*-latest))*$",
        seed="random_seed",
    ),
    # These reason before they answer, and that counts towards the same limit (their makers' model cards).
    Profile(r"(qwq|deepseek-r1|gpt-oss|gemini-(2\.5|3)|grok-(3-mini|4)|qwen3.*thinking)", room=REASONING_ROOM),
)


def profile_of(model: str) -> Profile:
    """Return what is known of a model.

    >>> profile_of("openai/gpt-5-mini").room, profile_of("mistral-small-latest").seed, profile_of("llama-3").lacks
    (8000, 'random_seed', frozenset())
    """
    name = model.rpartition("/")[2].casefold()
    return next((profile for profile in PROFILES if re.match(profile.names, name)), Profile(""))


class ChatCompletionsClient(ChatClient):
    """A client that writes requests in OpenAI's protocol, and learns what to leave out."""

    features = FEATURES

    def __init__(self, model: str, options: LMConfig) -> None:
        self.model = model
        self._options = options
        self._profile = profile_of(model)
        self._extra = dict(options.extra_body or {})
        self.refused = {*self._profile.lacks} - {"max_tokens"}  # whose other name is only tried first
        self._own_forms: list[Any] = []

    def own_fields(self, request: Body) -> set[str]:
        return {*self._extra, "response_format"} if self.has_own_form(request) else {*self._extra}

    def has_own_form(self, body: Body) -> bool:
        """Whether a request's response format is the user's and not psopt's."""
        return body.get("response_format") in self._own_forms

    def request(self, query: Query) -> Body:
        """Write the body of a chat completion; raises ModelRefusedError if it wants probabilities that can't be had."""
        temperature = self._options.temperature if query.temperature is None else query.temperature
        body: Body = {"model": self.model, "messages": query.messages, "temperature": temperature}
        seed = self._profile.seed
        if seed not in self.refused:
            body[seed] = self._options.request_seed + query.asking
        self._add_length(body, query.max_tokens)
        if query.response_format:
            body["response_format"] = _own_form(query.response_format)
            if not self.has_own_form(body):
                self._own_forms.append(body["response_format"])
        has_logprobs = self._options.logprobs and bool(query.labels)
        if query.has_confidence:
            if TOKENS_ALONE in self.refused or "logprobs" in self._profile.lacks:
                raise self._no_logprobs()
            body["logprobs"] = True
        elif query.labels and not query.is_own and not (has_logprobs and BOTH in self.refused):
            self._add_form(body, query.labels)
        if has_logprobs:
            n_alternatives = self._n_alternatives(is_held=bool(labels_asked_for(body)))
            body |= {"logprobs": True, "top_logprobs": n_alternatives}
        body = without_refused(body, self.refused) | self._extra
        return {name: value for name, value in body.items() if value is not None}

    def _add_length(self, body: Body, wanted: int | None) -> None:
        """Add the limit on tokens under the name that the server accepts."""
        names = ["max_tokens", "max_completion_tokens"]
        if "max_tokens" in self._profile.lacks:
            names.reverse()
        name = next((name for name in names if name not in self.refused), None)
        if name is not None:
            body[name] = (wanted or self._options.max_tokens) + self._profile.room

    def _n_alternatives(self, *, is_held: bool) -> int:
        if "logprobs" in self.refused:
            raise self._no_logprobs()
        if "many logprobs" in self.refused:
            return FEWER_ALTERNATIVES
        return MOST_ALTERNATIVES if is_held and "most logprobs" not in self.refused else ALTERNATIVES

    def _no_logprobs(self) -> ModelRefusedError:
        return ModelRefusedError(f"{self.model} gives no log-probabilities at this server: leave --logprobs out")

    def _add_form(self, body: Body, labels: Sequence[str]) -> None:
        """Restrict the answer to the labels, or at least to JSON; OpenAI and DeepSeek then want it in the messages."""
        if not self._options.structured:
            return
        if "json_schema" not in self.refused:
            body["response_format"] = _one_of(labels)
            body["messages"] = _answering_in_json(body["messages"])
        elif "json_object" not in self.refused:
            body["response_format"] = {"type": "json_object"}
            body["messages"] = _asking_for_json(_answering_in_json(body["messages"]))


def labels_asked_for(body: Body) -> Sequence[str]:
    """Return the labels to which psopt's own request restricts the answer; empty where it names none."""
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
def _own_form(text: str) -> Any:
    """The user's response format: parsed once, as no request changes it."""
    return json.loads(text)


def _asking_for_json(messages: Messages) -> Messages:
    """Ask for JSON in the system message: the user's text does not change, and the text to classify stays last."""
    instruction = f"Answer in JSON: {json.dumps({'label': '...'})}"
    if messages and messages[0]["role"] == "system":
        return [{"role": "system", "content": f"{messages[0]['content']}\n{instruction}"}, *messages[1:]]
    return [{"role": "system", "content": instruction}, *messages]


def _answering_in_json(messages: Messages) -> Messages:
    """Write the answers to examples in the form that this answer should have."""
    messages = [dict(message) for message in messages]
    for message in messages:
        if message["role"] == "assistant":
            message["content"] = json.dumps({"label": message["content"]}, ensure_ascii=False)
    return messages


_NAME = "answer"
_FORMS = 'give a JSON schema, {"name": .., "schema": ..} or {"type": "json_schema", "json_schema": {"schema": ..}}'
# Keywords of JSON Schema 2020-12 that constrain a value. Whether the rest is a schema is for the server to judge.
_SAYING = frozenset({"type", "properties", "items", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "required"})


@functools.lru_cache(maxsize=64)
def read_response_format(text: str) -> str:
    """Read a user's response format, and return it in the form of requests, as JSON text.

    It is a JSON schema, alone, as ``{"name": .., "schema": ..}``, or in OpenAI's ``{"type": "json_schema", ..}``.
    Raises InputError, in one line, if it is not JSON or not a schema.

    >>> read_response_format('{"type": "object", "properties": {"team": {"type": "string"}}}')[:58]
    '{"type": "json_schema", "json_schema": {"name": "answer", '
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the response format is no JSON: {error}; {_FORMS}") from error
    if not isinstance(data, dict):
        raise InputError(f"the response format is no JSON schema but {json.dumps(data):.40}; {_FORMS}")
    if data.get("type") == "json_schema":
        inner = data.get("json_schema")
    elif "schema" in data:
        inner = data
    else:
        inner = {"name": _NAME, "schema": data}
    if not isinstance(inner, dict) or not isinstance(inner.get("schema"), dict):
        raise InputError(f"the response format holds no schema: {_FORMS}")
    named = {"name": _NAME, **inner}
    if not _SAYING & set(named["schema"]):
        shown = json.dumps(named["schema"], ensure_ascii=False)
        raise InputError(
            f"the response format is no JSON schema: {shown:.40} says neither type nor properties; {_FORMS}"
        )
    return json.dumps({"type": "json_schema", "json_schema": named}, ensure_ascii=False)
