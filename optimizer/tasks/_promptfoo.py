"""promptfoo's tests as rows: their variables are the columns, and the answer in their assertions is the label.

The assertions are those of promptfoo.dev/docs/configuration/expected-outputs.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.errors import DataError, InputError
from psopt.tasks._cells import plain
from psopt.tasks._formats import delimited_rows, json_rows
from psopt.tasks._row import Record
from psopt.text import Node, json_node, read_text, shortened_list, yaml_node

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

_NAMES_ALONE = re.compile(r"\{\{-?\s*(?P<name>[^\W\d][\w.]*)\s*-?\}\}")
_EXPRESSION = re.compile(r"\{\{|\{%")
_ONE = frozenset({"equals", "contains", "icontains", "starts-with", "similar"})
_SEVERAL = frozenset({"contains-all", "icontains-all", "contains-any", "icontains-any"})
_FORMS = frozenset({"is-json", "contains-json"})
_OF_THE_CALL = frozenset({"cost", "latency"})  # they say nothing about the answer
# The most common comparison in a line of JavaScript: the answer, or a member of its JSON, with a text or a variable.
_COMPARED = re.compile(
    r"(?:return\s+)?(?:JSON\.parse\(\s*output\s*\)|output)(?:\.(?!includes)\w+(?:\(\s*\))?)*"
    r"(?:\s*={2,3}\s*|\.includes\(\s*)"
    r"(?:'(?P<single>[^'\\]*)'|\"(?P<double>[^\"\\]*)\"|context\.vars\.(?P<name>\w+))(?:\.\w+\(\s*\))*\s*\)?\s*;?"
)
# In a cell of a CSV file: ``icontains: Billing``, ``similar(0.8): ..``; otherwise the text is the answer
_IN_A_CELL = re.compile(r"(?P<type>(?:not-)?[a-z]+(?:-[a-z]+)*)(?:\([\d.]+\))?:(?P<value>.*)", re.DOTALL)
_SHORT = {"fn": "javascript", "eval": "javascript", "grade": "llm-rubric"}
_OTHERS = {
    *("javascript", "python", "llm-rubric", "regex", "factuality", "levenshtein", "model-graded-closedqa", "rouge-n"),
    *("answer-relevance", "classifier", "context-recall", "context-relevance", "perplexity", "webhook", "moderation"),
}


class UnreadError(Exception):
    """An assertion that psopt can't use; the message names it."""


def filled(text: str, variables: Mapping[str, Any]) -> str:
    """Fill in names in double braces, as Nunjucks does in the simplest case; unknown names stay."""

    def value(match: re.Match[str]) -> str:
        variable = variables.get(match["name"])
        return match.group() if variable is None else _written(variable)

    return _NAMES_ALONE.sub(value, text)


def assertion_of_cell(cell: str) -> dict[str, Any]:
    """Read an assertion from a column ``__expected``."""
    text = cell.strip()
    if text in _FORMS | _OF_THE_CALL:
        return {"type": text}
    if match := _IN_A_CELL.fullmatch(text):
        kind = _SHORT.get(match["type"], match["type"])
        if kind.removeprefix("not-") in _ONE | _SEVERAL | _FORMS | _OF_THE_CALL | _OTHERS:
            value: Any = match["value"].strip()
            # As a list, even of one: a name after file:// in such a cell is text.
            return {"type": kind, "value": value.split(",") if kind in _SEVERAL else value}
    return {"type": "equals", "value": text}


def answer_of(assertion: Any, variables: Mapping[str, Any], read_file: Callable[[str], str]) -> Any:
    """Return the answer that an assertion says is right; None if it does not say which is.

    Its value may name variables of its test; `read_file` reads the files that it names by ``file://``.
    """
    if not isinstance(assertion, dict) or not isinstance(assertion.get("type"), str):
        raise UnreadError("an assertion without a type")
    kind, value = assertion["type"], assertion.get("value")
    if isinstance(value, str) and value.startswith("file://"):
        value = read_file(value)
    if kind in _OF_THE_CALL or (kind in _FORMS and value in (None, "")):
        return None
    if kind in _FORMS:
        return _in_schema(kind, value)
    if kind == "javascript" and isinstance(value, str):
        return _compared(value, variables)
    if kind in _SEVERAL:
        return _one_of_several(kind, value, variables)
    if kind in _ONE and value is not None:
        return _filled_whole(kind, value, variables)
    raise UnreadError(kind)


def is_loose(assertion: Any) -> bool:
    """Tell whether an assertion accepts its answer in upper or lower case: then others tell how it is spelled."""
    return isinstance(assertion, dict) and str(assertion.get("type")).startswith("icontains")


def only_answer(answers: Sequence[Any]) -> Any:
    """Return the answer that all assertions of a test name; the first spelling if they differ only in case."""
    by_form = {_written(answer).strip().casefold(): answer for answer in reversed(answers)}
    if len(by_form) > 1:
        raise UnreadError(f"several answers ({', '.join(repr(answer) for answer in reversed(by_form.values())):.60})")
    return next(iter(by_form.values()), None)


def _filled_whole(kind: str, value: Any, variables: Mapping[str, Any]) -> str:
    text = filled(_written(value), variables).strip()
    if _EXPRESSION.search(text):
        raise UnreadError(f"{kind} of {text:.40}")
    return text


def _one_of_several(kind: str, value: Any, variables: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list) or not value or (len(value) > 1 and kind.endswith("any")):
        raise UnreadError(kind)
    texts = [_filled_whole(kind, member, variables) for member in value]
    return texts[0] if len(texts) == 1 else texts


def _compared(code: str, variables: Mapping[str, Any]) -> str:
    match = _COMPARED.fullmatch(code.strip())
    if match is None:
        raise UnreadError("javascript")
    if match["name"]:
        if match["name"] not in variables:
            raise UnreadError(f"javascript of {match['name']}")
        return _written(variables[match["name"]]).strip()
    return (match["single"] or match["double"] or "").strip()


def _in_schema(kind: str, schema: Any) -> Any:
    """The members that a JSON schema fixes: a single one as its value, several as JSON; None if it fixes none."""
    if isinstance(schema, str):
        try:
            schema = yaml_node(schema, kind).plain()
        except InputError as error:
            raise UnreadError(f"{kind} with a schema that is none") from error
    if not isinstance(schema, dict):
        raise UnreadError(f"{kind} with a schema that is none")
    fixed = dict(_fixed(schema))
    if len(fixed) > 1:
        return json.dumps(fixed, ensure_ascii=False)
    return next(iter(fixed.values()), None)


def _fixed(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    members = schema.get("properties")
    if not isinstance(members, dict):
        return
    for name, member in members.items():
        match member:
            case {"const": value} | {"enum": [value]}:
                yield name, value


def _written(value: Any) -> str:
    """A value as JavaScript writes it."""
    if isinstance(value, (bool, dict, list)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(plain(value))


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
    names = dict.fromkeys(itertools.chain.from_iterable(row.values for row in rows))
    names.pop(EXPECTED, None)
    empty: dict[str, Any] = {**names, EXPECTED: None}
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
        choices = iter([variables])
        options = test.get("options")
        if not (isinstance(options, dict) and options.get("disableVarExpansion")):
            choices = _choices(f"{self.path}, {where}", variables)
        for choice in choices:
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
        return self._content(value, where)

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
    """The tests of a list; anything else stands for one."""
    return node.value if isinstance(node.value, list) else [node]


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
