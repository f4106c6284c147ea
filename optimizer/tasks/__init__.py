"""Tasks: what is classified, where it comes from, how it is split."""

from psopt.tasks._download import fetch_dataset
from psopt.tasks._load import load_task
from psopt.tasks._origin import DatasetStatus, list_datasets
from psopt.tasks._strata import subset
from psopt.tasks._task import DatasetInfo, Sample, Task

__all__ = [
    "DatasetInfo",
    "DatasetStatus",
    "Sample",
    "Task",
    "fetch_dataset",
    "list_datasets",
    "load_task",
    "subset",
]
