"""The simulated model's options, as they stand in its name."""

from __future__ import annotations

from dataclasses import dataclass, fields

from psopt.errors import InputError

# As users of 0.1 type them, and as run.json holds them. What is typed in full is taken as well.
_TYPED = {"instability": "wobble", "compliance": "obey"}


@dataclass(frozen=True, slots=True)
class SimOptions:
    """What a simulated model is like."""

    accuracy: float = 0.7  # expected share of right answers under a bare prompt
    # Typed ``wobble``. Mean share of a text's answers that depend on the wording. 0: S = 0; 1: all texts alike, S at
    # its highest.
    instability: float = 0.3
    na: float = 0.1  # share of N/A in the wrong answers
    # Share of the texts that have their traits in common with those of the same label and opening word, so that weak
    # spots can be named by a phrase. 0: every text for itself.
    grouped: float = 0.5
    compliance: float = 1.0  # Typed ``obey``. How strongly edits pull; 0: the prompt is not read.
    seed: int = 42  # which of many such models

    @classmethod
    def parse(cls, text: str) -> SimOptions:
        """Read options such as ``accuracy=0.6,wobble=0.3``, with or without ``sim/`` before them.

        Raises InputError if an option is unknown, stands twice or has a value it can't have.
        """
        typed = [part.strip() for part in text.removeprefix("sim/").split(",") if part.strip()]
        pairs = [part.partition("=")[::2] for part in typed]
        values = dict(_option(name.strip(), value.strip()) for name, value in pairs)
        if len(values) < len(pairs):
            raise InputError(f"model sim/{text}: an option stands twice")
        return cls(**values)  # type: ignore[arg-type]  # _option gives the seed as int

    @property
    def name(self) -> str:
        """The model's name: the options that are not the default."""
        default = SimOptions()
        values = ((option.name, getattr(self, option.name)) for option in fields(self))
        changed = ((name, value) for name, value in values if value != getattr(default, name))
        return f"sim/{','.join(_TYPED.get(name, name) + f'={value}'.removesuffix('.0') for name, value in changed)}"


def _option(typed: str, text: str) -> tuple[str, float | int]:
    """Read one option as it is typed: its name, and its value."""
    names = {_TYPED.get(option.name, option.name): option.name for option in fields(SimOptions)}
    name = names.get(typed, typed)
    if name not in names.values():
        raise InputError(f"model sim has no option {typed!r}; its options are {', '.join(names)}, as in sim/wobble=0.3")
    highest = float("inf") if name in {"compliance", "seed"} else 1.0
    try:
        value = int(text) if name == "seed" else float(text)
    except ValueError:
        value = float("nan")
    if not 0 <= value <= highest or value == float("inf"):
        kind = "a whole number, 0 or more" if name == "seed" else "from 0 to 1" if highest == 1 else "0 or more"
        raise InputError(f"model sim: {typed}={text or '(nothing)'} can't be; it must be {kind}")
    return name, value
