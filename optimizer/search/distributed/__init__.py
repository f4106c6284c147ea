"""What workers share: a study in a storage that is waited for, and the right to take one of its trials."""

from psopt.search.distributed._coordinator import TOTAL_REACHED, Coordinator, SharedCoordinator
from psopt.search.distributed._storage import OUTAGES, RetryPolicy, open_storage, retrying, storage_at, without_password
from psopt.search.distributed._stored_study import (
    AUDIT,
    BASELINE,
    DROPPED,
    FAILED,
    INFEASIBLE,
    PROMPT_ID,
    RACED,
    StoredStudy,
    StudyMetadata,
    finished_by_others,
    is_outdated,
    outdate_answers,
    read_answers,
    read_further,
    read_metadata,
    read_rounds,
    stored_edits,
    write_answers,
    write_edits,
    write_further,
    write_metadata,
)
