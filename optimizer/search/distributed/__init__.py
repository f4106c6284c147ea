"""What workers share: a study in a storage that is waited for, and who may take which of its trials."""

from psopt.search.distributed._answers import StudyMetadata, read_answers, read_metadata, write_answers, write_metadata
from psopt.search.distributed._coordinator import SharedCoordinator
from psopt.search.distributed._retry_policy import RetryPolicy
from psopt.search.distributed._storage import open_storage, without_password
from psopt.search.distributed._stored_study import StoredStudy, retrying
from psopt.search.distributed._study_keys import PROMPT_ID, RACED

__all__ = [
    "PROMPT_ID",
    "RACED",
    "RetryPolicy",
    "SharedCoordinator",
    "StoredStudy",
    "StudyMetadata",
    "open_storage",
    "read_answers",
    "read_metadata",
    "retrying",
    "without_password",
    "write_answers",
    "write_metadata",
]
