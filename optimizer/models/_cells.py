"""Parts of a grid: some texts under some prompts, in as few calls as a model can take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.models._capabilities import has_cells, has_probability_cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from psopt.models._base import Model, OnProgress
    from psopt.models._capabilities import ProbabilisticModel
    from psopt.search_spaces import Prompt

    Cells = NDArray[np.bool_]

NOT_ASKED = -1
"""The place of an answer that nobody has asked for."""


def predict_cells(
    model: Model, prompts: Sequence[Prompt], texts: Sequence[str], cells: Cells, on_progress: OnProgress | None = None
) -> NDArray[np.int64]:
    """Classify some texts under some prompts.

    A model that is no `CellModel` is asked for whole grids: one for all prompts that have the same texts.

    Parameters
    ----------
    cells : (n_texts, n_prompts) bool
        Which answers are asked for.

    Returns
    -------
    predictions : (n_texts, n_prompts) int
        As `Model.predict` gives them; `NOT_ASKED` in the other cells.
    """
    if has_cells(model):
        return model.predict_cells(prompts, texts, cells, on_progress)
    predictions = np.full(cells.shape, NOT_ASKED, dtype=np.int64)
    n_done = 0
    for rows, columns in _grids(cells):
        part = [prompts[column] for column in columns], [texts[row] for row in rows]
        predictions[np.ix_(rows, columns)] = model.predict(*part, _shifted(on_progress, n_done, rows, columns, cells))
        n_done += len(rows) * len(columns)
    return predictions


def predict_proba_cells(
    model: ProbabilisticModel,
    prompts: Sequence[Prompt],
    texts: Sequence[str],
    cells: Cells,
    on_progress: OnProgress | None = None,
) -> NDArray[np.float64]:
    """Return the probabilities of some texts under some prompts, as `predict_cells` does; NaN in the other cells."""
    if has_probability_cells(model):
        return model.predict_proba_cells(prompts, texts, cells, on_progress)
    probabilities = np.full((*cells.shape, len(prompts[0].labels) + 1), np.nan)
    n_done = 0
    for rows, columns in _grids(cells):
        part = [prompts[column] for column in columns], [texts[row] for row in rows]
        progress = _shifted(on_progress, n_done, rows, columns, cells)
        probabilities[np.ix_(rows, columns)] = model.predict_proba(*part, progress)
        n_done += len(rows) * len(columns)
    return probabilities


def _grids(cells: Cells) -> Iterator[tuple[list[int], list[int]]]:
    """Cut cells into grids: the columns that have the same rows, with these."""
    columns_of: dict[bytes, list[int]] = {}
    for column, chosen in enumerate(cells.T):
        if chosen.any():
            columns_of.setdefault(chosen.tobytes(), []).append(column)
    for columns in columns_of.values():
        yield [int(row) for row in np.flatnonzero(cells[:, columns[0]])], columns


def _shifted(
    on_progress: OnProgress | None, n_done: int, rows: Sequence[int], columns: Sequence[int], cells: Cells
) -> OnProgress | None:
    """Tell of one grid's progress as that of all cells; models count in units of their own."""
    if on_progress is None:
        return None
    n_cells, n_total = len(rows) * len(columns), int(cells.sum())
    return lambda done, total: on_progress(n_done + n_cells * done // max(1, total), n_total)
