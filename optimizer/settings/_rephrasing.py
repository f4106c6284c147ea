"""Where rephrasings come from."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self, get_args

from psopt.errors import InputError, UnknownNameError
from psopt.settings._option import option, rare, told

_PANEL = "Rephrasings"

Family = Literal["paraphrase", "wording", "format", "label-order", "example-order"]
FAMILIES: tuple[Family, ...] = get_args(Family)


def read_families(names: str) -> tuple[Family, ...]:
    """Read families as the command line takes them, with commas between.

    Raises UnknownNameError if there is no such family.

    Examples
    --------
    >>> read_families("format, label-order")
    ('format', 'label-order')
    """
    chosen = [name.strip() for name in names.split(",") if name.strip()]
    for name in chosen:
        if name not in FAMILIES:
            raise UnknownNameError("family of rephrasings", name, FAMILIES)
    if not chosen:
        raise InputError(f"--vary needs at least one of {', '.join(FAMILIES)}")
    return tuple(family for family in FAMILIES if family in chosen)


@told
@dataclass(frozen=True, slots=True)
class RephrasingOptions:
    """Where rephrasings come from."""

    rephraser: str | None = option(
        None, "A model that writes the rephrasings", _PANEL, "M", shown_default="psopt's own, or rules"
    )
    judge: str | None = rare(None, "A model that checks whether a rephrasing asks for the same.", _PANEL, "M")
    file: Path | None = rare(
        None, "A rephrasings.json, of `psopt rephrase` or of another run.", _PANEL, "FILE", key="rephrasings_file"
    )
    keep_labels: bool = rare(
        True,
        "Whether a rephrasing must name the labels that the description enumerates.",
        _PANEL,
        flags="--keep-labels/--drop-labels",
    )
    families: tuple[Family, ...] = option(
        ("paraphrase",),
        f"What rephrasings change, in equal parts, with commas between: {', '.join(FAMILIES)}.",
        _PANEL,
        "F,F",
        key="vary",
        read=read_families,
        write=",".join,
    )

    def __post_init__(self) -> None:
        """Refuse a judge that would have nothing to judge."""
        if self.judge is not None and self.rephraser in {None, "rules"}:
            raise InputError(
                f"--judge {self.judge} has nothing to judge: it checks the rephrasings of a model; add --rephraser "
                "MODEL"
            )

    @property
    def is_written(self) -> bool:
        """Whether a language model writes them."""
        return self.file is None and self.rephraser not in {None, "rules"}

    def by_rule(self) -> Self:
        """The same where no model writes: to count, before anybody is asked, what the others will be asked."""
        return replace(self, rephraser=None, judge=None)
