"""What a call takes: the tokens of the prompt and of a text, and money where a price is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.models.chat import tokens_of_text
from psopt.runs import CallPrice, price_line
from psopt.search import tokens_of_mean_text
from psopt.search_spaces import Prompt

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PROMPT = Prompt("Sort the mail by who has to answer it.", ("billing", "sales"))
LONGER = Prompt(PROMPT.description, PROMPT.labels, notes=("Whoever asks what an offer costs writes to sales.",))


def test_a_longer_prompt_and_longer_texts_take_more_tokens() -> None:
    bare = CallPrice.of(PROMPT, "minilm")
    text = "My bill is too high, and nobody answers the telephone."
    assert CallPrice.of(LONGER, "minilm").tokens > bare.tokens
    with_text = CallPrice.of(PROMPT, "minilm", tokens_of_mean_text([text, text]))
    assert abs(with_text.tokens - bare.tokens - tokens_of_text(text).middle) <= 1
    assert bare.usd_per_thousand is None


def test_a_thousand_calls_cost_what_a_thousand_times_the_tokens_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prices.toml").write_text('"openai/m" = { in = 2, out = 0 }')
    monkeypatch.setenv("PSOPT_PRICES", str(tmp_path / "prices.toml"))
    call = CallPrice.of(PROMPT, "openai/m")
    assert call.usd_per_thousand is not None
    assert abs(call.usd_per_thousand - call.tokens * 2 / 1000) < 0.002
    assert "USD for a thousand calls" in price_line(call, CallPrice.of(LONGER, "openai/m"))


def test_what_stays_the_same_is_said_once() -> None:
    assert price_line(CallPrice(41), CallPrice(41)) == "about 41 tokens per call"


def test_a_table_of_prices_that_can_t_be_read_spoils_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PSOPT_PRICES", "/nowhere/prices.toml")
    assert CallPrice.of(PROMPT, "openai/gpt-4o").usd_per_thousand is None
