"""A model for grids in which each prompt has its own, changed version of the texts."""

# ruff: noqa: ARG002  # methods of a model get the samples' texts, and here each column has its own

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.errors import InputError
from psopt.models._base import NOT_ASKED, WrappedModel, all_cells, capabilities_of, predict_cells, predict_proba_cells
from psopt.tasks import columns_of_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.answers import NoLabel
    from psopt.models._base import Cells, Floats, Ints, Progress, Prompts, Texts
    from psopt.search_spaces import Prompt


class ChangedTextsModel(WrappedModel):
    """Answers a grid of N samples x Q prompts in which each column has its own texts.

    The model is asked once for each distinct prompt and text. `columns` holds the N texts under each of the Q prompts.
    Callers still pass the texts of the N samples, in the same order; these are not read.
    """

    def __init__(self, model: Any, columns: Sequence[Sequence[str]]) -> None:
        if capabilities_of(model).has_metric_scores:
            raise InputError(f"--vary input changes texts, and {model.name} is asked about its examples as they are")
        super().__init__(model)
        # Equal texts of different rows count as two: a template may name a column that is not part of the text.
        row_of: dict[Any, int] = {}
        rows = [[row_of.setdefault((text, columns_of_row(text)), len(row_of)) for text in column] for column in columns]
        self._texts = [text for text, _ in row_of]
        self._rows = np.array(rows, dtype=np.int64).T  # the place in `_texts` of each cell's text, (N, Q)

    def _asked(self, prompts: Prompts, cells: Cells) -> tuple[list[Prompt], Ints, Cells]:
        """The distinct prompts, which of them each of the Q is, and the cells to ask for: (n_texts, n_prompts)."""
        keys = [(prompt.id, prompt.asking) for prompt in prompts]
        by_key = dict(zip(keys, prompts, strict=True))
        different = list(by_key.values())
        columns = np.array([list(by_key).index(key) for key in keys])
        wanted = np.zeros((len(self._texts), len(different)), dtype=np.bool_)
        rows, places = np.nonzero(cells)
        wanted[self._rows[rows, places], columns[places]] = True
        return different, columns, wanted

    def predict_cells(self, prompts: Prompts, texts: Texts, cells: Cells, on_progress: Progress = None) -> Ints:
        different, columns, wanted = self._asked(prompts, cells)
        answers = predict_cells(self._model, different, self._texts, wanted, on_progress)
        return np.where(cells, answers[self._rows, columns], NOT_ASKED)

    def predict_proba_cells(self, prompts: Prompts, texts: Texts, cells: Cells, on_progress: Progress = None) -> Floats:
        different, columns, wanted = self._asked(prompts, cells)
        probabilities = predict_proba_cells(self._model, different, self._texts, wanted, on_progress)
        return np.where(cells[:, :, None], probabilities[self._rows, columns], np.nan)

    def queries(self, prompts: Prompts, texts: Texts, cells: Cells | None = None) -> list[Any]:
        different, _, wanted = self._asked(prompts, all_cells(prompts, texts) if cells is None else cells)
        return list(self._model.queries(different, self._texts, wanted))

    def no_labels(self, prompts: Prompts, texts: Texts, array: Ints) -> tuple[NoLabel, ...]:
        different, columns, wide = self._spread(prompts, array)
        no_label_at = {(no.sample, no.rephrasing): no for no in self._model.no_labels(different, self._texts, wide)}
        return tuple(
            replace(no_label, sample=row, rephrasing=column)
            for row, column in np.argwhere(array == len(prompts[0].labels)).tolist()
            if (no_label := no_label_at.get((int(self._rows[row, column]), int(columns[column]))))
        )

    def confidences(self, prompts: Prompts, texts: Texts, array: Ints) -> Floats | None:
        different, columns, wide = self._spread(prompts, array)
        confidences: Floats | None = self._model.confidences(different, self._texts, wide)
        return None if confidences is None else confidences[self._rows, columns]

    def _spread(self, prompts: Prompts, array: Ints) -> tuple[list[Prompt], Ints, Ints]:
        """The distinct prompts, which of them each of the Q is, and their answers to all texts."""
        different, columns, wanted = self._asked(prompts, array != NOT_ASKED)
        wide = np.full(wanted.shape, NOT_ASKED, dtype=np.int64)
        wide[self._rows, columns] = array
        return different, columns, wide
