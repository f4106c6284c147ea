"""How to search, and what a search may use."""

from dataclasses import dataclass, field
from typing import Literal, get_args

from psopt.errors import InputError, UnknownNameError
from psopt.settings._option import DATA, SEARCH, check, told

_LEAST_TO_SHORTEN = 10  # trials: with fewer, none is spent on shorter prompts

SamplerName = Literal["tpe", "nsga2", "gp", "random"]
RaceMode = Literal["auto", "on", "strict", "off"]
HoldBack = Literal["all", "private", "copies", "none"]
View = Literal["sensitivity", "consistency", "accuracy"]
VIEWS: tuple[View, ...] = get_args(View)
TextKind = Literal["definition", "note", "example"]
KINDS: tuple[TextKind, ...] = get_args(TextKind)


@told
@dataclass(frozen=True, slots=True)
class SearchRestriction:
    """What a search may use.

    `views` are those whose slices may become notes; without sensitivity, unstable samples do not become examples.
    `kinds` are those of edits. A candidate is feasible if its F1 on val is at least the baseline's minus the `margin`;
    1 allows everything. The default is a hundredth: well below the noise of a few hundred samples, chosen by judgement.
    `max_prompt_edits` is how many edits a recommended prompt may have, the definitions of one label counted once, as
    are its examples; None for 25, or for any number where `max_prompt_tokens` is given. `examples_allowed` is how many
    examples fit next to the other edits of a prompt: this many do not count among its edits. If it is not 0, a prompt
    with only examples is among the first that are tried. Raises InputError if a name is unknown, there is no kind of
    edit, the margin is negative, or a limit is below 1.
    """

    views: tuple[str, ...] = VIEWS
    kinds: tuple[str, ...] = KINDS
    margin: float = 0.01
    max_prompt_edits: int | None = None
    max_prompt_tokens: int | None = SEARCH.option(
        "Maximum tokens per call of a recommended prompt, with a text of mean length; nothing above is tried",
        "N",
        least=1,
        changed_by=("resume",),
        shown_default="any number, of at most 25 edits",
    )
    no_verbatim: bool = SEARCH.option(
        "Let no text of a sample into a prompt: no example, no run of three words, no number, nothing rare or private.",
        default=False,
    )
    hold_back: HoldBack = SEARCH.rare(
        "Samples that are shown as no example: those that hold private text, near copies of texts of val or test, or "
        "both; proposals.json lists them. Without copies, scores may be too good.",
        default="all",
    )
    examples_allowed: int = 0
    without: tuple[str, ...] = SEARCH.rare(
        "Never use an edit, by its id (psopt export RUN --why lists them); may be repeated.",
        "EDIT",
        default=(),
        repeats=True,
    )

    def __post_init__(self) -> None:
        check(self, margin=0, max_prompt_edits=1, examples_allowed=0)
        for kind, names, allowed in (("view", self.views, VIEWS), ("kind of edit", self.kinds, KINDS)):
            if isinstance(names, str):
                raise InputError(f"{kind}: give a list of names, such as [{names!r}]")
            for name in names:
                if name not in allowed:
                    raise UnknownNameError(kind, name, allowed)
        if not self.kinds:
            raise InputError("a search needs at least one kind of edit")
        if self.no_verbatim and set(self.kinds) == {"example"}:
            raise InputError("examples are texts of samples: name another kind of edit, or leave no_verbatim out")


@told
@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How to search.

    `trials` is the total of evaluated candidates, including the original prompt; resuming runs the remaining ones. In
    each of the `rounds` the best candidate so far is diagnosed and new edits are proposed, at most `most_edits`: those
    with most to gain. Where candidates race, diagnoses ask under two rephrasings only.
    """

    trials: int = 40
    rounds: int = 3
    sampler: SamplerName = SEARCH.rare("Optuna's sampler.", "NAME", default="tpe")
    seed: int = DATA.option("Seeds everything that is drawn.", "N", default=42, least=0)
    parts: SearchRestriction = field(default_factory=SearchRestriction)
    most_edits: int = 40
    race: RaceMode = SEARCH.option(
        "Stop asking about a prompt once others are clearly better; auto does so where answers cost something and come "
        "call by call.",
        default="auto",
        changed_by=("resume",),
    )

    def __post_init__(self) -> None:
        check(self, trials=1, rounds=1)

    @property
    def shortening(self) -> int:
        """How many of the trials, the last ones, try shorter versions of the best prompt."""
        return self.trials // 5 if self.trials >= _LEAST_TO_SHORTEN else 0
