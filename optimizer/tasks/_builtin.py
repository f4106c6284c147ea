"""The built-in data sets, by name: where their files are published, and how each of them is read."""

from __future__ import annotations

import csv
import io
import itertools
import reprlib
from dataclasses import dataclass, replace
from functools import partial
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from psopt.errors import DataError, InputError, UnknownNameError, nearest
from psopt.tasks._cells import check_text, listed, of_each_row
from psopt.tasks._files import read_filled, read_rows
from psopt.tasks._formats import in_words, wide_fields
from psopt.tasks._row import Record, Row, Sample
from psopt.tasks._splits import draw_balanced
from psopt.text import read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    TrainTest = tuple[tuple[Sample, ...], tuple[Sample, ...]]
    Labels = Mapping[str, str]  # from what a file calls a label to the task's name of it

    ReadFile = Callable[[Path, Labels], Sequence[Sample]]

SIZE = 2000  # samples that are drawn from a large file, as in E25, the paper behind psopt
PAIR_FIELDS = ("premise", "hypothesis")
PAIR_LAYOUT = "Premise: {premise} Hypothesis: {hypothesis}"
TEXTS, DOMAINS, AREAS = "X.txt", "YL1.txt", "YL2.txt"  # of WoS-46985


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A published file, known by its digest."""

    name: str
    url: str
    sha256: str
    n_bytes: int
    # For an archive (zip, tar): the paths in it of the files that are needed. Empty if the file itself is needed.
    members: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()  # paths in the archive of files that are used if they exist

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of the files that a reader needs."""
        return tuple(PurePosixPath(member).name for member in self.members) or (self.name,)


@dataclass(frozen=True, slots=True)
class Builtin:
    """A built-in data set."""

    name: str
    description: str
    # What is published: the files that must be available, or the one archive that holds them
    files: tuple[RemoteFile, ...]
    codes: tuple[str, ...]  # what the files call the labels of ``task.toml``, in the same order
    read: Callable[[Path, Labels], TrainTest]  # returns (train, test) from the files in it; val is drawn from train
    read_bundled: Callable[[Path, Labels], TrainTest]  # returns (train, test) of that sample
    page: str  # where a person finds the files
    fields: tuple[str, ...] = ("text",)  # the fields of a sample that a prompt may name
    layout: str = ""  # how several fields, each in braces, make up a text

    @property
    def archive(self) -> RemoteFile | None:
        """The archive that holds the files; None where they are published one by one."""
        return next((file for file in self.files if file.members), None)

    @property
    def bundled_folder(self) -> Path:
        """The folder that holds ``task.toml`` and the sample written for this project."""
        return Path(str(resources.files("psopt.tasks"))) / "bundled" / self.name

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of the files that the reader needs."""
        return tuple(itertools.chain.from_iterable(file.needed for file in self.files))

    @property
    def folders(self) -> tuple[str, ...]:
        """Where in a folder the files may be: directly, or in the subfolder that an unpacked archive makes."""
        members = itertools.chain.from_iterable(file.members for file in self.files)
        return tuple(dict.fromkeys([".", *(str(PurePosixPath(member).parent) for member in members)]))


def read_both(read_file: ReadFile, train: str, test: str, folder: Path, labels: Labels) -> TrainTest:
    """Read (train, test) from two files of one form."""
    paths = {"train": folder / train, "test": folder / test}
    of_train, of_test = (_named(split, path, read_file(path, labels)) for split, path in paths.items())
    return of_train, of_test


def _named(split: str, path: Path, samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """Samples whose ids are their lines in a file, with ids of their split; raise DataError for what can't be sent."""

    def name(index: int, _: Record) -> Sample:
        check_text(samples[index].text, "the text")
        return replace(samples[index], id=f"{split}-{samples[index].id}")

    return tuple(of_each_row(str(path), [Record(f"line {sample.id}", {}) for sample in samples], name))


def read_table(path: Path, labels: Labels) -> list[Sample]:  # noqa: ARG001  # the file has the names
    """Read a .jsonl file of text, label and, if there is one, subclass."""
    return [Sample(str(number), **row.values) for number, row in enumerate(read_rows(path), start=1)]


def read_questions(path: Path, labels: Labels) -> list[Sample]:
    """Read a label file of TREC; sample ids are the line numbers."""
    text = read_bytes(path, error=DataError).decode("latin-1")
    samples = []
    for number, line in enumerate(text.split("\n"), start=1):  # splitlines would split at some Latin-1 characters too
        label, _, question = line.strip().partition(" ")
        coarse, _, fine = label.partition(":")
        if label and not (coarse in labels and fine and question.strip()):
            raise DataError(f"{path}, line {number}: expected `COARSE:fine text`, COARSE one of {', '.join(labels)}")
        if label:
            samples.append(Sample(str(number), question.strip(), labels[coarse], fine))
    if not samples:
        raise DataError(f"{path}: is empty")
    return samples


