"""How a prompt answers new texts, and which answers are left to a person."""

from dataclasses import dataclass
from pathlib import Path

from psopt.settings._data import DataOptions
from psopt.settings._option import MODEL, PROMPT, REPHRASINGS, Checked, Panel, like, told
from psopt.settings._run import MeasureOptions

_PEOPLE = Panel("When to ask a person")


@told
@dataclass(frozen=True, slots=True)
class AnsweringOptions(Checked):
    """How a prompt answers new texts: which columns it reads, which model is asked, under how many wordings."""

    inputs: tuple[str, ...] = like(DataOptions, "inputs")
    labels: tuple[str, ...] = PROMPT.first(
        "A label, for a prompt that does not know them; may be repeated.", "NAME", (), flags="--label", repeats=True
    )
    model: str | None = MODEL.first("The model that classifies", "M", shown_default="the one that the prompt is for")
    wordings: int = REPHRASINGS.first(
        "Ask under so many rephrasings; the majority answers, and S says how far they agree. Q times the price.",
        "Q",
        default=1,
        least=1,
    )
    seed: int = like(MeasureOptions, "seed")
    cache_dir: str | Path | None = like(MeasureOptions, "cache_dir")


@told
@dataclass(frozen=True, slots=True)
class PersonOptions(Checked):
    """Which answers are left to a person; by default none."""

    abstain: float | None = _PEOPLE.first(
        "Leave the least steady answers to a person: at most this share, of the run's val samples (without a run, of "
        "these texts). Answers that are equally steady go together.",
        "RATE",
        least=0,
        most=1,
    )
    target_f1: float | None = _PEOPLE.first(
        "Keep as many answers as have surely (95 %) at least this F1 by the run's val samples.", "X", least=0, most=1
    )
