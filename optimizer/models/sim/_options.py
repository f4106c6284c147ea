"""The simulated model's options, as they stand in its name."""

from __future__ import annotations

from dataclasses import dataclass, fields

from psopt.errors import InputError


@dataclass(frozen=True, slots=True)
class SimOptions:
    """What a simulated model is like.

    Attributes
    ----------
    accuracy : float in [0, 1]
        Expected share of right answers under a bare prompt.
    wobble : float in [0, 1]
        Mean share of a text's answers that depend on the wording. 0: S = 0; 1: all texts alike, S at its highest.
    na : float in [0, 1]
        Share of N/A in the wrong answers.
    grouped : float in [0, 1]
        Share of the texts that have their traits in common with those of the same label and opening word, so that
        weak spots can be named by a phrase. 0: every text for itself.
    obey : float, 0 or more
        How strongly edits pull; 0: the prompt is not read.
    seed : int
        Which of many such models.
    """

    accuracy: float = 0.7
    wobble: float = 0.3
    na: float = 0.1
    grouped: float = 0.5
    obey: float = 1.0
    seed: int = 42

    @classmethod
    def parse(cls, text: str) -> SimOptions:
        """Read options such as ``accuracy=0.6,wobble=0.3``, with or without ``sim/`` before them.

        Raises
        ------
        InputError
            If an option is unknown, stands twice or has a value it can't have.
        """
        written = [part.strip() for part in text.removeprefix("sim/").split(",") if part.strip()]
        pairs = [part.partition("=")[::2] for part in written]
        values = {name.strip(): _value(name.strip(), value.strip()) for name, value in pairs}
        if len(values) < len(pairs):
            raise InputError(f"model sim/{text}: an option stands twice")
        return cls(**values)  # type: ignore[arg-type]  # _value gives the seed as int

    @property
    def name(self) -> str:
        """The model's name: the options that are not the default."""
        default = SimOptions()
        values = ((one.name, getattr(self, one.name)) for one in fields(self))
        changed = (f"{name}={value}".removesuffix(".0") for name, value in values if value != getattr(default, name))
        return f"sim/{','.join(changed)}"


def _value(name: str, text: str) -> float | int:
    known = [one.name for one in fields(SimOptions)]
    if name not in known:
        raise InputError(f"model sim has no option {name!r}; its options are {', '.join(known)}, as in sim/wobble=0.3")
    highest = float("inf") if name in {"obey", "seed"} else 1.0
    try:
        value = int(text) if name == "seed" else float(text)
    except ValueError:
        value = float("nan")
    if not 0 <= value <= highest or value == float("inf"):
        kind = "a whole number, 0 or more" if name == "seed" else "0 or more" if name == "obey" else "from 0 to 1"
        raise InputError(f"model sim: {name}={text or '(nothing)'} can't be; it must be {kind}")
    return value
