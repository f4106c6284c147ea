"""The sets of ProSA's study (P24) from their official files: questions and right answers."""

from __future__ import annotations

import json
import string
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from _prosa_math import boxed, canonical
from psopt.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

LETTERS = ("A", "B", "C", "D", "E")
LABEL, MATH, FREE = "label", "text:json", "free"
_LEAST_SAME = 0.5  # guards against files in another order; chosen, not measured
PROSA = "https://github.com/open-compass/ProSA/tree/main/prompts/objective"


@dataclass(frozen=True, slots=True)
class Question:
    """One row: its text with the options, and the right letter, the right result, or a reference answer."""

    id: str
    text: str
    right: str


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """One of the sets, and where its files come from.

    Attributes
    ----------
    name : str
        Its folder's name in the data folder.
    title : str
        Its name in the paper.
    answers : str
        What answers are, as ``--answers`` takes it; free ones are rated by a judge.
    noun : str
        What a sample is called in prompts.
    files : tuple of tuple of str
        The files that are measured, within the folder; of each tuple, the first that exists.
    training : str
        The file that few-shot examples are taken from; empty if none are shown.
    origin : str
        Where the files come from.
    read : callable
        From the paths of `files`, in their order, to questions.
    versions : tuple of str
        The paper's authors' files with other wordings of each request, the first one unchanged; empty if there are
        none.
    read_versions : callable or None
        From such a file to requests, by the questions' ids.
    """

    name: str
    title: str
    answers: str
    noun: str
    files: tuple[tuple[str, ...], ...]
    training: str
    origin: str
    read: Callable[..., list[Question]]
    versions: tuple[str, ...] = ()
    read_versions: Callable[[Path], dict[str, str]] | None = None

    def questions(self, data: Path) -> list[tuple[Question, ...]]:
        """The questions that are measured, each in one version; if texts are equal, only the first.

        Raises
        ------
        DataError
            If a file is missing or holds a row that can't be used.
        """
        return _distinct([(question,) for question in self._read(data)])

    def questions_in_versions(self, data: Path) -> list[tuple[Question, ...]]:
        """The questions that are measured, each in all versions of its text.

        Raises
        ------
        DataError
            As `questions`; or if a version of a question is missing, or the versions belong to other questions.
        """
        assert self.read_versions is not None  # noqa: S101  # called only for sets that have versions
        paths = [self._path(data, (name,), PROSA) for name in self.versions]
        texts = [(path, self.read_versions(path)) for path in paths]
        questions = self._read(data)
        self._check_order(questions, *texts[0])
        found = []
        for question in questions:
            missing = next((path for path, version in texts if question.id not in version), None)
            if missing is not None:
                raise DataError(f"{missing}: has no version of question {question.id}")
            found.append(tuple(replace(question, text=version[question.id]) for _, version in texts))
        return _distinct(found)

    def _check_order(self, questions: list[Question], path: Path, first: Mapping[str, str]) -> None:
        """Refuse a first version that is not of these questions: most of them should be unchanged in it."""
        n_same = sum(_spaced(first.get(question.id, "")) == _spaced(question.text) for question in questions)
        if n_same < _LEAST_SAME * len(questions):
            raise DataError(
                f"{path}: says {n_same} of {len(questions)} questions of {self.title} as they are; take files that "
                "belong to each other"
            )

    def _read(self, data: Path) -> list[Question]:
        return self.read(*(self._path(data, names) for names in self.files))

    def examples(self, data: Path) -> list[Question]:
        """The questions that may be shown as examples.

        Raises
        ------
        DataError
            As `questions`.
        """
        return self.read(self._path(data, (self.training,)))

    def _path(self, data: Path, names: tuple[str, ...], origin: str = "") -> Path:
        places = [data / self.name / name for name in names]
        found = next((place for place in places if place.exists()), None)
        if found is None:
            raise DataError(f"{self.title}: put {' or '.join(map(str, places))} there, from {origin or self.origin}")
        return found


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _distinct(questions: list[tuple[Question, ...]]) -> list[tuple[Question, ...]]:
    """The questions without those that equal an earlier question in one of their versions."""
    seen: set[tuple[int, str]] = set()
    kept = []
    for versions in questions:
        keys = {(number, question.text) for number, question in enumerate(versions)}
        if not keys & seen:
            kept.append(versions)
        seen |= keys
    return kept