def read_pairs(path: Path, labels: Labels) -> list[Sample]:
    """Read a file of premises and hypotheses, one JSON object per line, as in SuperGLUE."""
    samples = []
    for number, row in enumerate(read_rows(path), start=1):
        code = str(row.values.get("label"))
        texts = [row.values.get(name) for name in PAIR_FIELDS]
        if code not in labels or not all(isinstance(text, str) and text.strip() for text in texts):
            wanted = f"texts for premise and hypothesis, and a label, one of {', '.join(labels)}"
            raise DataError(f"{path}, {row.where}: expected {wanted}; it has {reprlib.repr(row.values)}")
        fields = {name: " ".join(str(text).split()) for name, text in zip(PAIR_FIELDS, texts, strict=True)}
        text = Row(PAIR_LAYOUT.format_map(fields), fields, PAIR_FIELDS)
        samples.append(Sample(str(number), text, labels[code]))
    return samples


def read_articles(path: Path, labels: Labels) -> list[Sample]:
    """Draw articles from a file of DBPedia, balanced; sample ids are the line numbers."""
    stream = 1 if path.name.startswith("train") else 2
    samples = draw_balanced(_articles(path, labels), [*labels.values()], SIZE, stream=stream)
    if not samples:
        raise DataError(f"{path}: is empty")
    return samples


def _articles(path: Path, labels: Labels) -> Iterator[Sample]:
    """Read line by line, since train.csv has 560,000 lines: class number, title and text, without a header."""
    line = 1
    try:
        with path.open(encoding="utf-8", newline="") as file, wide_fields():
            reader = csv.reader(file, strict=True)
            for fields in reader:
                if fields:
                    number, title, text = map(str.strip, (*fields, "", "")[:3])
                    if len(fields) != 3 or number not in labels or not text:
                        wanted = f"class number from 1 to {len(labels)}, title, text"
                        raise DataError(f"{path}, line {line}: expected {wanted}; it has {reprlib.repr(fields)}")
                    yield Sample(str(line), f"{title}: {text}", labels[number])
                line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{path}, line {line}: {in_words(error)}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}, after line {line}: is not UTF-8; fetch the file again") from error
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror}") from error


def read_abstracts(folder: Path, labels: Labels) -> TrainTest:
    """Read (train, test) from the files of WoS-46985, balanced: test is drawn first, train from what is left."""
    samples = _abstracts(folder, labels)
    names = list(labels.values())
    test = draw_balanced(samples, names, SIZE, stream=3)
    taken = {sample.id for sample in test}
    train = draw_balanced((sample for sample in samples if sample.id not in taken), names, SIZE, stream=4)
    if not train:
        fault = f"{len(samples)} abstracts are too few; {len(labels)} or more must be left beside test"
        raise DataError(f"{folder / TEXTS}: {fault}")
    return _named("train", folder / TEXTS, train), _named("test", folder / TEXTS, test)


def _abstracts(folder: Path, labels: Labels) -> list[Sample]:
    """One abstract per line, and in further files the numbers of its domain and, if that file is there, of its area."""
    texts = _lines(folder / TEXTS)
    domains = _lines(folder / DOMAINS)
    areas = _lines(folder / AREAS) if (folder / AREAS).is_file() else []
    for name, numbers in ((DOMAINS, domains), (AREAS, areas or texts)):
        if len(texts) != len(numbers):
            n_lines = f"{TEXTS} has {len(texts):,} lines and {name} {len(numbers):,}"
            raise DataError(f"{folder}: {n_lines}; they must have one for each abstract: fetch both again")
    names = list(labels.values())
    samples = []
    for index, (text, domain) in enumerate(zip(texts, domains, strict=True)):
        if not text:
            fix = f"remove the line here and in {DOMAINS}"
            raise DataError(f"{folder / TEXTS}, line {index + 1}: the abstract is empty; {fix}")
        label = names[_number(folder / DOMAINS, index, domain, len(names))]
        area = f"area {_number(folder / AREAS, index, areas[index])}" if areas else None
        samples.append(Sample(str(index + 1), text, label, area))
    return samples


def _lines(path: Path) -> list[str]:
    """Lines without empty ones at the end; Unicode's separators don't end a line."""
    return [line.strip() for line in io.StringIO(read_filled(path).rstrip(), newline=None)]


def _number(path: Path, index: int, line: str, below: int = 1000) -> int:
    if not (line.isdecimal() and int(line) < below):
        raise DataError(f"{path}, line {index + 1}: is {line[:40]!r}; it must be a number from 0 to {below - 1}")
    return int(line)


