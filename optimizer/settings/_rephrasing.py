"""Where rephrasings come from."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self, get_args

from psopt.errors import InputError, UnknownNameError
from psopt.settings._option import REPHRASINGS, Checked, check, told

Family = Literal["paraphrase", "wording", "format", "label-order", "example-order"]
FAMILIES: tuple[Family, ...] = get_args(Family)
TextFamily = Literal["typos", "case", "whitespace", "padding", "stop-words", "text-paraphrase"]
TEXT_FAMILIES: tuple[TextFamily, ...] = get_args(TextFamily)
UNCHANGED = "unchanged"  # the unchanged text, in addition to the changed ones
_INPUT = "input"  # all of these
_REPEAT = "repeat"
_VARIED = (*FAMILIES, _INPUT, *TEXT_FAMILIES, _REPEAT)


def read_families(names: str) -> tuple[str, ...]:
    """Read what to vary from the command line, separated by commas.

    Raises UnknownNameError if there is no such family.

    >>> read_families("label-order, repeat, format")
    ('format', 'label-order', 'repeat')
    """
    families = [name.strip() for name in names.split(",") if name.strip()]
    for name in families:
        if name not in _VARIED:
            raise UnknownNameError("family of --vary", name, _VARIED)
    if not families:
        raise InputError(f"--vary needs at least one of {', '.join(_VARIED)}")
    return tuple(family for family in _VARIED if family in families)


@told
@dataclass(frozen=True, slots=True)
class RephrasingSizes(Checked):
    """How many rephrasings are wanted."""

    search: int = REPHRASINGS.first("For the search.", "Q", default=10, least=1, key="rephrasings")
    heldout: int = REPHRASINGS.first("For the report.", "Q", default=10, least=1)


@told
@dataclass(frozen=True, slots=True)
class RephrasingOptions:
    """Where rephrasings come from."""

    rephraser: str | None = REPHRASINGS.option(
        "A model that writes the rephrasings", "M", shown_default="psopt's own, or rules"
    )
    judge: str | None = REPHRASINGS.rare("A model that checks whether a rephrasing asks for the same.", "M")
    file: Path | None = REPHRASINGS.rare(
        "Your own: a text file with one per line, or a rephrasings.json of `psopt rephrase` or of another run.",
        "FILE",
        key="rephrasings_file",
    )
    keep_labels: bool = REPHRASINGS.rare(
        "Whether a rephrasing must name the labels that the description enumerates.",
        default=True,
        flags="--keep-labels/--drop-labels",
    )
    families: tuple[str, ...] = REPHRASINGS.option(
        f"What changes between the askings, in equal parts, with commas between: {', '.join(FAMILIES)}; of the texts "
        f"{', '.join(TEXT_FAMILIES)}, or {_INPUT} for all of these; {_REPEAT} asks the same again, beside S.",
        "F,F",
        default=("paraphrase",),
        key="vary",
        read=read_families,
        write=",".join,
    )

    def __post_init__(self) -> None:
        """Refuse an unknown family, and a judge or paraphrases of texts where no model writes."""
        check(self)
        families = self.families if isinstance(self.families, str) else ",".join(self.families)
        object.__setattr__(self, "families", read_families(families))
        if self.file is not None:
            object.__setattr__(self, "file", Path(self.file))  # Python's users give a str
            self._check_beside_file()
        if self.rephraser_writes:
            return
        if "text-paraphrase" in self.families:
            raise InputError("--vary text-paraphrase needs a model that writes: add --rephraser MODEL")
        if self.judge is not None:
            raise InputError(f"--judge {self.judge} has nothing to judge: no model rephrases; add --rephraser MODEL")

    def _check_beside_file(self) -> None:
        """Refuse what would make the rephrasings that the file holds."""
        makers = [f"--vary {family}" for family in self.families if family in FAMILIES[1:]]
        if self.rephraser_writes and "text-paraphrase" not in self.texts:
            makers.append(f"--rephraser {self.rephraser}")
        if makers:
            raise InputError(f"{makers[0]} makes rephrasings, and --rephrasings-file gives them: leave one of them out")

    @property
    def texts(self) -> tuple[TextFamily, ...]:
        """What is changed in the samples' texts; paraphrases of them where a model writes."""
        named = set(self.families)
        if _INPUT in named:
            named |= {family for family in TEXT_FAMILIES if family != "text-paraphrase" or self.rephraser_writes}
        return tuple(family for family in TEXT_FAMILIES if family in named)

    @property
    def wordings(self) -> tuple[Family, ...]:
        """What rephrasings change: paraphrases, where nothing else is varied; nothing where only texts are."""
        named: tuple[Family, ...] = tuple(family for family in FAMILIES if family in self.families)
        if not named and (self.file is not None or not self.texts):
            return ("paraphrase",)
        return named

    def turns(self, n: int) -> list[str]:
        """The families of n rephrasings, in equal parts."""
        families = [*self.wordings, *self.texts]
        return [families[number % len(families)] for number in range(n)]

    @property
    def repeats(self) -> bool:
        """Whether the same prompt is asked again, in addition to the variations."""
        return _REPEAT in self.families

    def once(self) -> Self:
        """The same options without asking again."""
        return replace(self, families=tuple(family for family in self.families if family != _REPEAT) or self.wordings)

    @property
    def rephraser_writes(self) -> bool:
        """Whether a language model that writes is named."""
        return self.rephraser not in {None, "rules"}

    @property
    def are_usual(self) -> bool:
        """Whether nothing says whose they are, or what changes but the words."""
        return self == type(self)(families=self.families) and self.wordings == ("paraphrase",) and not self.texts

    @property
    def is_written(self) -> bool:
        """Whether a language model writes them."""
        return self.file is None and self.rephraser_writes

    def frozen_in(self, file: Path) -> Self:
        """Those that a run has kept in a file, however they were made."""
        return replace(self, file=file, rephraser=None, judge=None, families=("paraphrase",))

    def by_rule(self) -> Self:
        """The same options without a writing model: to count requests before any model is asked."""
        families = tuple("typos" if family == "text-paraphrase" else family for family in self.families)
        return replace(self, rephraser=None, judge=None, families=families)
