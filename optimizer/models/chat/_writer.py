"""A language model that writes: rephrasings and proposals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.models.chat._client import Query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.models.chat._engine import Engine
    from psopt.search_spaces import Messages


class Writer:
    """Writes a text for each conversation; what was written once is not paid for again.

    Parameters
    ----------
    engine : Engine
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def name(self) -> str:
        """The model's name, as provenance gives it."""
        return self._engine.client.name

    def write(
        self,
        conversations: Sequence[Messages],
        *,
        temperature: float = 0.0,
        sample: int = 0,
        schemas: Sequence[str] = (),
    ) -> list[str]:
        """Return what the model writes next in each conversation; empty where it refused.

        `schemas` are JSON schemas of the answers, one a conversation, for models that can be held to one.

        Raises
        ------
        ModelError, BudgetReachedError
            As `Engine.answers`.
        """
        # Servers differ in what they make of a schema, and JSON is read where it stands in a text too: only llama.cpp
        # in this process, whose grammar is known to work, is sent one.
        holds = schemas and self._engine.client.name.startswith("gguf/")
        forms = schemas if holds else [""] * len(conversations)
        max_tokens = self._engine.options.most_tokens("text") if schemas else None  # JSON that is cut short is lost
        queries = [
            Query(messages, (), temperature, sample, form, max_tokens)
            for messages, form in zip(conversations, forms, strict=True)
        ]
        return [answer.text or "" for answer in self._engine.answers(queries)]
