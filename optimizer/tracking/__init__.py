"""Trackers: they report a run to MLflow, or are the user's own callbacks and trackers.

No tracker's package is imported before a run asks for it.
"""

from psopt.tracking._base import CallbackTracker, Ending, OptunaCallback, RunRecord, Tracker, TrialRecord
from psopt.tracking._mlflow import MLflowTracker
from psopt.tracking._tracking import Callback, listed, split_callbacks, tracked, tracker_names

__all__ = [
    "Callback",
    "CallbackTracker",
    "Ending",
    "MLflowTracker",
    "OptunaCallback",
    "RunRecord",
    "Tracker",
    "TrialRecord",
    "split_callbacks",
    "tracked",
    "tracker_names",
]