def read_choices(path: Path) -> list[Question]:
    """Read multiple-choice questions: JSON Lines of CommonsenseQA or ARC, or the hub's form of both.

    In the former, choices are a list of objects within the question; on the hub, two lists next to it. Options get
    letters from A by their position: some rows of ARC number them.
    """
    questions = []
    for where, row in _lines(path):
        asked = row.get("question")
        stem = asked.get("stem") if isinstance(asked, dict) else asked
        labels, texts = _choices(asked.get("choices") if isinstance(asked, dict) else row.get("choices"), where)
        key = row.get("answerKey")
        if key not in labels:
            raise DataError(f"{where}: answerKey {key!r} is none of the choices {', '.join(labels)}")
        options = [f"{letter}. {text}" for letter, text in zip(LETTERS, texts, strict=False)]
        text = "\n".join([_text(stem, where, "question"), *options])
        questions.append(Question(str(row.get("id")), text, LETTERS[labels.index(key)]))
    return questions


def _choices(choices: Any, where: str) -> tuple[list[str], list[str]]:
    """The labels and the texts of a question's choices."""
    if isinstance(choices, list) and all(isinstance(choice, dict) for choice in choices):
        choices = {name: [choice.get(name) for choice in choices] for name in ("label", "text")}
    if not isinstance(choices, dict) or not isinstance(choices.get("label"), list):
        raise DataError(f"{where}: the question has no choices with label and text")
    labels = [_text(label, where, "label of a choice") for label in choices["label"]]
    texts = [_text(text, where, "text of a choice") for text in choices.get("text") or ()]
    if len(labels) != len(texts) or not 2 <= len(labels) <= len(LETTERS):
        raise DataError(f"{where}: has {len(labels)} labels and {len(texts)} texts of choices; 2 to 5 of both are read")
    return labels, texts


def read_math(path: Path) -> list[Question]:
    """Read MATH: a folder of subjects with a JSON file for each problem, or JSON Lines of the same rows.

    The right answer is the last box of the solution, in one spelling (`_prosa_math`).
    """
    rows = _files(path) if path.is_dir() else _lines(path)
    questions = []
    for number, (where, row) in enumerate(rows, start=1):
        result = boxed(_text(row.get("solution"), where, "solution"))
        if result is None:
            raise DataError(f"{where}: the solution has no \\boxed{{..}} that holds its result")
        problem = _text(row.get("problem"), where, "problem")
        questions.append(Question(str(row.get("unique_id") or number), problem, canonical(result)))
    return questions


