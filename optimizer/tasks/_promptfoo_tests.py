"""promptfoo's tests as rows: their variables are the columns, and the answer in their assertions is the label."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.errors import DataError
from psopt.tasks._formats import Record, delimited_rows, json_rows
from psopt.tasks._promptfoo_answers import UnreadError, answer_of, assertion_of_cell, filled, is_loose, only_answer
from psopt.text import Node, json_node, read_text, yaml_node

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
        """What is left out; empty if nothing is.

        Raises DataError if something would be left out without `skip`.
        """
        if not self.unread:
            return ""
        counts = Counter(kind for kind, _ in self.unread)
        first = dict(reversed(self.unread))
        kinds = [f"{kind} ({first[kind]}{f', and {n - 1:,} more' if n > 1 else ''})" for kind, n in counts.items()]
        more = f", and {len(kinds) - _MOST_NAMED:,} other kinds" if len(kinds) > _MOST_NAMED else ""
        told = ", ".join(kinds[:_MOST_NAMED]) + more
        if not skip:
            raise DataError(
                f"{self.path}: assertions that name no answer to compare with: {told}; --skip-unread leaves these out"
            )
        return f"assertions are left out that name no answer to compare with: {told}"


def is_tests(path: Path) -> bool:
    """Tell whether a file has the ending of a promptfoo configuration."""
    return path.suffix.lower() in SUFFIXES


def read_tests(path: Path) -> PromptfooTests:
    """Read the tests of a promptfoo configuration, or a list of tests.

    Raises DataError if the file can't be read, is neither, or holds no tests.
    """
    text = read_text(path, error=DataError)
    root = _document(path, text)
    members = root.value if isinstance(root.value, dict) else {"tests": root}
    if not isinstance(members["tests"].value if "tests" in members else None, (list, dict, str)):
        if not members.keys() & {"prompts", "providers", "tests", "scenarios", "defaultTest"}:
            raise DataError(f"{path}: is no promptfoo configuration; data are .csv, .tsv, .jsonl or .parquet files")
        scenarios = ", and scenarios are not read" if "scenarios" in members else ""
        raise DataError(f"{path}: holds no tests{scenarios}; add tests: with vars and assert: to each")
    reader = _Reader(path, text, root)
    default = members.get("defaultTest")
    if default is not None and isinstance(default.value, str):
        file = reader.beside(default.value, "defaultTest")
        default = _document(file, read_text(file, error=DataError))
    reader.add(members["tests"], _members(f"{path}, defaultTest", default.plain() if default is not None else {}))
    if not reader.rows:
        raise DataError(f"{path}: holds no tests; add tests: with vars and assert: to each")
    return PromptfooTests(path, _completed(reader.rows, reader.loose), tuple(reader.unread))


def _completed(rows: Sequence[Record], loose: Collection[int]) -> list[Record]:
    """Rows with all columns, that of answers last; an answer whose case does not matter gets the commonest spelling."""
    names = dict.fromkeys(name for row in rows for name in row.values)
    empty = dict.fromkeys([*(name for name in names if name != EXPECTED), EXPECTED])
    spelling: dict[str, str] = {}
    answers = [row.values[EXPECTED] for row in rows]
    exact = Counter(str(answer) for index, answer in enumerate(answers) if answer is not None and index not in loose)
    for answer, _ in [*exact.most_common(), *Counter(map(str, answers)).most_common()]:
        spelling.setdefault(answer.casefold(), answer)
    completed = []
    for index, row in enumerate(rows):
        values = {**empty, **row.values}
        if index in loose and isinstance(values[EXPECTED], str):
            values[EXPECTED] = spelling[values[EXPECTED].casefold()]
        completed.append(Record(row.where, values))
    return completed


@dataclass
class _Reader:
    """Collects rows, and the assertions that can't be read."""

    path: Path
    text: str
    root: Node
    rows: list[Record] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)
    loose: set[int] = field(default_factory=set)  # rows whose answer is right in upper or lower case

    def beside(self, name: str, where: str) -> Path:
        """The file that a name stands for, relative to the configuration.

        Raises DataError if it is a program, or not a local file.
        """
        stated = name.removeprefix(_FILE)
        if "://" in stated:
            hub = ": give --dataset hf:ORG/NAME and --prompt" if stated.startswith("huggingface") else ": save it here"
            raise DataError(f"{self.path}, {where}: {stated:.60} is read from elsewhere{hub}")
        if Path(stated.split(":")[0]).suffix.lower() in _PROGRAMS:
            raise DataError(f"{self.path}, {where}: {stated:.60} is a program: write what it makes to a CSV file")
        return self.path.parent / stated

    def add(self, tests: Node, default: Mapping[str, Any]) -> None:
        """Add the tests of a node: a list of tests, or names of files."""
        is_list = isinstance(tests.value, list)
        for number, test in enumerate(tests.value if is_list else [tests], start=1):
            line = self.text.count("\n", 0, test.start) + 1
            where = f"test {number}, line {line}" if is_list else f"tests, line {line}"
            named = test.value
            if isinstance(named, dict) and "path" in named:
                named = named["path"].value
            if isinstance(named, str):
                for file in self._files(named, where):
                    self._add_file(file, where, default)
            else:
                self._add_test(where, test.plain(), default)

    def _files(self, name: str, where: str) -> list[Path]:
        file = self.beside(name, where)
        if "*" not in file.name:
            return [file]
        files = sorted(file.parent.glob(file.name))
        if not files:
            raise DataError(f"{self.path}, {where}: no file is called {name}")
        return files

    def _add_file(self, file: Path, where: str, default: Mapping[str, Any]) -> None:
        suffix = file.suffix.lower()
        if suffix not in (*SUFFIXES, ".csv", ".jsonl"):
            raise DataError(f"{self.path}, {where}: tests in {file.name} can't be read; save them as CSV")
        text = read_text(file, f"{self.path}, {where}: {file}", DataError)
        if suffix == ".csv":
            for row in delimited_rows(file, text, ","):
                self._add_test(f"{file.name}, {row.where}", _test_of_row(row.values), default)
            return
        if suffix == ".jsonl":
            tests = [(row.where, row.values) for row in json_rows(file, text)]
        else:
            plain = _document(file, text).plain()
            listed = plain if isinstance(plain, list) else [plain]
            tests = [(f"test {number}", test) for number, test in enumerate(listed, start=1)]
        for place, test in tests:
            self._add_test(f"{file.name}, {place}", test, default)

    def _add_test(self, where: str, test: Any, default: Mapping[str, Any]) -> None:
        """Add the rows of a test: one, or one for each combination of values from variables that are lists."""
        test = _members(f"{self.path}, {where}", test)
        variables = {**_variables(self.path, "defaultTest", default), **_variables(self.path, where, test)}
        assertions = [assertion for part in (default, test) for assertion in (part.get("assert") or ())]
        options = test.get("options")
        is_expanded = not (isinstance(options, dict) and options.get("disableVarExpansion"))
        for choice in _choices(f"{self.path}, {where}", variables, is_expanded=is_expanded):
            values = {name: self._value(value, choice, f"{where}, {name}") for name, value in choice.items()}
            answer = self._answer(where, assertions, values)
            self.rows.append(Record(where, {**values, EXPECTED: answer}))

    def _value(self, value: Any, variables: Mapping[str, Any], where: str) -> Any:
        if isinstance(value, bool):
            return str(value).lower()  # as JavaScript writes it
        if not isinstance(value, str):
            return value
        if not value.startswith(_FILE):
            return filled(value, variables)
        file = self.beside(value, where)
        return read_text(file, f"{self.path}, {where}: {file}", DataError).strip()

    def _answer(self, where: str, assertions: list[Any], variables: Mapping[str, Any]) -> Any:
        def read_file(name: str) -> str:
            try:
                file = self.beside(name, where)
            except DataError as error:
                raise UnreadError("a program") from error
            return read_text(file, f"{self.path}, {where}: {file}", DataError).strip()

        exact: list[Any] = []
        loose: list[Any] = []
        for assertion in map(self._resolved, assertions):
            try:
                answer = answer_of(assertion, variables, read_file)
            except UnreadError as unread:
                self.unread.append((str(unread), where))
            else:
                if answer is not None:
                    (loose if is_loose(assertion) else exact).append(answer)
        if loose and not exact:
            self.loose.add(len(self.rows))
        try:
            return only_answer([*exact, *loose])
        except UnreadError as unread:
            self.unread.append((str(unread), where))
            return None

    def _resolved(self, assertion: Any) -> Any:
        """An assertion, or the one of the configuration that it stands for (``$ref: '#/assertionTemplates/NAME'``)."""
        reference = assertion.get("$ref") if isinstance(assertion, dict) else None
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return assertion
        node: Node | None = self.root
        for name in reference.removeprefix("#/").split("/"):
            node = node.members.get(name) if node is not None else None
        return node.plain() if node is not None else assertion


