"""A GGUF file's vocabulary and chat template, with the methods that psopt uses of a tokenizer of transformers."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.models.gguf._weights import GGUFWeights
    from psopt.search_spaces import Messages


class GGUFTokenizer:
    """What `PromptTokenizer` takes."""

    def __init__(self, weights: GGUFWeights) -> None:
        self._weights = weights
        self.chat_template = weights.chat_template

    def get_chat_template(self) -> str:
        """The chat template, which there must be."""
        return self.chat_template or ""

    def __call__(self, texts: str | Sequence[str], *, add_special_tokens: bool, **_: Any) -> dict[str, Any]:
        """The tokens of a text, or of each text."""
        if isinstance(texts, str):
            return {"input_ids": self._weights.tokens(texts, with_opening=add_special_tokens)}
        return {"input_ids": [self._weights.tokens(text, with_opening=add_special_tokens) for text in texts]}

    def apply_chat_template(
        self, conversations: Sequence[Messages], *, chat_template: str, add_generation_prompt: bool, **words: Any
    ) -> list[str]:
        """Each conversation as a text.

        Raises
        ------
        jinja2.TemplateError
            If the template refuses it.
        """
        template = self._environment.from_string(chat_template)
        words = {
            "add_generation_prompt": add_generation_prompt,
            "enable_thinking": words.get("enable_thinking"),
            "bos_token": self._weights.special_token("bos"),
            "eos_token": self._weights.special_token("eos"),
        }
        return [template.render(messages=messages, **words) for messages in conversations]

    @cached_property
    def _environment(self) -> ImmutableSandboxedEnvironment:
        """As transformers fills in such templates; it is a sandbox, since they come with the file."""
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.globals["raise_exception"] = _refuse
        environment.filters["tojson"] = lambda value, indent=None: json.dumps(value, ensure_ascii=False, indent=indent)
        return environment


def _refuse(message: str) -> None:
    raise TemplateError(message)
