"""Rows as a pandas DataFrame; pandas is imported when one is requested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.errors import import_extra

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd


def data_frame(rows: Sequence[Mapping[str, Any]], feature: str) -> pd.DataFrame:
    """Make a DataFrame with the columns of the rows, in their order; keys that a row lacks are missing values.

    Raises MissingExtraError, which names the `feature`, if pandas is not installed.
    """
    frame: pd.DataFrame = import_extra("pandas", feature, "pandas").DataFrame(list(rows))
    return frame