def _files(folder: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    paths = sorted(folder.glob("*/*.json"), key=lambda path: (path.parent.name, _number(path), path.name))
    if not paths:
        raise DataError(f"{folder}: holds no SUBJECT/NUMBER.json")
    for path in paths:
        yield str(path), _row(_content(path), str(path))


def _number(path: Path) -> int:
    return int(path.stem) if set(path.stem) <= set(string.digits) else 0


def read_alpaca(path: Path) -> list[Question]:
    """Read AlpacaEval: a JSON list of instructions, each with the output of the baseline model."""
    rows = _json(_content(path), str(path))
    if not isinstance(rows, list):
        raise DataError(f"{path}: is no JSON list of instructions")
    questions = []
    for number, row in enumerate(rows, start=1):
        where = f"{path}, row {number}"
        if not isinstance(row, dict):
            raise DataError(f"{where}: is no JSON object")
        instruction = _text(row.get("instruction"), where, "instruction")
        questions.append(Question(str(number), instruction, _text(row.get("output"), where, "output")))
    return questions


def read_alpaca_version(path: Path) -> dict[str, str]:
    """Read a version of AlpacaEval by the paper's authors: a JSON list whose index is ``AE-`` and the row's number."""
    rows = _json(_content(path), str(path))
    if not isinstance(rows, list):
        raise DataError(f"{path}: is no JSON list of questions")
    texts = {}
    for number, row in enumerate(rows, start=1):
        where = f"{path}, row {number}"
        index = _text(_member(row, where, "row", "others", "index"), where, "index")
        texts[index.removeprefix("AE-")] = _text(row.get("question"), where, "question")
    return texts


def read_arena(questions: Path, answers: Path) -> list[Question]:
    """Read Arena-Hard: prompts, and the answers of the baseline model; in either of the two published forms."""
    references = {_uid(row, where): _reference(row, where) for where, row in _lines(answers)}
    read = []
    for where, row in _lines(questions):
        uid = _uid(row, where)
        if uid not in references:
            raise DataError(f"{where}: {answers} has no answer to question {uid}")
        read.append(Question(uid, _prompt(row, where), references[uid]))
    return read


def read_arena_version(path: Path) -> dict[str, str]:
    """Read a version of Arena-Hard by the paper's authors: in the form of its questions."""
    return {_uid(row, where): _prompt(row, where) for where, row in _lines(path)}


def _prompt(row: Mapping[str, Any], where: str) -> str:
    turns = row.get("turns")
    prompt = row.get("prompt") if turns is None else _member(turns, where, "turns", 0, "content")
    return _text(prompt, where, "prompt")


def _reference(row: Mapping[str, Any], where: str) -> str:
    if "choices" in row:
        answer = _member(row["choices"], where, "choices", 0, "turns", 0, "content")
    else:
        answer = _member(row.get("messages"), where, "messages", -1, "content")
        answer = answer.get("answer") if isinstance(answer, dict) else answer
    return _text(answer, where, "answer")


def _uid(row: Mapping[str, Any], where: str) -> str:
    return _text(row.get("question_id") or row.get("uid"), where, "question_id")


def _member(value: Any, where: str, name: str, *way: int | str) -> Any:
    try:
        for step in way:
            value = value[step]
    except (KeyError, IndexError, TypeError):
        raise DataError(f"{where}: {name!r} holds no {way[-1]!r} where it is looked for") from None
    return value


def _lines(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a file of JSON Lines, each with its position."""
    for number, line in enumerate(_content(path).split("\n"), start=1):
        if line.strip():
            where = f"{path}, line {number}"
            yield where, _row(line, where)


def _content(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise DataError(f"{path} can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is no text in UTF-8: take the file as it is published") from None


def _row(text: str, where: str) -> Mapping[str, Any]:
    row = _json(text, where)
    if not isinstance(row, dict):
        raise DataError(f"{where}: is no JSON object")
    return row


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise DataError(f"{where}: is no valid JSON ({error})") from None


def _text(value: Any, where: str, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{where}: the {name} must be a text, and is {'missing' if value is None else repr(value)}")
    return value.strip()


SETS = (
    QuestionSet(
        "commonsenseqa",
        "CommonsenseQA",
        LABEL,
        "question",
        (("dev_rand_split.jsonl",),),
        "train_rand_split.jsonl",
        "https://s3.amazonaws.com/commensenseqa/dev_rand_split.jsonl",
        read_choices,
    ),
    QuestionSet(
        "arc_challenge",
        "ARC-Challenge",
        LABEL,
        "question",
        (("ARC-Challenge-Test.jsonl",),),
        "ARC-Challenge-Train.jsonl",
        "https://ai2-public-datasets.s3.amazonaws.com/arc/ARC-V1-Feb2018.zip",
        read_choices,
    ),
    QuestionSet(
        "math",
        "MATH",
        MATH,
        "problem",
        (("test", "test.jsonl"),),
        "",
        "https://people.eecs.berkeley.edu/~hendrycks/MATH.tar",
        read_math,
    ),
    QuestionSet(
        "alpaca_eval",
        "AlpacaEval",
        FREE,
        "instruction",
        (("alpaca_eval_gpt4_baseline.json", "alpaca_eval.json"),),
        "",
        "https://huggingface.co/datasets/tatsu-lab/alpaca_eval",
        read_alpaca,
        tuple(f"alpaca_eval_v{number}.json" for number in (1, 2, 3)),
        read_alpaca_version,
    ),
    QuestionSet(
        "arena_hard",
        "Arena-Hard",
        FREE,
        "request",
        (("question.jsonl",), ("model_answer/gpt-4-0314.jsonl",)),
        "",
        "https://github.com/lmarena/arena-hard-auto",
        read_arena,
        tuple(f"question_v{number}.jsonl" for number in (1, 2, 3)),
        read_arena_version,
    ),
)
"""P24's sets except HumanEval, whose answers are programs that would have to be run."""
