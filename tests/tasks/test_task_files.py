"""Task files: what they say reaches the task, and what they get wrong is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from psopt.errors import DataError, InputError
from psopt.tasks import columns_of, load_task

from tests.sweeps import each

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
        '\ufeffname = "mood"\nnoun = "review"\ndescription = """Is it\n  good ?"""\nlabels = ["good", "bad"]\n'
        'data = "rows.csv"\ntest = "more.csv"\n' + COLUMNS + "[definitions]\n"
        'good = "praise"\n[subclasses.good]\nwarm = "warm praise"\n',
        "utf-8",
    )
    task = load_task(str(words))
    assert (task.name, task.noun, task.description) == ("mood", "review", "Is it good ?")
    assert task.labels == ("good", "bad")
    assert task.definitions == {"good": "praise"}
    assert task.subclasses == {"good": {"warm": "warm praise"}}
    assert [sample.text for sample in task.test] == ["splendid", "ugly"]


def test_a_task_file_beside_a_data_file_lends_its_words_and_columns_given_by_hand_come_first(
    data: Path, words: Path
) -> None:
    words.write_text('noun = "review"\ntext_column = "nothing"\nlabel_column = "kind"\n')
    task = load_task(data, task_file=words, text_column="said")
    assert (task.name, task.labels) == ("rows", ("bad", "good"))
    assert task.description == "Classify the review into one of the given classes."
    words.write_text('data = "rows.csv"\ninputs = ["kind", "said"]\n')
    assert columns_of(words) == ("said", "kind")
    overruled = load_task(words, inputs=["said"], label_column="kind")
    assert overruled.train[0].text.inputs == ("said",)  # type: ignore[attr-defined]


# What a task file holds, and parts of what is told of it.
BAD: list[tuple[str, list[str]]] = [
    (r'data = "C:\Users\me.csv"', ["no valid TOML", "in single quotes: 'C:\\data"]),
    ("labels: good", ["no valid TOML", "line 1"]),
    ("a = " + "[" * 100_000, ["no valid TOML", "nested too deeply"]),
    ('descripton = "x"', ["unknown key 'descripton'", "did you mean 'description'?"]),
    ("name = 3", ["name must be a text, not 3"]),
    ('labels = "good"', ["labels must be a list of texts"]),
    ('inputs = "said"', ["inputs must be a list of columns"]),
    ('labels = ["good"]', ["at least two labels", "only 'good'"]),
    ('labels = ["good", "good"]', ["'good' stands twice"]),
    ('labels = ["good", "b\\nad"]', ["line break"]),
    ("[definitions]\ngood = 3", ["definitions.good must be a text, not 3"]),
    (
        'labels = ["good", "bad"]\n[definitions]\ngod = "x"',
        ["definitions: label 'god' is none of the labels", "did you mean 'good'?"],
    ),
    (COLUMNS + 'labels = ["good", "ugly"]', ["label 'bad' is none of the labels", "good, ugly"]),
    (COLUMNS + 'test = "mor.csv"', ["no such file", "did you mean 'more.csv'?"]),
    ('noun = "caf\udce9"', ["not UTF-8"]),  # a byte of another encoding
]


@each("content, parts", BAD)
def test_a_bad_task_file_is_told_in_one_line(data: Path, words: Path, content: str, parts: list[str]) -> None:
    words.write_text(content + "\n", encoding="utf-8", errors="surrogateescape")
    with pytest.raises(DataError) as caught:
        load_task(data, task_file=words)
    message = str(caught.value)
    assert "\n" not in message
    for part in (str(words.parent), *parts):
        assert part in message


def test_a_task_file_that_is_not_there_or_one_too_many_or_without_data_is_told(data: Path, words: Path) -> None:
    words.write_text('noun = "review"\n')
    with pytest.raises(DataError, match=r"no such file; did you mean 'task\.toml'\?"):
        load_task(data, task_file=words.with_name("tusk.toml"))
    with pytest.raises(InputError, match="both task files"):
        load_task(words, task_file="other.toml")
    with pytest.raises(DataError, match='add a line such as data = "samples'):
        load_task(words)
