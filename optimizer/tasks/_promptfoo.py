"""promptfoo's tests as rows: their variables are the columns, and the answer in their assertions is the label."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.errors import DataError
from psopt.tasks._cells import column_names
from psopt.tasks._formats import delimited_rows, json_rows
from psopt.tasks._promptfoo_answers import UnreadError, answer_of, assertion_of_cell, filled, is_loose, only_answer
from psopt.tasks._row import Record
from psopt.text import Node, json_node, read_text, shortened_list, yaml_node

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

SUFFIXES = (".yaml", ".yml", ".json")
EXPECTED = "__expected"
"""The column of the answers, as in promptfoo's CSV files."""
_FILE = "file://"
_MOST_ROWS = 100_000  # from one test whose variables are lists: it runs with every combination
_MOST_NAMED = 3  # in one line
_PROGRAMS = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".py", ".rb", ".sh", ".exe")
_MEMBERS = frozenset({"vars", "assert", "path", "options", "description", "metadata", "provider", "threshold", "$ref"})


@dataclass(frozen=True, slots=True)
class PromptfooTests:
    """The tests of a configuration, or of a file of tests."""

    path: Path
    rows: list[Record]  # each with the label in the column `EXPECTED`, None if no assertion names one
    unread: tuple[tuple[str, str], ...] = ()  # assertions that psopt can't use: what they are, and where

    def note(self, *, skip: bool) -> str:
        """What is left out; empty if nothing is."""
        if not self.unread:
            return ""
        places: dict[str, list[str]] = {}
        for kind, where in self.unread:
            places.setdefault(kind, []).append(where)
        kinds = [f"{kind} ({shortened_list(of_kind, 1)})" for kind, of_kind in places.items()]
        told = f"assertions that name no answer to compare with: {shortened_list(kinds, _MOST_NAMED)}"
        if not skip:
            raise DataError(f"{self.path}: {told}; --skip-unread leaves these out")
        return f"left out: {told}"


def is_tests(path: Path) -> bool:
    """Tell whether a file has the ending of a promptfoo configuration."""
    return path.suffix.lower() in SUFFIXES


def read_tests(path: Path) -> PromptfooTests:
    """Read the tests of a promptfoo configuration, or a list of tests."""
    text = read_text(path, error=DataError)
    root = _document(path, text)
    members = {"tests": root}
    if isinstance(root.value, dict):
        members = root.value
    if not members.keys() & {"prompts", "providers", "tests", "scenarios", "defaultTest"}:
        raise DataError(f"{path}: is no promptfoo configuration; data are .csv, .tsv, .jsonl or .parquet files")
    nothing = Node({}, 0, 0)
    reader = _Reader(path, text, members.get("assertionTemplates", nothing).members)
    default = members.get("defaultTest", nothing)
    if isinstance(default.value, str):
        file = reader.beside(default.value, "defaultTest")
        default = _document(file, read_text(file, error=DataError))
    tests = members.get("tests")
    if tests is not None and isinstance(tests.value, (list, dict, str)):
        reader.add(tests, _members(f"{path}, defaultTest", default.plain()))
    if not reader.rows:
        raise DataError(f"{path}: holds no tests (scenarios are not read); add tests: with vars and assert: to each")
    return PromptfooTests(path, _completed(reader.rows, reader.loose), tuple(reader.unread))


def _completed(rows: Sequence[Record], loose: Collection[int]) -> list[Record]:
    """Rows with all columns, that of answers last; an answer whose case does not matter gets the commonest spelling."""
    names = column_names([row.values for row in rows])
    empty: dict[str, Any] = dict.fromkeys([*(name for name in names if name != EXPECTED), EXPECTED])
    answers = [row.values[EXPECTED] for row in rows]
    exact = Counter(str(answer) for index, answer in enumerate(answers) if answer is not None and index not in loose)
    spelling: dict[str, str] = {}
    for answer, _ in [*exact.most_common(), *Counter(map(str, answers)).most_common()]:
        spelling.setdefault(answer.casefold(), answer)
    completed = []
    for index, (row, answer) in enumerate(zip(rows, answers, strict=True)):
        if index in loose and isinstance(answer, str):
            answer = spelling[answer.casefold()]
        completed.append(Record(row.where, {**empty, **row.values, EXPECTED: answer}))
    return completed


