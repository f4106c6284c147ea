"""Rows as a DataFrame of pandas, which is imported when one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.errors import import_extra

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd


def data_frame(rows: Sequence[Mapping[str, Any]], feature: str) -> pd.DataFrame:
    """Make a DataFrame with the columns that rows have, in their order; what a row lacks is missing there.

    Raises MissingExtraError if pandas is not installed.

    Parameters
    ----------
    feature : str
        What needs pandas, for the message where it is not installed.
    """
    pandas = import_extra("pandas", feature, "pandas")
    frame: pd.DataFrame = pandas.DataFrame(list(rows))
    return frame
