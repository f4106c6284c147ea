"""Models that can compute everything, queried as if every answer cost money."""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.models import NOT_ASKED, capabilities_of
from psopt.models.sim import SimulatedModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from psopt.models import Model
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample

    Grids = dict[tuple[tuple[Prompt, ...], tuple[str, ...]], NDArray[np.int8]]

# For the model with trade-offs. Chosen so that a front of about ten prompts spreads over a tenth in F1 and S.
_SHAKEN, _NOTES = 0.06, 8.0  # notes randomize at most this share; with this many notes, two thirds of it
_SETTLED, _DEFINED = 0.15, 3.0  # definitions and examples settle at most this share, just as gradually
_SETTLED_WRONG = 0.35  # of what is settled


class PaidModel:
    """Answers cell by cell from whole grids, counts the cells, and says that they cost something.

    Parameters
    ----------
    model : Model
    splits : mapping of split to samples
        To tell which split a text was asked for.
    grids : dict
        Where whole grids are kept. Searches over the same samples share them: all but the first are nearly free.

    Attributes
    ----------
    cells : Counter
        How many answers were asked for, by split and by the id of the prompt under its first wording.
    """

    def __init__(self, model: Model, splits: Mapping[str, Sequence[Sample]], grids: Grids) -> None:
        self._model = model
        self._split_of = {sample.text: split for split, samples in splits.items() for sample in samples}
        self._grids = grids
        self.name = model.name
        self.capabilities = replace(
            capabilities_of(model),
            is_free=False,
            has_cells=True,
            has_probabilities=False,
            counts_calls=False,
            reads_in_part=False,
        )
        self.cells: Counter[tuple[str, str]] = Counter()

    def predict(self, prompts: Sequence[Prompt], texts: Sequence[str], on_progress: Any = None) -> NDArray[np.int64]:
        """Answer the whole grid."""
        return self.predict_cells(prompts, texts, np.ones((len(texts), len(prompts)), dtype=np.bool_), on_progress)

    def predict_cells(
        self, prompts: Sequence[Prompt], texts: Sequence[str], cells: NDArray[np.bool_], _: Any = None
    ) -> NDArray[np.int64]:
        """Answer a part of the grid."""
        self.cells[self._split_of[texts[0]], prompts[0].id] += int(cells.sum())
        return np.where(cells, self.grid(prompts, texts), NOT_ASKED)

    def grid(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> NDArray[np.int64]:
        """Compute a whole grid, or reuse a kept one; nothing is counted."""
        key = (tuple(prompts), tuple(texts))
        if key not in self._grids:
            self._grids[key] = self._model.predict(prompts, texts).astype(np.int8)
        return self._grids[key].astype(np.int64)

    def asked(self, split: str) -> int:
        """How many answers were asked for on a split."""
        return sum(n for (of, _), n in self.cells.items() if of == split)


class RememberedTexts:
    """An encoder that keeps the matrices of long lists of texts: the same samples come back with every prompt."""

    _LONG = 20

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder
        self._matrices: dict[tuple[str, ...], NDArray[np.float32]] = {}

    def encode(self, texts: Sequence[str], on_progress: Any = None) -> NDArray[np.float32]:
        """As `Encoder.encode`."""
        if len(texts) < self._LONG:
            return np.asarray(self._encoder.encode(texts, on_progress))
        key = tuple(texts)
        if key not in self._matrices:
            self._matrices[key] = self._encoder.encode(texts, on_progress)
        return self._matrices[key]

    def parts_read(self, texts: Sequence[str]) -> list[str]:
        """As `Encoder.parts_read`."""
        return list(self._encoder.parts_read(texts))


class TradingModel(SimulatedModel):
    """A simulated model under which no prompt is best in everything.

    Notes make it right more often, but less stable: a share of all answers is redrawn. Definitions and examples settle
    it: a share of the texts gets the same answer under every wording, about a third of them a wrong one.
    """

    def profiles(self, prompt: Prompt, texts: Sequence[str]) -> NDArray[np.float64]:
        """See `SimulatedModel`."""
        plain = super().profiles(prompt, texts)
        n_labels = len(self.labels)
        settling = len(prompt.definitions) + len(prompt.examples)
        settled = _SETTLED * (1 - np.exp(-settling / _DEFINED))
        shaken = _SHAKEN * (1 - np.exp(-len(prompt.notes) / _NOTES))
        mixed = (1 - shaken) * plain + shaken * np.append(np.full(n_labels, 1 / n_labels), 0.0)
        truth = np.array([prompt.labels.index(label) for label in self.true_labels(texts)])
        lots = _lots(texts)
        answer = np.where(lots[:, 1] < _SETTLED_WRONG, (truth + 1) % n_labels, truth)
        fixed = np.eye(n_labels + 1)[answer]
        return np.asarray(np.where((lots[:, 0] < settled)[:, None], fixed, mixed))


def _lots(texts: Sequence[str]) -> NDArray[np.float64]:
    """Two numbers in [0, 1) for each text, which depend on nothing else: (n_texts, 2)."""
    return np.array([[zlib.crc32(f"{n} {text}".encode()) for n in range(2)] for text in texts]) / 2**32
