"""Tasks: what is classified, where it comes from, how it is split."""

from psopt.tasks._answer_spec import (
    EMBEDDING,
    FORMS,
    FREE,
    FUNCTION,
    JSON,
    JUDGE,
    LABEL,
    LABELS,
    NUMBER,
    ORDINAL,
    REFERENCE,
    TEXT,
    TOKEN_F1,
    AnswerSpec,
    Instrument,
    check_answers,
)
from psopt.tasks._builtin import RemoteFile
from psopt.tasks._download import DownloadError, check_online, fetch_dataset, list_datasets, retrieve
from psopt.tasks._hub import HubName, is_hub_name
from psopt.tasks._labels import are_mostly_rare, in_order
from psopt.tasks._read import columns_of, read_bundled
from psopt.tasks._references import as_reference, as_value, references_of, set_written, written_number, written_set
from psopt.tasks._row import (
    DatasetInfo,
    Row,
    Sample,
    columns_of_row,
    fields_of,
    inputs_of,
    sample_phrases,
    sample_shows,
    sample_shows_any,
    shown_words,
)
from psopt.tasks._splits import subset
from psopt.tasks._task import Task, as_task, load_task, read_samples
from psopt.tasks._taskfile import ReadingOptions
from psopt.tasks._texts import InputColumns, is_data_file, texts_of_file, texts_of_lines, texts_of_records

__all__ = ["ReadingOptions", "Row", "Sample", "Task", "columns_of", "fields_of", "load_task", "subset"]
