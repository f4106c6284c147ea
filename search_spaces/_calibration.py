"""A prompt's decision rule: which label wins, once a model's preference for some labels is taken out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BATCH = "batch"
"""Batch calibration: Zhou et al., "Batch Calibration", 2023 (arXiv 2309.17249)."""
SUPERVISED = "supervised"
"""What is left of each label's log-probability after that goes through a map learnt from labels (arXiv 2505.23783)."""
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Calibration:
    """Batch calibration: from each label's log-probability its mean over unlabelled texts is subtracted.

    What is subtracted, the label prior, hangs on the model and on the wording. It is measured where a prompt is
    evaluated; a prompt that is handed over brings that of its own wording.
    """

    # The mean log-probability of each label, in the prompt's order of labels, in nats; empty where it is still to be
    # measured
    prior: tuple[float, ...] = ()
    n_texts: int = 0  # on how many texts it was measured
    model: str = ""  # for which model
    prompt: str = ""  # for which prompt, by its id: wording, edits and labels
    # From what is left of the log-probabilities to the labels' scores, learnt from labelled train texts: a row for each
    # label, and one that is added to all; empty where no labels were used
    label_map: tuple[tuple[float, ...], ...] = ()
    also: tuple[Calibration, ...] = ()  # those for further models, where the prompt is for several

    def of(self, model: str) -> Calibration:
        """That for a model; this one, where there is none for it."""
        return next((one for one in (self, *self.also) if one.model == model), self)

    def without_prior(self) -> Calibration:
        """What of it holds for the same prompt in other words: all but the prior, which is to be measured."""
        also = tuple(one.without_prior() for one in self.also)
        if not self.label_map and not also:
            return Calibration()
        return Calibration(model=self.model, label_map=self.label_map, also=also)

    def to_dict(self, labels: Sequence[str]) -> dict[str, Any]:
        """Return plain JSON data: the method, and what was measured, if anything was."""
        if not self.prior:
            return {"method": BATCH}
        prior = {label: round(value, _DIGITS) for label, value in zip(labels, self.prior, strict=True)}
        measured = {"prior": prior, "n_texts": self.n_texts, "model": self.model, "prompt": self.prompt}
        also = {"also": [one.to_dict(labels) for one in self.also]} if self.also else {}
        if not self.label_map:
            return {"method": BATCH, **measured, **also}
        rows = [[round(value, _DIGITS) for value in row] for row in self.label_map]
        return {"method": SUPERVISED, **measured, "label_map": rows, **also}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], labels: Sequence[str]) -> Calibration:
        """Read `to_dict`'s data.

        Raises InputError if the method is another, or a label's prior is missing or no number.
        """
        if data.get("method") not in (BATCH, SUPERVISED):
            raise InputError(f"a prompt's calibration is {BATCH!r} or {SUPERVISED!r}, not {data.get('method')!r}")
        if not data.get("prior"):
            return cls()
        try:
            prior = tuple(float(data["prior"][label]) for label in labels)
            rows = tuple(tuple(map(float, row)) for row in data.get("label_map", ()))
            if rows and [len(row) for row in rows] != [len(labels)] * (len(labels) + 1):
                raise ValueError(f"label_map needs {len(labels) + 1} rows of {len(labels)} numbers")
            also = tuple(cls.from_dict(one, labels) for one in data.get("also", ()))
            return cls(prior, int(data["n_texts"]), str(data["model"]), str(data["prompt"]), rows, also)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"a prompt's calibration can't be read: {error!r}") from error
