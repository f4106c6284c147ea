"""When an empty answer is a fault that passes, and when it is the answer."""

from __future__ import annotations

# Where three answers of ten are empty by fault, seven empty ones in a row come once in some 5,000 texts.
_MOST = 6  # times that the same is asked again, of a server whose empty answers pass


class EmptyAnswers:
    """What asking again for empty answers has brought so far, from one server.

    An empty answer is paid for, so it is asked for once more only. Where that brings a text more often than not, empty
    answers are the server's faults and not the model's answers, and it is asked again a few times; a server that has
    answered others is given one such try on credit.
    """

    def __init__(self) -> None:
        self._filled = self._stayed = 0
        self._speaks = False

    def is_final(self, n_before: int) -> bool:
        """Whether an empty answer is taken for the answer, the same having been empty `n_before` times before it."""
        if n_before == 0:
            return False
        self._stayed += 1
        return n_before >= _MOST or self._filled + self._speaks < self._stayed

    def answered(self, text: str | None, n_empty: int) -> None:
        """Take note of an answer that came after `n_empty` empty ones."""
        if text:
            self._speaks = True
            self._filled += n_empty > 0
