"""Tasks: what is classified, where it comes from, how it is split."""

from psopt.tasks._task import DatasetInfo, Sample, Task

__all__ = ["DatasetInfo", "Sample", "Task"]
