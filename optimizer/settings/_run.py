"""What a run has to do, and how large it may be; what a measurement has to do; how a prompt answers new texts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from psopt.errors import InputError
from psopt.settings._data import DataOptions
from psopt.settings._lm import LMConfig
from psopt.settings._option import DATA, MODEL, OUTPUT, PROMPT, REPHRASINGS, SEARCH, Checked, Panel, like, told
from psopt.settings._rephrasing import RephrasingOptions
from psopt.settings._search import SearchOptions

MODELS = "minilm, smollm2, gguf/PATH, openai/NAME, hf/PATH, dspy/NAME or sim/OPTIONS"
GATE_MARGIN = 0.01
"""How much lower F1 may be before it counts as worse: a point, which nobody would notice. Chosen, not measured."""
Effort = Literal["light", "medium", "heavy", "full"]
Over = Literal["worst", "mean"]
GateMode = Literal["sure", "likely", "off"]
SplitChoice = Literal["train", "val", "test", "all"]
_BETWEEN_MODELS = " + "
_PEOPLE = Panel("When to ask a person")
_BY_EFFORT = "by --effort"


def models_name(models: str | Sequence[str]) -> str:
    """Return one name for several models, as a run keeps it: their names, joined by a plus.

    Raises InputError if one is named twice, or none is named.

    >>> models_name(["smollm2", "gguf/qwen.gguf"]), models_name("minilm")
    ('smollm2 + gguf/qwen.gguf', 'minilm')
    """
    names = model_names(models) if isinstance(models, str) else tuple(models)
    if not names:
        raise InputError("name at least one model")
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"model {name} is named twice")
    return _BETWEEN_MODELS.join(names)


def model_names(name: str) -> tuple[str, ...]:
    """The models that the model name of a run stands for: usually one.

    >>> model_names("smollm2 + gguf/qwen.gguf"), model_names("minilm")
    (('smollm2', 'gguf/qwen.gguf'), ('minilm',))
    """
    return tuple(name.split(_BETWEEN_MODELS))


@told
@dataclass(frozen=True, slots=True)
class SizeOptions(Checked):
    """How large a run should be; None lets the planner choose."""

    effort: Effort | None = SEARCH.first(
        "How much to ask, as far as sizes are not given: about 5,000, 20,000 or 60,000 calls at most, or all",
        shown_default="as --max-calls, --max-cost or --max-tokens-total allow, else light; full with minilm and sim",
    )
    rephrasings: int | None = REPHRASINGS.option(
        "How many wordings of the description, the original among them", "Q", least=1, shown_default=_BY_EFFORT
    )
    heldout: int | None = REPHRASINGS.rare(
        "How many held-out wordings, for test", "Q", least=1, shown_default="as --rephrasings"
    )
    samples: int | None = DATA.option(
        "At most so many samples of val, and of train", "N", least=2, shown_default=_BY_EFFORT
    )
    train_samples: int | None = DATA.rare(
        "At most so many samples of train", "N", least=2, shown_default="by --samples"
    )
    test_samples: int | None = DATA.rare("At most so many samples of test", "N", least=2, shown_default=_BY_EFFORT)
    trials: int | None = SEARCH.first(
        "Prompts to evaluate in total", "N", least=1, changed_by=("resume",), shown_default=_BY_EFFORT
    )
    rounds: int | None = SEARCH.rare("How often to diagnose and propose", "N", least=1, shown_default=_BY_EFFORT)


@told
@dataclass(frozen=True, slots=True)
class RunOptions(Checked):
    """What a user may set for a run besides its sizes."""

    data: DataOptions
    model: str = MODEL.first(
        f"{MODELS}; given several times, one prompt is searched for all",
        "M",
        default="minilm",
        read=models_name,
        repeats=True,
        shown_default="minilm",
    )
    over: Over = MODEL.rare(
        "Of several models: whether prompts are compared by the worst model's F1, S and C, or by the mean.",
        default="worst",
    )
    strategy: str = PROMPT.option("Original prompt: simple, detail or 1-shot.", "S", default="simple")
    rephrasing: RephrasingOptions = field(default_factory=RephrasingOptions)
    search: SearchOptions = field(default_factory=SearchOptions)
    lm: LMConfig = field(default_factory=LMConfig)
    proposer: str | None = SEARCH.first(
        "A model that writes definitions and notes, beside the rules; `rules` for none",
        "M",
        shown_default="the model that answers, if it can write",
    )
    leave_one_out: int | None = SEARCH.rare(
        "Measure what so many edits of the chosen prompt contribute, for val x Q answers each",
        "N",
        least=0,
        changed_by=("resume",),
        shown_default="8 with minilm and sim, else 0",
    )
    storage: str | None = SEARCH.option(
        "Optuna storage", "URL", changed_by=("resume",), shown_default="a SQLite file in the run directory"
    )
    study_name: str = SEARCH.rare(
        "Name of the study in the storage", "NAME", default="", shown_default="the run directory's"
    )
    program: str | None = PROMPT.option(
        "A DSPy program to optimize in place of a prompt; --model runs it.", "MODULE:NAME"
    )
    gate: GateMode = SEARCH.option(
        "What a prompt must show on test to be recommended in place of yours: sure, by tests at 5 %; likely, by "
        "estimates alone; off takes the best by val as it is.",
        default="sure",
    )
    gate_margin: float = SEARCH.rare(
        "By how much its F1 may be lower than yours, as a share.", "X", default=GATE_MARGIN, least=0, most=0.99
    )
    probe: str | None = DATA.rare(
        "Texts of your own, with labels or without: both prompts are put to them at the end.",
        "FILE",
        changed_by=("resume",),
    )
    pinned: tuple[str, ...] = SEARCH.rare(
        "Id of a test sample that must stay right; may be repeated.", "ID", default=(), flags="--pin", repeats=True
    )
    log: tuple[str, ...] = OUTPUT.option(
        "Record the run with mlflow[:EXPERIMENT], or a tracker of your own, MODULE:NAME; several with commas between.",
        "TRACKER",
        default=(),
        repeats=True,
        changed_by=("resume",),
    )


@told
@dataclass(frozen=True, slots=True)
class MeasureOptions(Checked):
    """What a prompt is measured on. Data without labels are one split, and used completely."""

    rephrasings: int = REPHRASINGS.first(
        "How many wordings of the description; the original is one, but on test.",
        "Q",
        default=10,
        least=1,
        shown_default="10, or those of the prompt's run",
    )
    split: SplitChoice = DATA.first("Which samples; on test the rephrasings are held-out ones.", default="test")
    samples: int = DATA.first("At most so many samples.", "N", default=500, least=2)
    seed: int = like(SearchOptions, "seed")
    lm: LMConfig = field(default_factory=LMConfig)
    rephrasing: RephrasingOptions = field(default_factory=RephrasingOptions)
    cache_dir: str | Path | None = MODEL.option(
        "Where answers are kept", "DIR", shown_default="$PSOPT_CACHE_DIR or the user's cache"
    )


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
