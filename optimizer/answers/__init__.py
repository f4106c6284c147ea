"""How answers are read: which label does one name and, if none, why? When are two alike, and what is one worth?"""

from psopt.answers._answer_type import CLOSENESS, F1, METRIC, ONE_LABEL, AnswerType
from psopt.answers._extract import CUT_OFF, EMPTY, NO_LABEL_CURES, NoLabel, answers_line, shown
from psopt.answers._extract import spoken_part as spoken
from psopt.answers._open_answers import BAND, embed_with
from psopt.answers._open_grid import (
    FIRST_CODE,
    classes_by_pairs,
    code_of,
    distinct_answers,
    numbered,
    packed,
    places_of,
    similarities_of,
    text_of,
    unpacked,
    worths_of,
)
from psopt.answers._reader import ANSWER_FORMS, AnswerReader, reader_for
from psopt.answers._reading import read_answer
from psopt.answers._sets import LabelSets
