"""Task files: what they say reaches the task, and what they get wrong is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import DataError, InputError
from psopt.tasks import load_task

from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path

ROWS = "said,kind\n" + "".join(f"lovely {i},good\nawful {i},bad\n" for i in range(6))
COLUMNS = 'text_column = "said"\nlabel_column = "kind"\n'


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "more.csv").write_text("said,kind\nsplendid,good\nugly,bad\n")
    return tmp_path / "rows.csv"


@pytest.fixture
def words(tmp_path: Path) -> Path:
    return tmp_path / "task.toml"


def test_a_task_file_names_its_data_relative_to_itself(
    data: Path, words: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    words.write_text(
        'name = "mood"\nnoun = "review"\ndescription = """Is it\n  good ?"""\nlabels = ["good", "bad"]\n'
        'data = "rows.csv"\ntest = "more.csv"\n' + COLUMNS + "[definitions]\n"
        'good = "praise"\n[subclasses.good]\nwarm = "warm praise"\n'
    )
    task = load_task(str(words))
    assert (task.name, task.noun, task.description) == ("mood", "review", "Is it good ?")
    assert task.labels == ("good", "bad")
    assert task.definitions == {"good": "praise"}
    assert task.subclasses == {"good": {"warm": "warm praise"}}
    assert [sample.text for sample in task.test] == ["splendid", "ugly"]


def test_a_task_file_beside_a_data_file_lends_its_words(data: Path, words: Path) -> None:
    words.write_text('noun = "review"\n' + COLUMNS)
    task = load_task(data, task_file=words)
    assert (task.name, task.labels) == ("rows", ("bad", "good"))
    assert task.description == "Classify the review into one of the given classes."


def test_columns_given_by_hand_come_first(data: Path, words: Path) -> None:
    words.write_text('text_column = "nothing"\nlabel_column = "kind"\n')
    assert load_task(data, task_file=words, text_column="said").labels == ("bad", "good")


BAD = {
    "a path of Windows in double quotes": (
        r'data = "C:\Users\me.csv"',
        ["no valid TOML", "in single quotes: 'C:\\data"],
    ),
    "no TOML": ("labels: good", ["no valid TOML", "line 1"]),
    "unknown key": ('descripton = "x"', ["unknown key 'descripton'", "did you mean 'description'?"]),
    "unknown key unlike any": ("zzz = 1", ["unknown key 'zzz'", "known: name, description"]),
    "origin is no key": ('origin = "x"', ["unknown key 'origin'"]),
    "wrong type": ("name = 3", ["name must be a text, not 3"]),
    "empty text": ('noun = " "', ["noun must be a text"]),
    "labels as text": ('labels = "good"', ["labels must be a list of texts"]),
    "numbers as labels": ("labels = [1, 2]", ["labels must be a list of texts"]),
    "no labels": ("labels = []", ["labels must be a list of texts"]),
    "one label": ('labels = ["good"]', ["at least two labels", "only 'good'"]),
    "doubled label": ('labels = ["good", "good"]', ["'good' stands twice"]),
    "empty label": ('labels = ["good", ""]', ["a label is empty"]),
    "broken label": ('labels = ["good", "b\\nad"]', ["line break"]),
    "definitions as text": ('definitions = "x"', ["definitions must be a table"]),
    "definition of a wrong type": ("[definitions]\ngood = 3", ["definitions.good must be a text, not 3"]),
    "subclasses flat": ('[subclasses]\ngood = "x"', ["subclasses.good must be a table"]),
    "definition of no label": (
        'labels = ["good", "bad"]\n[definitions]\ngod = "x"',
        ["definitions name 'god', which is no label", "did you mean 'good'?"],
    ),
    "definition of no label in the data": (COLUMNS + '[definitions]\nfine = "x"', ["name 'fine'", "bad, good"]),
    "label that is missing": (COLUMNS + 'labels = ["good", "ugly"]', ["the data's label 'bad'", "good, ugly"]),
    "missing test": (COLUMNS + 'test = "mor.csv"', ["no such file", "did you mean 'more.csv'?"]),
}


@each("case", BAD)
def test_a_bad_task_file_is_told_in_one_line(data: Path, words: Path, case: Any) -> None:
    content, parts = BAD[case]
    words.write_text(content + "\n")
    with pytest.raises(DataError) as caught:
        load_task(data, task_file=words)
    message = str(caught.value)
    assert "\n" not in message
    for part in (str(words.parent), *parts):
        assert part in message


def test_a_task_file_without_data_says_how_to_name_them(words: Path) -> None:
    words.write_text('noun = "review"\n')
    with pytest.raises(DataError, match='add a line such as data = "samples'):
        load_task(words)


def test_a_missing_task_file_suggests_its_neighbour(data: Path, words: Path) -> None:
    words.write_text("")
    with pytest.raises(DataError, match=r"no such file; did you mean 'task\.toml'\?"):
        load_task(data, task_file=words.with_name("tusk.toml"))


def test_two_task_files_are_one_too_many(words: Path) -> None:
    words.write_text("")
    with pytest.raises(InputError, match="both task files"):
        load_task(words, task_file="other.toml")


def test_a_task_file_in_another_encoding_is_told(data: Path, words: Path) -> None:
    words.write_bytes('noun = "café"'.encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8"):
        load_task(data, task_file=words)
