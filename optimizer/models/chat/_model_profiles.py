"""What is known of models before they are asked, by their names: one line each, with its source.

Whatever a profile says, a server's own refusal says more: a profile only spares it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Reasoning is paid from the same limit as the answer. OpenAI advises to leave 25,000 tokens at first
# (platform.openai.com/docs/guides/reasoning); a label takes some hundreds, and what is left over costs nothing.
REASONING_ROOM = 8_000


@dataclass(frozen=True, slots=True)
class Profile:
    """What a family of models takes."""

    # Regular expression that the model's name fits from its beginning, after the last slash (``openai/gpt-5`` at
    # OpenRouter), in lower case
    names: str
    lacks: frozenset[str] = frozenset()  # names of features (`FEATURES`) that are not sent
    room: int = 0  # tokens that the model may think with, beside those of its answer
    seed: str = "seed"  # the field that holds the seed
    source: str = ""  # where this was read


_NO_CHOICE = frozenset({"temperature", "max_tokens", "logprobs"})

PROFILES = (
    Profile(
        r"o[134](-|$)",
        _NO_CHOICE,
        REASONING_ROOM,
        source="platform.openai.com/docs/guides/reasoning: max_completion_tokens, temperature fixed at 1, no logprobs",
    ),
    Profile(  # gpt-5.1 and later take a temperature while they don't reason, gpt-5-chat always
        r"gpt-5(-mini|-nano|-pro|-codex)?(-\d{4}.*)?$",
        _NO_CHOICE,
        REASONING_ROOM,
        source="platform.openai.com/docs/guides/latest-model: temperature, top_p and logprobs raise an error",
    ),
    Profile(
        r"(gpt-(3\.5|4)|chatgpt)",
        frozenset({"most logprobs"}),
        source="platform.openai.com/docs/api-reference/chat: top_logprobs is between 0 and 20",
    ),
    Profile(
        r"deepseek-chat$",
        frozenset({"json_schema"}),
        source="api-docs.deepseek.com/guides/json_mode: json_object alone, with the word json in the prompt",
    ),
    Profile(
        r"deepseek-reasoner$",
        frozenset({"json_schema", "logprobs"}),
        REASONING_ROOM,
        source="api-docs.deepseek.com/guides/reasoning_model: max_tokens holds the reasoning, logprobs raise an error",
    ),
    Profile(  # the names of Mistral's own service; elsewhere its models are called mistralai/Mistral-..
        r"((open-)?(mistral|ministral|magistral)-(tiny|small|medium|large|nemo|saba|\d+b)"
        r"|codestral|devstral|pixtral)(-(latest|\d{4}|small|medium|large|.*-latest))*$",
        seed="random_seed",
        source="docs.mistral.ai/api: random_seed in place of seed, other fields are refused (422)",
    ),
    Profile(
        r"(qwq|deepseek-r1|gpt-oss|gemini-(2\.5|3)|grok-(3-mini|4)|qwen3.*thinking)",
        room=REASONING_ROOM,
        source="these think before they answer, and pay for it from the same limit (their makers' model cards)",
    ),
)
_PLAIN = Profile("")


def profile_of(model: str) -> Profile:
    """Return what is known of a model.

    >>> profile_of("openai/gpt-5-mini").room, profile_of("mistral-small-latest").seed, profile_of("llama-3").lacks
    (8000, 'random_seed', frozenset())
    """
    name = model.rpartition("/")[2].casefold()
    return next((profile for profile in PROFILES if re.match(profile.names, name)), _PLAIN)
