"""How language models are asked, and what a run may spend on them."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from psopt.errors import InputError
from psopt.settings._option import LIMITS, MODEL, check, pairs, told

_LABEL_TOKENS = 256  # a label takes a dozen; the rest allows a model to think aloud a little
# An answer that is more than a label may take four times as much. A choice: a JSON object with a paragraph of reasons
# has 100 to 300 tokens, and unused tokens cost nothing.
_ANSWER_TOKENS = 4 * _LABEL_TOKENS
_RESUME = ("resume",)
_ELSEWHERE = ("resume", "worker")
_ANYWHERE = ("resume", "worker", "export")
_LIMIT = ("resume", "export")


def _json_object(text: str) -> dict[str, Any]:
    try:
        body = json.loads(text)
    except ValueError as error:
        raise ValueError(f"no JSON: {error}") from None
    if not isinstance(body, dict):
        raise ValueError('a JSON object is expected, such as \'{"reasoning_effort": "low"}\'')
    return body


@told
@dataclass(frozen=True, slots=True)
class LMConfig:
    """How language models are asked, and what a run may spend on them.

    The limits are for all models of a run together, counted from its beginning, also where it is resumed. Values of
    headers are treated as secrets: run.json has only the names.
    """

    api_base: str | None = MODEL.first(
        "An OpenAI-compatible server, such as http://localhost:8000/v1",
        "URL",
        changed_by=_ANYWHERE,
        shown_default="$OPENAI_BASE_URL or OpenAI",
    )
    concurrency: int = MODEL.option("Maximum parallel requests.", "N", default=32, least=1, changed_by=_ELSEWHERE)
    timeout: float = MODEL.rare(
        "Seconds to wait for an answer at first; then what answers take decides.",
        "S",
        default=60.0,
        above=0,
        changed_by=_RESUME,
    )
    retries: int = MODEL.rare(
        "How often a failed call is sent again, or an unreachable server is retried.",
        "N",
        default=12,
        least=0,
        changed_by=_RESUME,
    )
    max_tokens: int = MODEL.rare(
        f"Most tokens of one answer; left at {_LABEL_TOKENS}, it is {_ANSWER_TOKENS:,} for answers that are more than "
        "a label.",
        "N",
        default=_LABEL_TOKENS,
        least=1,
        changed_by=_RESUME,
    )
    temperature: float = 0.0
    request_seed: int = 42
    structured: bool = MODEL.rare(
        "Restrict answers to the labels where the server can, or let it answer freely.",
        default=True,
        flags="--structured/--plain",
    )
    logprobs: bool = MODEL.rare(
        "Measure with the labels' probabilities; of open answers, how sure of them it was.", default=False
    )
    requests_per_minute: float | None = LIMITS.rare("Maximum requests per minute.", "N", above=0)
    max_unanswered: float = LIMITS.rare(
        "Stop, resumable, if the server refuses a larger share of the texts for good.",
        "X",
        default=0.05,
        least=0,
        most=1,
        changed_by=_RESUME,
    )
    max_calls: int | None = LIMITS.option("Stop, resumable, before more calls.", "N", least=0, changed_by=_LIMIT)
    max_tokens_total: int | None = LIMITS.rare("Stop before more tokens in all.", "N", least=0, changed_by=_LIMIT)
    max_cost: float | None = LIMITS.first(
        "Stop before a higher cost, in US dollars.", "USD", least=0, changed_by=_LIMIT
    )
    hf_likelihood: Literal["mean", "sum"] = MODEL.rare(
        "What local models score a label by: its tokens' mean log-likelihood, or their sum.", default="mean"
    )
    calibration: Literal["auto", "off", "batch"] = MODEL.rare(
        "Take the model's preference for some labels out, by unlabelled texts: where that helps, never, or always.",
        default="auto",
    )
    extra_body: Mapping[str, Any] | None = MODEL.rare(
        "Merged into every request; a null leaves a field out.", "JSON", read=_json_object, changed_by=_ANYWHERE
    )
    headers: Mapping[str, str | None] = MODEL.rare(
        "Sent with every request; may be repeated. Values are kept nowhere: give them again to resume.",
        "K=V",
        default={},
        flags="--header",
        read=pairs,
        write=dict.fromkeys,  # only their names
        repeats=True,
        changed_by=_ANYWHERE,
    )
    api_version: str | None = MODEL.rare(
        "Azure's api-version", "V", changed_by=_ANYWHERE, shown_default="$OPENAI_API_VERSION"
    )
    batch: bool = MODEL.option(
        "Ask by the server's batch API: at half the price, within a day; Ctrl-C and resume.",
        default=False,
        changed_by=_RESUME,
    )
    batch_size: int = MODEL.rare("Most requests in a batch.", "N", default=50_000, least=1, changed_by=_RESUME)
    batch_tick: float = MODEL.rare(
        "Seconds between two looks at open batches.", "S", default=15.0, above=0, changed_by=_RESUME
    )
    max_batches: int = MODEL.rare("Most batches open at once.", "N", default=100, least=1, changed_by=_RESUME)
    batch_keep_files: bool = MODEL.rare(
        "Leave the files of batches at the server once their answers are kept.", default=False, changed_by=_RESUME
    )
    renegotiate: bool = MODEL.rare(
        "Detect again what the server takes.",
        default=False,
        write=lambda _: False,  # it is for one start, not for a resumed run
        changed_by=_ANYWHERE,
    )

    def __post_init__(self) -> None:
        check(self, temperature=0)
        if self.extra_body is not None and not isinstance(self.extra_body, Mapping):
            raise InputError('extra_body must be a JSON object, such as {"reasoning_effort": "low"}')
        taken = sorted({"model", "messages", "stream", "n"} & set(self.extra_body or ()))
        if taken:
            raise InputError(f"extra_body must not hold {taken[0]!r}: psopt sets it")
        if not isinstance(self.headers, Mapping):
            raise InputError(f"headers must be a dict of names and values, not {self.headers!r:.60}")
        for name, value in self.headers.items():
            if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) or (value and not value.isprintable()):
                raise InputError(f"{name!r} is no header that can be sent: give --header NAME=VALUE")

    @property
    def draws(self) -> bool:
        """Whether answers are sampled: at a temperature above 0, also if `extra_body` sets it."""
        return float((self.extra_body or {}).get("temperature") or self.temperature) > 0

    def most_tokens(self, answer: str) -> int:
        """The most tokens of an answer, by how it is read (``label``, ``json:team`` ..): with room for reasons, too.

        >>> LMConfig().most_tokens("label"), LMConfig().most_tokens("json:team")
        (256, 1024)
        >>> LMConfig(max_tokens=100).most_tokens("json:team")
        100
        """
        is_long = answer != "label" and self.max_tokens == _LABEL_TOKENS
        return _ANSWER_TOKENS if is_long else self.max_tokens

    def changed(self, **changes: Any) -> Self:
        """Return the options with those of these changes that are not None; headers are added to the existing ones."""
        wanted = {name: value for name, value in changes.items() if value is not None}
        if "headers" in wanted:
            wanted["headers"] = {**self.headers, **wanted["headers"]}
        return replace(self, **wanted)
