"""What workers share: a study in a storage that is waited for, and the right to take one of its trials."""

from psopt.search.distributed._storage import RetryPolicy, check_is_there, open_storage, retrying, without_password
from psopt.search.distributed._stored_study import CLAIMED, OF_RUN, PROMPT_ID, RACED, StoredStudy, StudyMetadata
