"""What a user may set about a language model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psopt.errors import InputError


@dataclass(frozen=True, slots=True)
class LmOptions:
    """How language models are asked, and what a run may spend on them.

    Attributes
    ----------
    api_base : str or None
        Address of an OpenAI-compatible server; by default `$OPENAI_BASE_URL`, else OpenAI's.
    concurrency : int
        Most requests in flight.
    timeout : float
        Seconds to wait for one answer.
    retries : int
        How often a call that failed in passing is sent again.
    max_tokens : int
        Most tokens of one answer.
    temperature, request_seed : float, int
        Sent where the server takes them.
    structured : bool
        Hold the model to the labels where the server can.
    logprobs : bool
        Ask for the probabilities of the labels and measure with them, not with the answers alone.
    requests_per_minute : float or None
    max_unanswered : float
        The share of a grid's texts, in [0, 1], that a server may refuse for good (content filter, context length ..).
    max_calls, max_tokens_total : int or None
    max_cost : float or None
        US dollars. The limits hold for all models of a run together, each time that it is started or resumed.
    hf_likelihood : {"mean", "sum"}
        What a model under ``hf/`` scores a label by: the mean of its tokens' log-probabilities, or their sum.
    """

    api_base: str | None = None
    concurrency: int = 32
    timeout: float = 60.0
    retries: int = 12
    max_tokens: int = 256
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

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.hf_likelihood not in {"mean", "sum"}:
            raise InputError(f"hf_likelihood must be mean or sum, not {self.hf_likelihood!r}")
        for name, least in {"concurrency": 1, "retries": 0, "max_tokens": 1}.items():
            if getattr(self, name) < least:
                raise InputError(f"{name} must be at least {least}, not {getattr(self, name)}")
        if not 0 <= self.max_unanswered <= 1:
            raise InputError(f"max_unanswered must be between 0 and 1, not {self.max_unanswered}")
        for name in ("timeout", "requests_per_minute"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"{name} must be positive, not {value}")
        for name in ("max_calls", "max_tokens_total", "max_cost", "temperature"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise InputError(f"{name} must not be negative, but is {value}")

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> LmOptions:
        """Read the options back from run.json."""
        return cls(**data)
