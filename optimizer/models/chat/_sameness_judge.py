"""A model that says whether two free answers are the same: in both orders, read strictly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from psopt.answers import spoken
from psopt.models.chat._verdicts import DATA, ask_judge, check_read, tagged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.models._assessor import Pair
    from psopt.models.chat._writer import Writer
    from psopt.search_spaces import Messages

_SYSTEM = f"You compare answers. {DATA}"
_ASKED = (
    "Are <first> and <second> the same, as answers to <task>? They are if who reads one learns what who reads the "
    "other does: other words, another order or length make no difference; another fact, number, name or advice does. "
    "Answer yes or no, and nothing else."
)
_VERDICT = re.compile(r"\W*(?:answer\W{1,3})?(yes|no)\W*", re.IGNORECASE)


class SamenessJudge:
    """Compares answers, each pair once; see `psopt.models.Matcher`.

    Two are the same if the judge says so whichever stands first, or in the one order in which it can be read.

    Parameters
    ----------
    writer : Writer
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._verdicts: dict[Pair, tuple[bool | None, ...]] = {}

    def same(self, pairs: Sequence[Pair]) -> list[bool]:
        """Return of each pair whether its answers are the same; one without a verdict is not.

        Raises
        ------
        ModelError
            If more than a tenth of all so far get no verdict, asked twice in each order; or the judge can't be reached.
        """
        self._ask([pair for pair in dict.fromkeys(pairs) if pair not in self._verdicts])
        said = [[verdict for verdict in self._verdicts[pair] if verdict is not None] for pair in pairs]
        return [bool(verdicts) and all(verdicts) for verdicts in said]

    def measures(self, pairs: Sequence[Pair]) -> dict[str, float]:
        """Return of how many pairs the judge says the same in both orders."""
        both = [self._verdicts[pair] for pair in pairs if None not in self._verdicts[pair]]
        if not both:
            return {}
        return {"judge of sameness agrees with itself": sum(first == second for first, second in both) / len(both)}

    def _ask(self, unknown: Sequence[Pair]) -> None:
        if not unknown:
            return
        turned = [(text, second, first) for text, first, second in unknown]
        sides = [
            ask_judge(self._writer, [_messages(pair) for pair in side], read_verdict) for side in (unknown, turned)
        ]
        self._verdicts.update(zip(unknown, zip(*sides, strict=True), strict=True))
        unread = [_messages(pair) for pair, said in self._verdicts.items() if said == (None, None)]
        check_read(self._writer, unread, len(self._verdicts), "says of {share} pairs of answers neither yes nor no")


def read_verdict(text: str) -> bool | None:
    """Return what a judge's answer says; None if it is neither yes nor no.

    >>> [read_verdict(text) for text in ("Yes.", "**no**", "<think>no?</think> yes", "yes and no", "maybe")]
    [True, False, True, None, None]
    """
    match = _VERDICT.fullmatch(spoken(text) or "")
    return match[1].casefold() == "yes" if match else None


def _messages(pair: Pair) -> Messages:
    text, first, second = pair
    parts = [tagged("task", text), tagged("first", first), tagged("second", second), "", _ASKED]
    return [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": "\n".join(parts)}]