@dataclass
class _Reader:
    """Collects rows, and the assertions that can't be read."""

    path: Path
    text: str
    templates: Mapping[str, Node]  # assertions that others name
    rows: list[Record] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)
    loose: set[int] = field(default_factory=set)  # rows whose answer is right in upper or lower case

    def beside(self, name: str, where: str) -> Path:
        """The file that a name stands for, relative to the configuration."""
        stated = name.removeprefix(_FILE)
        if "://" in stated:
            fix = "save it here, or give --dataset hf:ORG/NAME and --prompt"
            raise DataError(f"{self.path}, {where}: {stated:.60} is read from elsewhere: {fix}")
        if _is_program(stated):
            raise DataError(f"{self.path}, {where}: {stated:.60} is a program: write what it makes to a CSV file")
        return self.path.parent / stated

    def add(self, tests: Node, default: Mapping[str, Any]) -> None:
        """Add the tests of a node: a list of tests, or names of files."""
        for number, test in enumerate(_items(tests), start=1):
            line = self.text.count("\n", 0, test.start) + 1
            where = f"test {number}, line {line}"
            named = test.members.get("path", test).value
            if isinstance(named, str):
                file = self.beside(named, where)
                files = sorted(file.parent.glob(file.name)) if "*" in file.name else [file]
                if not files:
                    raise DataError(f"{self.path}, {where}: no file is called {named}")
                for file in files:
                    self._add_file(file, where, default)
            else:
                self._add_test(where, test.plain(), default)

    def _add_file(self, file: Path, where: str, default: Mapping[str, Any]) -> None:
        suffix = file.suffix.lower()
        if suffix not in (*SUFFIXES, ".csv", ".jsonl"):
            raise DataError(f"{self.path}, {where}: tests in {file.name} can't be read; save them as CSV")
        text = read_text(file, f"{self.path}, {where}: {file}", DataError)
        if suffix == ".csv":
            for row in delimited_rows(file, text, ","):
                self._add_test(f"{file.name}, {row.where}", _test_of_row(row.values), default)
        elif suffix == ".jsonl":
            for row in json_rows(file, text):
                self._add_test(f"{file.name}, {row.where}", row.values, default)
        else:
            for number, test in enumerate(_items(_document(file, text)), start=1):
                self._add_test(f"{file.name}, test {number}", test.plain(), default)

    def _add_test(self, where: str, test: Any, default: Mapping[str, Any]) -> None:
        """Add the rows of a test: one, or one for each combination of values from variables that are lists."""
        test = _members(f"{self.path}, {where}", test)
        variables = {**_variables(self.path, "defaultTest", default), **_variables(self.path, where, test)}
        assertions = [*(default.get("assert") or ()), *(test.get("assert") or ())]
        options = test.get("options")
        is_one = isinstance(options, dict) and options.get("disableVarExpansion")
        for choice in [variables] if is_one else _choices(f"{self.path}, {where}", variables):
            values = {name: self._value(value, choice, f"{where}, {name}") for name, value in choice.items()}
            answer = self._answer(where, assertions, values)
            self.rows.append(Record(where, {**values, EXPECTED: answer}))

    def _value(self, value: Any, variables: Mapping[str, Any], where: str) -> Any:
        if isinstance(value, bool):
            return str(value).lower()  # as JavaScript writes it
        if not isinstance(value, str):
            return value
        return self._content(value, where) if value.startswith(_FILE) else filled(value, variables)

    def _content(self, name: str, where: str) -> str:
        file = self.beside(name, where)
        return read_text(file, f"{self.path}, {where}: {file}", DataError).strip()

    def _answer(self, where: str, assertions: list[Any], variables: Mapping[str, Any]) -> Any:
        def read_file(name: str) -> str:
            if _is_program(name):
                raise UnreadError("a program")
            return self._content(name, where)

        answers = []
        is_exact = False
        for assertion in sorted(map(self._resolved, assertions), key=is_loose):
            try:
                answer = answer_of(assertion, variables, read_file)
            except UnreadError as unread:
                self.unread.append((str(unread), where))
                continue
            if answer is not None:
                answers.append(answer)
                is_exact |= not is_loose(assertion)
        if answers and not is_exact:
            self.loose.add(len(self.rows))
        try:
            return only_answer(answers)
        except UnreadError as unread:
            self.unread.append((str(unread), where))
            return None

    def _resolved(self, assertion: Any) -> Any:
        """An assertion, or the template that it stands for (``$ref: '#/assertionTemplates/NAME'``)."""
        name = str(assertion.get("$ref")) if isinstance(assertion, dict) else ""
        template = self.templates.get(name.removeprefix("#/assertionTemplates/"))
        return template.plain() if template else assertion


