"""What the fake server can be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.fake_server._batches import ENDINGS
from tests.fake_server._providers import PROVIDERS
from tests.fake_server._shapes import REFUSALS, SHAPES

if TYPE_CHECKING:
    from collections.abc import Collection

FAULTS = ("429", "500", "503", "hang", "half", "badjson", "empty", "null", "nochoices", "slow", "reset")
FIXED_AT_START = {"port", "task", "inputs", "label_column", "until_stdin_closes"}
_CHOICES: dict[str, Collection[str]] = {
    "provider": ("", "azure", *PROVIDERS),
    "shape": SHAPES,
    "structured": ("yes", "ignore", "no"),
    "logprobs": ("yes", "no", "free"),
    "batches": ("yes", "no"),
    "drafts": ("good", "bad", "obedient"),
    "faults": ("", "all", "quota", *FAULTS),  # one or more
    "batch_endings": ("", *ENDINGS),  # one or more
}


def _option(default: Any, help: str) -> Any:  # noqa: A002  # argparse's word
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, slots=True)
class FakeServerOptions:
    """What the server answers, which faults it shows, and what it does not take.

    The names are those of `FakeServer`'s keywords and, with hyphens, of the command line's options.
    """

    port: int = _option(0, "0: any free one")
    answer: str = _option("hash", "hash (of the messages), knows (what `task` says, but for errors), or fixed:TEXT")
    varies: float = _option(0.0, "of answer hash, above temperature 0: the share of messages answered by their seed")
    task: str = _option("", "the CSV or JSONL file whose texts are known")
    inputs: str = _option("text", "the columns of `task` that hold the text, with commas between")
    label_column: str = _option("label", "the column of `task` that holds the label")
    delay_ms: float = _option(0.0, "from a request to its answer")
    faults: str = _option("", f"all, or of {','.join(FAULTS)},quota (which is not in all): drawn at random")
    fault_rate: float = _option(0.3, "total probability of a fault, drawn as a request arrives")
    retry_after: float = _option(0.05, "seconds, the header of a 429")
    hang_ms: float = _option(0.0, "how long a hang lasts until the connection is cut; 0: for ever")
    serial: bool = _option(False, "answers one after another, each after delay_ms, wanted or not")
    rate_limit: int = _option(0, "429 whenever more requests than these are in flight; 0: never")
    structured: str = _option("ignore", "response_format: yes (answers in JSON), ignore, or no (answers 400)")
    logprobs: str = _option("yes", "yes, no: they are left out, or free: only of answers in a form")
    drafts: str = _option("good", "good, bad or obedient: how it writes rephrasings and proposals")
    lacks: str = _option("", "parameters that are answered with 400, with commas between")
    provider: str = _option("", f"refuses what one of these does: {', '.join(PROVIDERS)}, azure")
    model: str = _option("", "knows no model but this one")
    shape: str = _option("plain", f"how answers look: {', '.join(SHAPES)}")
    unanswerable: str = _option("", f"WORD:KIND,..: texts that are refused; of {', '.join(REFUSALS)}")
    reads: int = _option(0, "the most tokens of a prompt that it reads, the last ones; it counts no others")
    reasoning_tokens: int = _option(0, "thought before each answer, and counted with it")
    batches: str = _option("yes", "yes, or no: there is no batch API")
    batch_ms: float = _option(30.0, "from a batch's opening to its end; can be changed while it waits")
    batch_endings: str = _option("", f"of the next batches, with commas between, then completed: {', '.join(ENDINGS)}")
    batch_most_bytes: int = _option(200_000_000, "in a batch's file")
    poll_faults: int = _option(0, "so many of the next questions after a batch are answered with 503")
    cached_from: int = _option(0, "tokens from which on beginnings that were read before count as cached; 0: never")
    key: str = _option("", "asks for this key, and repeats any other in its error")
    until_stdin_closes: bool = _option(False, "ends when whoever started it has ended")

    def __post_init__(self) -> None:
        """Refuse what there is none of: a test that asks for it would hold nothing."""
        for name, choices in _CHOICES.items():
            for value in getattr(self, name).split(","):
                if value not in choices:
                    raise ValueError(f"{name} must be of {', '.join(filter(None, choices))}, not {value!r}")

    @property
    def drawn_faults(self) -> tuple[str, ...]:
        """The faults that `faults` names."""
        return FAULTS if self.faults == "all" else tuple(filter(None, self.faults.split(",")))

    @property
    def lacking(self) -> set[str]:
        """The parameters of requests that are answered with 400."""
        lacking = set(filter(None, self.lacks.split(",")))
        return lacking | {"response_format"} if self.structured == "no" else lacking
