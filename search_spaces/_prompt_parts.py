"""What a prompt is made of, as frozen values: format, examples, definitions, decision rule."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from psopt.errors import InputError
from psopt.settings import FAMILIES, Family
from psopt.tasks import Row, fields_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

T = TypeVar("T")

SEPARATORS = (": ", " - ", " = ", ":\n")
LISTINGS = (", ", " | ", " / ", "; ")
BULLETS = ("- ", "* ", "1. ", "")
CASINGS = ("as is", "upper", "lower")


@dataclass(frozen=True, slots=True)
class PromptFormat:
    """How a prompt is laid out and in which order it lists things; the default is psopt's own."""

    # By which sensitivity is broken down: ``paraphrase`` and ``wording`` change the description (by an author, by
    # rule), ``format`` the layout, ``label-order`` and ``example-order`` what their names say
    family: Family = "paraphrase"
    separator: str = ": "  # between a name and what it names
    listing: str = ", "  # between labels
    bullet: str = "- "  # Before each definition and note; ``1. `` counts.
    casing: str = "as is"  # ``as is``, ``upper`` or ``lower``, for headings and names, never for the user's own words
    blank_lines: int = 1  # between parts
    # Seeds of the order; 0 is the given one
    label_order: int = 0
    example_order: int = 0

    @property
    def layout(self) -> PromptFormat:
        """The same without its family: equal layouts give equal prompts."""
        return PromptFormat(**{**asdict(self), "family": "paraphrase"})

    def heading(self, text: str) -> str:
        """A heading in this casing."""
        return {"upper": text.upper(), "lower": text.lower()}.get(self.casing, text)

    def bulleted(self, items: Sequence[str]) -> list[str]:
        """Items, each with its bullet."""
        if self.bullet == "1. ":
            return [f"{number}. {item}" for number, item in enumerate(items, 1)]
        return [self.bullet + item for item in items]

    def listed(self, labels: Sequence[str]) -> str:
        """Labels with `listing` between them, or another of its kind if it is part of a label.

        >>> PromptFormat().listed(["Sales, EMEA", "R&D"])
        'Sales, EMEA | R&D'
        """
        fitting = (mark for mark in (self.listing, *LISTINGS) if not any(mark in label for label in labels))
        return next(fitting, self.listing).join(labels)

    def to_dict(self) -> dict[str, Any]:
        """What differs from the default, as plain JSON data."""
        default = asdict(PromptFormat())
        return {name: value for name, value in asdict(self).items() if value != default[name]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PromptFormat:
        """Build a format from `to_dict`'s data; raises InputError if a part or the family is unknown."""
        unknown = set(data) - {part.name for part in fields(cls)}
        if unknown:
            raise InputError(f"a form has no part {sorted(unknown)[0]!r}")
        prompt_format = cls(**data)
        if prompt_format.family not in FAMILIES:
            raise InputError(f"there is no family {prompt_format.family!r}; known: {', '.join(FAMILIES)}")
        return prompt_format


PLAIN = PromptFormat()


def in_order(items: Sequence[T], seed: int) -> list[T]:
    """Items in the order that a seed decides; 0 keeps the given order."""
    ordered = list(items)
    if seed:
        random.Random(seed).shuffle(ordered)  # noqa: S311  # an order, nothing secret
    return ordered


@dataclass(frozen=True, slots=True)
class Example:
    """A few-shot example: a text and its label."""

    text: str
    label: str
    step: str = ""  # the only one it is for, in a program with several
    fields: tuple[tuple[str, str], ...] = ()  # the columns of its row, as (name, value); empty if it is only the text

    @property
    def values(self) -> dict[str, str]:
        """The fields with which a template shows the example."""
        return fields_of(Row(self.text, dict(self.fields)) if self.fields else self.text)


@dataclass(frozen=True, slots=True)
class Definition:
    """What one label means, in words."""

    label: str
    text: str

    @classmethod
    def of_texts(cls, label: str, texts: Sequence[str]) -> Definition:
        """Join several texts on one label; those that stand in another of them are left out.

        >>> Definition.of_texts("Sales", ["offers", "Orders.", "offers", "Orders. Not refunds."]).text
        'offers; Orders. Not refunds.'
        """
        different = dict.fromkeys(texts)
        whole = [
            text for text in different if not any(f" {text} " in f" {other} " for other in different if other != text)
        ]
        joined = whole[0]
        for text in whole[1:]:
            joined += f" {text}" if joined.endswith((".", "!", "?", "。")) else f"; {text}"
        return cls(label, joined)


BATCH = "batch"
"""Batch calibration: Zhou et al., "Batch Calibration", 2023 (arXiv 2309.17249)."""
SUPERVISED = "supervised"
"""After batch calibration, a map learnt from labels is applied to the labels' log-probabilities (arXiv 2505.23783)."""
_DIGITS = 6  # decimals of log-probabilities in files


@dataclass(frozen=True, slots=True)
class Calibration:
    """Batch calibration: each label's mean log-probability over unlabelled texts is subtracted from its own.

    What is subtracted, the label prior, depends on the model and on the wording, and is measured where it is used.
    """

    # The mean log-probability of each label, in the prompt's order of labels, in nats; empty until it is measured
    prior: tuple[float, ...] = ()
    n_texts: int = 0  # on how many texts it was measured
    model: str = ""  # for which model
    prompt: str = ""  # for which prompt, by its id: wording, edits and labels
    # The map from what is left of the log-probabilities to the labels' scores, learnt from labelled train texts: a row
    # for each label, and one that is added to all; empty if no labels were used
    label_map: tuple[tuple[float, ...], ...] = ()
    also: tuple[Calibration, ...] = ()  # those for further models, if the prompt is for several

    def of(self, model: str) -> Calibration:
        """The calibration for a model; this one if there is none for it."""
        return next((calibration for calibration in (self, *self.also) if calibration.model == model), self)

    def without_prior(self) -> Calibration:
        """What stays valid when the prompt is reworded: all but the prior, which must be measured again."""
        also = tuple(calibration.without_prior() for calibration in self.also)
        has_map = self.label_map or also
        return Calibration(model=self.model, label_map=self.label_map, also=also) if has_map else Calibration()

    def to_dict(self, labels: Sequence[str]) -> dict[str, Any]:
        """Return plain JSON data: the method, and what was measured, if anything was."""
        if not self.prior:
            return {"method": BATCH}
        data: dict[str, Any] = {"method": BATCH, "prior": dict(zip(labels, _rounded(self.prior), strict=True))}
        data |= {"n_texts": self.n_texts, "model": self.model, "prompt": self.prompt}
        if self.label_map:
            data["method"] = SUPERVISED
            data["label_map"] = list(map(_rounded, self.label_map))
        if self.also:
            data["also"] = [calibration.to_dict(labels) for calibration in self.also]
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], labels: Sequence[str]) -> Calibration:
        """Read `to_dict`'s data; raises InputError if the method is unknown, or a label has no prior."""
        if data.get("method") not in (BATCH, SUPERVISED):
            raise InputError(f"a prompt's calibration is {BATCH!r} or {SUPERVISED!r}, not {data.get('method')!r}")
        if not data.get("prior"):
            return cls()
        try:
            prior = tuple(float(data["prior"][label]) for label in labels)
            rows = tuple(tuple(map(float, row)) for row in data.get("label_map", ()))
            if rows and [len(row) for row in rows] != [len(labels)] * (len(labels) + 1):
                raise ValueError(f"label_map needs {len(labels) + 1} rows of {len(labels)} numbers")
            also = tuple(cls.from_dict(entry, labels) for entry in data.get("also", ()))
            return cls(prior, int(data["n_texts"]), str(data["model"]), str(data["prompt"]), rows, also)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"a prompt's calibration can't be read: {error!r}") from error


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(value, _DIGITS) for value in values]
