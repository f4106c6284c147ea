"""A prompt's decision rule: which label wins, once a model's preference for some labels is taken out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BATCH = "batch"
"""Batch calibration: Zhou et al., "Batch Calibration", 2023 (arXiv 2309.17249)."""
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Calibration:
    """Batch calibration: from each label's log-probability its mean over unlabelled texts is subtracted.

    What is subtracted, the label prior, hangs on the model and on the wording. It is measured where a prompt is
    evaluated; a prompt that is handed over brings that of its own wording.

    Attributes
    ----------
    prior : tuple of float
        The mean log-probability of each label, in the prompt's order of labels, in nats; empty where it is still to be
        measured.
    n_texts : int
        On how many texts it was measured.
    model : str
        For which model.
    prompt : str
        For which prompt, by its id: wording, edits and labels.
    """

    prior: tuple[float, ...] = ()
    n_texts: int = 0
    model: str = ""
    prompt: str = ""

    def to_dict(self, labels: Sequence[str]) -> dict[str, Any]:
        """Return plain JSON data: the method, and what was measured, if anything was."""
        if not self.prior:
            return {"method": BATCH}
        prior = {label: round(value, _DIGITS) for label, value in zip(labels, self.prior, strict=True)}
        return {
            "method": BATCH,
            "prior": prior,
            "n_texts": self.n_texts,
            "model": self.model,
            "prompt": self.prompt,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], labels: Sequence[str]) -> Calibration:
        """Read `to_dict`'s data.

        Raises
        ------
        InputError
            If the method is another, or a label's prior is missing or no number.
        """
        if data.get("method") != BATCH:
            raise InputError(f"a prompt's calibration is {BATCH!r}, not {data.get('method')!r}")
        if not data.get("prior"):
            return cls()
        try:
            prior = tuple(float(data["prior"][label]) for label in labels)
            return cls(prior, int(data["n_texts"]), str(data["model"]), str(data["prompt"]))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"a prompt's calibration can't be read: {error!r}") from error