def _document(path: Path, text: str) -> Node:
    if not text.strip():
        raise DataError(f"{path}: is empty")
    read = json_node if path.suffix.lower() == ".json" else yaml_node
    node = read(text, str(path), DataError)
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
        raise DataError(f"{where}: has neither vars nor assert, but {', '.join(map(str, test))[:60]}")
    if not isinstance(test.get("assert") or [], list):
        raise DataError(f"{where}: assert must be a list, each with type and value")
    return test


def _variables(path: Path, where: str, test: Mapping[str, Any]) -> dict[str, Any]:
    variables = test.get("vars") or {}
    if not isinstance(variables, dict):
        raise DataError(f"{path}, {where}: vars must be names with values, not {variables!r:.40}")
    return variables


def _choices(where: str, variables: Mapping[str, Any], *, is_expanded: bool) -> Iterator[dict[str, Any]]:
    """The variables, once for each combination of values from those that are lists of texts, as promptfoo does."""
    listed = {
        name: value
        for name, value in variables.items()
        if is_expanded and isinstance(value, list) and value and isinstance(value[0], str)
    }
    if math.prod(map(len, listed.values())) > _MOST_ROWS:
        raise DataError(f"{where}: the lists among its vars make over {_MOST_ROWS:,} tests; make them shorter")
    for choice in itertools.product(*listed.values()):
        yield {**variables, **dict(zip(listed, choice, strict=True))}