def _of_pairs(name: str, description: str, codes: tuple[str, ...], sha256: str, n_bytes: int) -> Builtin:
    """A set of SuperGLUE, whose test.jsonl has no labels: as in E25, the larger of the other files is the test set."""
    folder = name.upper()
    origin = f"https://dl.fbaipublicfiles.com/glue/superglue/data/v2/{folder}.zip"
    members = (f"{folder}/train.jsonl", f"{folder}/val.jsonl")
    return Builtin(
        name=name,
        description=description,
        files=(RemoteFile(f"{folder}.zip", origin, sha256, n_bytes, members),),
        codes=codes,
        read=partial(read_both, read_pairs, "val.jsonl", "train.jsonl"),
        read_bundled=partial(read_both, read_pairs, "train.jsonl", "test.jsonl"),
        page="https://super.gluebenchmark.com/tasks",
        fields=PAIR_FIELDS,
        layout=PAIR_LAYOUT,
    )


_TREC_PAGE = "https://cogcomp.seas.upenn.edu/Data/QA/QC/"
_TREC_FILES = (
    ("train_5500.label", "9e4c8bdcaffb96ed61041bd64b564183d52793a8e91d84fc3a8646885f466ec3", 335_858),
    ("TREC_10.label", "033f22c028c2bbba9ca682f68ffe204dc1aa6e1cf35dd6207f2d4ca67f0d0e8e", 23_354),
)
_ALL = (
    Builtin(
        name="trec",
        description="questions by the kind of answer they ask for: 6 classes, 50 subclasses (Li and Roth)",
        files=tuple(RemoteFile(name, _TREC_PAGE + name, sha256, n) for name, sha256, n in _TREC_FILES),
        codes=("NUM", "LOC", "HUM", "DESC", "ENTY", "ABBR"),
        read=partial(read_both, read_questions, "train_5500.label", "TREC_10.label"),
        read_bundled=partial(read_both, read_questions, "train.label", "test.label"),
        page=_TREC_PAGE,
    ),
    _of_pairs(
        "cb",
        "does a premise entail a hypothesis, contradict it, or neither: 3 classes (CommitmentBank, SuperGLUE)",
        ("entailment", "contradiction", "neutral"),
        "8d641383298d54554066ba1c93f56ae7410af75df621b90c63028806bbbbb535",
        75_482,
    ),
    _of_pairs(
        "rte",
        "does a hypothesis follow from a premise: 2 classes (SuperGLUE)",
        ("entailment", "not_entailment"),
        "6310aab3f000424c9d0318a1ff20692e07c7f4aa15e8f17a5972ea0a35c398b9",
        750_920,
    ),
    Builtin(
        name="dbpedia",
        description="encyclopedia articles by what they are about: 14 classes, 2,000 of the test file (Zhang et al.)",
        files=(
            RemoteFile(
                "dbpedia_csv.tgz",
                "https://s3.amazonaws.com/fast-ai-nlp/dbpedia_csv.tgz",
                "42db5221ddedddb673a4cabcc5f3a7d869714c878bcfe4ba94b29d14aa38e417",
                68_341_743,
                members=("dbpedia_csv/train.csv", "dbpedia_csv/test.csv"),
            ),
        ),
        codes=tuple(map(str, range(1, 15))),
        read=partial(read_both, read_articles, "train.csv", "test.csv"),
        read_bundled=partial(read_both, read_table, "train.jsonl", "test.jsonl"),
        page="https://course.fast.ai/datasets",
    ),
    Builtin(
        name="wos",
        description="abstracts by field of research: 7 classes, 134 areas, 2,000 of WoS-46985 (Kowsari et al.)",
        files=(
            RemoteFile(
                "WebOfScience.zip",
                "https://data.mendeley.com/public-files/datasets/9rw3vkcfy4/files/"
                "c9ea673d-5542-44c0-ab7b-f1311f7d61df/file_downloaded",
                "b787d484bff88b0dcdb3fa291d06ec9d2f025dc2a67ce1045d0c688cd96ccf8a",
                60_222_421,
                members=(f"WOS46985/{TEXTS}", f"WOS46985/{DOMAINS}"),
                optional=(f"WOS46985/{AREAS}",),
            ),
        ),
        codes=tuple(map(str, range(7))),
        read=read_abstracts,
        read_bundled=partial(read_both, read_table, "train.jsonl", "test.jsonl"),
        page="https://data.mendeley.com/datasets/9rw3vkcfy4",
    ),
)
BUILTINS = {builtin.name: builtin for builtin in _ALL}


def find_builtin(name: str) -> Builtin:
    """Return the built-in data set of this name."""
    if name not in BUILTINS:
        hint = "or give a .csv, .tsv, .jsonl, .parquet or task .toml file"
        raise UnknownNameError("dataset", name, BUILTINS, hint=hint)
    return BUILTINS[name]


def check_fields(builtin: Builtin, names: Iterable[str]) -> None:
    """Raise InputError if one of these names is no field of the data set's samples."""
    fields = tuple(dict.fromkeys((*builtin.fields, "text")))
    for name in names:
        if name not in fields:
            hint = nearest(name, fields)
            raise InputError(f"{builtin.name}: has no column {name!r}{hint}; its columns: {listed(fields)}")
