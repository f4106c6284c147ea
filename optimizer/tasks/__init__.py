"""Tasks: what is classified, where it comes from, how it is split."""

from psopt.tasks._bundled import read_bundled
from psopt.tasks._data import DatasetInfo, Sample
from psopt.tasks._download import fetch_dataset
from psopt.tasks._header import columns_of
from psopt.tasks._load import load_task
from psopt.tasks._origin import DatasetStatus, list_datasets
from psopt.tasks._row import Row, fields_of
from psopt.tasks._strata import subset
from psopt.tasks._task import Task

__all__ = [
    "DatasetInfo",
    "DatasetStatus",
    "Row",
    "Sample",
    "Task",
    "columns_of",
    "fetch_dataset",
    "fields_of",
    "list_datasets",
    "load_task",
    "read_bundled",
    "subset",
]
