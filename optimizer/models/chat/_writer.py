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

    def write(self, conversations: Sequence[Messages], *, temperature: float = 0.0, sample: int = 0) -> list[str]:
        """Return what the model writes next in each conversation; empty where it refused.

        Raises
        ------
        ModelError, BudgetReachedError
            As `Engine.answers`.
        """
        queries = [Query(messages, (), temperature, sample) for messages in conversations]
        return [answer.text or "" for answer in self._engine.answers(queries)]
