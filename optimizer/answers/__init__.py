"""How answers are read: which label does one name, and if none, why? When are two alike, and what is one worth?"""

from psopt.answers._answer_type import CLOSENESS, F1, ONE_LABEL, AnswerType
from psopt.answers._label_names import LabelNames, joined_key
from psopt.answers._no_label import CUT_OFF, EMPTY, NO_LABEL_CURES, SEVERAL, UNKNOWN, NoLabel, shown
from psopt.answers._reader import ANSWER_FORMS, AnswerReader, check_spec, reader_for
from psopt.answers._reading import names_several, read_answer

__all__ = [
    "ANSWER_FORMS",
    "CLOSENESS",
    "CUT_OFF",
    "EMPTY",
    "F1",
    "NO_LABEL_CURES",
    "ONE_LABEL",
    "SEVERAL",
    "UNKNOWN",
    "AnswerReader",
    "AnswerType",
    "LabelNames",
    "NoLabel",
    "check_spec",
    "joined_key",
    "names_several",
    "read_answer",
    "reader_for",
    "shown",
]
