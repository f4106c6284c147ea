"""What a user may set about a language model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from psopt.errors import InputError

_LABEL_TOKENS = 256  # a label takes a dozen; the rest is for a model that thinks aloud a little
# What an answer may take that is more than a label: four times as much. A choice: a JSON object with a paragraph of
# reasons has 100 to 300 tokens, and what is not used costs nothing.
_ANSWER_TOKENS = 4 * _LABEL_TOKENS

CALIBRATIONS = ("auto", "off", "batch")


@dataclass(frozen=True, slots=True)
class LMConfig:
    """How language models are asked, and what a run may spend on them.

    Attributes
    ----------
    api_base : str or None
        Address of an OpenAI-compatible server; by default `$OPENAI_BASE_URL`, else OpenAI's.
    concurrency : int
        Most requests in flight.
    timeout : float
        Seconds to wait for an answer at first; then what answers take decides.
    retries : int
        How often a call that failed in passing is sent again, or a server that is away looked for.
    max_tokens : int
        Most tokens of one answer. Left at 256, it is 1,024 where a prompt's answers are more than a label
        (`most_tokens`).
    temperature, request_seed : float, int
        Sent where the server takes them.
    structured : bool
        Hold the model to the labels where the server can.
    logprobs : bool
        Ask for the probabilities of the labels and measure with them, not with the answers alone; of open answers for
        those of the tokens written, to tell how sure the model was.
    requests_per_minute : float or None
    max_unanswered : float
        The share of a grid's texts, in [0, 1], that a server may refuse for good (content filter, context length ..).
    max_calls, max_tokens_total : int or None
    max_cost : float or None
        US dollars. The limits hold for all models of a run together, each time that it is started or resumed.
    hf_likelihood : {"mean", "sum"}
        What a model under ``hf/`` scores a label by: the mean of its tokens' log-probabilities, or their sum.
    calibration : {"auto", "off", "batch"}
        Whether the label prior is taken out of decisions (see `psopt.models.CalibratedModel`) where label probabilities
        are to be had: where a prompt says so, and offered to a search; never; or under every prompt.
    extra_body : mapping or None
        Merged into every request, and part of what tells answers apart; a null leaves a field out.
    headers : mapping
        Sent with every request. Their values are taken for secrets: run.json keeps the names alone.
    api_version : str or None
        Azure's ``api-version``; by default `$OPENAI_API_VERSION`.
    batch : bool
        Ask grids by the server's batch API: at half the price, within a day. For ``openai/`` and ``azure/``.
    batch_size, max_batches : int
        Most requests in a batch (a server takes 50,000 at most), most batches open at once.
    batch_tick : float
        Seconds between two looks at batches that are open.
    batch_keep_files : bool
        Leave the files of batches at the server; by default they are deleted once their answers are kept.
    renegotiate : bool
        Find out anew what servers take; for one start, not for those that go on with a run.
    """

    api_base: str | None = None
    concurrency: int = 32
    timeout: float = 60.0
    retries: int = 12
    max_tokens: int = _LABEL_TOKENS
    temperature: float = 0.0
    request_seed: int = 42
    structured: bool = True
    logprobs: bool = False
    requests_per_minute: float | None = None
    max_unanswered: float = 0.05
    max_calls: int | None = None
    max_tokens_total: int | None = None
    max_cost: float | None = None
    hf_likelihood: str = "mean"
    calibration: str = "auto"
    extra_body: Mapping[str, Any] | None = None
    headers: Mapping[str, str | None] = field(default_factory=dict, repr=False)
    api_version: str | None = None
    batch: bool = False
    batch_size: int = 50_000
    batch_tick: float = 15.0
    max_batches: int = 100
    batch_keep_files: bool = False
    renegotiate: bool = False

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.hf_likelihood not in {"mean", "sum"}:
            raise InputError(f"hf_likelihood must be mean or sum, not {self.hf_likelihood!r}")
        if self.calibration not in CALIBRATIONS:
            raise InputError(f"calibration must be {', '.join(CALIBRATIONS)}, not {self.calibration!r}")
        least_of = {"concurrency": 1, "retries": 0, "max_tokens": 1, "batch_size": 1, "max_batches": 1}
        for name, least in least_of.items():
            if getattr(self, name) < least:
                raise InputError(f"{name} must be at least {least}, not {getattr(self, name)}")
        if not 0 <= self.max_unanswered <= 1:
            raise InputError(f"max_unanswered must be between 0 and 1, not {self.max_unanswered}")
        for name in ("timeout", "requests_per_minute", "batch_tick"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"{name} must be positive, not {value}")
        for name in ("max_calls", "max_tokens_total", "max_cost", "temperature"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise InputError(f"{name} must not be negative, but is {value}")

        self._check_body_and_headers()

    def _check_body_and_headers(self) -> None:
        if self.extra_body is not None and not isinstance(self.extra_body, Mapping):
            raise InputError('extra_body must be a JSON object, such as {"reasoning_effort": "low"}')
        taken = sorted({"model", "messages", "stream", "n"} & set(self.extra_body or ()))
        if taken:
            raise InputError(f"extra_body must not hold {taken[0]!r}: psopt sets it")
        for name, value in self.headers.items():
            if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) or (value and not value.isprintable()):
                raise InputError(f"{name!r} is no header that can be sent: give --header NAME=VALUE")

    def most_tokens(self, answer: str) -> int:
        """Most tokens of an answer that is read in a way (``label``, ``json:team`` ..): room for reasons beside it.

        >>> LMConfig().most_tokens("label"), LMConfig().most_tokens("json:team")
        (256, 1024)
        >>> LMConfig(max_tokens=100).most_tokens("json:team")
        100
        """
        is_long = answer != "label" and self.max_tokens == _LABEL_TOKENS
        return _ANSWER_TOKENS if is_long else self.max_tokens

    def changed(self, **changes: Any) -> LMConfig:
        """Return the options with those of these changes that are not None; headers are added to those there are."""
        wanted = {name: value for name, value in changes.items() if value is not None}
        if "headers" in wanted:
            wanted["headers"] = {**self.headers, **wanted["headers"]}
        return replace(self, **wanted)

    def to_dict(self) -> dict[str, Any]:
        """Return the options as run.json keeps them: headers without values, nothing that is for this start alone."""
        extra = dict(self.extra_body) if self.extra_body is not None else None
        kept = {option.name: getattr(self, option.name) for option in fields(self)}
        return {**kept, "extra_body": extra, "headers": dict.fromkeys(self.headers), "renegotiate": False}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> LMConfig:
        """Read the options back from run.json."""
        return cls(**data)
