"""What workers share: a study in a storage that is waited for, and who may take which of its trials."""

from psopt.search.distributed._answers import (
    StudyMetadata,
    read_answers,
    read_further,
    read_metadata,
    read_rounds,
    read_train_answers,
    stored_edits,
    write_answers,
    write_edits,
    write_further,
    write_metadata,
    write_train_answers,
)
from psopt.search.distributed._coordinator import TOTAL_REACHED, Coordinator, SharedCoordinator
from psopt.search.distributed._retry_policy import OUTAGES, RetryPolicy
from psopt.search.distributed._storage import make_storage, open_storage, opening, without_password
from psopt.search.distributed._stored_study import StoredStudy, finished_by_others, retrying
from psopt.search.distributed._study_keys import AUDIT, BASELINE, CHOSEN, DROPPED, FAILED, INFEASIBLE, PROMPT_ID, RACED

__all__ = [
    "AUDIT",
    "BASELINE",
    "CHOSEN",
    "DROPPED",
    "FAILED",
    "INFEASIBLE",
    "OUTAGES",
    "PROMPT_ID",
    "RACED",
    "TOTAL_REACHED",
    "Coordinator",
    "RetryPolicy",
    "SharedCoordinator",
    "StoredStudy",
    "StudyMetadata",
    "finished_by_others",
    "make_storage",
    "open_storage",
    "opening",
    "read_answers",
    "read_further",
    "read_metadata",
    "read_rounds",
    "read_train_answers",
    "retrying",
    "stored_edits",
    "without_password",
    "write_answers",
    "write_edits",
    "write_further",
    "write_metadata",
    "write_train_answers",
]