def _is_program(name: str) -> bool:
    """Whether a file is a program, perhaps with the name of a function in it."""
    return Path(name.removeprefix(_FILE).split(":")[0]).suffix.lower() in _PROGRAMS


def _items(node: Node) -> list[Node]:
    return node.value if isinstance(node.value, list) else [node]


def _document(path: Path, text: str) -> Node:
    if not text.strip():
        raise DataError(f"{path}: is empty")
    read = json_node if path.suffix.lower() == ".json" else yaml_node
    try:
        node = read(text, str(path), DataError)
    except DataError as error:
        if path.suffix.lower() == ".json" and "Extra data" in str(error):
            raise DataError(f"{path}: looks like JSON lines: rename it so that it ends in .jsonl") from error
        raise
    if not isinstance(node.value, (dict, list)):
        raise DataError(f"{path}: is no promptfoo configuration; data are .csv, .tsv, .jsonl or .parquet files")
    return node


def _test_of_row(values: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a CSV file as a test: ``__expected``, ``__expected1`` .. hold assertions; other ``__`` are ignored."""
    cells = [cell for name, cell in values.items() if name.strip().startswith(EXPECTED) and cell.strip()]
    return {
        "vars": {name.strip(): cell for name, cell in values.items() if not name.strip().startswith("__")},
        "assert": [assertion_of_cell(cell) for cell in cells],
    }


def _members(where: str, test: Any) -> dict[str, Any]:
    if not isinstance(test, dict):
        raise DataError(f"{where}: is {test!r:.40} and no test; give it vars and assert")
    if test and not test.keys() & _MEMBERS:
        fix = "if these are columns, put the rows into a .jsonl file, one per line"
        raise DataError(f"{where}: has neither vars nor assert, but {', '.join(map(str, test))[:60]}; {fix}")
    if not isinstance(test.get("assert") or [], list):
        raise DataError(f"{where}: assert must be a list, each with type and value")
    return test


def _variables(path: Path, where: str, test: Mapping[str, Any]) -> dict[str, Any]:
    variables = test.get("vars") or {}
    if not isinstance(variables, dict):
        raise DataError(f"{path}, {where}: vars must be names with values, not {variables!r:.40}")
    return variables


def _choices(where: str, variables: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The variables, once for each combination of values from those that are lists of texts, as promptfoo does."""
    listed = {name: value for name, value in variables.items() if isinstance(value, list) and value}
    listed = {name: value for name, value in listed.items() if isinstance(value[0], str)}
    if math.prod(map(len, listed.values())) > _MOST_ROWS:
        raise DataError(f"{where}: the lists among its vars make over {_MOST_ROWS:,} tests; make them shorter")
    for choice in itertools.product(*listed.values()):
        yield {**variables, **dict(zip(listed, choice, strict=True))}
