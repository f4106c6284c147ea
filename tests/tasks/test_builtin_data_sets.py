"""The built-in data sets, read from their published files, which tests write small; and the samples in their place."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from psopt.errors import DataError
from psopt.tasks import Task, list_datasets, load_task, read_bundled

from tests.sweeps import each
from tests.texts import words

# Of each data set: its labels, and how many samples the sample in its place has at least.
LABELS: dict[str, tuple[str, ...]] = {
    "cb": ("entailment", "contradiction", "neutral"),
    "rte": ("entailment", "contradiction/neutral"),  # the second has its name from the paper
    "dbpedia": (
        *("Company", "Educational Institution", "Artist", "Athlete", "Office Holder", "Mean Of Transportation"),
        *("Building", "Natural Place", "Village", "Animal", "Plant", "Album", "Film", "Written Work"),
    ),
    "wos": (
        *("Computer Science", "Electrical Engineering", "Psychology", "Mechanical Engineering"),
        *("Civil Engineering", "Medical Science", "Biochemistry"),
    ),
    "trec": ("Number", "Location", "Person", "Description", "Entity", "Abbreviation"),
}
LEAST = {"trec": 300, "cb": 60, "rte": 60, "dbpedia": 140, "wos": 70}


def pair(i: Any, label: Any, **changes: Any) -> str:
    content = {"premise": f"It is known that\nthing {i} fell.", "hypothesis": f"thing {i} fell", "label": label}
    return json.dumps(content | {"idx": i} | changes)


def pairs(labels: tuple[str, ...]) -> dict[str, str]:
    """SuperGLUE's files: 20 pairs of each label, and 10."""
    lines = [pair(i, labels[i % len(labels)]) + "\n" for i in range(30 * len(labels))]
    return {"train.jsonl": "".join(lines[: 20 * len(labels)]), "val.jsonl": "".join(lines[20 * len(labels) :])}


def articles(prefix: str, n: int) -> str:
    """DBPedia's form: class number, then quoted title and text, quotes doubled."""
    return "".join(f'{i % 14 + 1},"{prefix} {i}"," {prefix} {i} is ""one"", of many."\n' for i in range(n))


def abstracts(n: int) -> dict[str, str]:
    """The files of WoS-46985."""
    texts = "".join(f"We study thing {i}\u2028 in depth. \n" for i in range(n))
    return {"X.txt": texts, **{f"YL{k}.txt": "".join(f"{i % m}\n" for i in range(n)) for k, m in ((1, 7), (2, 5))}}


QUESTIONS = "".join(f"{kind} {kind} of {i} ?\n" for i in range(10) for kind in ("NUM:count", "LOC:city", "HUM:ind"))
FILES: dict[str, dict[str, str]] = {
    "cb": pairs(LABELS["cb"]),
    "rte": pairs(("entailment", "not_entailment")),
    "dbpedia": {"train.csv": articles("Alpha", 140), "test.csv": articles("Beta", 70)},
    "wos": abstracts(140),
    "trec": {"train_5500.label": QUESTIONS, "TREC_10.label": "NUM:date When ?\n"},
}


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PSOPT_DATA_DIR", str(tmp_path))
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / "cache")
    return tmp_path


def put(folder: Path, files: Mapping[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder


@each("name, folder", [("cb", "cb"), ("rte", "rte/RTE")])
def test_the_labelled_pairs_become_test_and_train(published: Path, name: str, folder: str) -> None:
    """The larger published train.jsonl is the test set; val is drawn from val.jsonl. An unpacked archive is found."""
    put(published / folder, FILES[name])
    task = load_task(name, strict_data=True)
    n = len(LABELS[name])
    assert task.labels == LABELS[name]
    assert (len(task.train), len(task.val), len(task.test)) == (8 * n, 2 * n, 20 * n)
    assert (task.info.source, task.info.note) == ("local", "")
    assert task.test[0].text == "Premise: It is known that thing 0 fell. Hypothesis: thing 0 fell"
    assert [(sample.id, sample.label) for sample in task.test[:n]] == [
        (f"test-{place}", label) for place, label in enumerate(LABELS[name], 1)
    ]
    assert set(Counter(sample.label for sample in task.test).values()) == {20}
    status = next(status for status in list_datasets() if status.name == name)
    assert (status.source, status.files) == ("local", ("train.jsonl", "val.jsonl"))


def test_dbpedias_files_become_a_task(published: Path) -> None:
    put(published / "dbpedia" / "dbpedia_csv", FILES["dbpedia"])
    task = load_task("dbpedia", strict_data=True)
    assert task.labels == LABELS["dbpedia"]
    assert (len(task.train), len(task.val), len(task.test)) == (112, 28, 70)
    assert (task.test[2].id, task.test[2].label) == ("test-3", "Artist")
    assert task.test[2].text == 'Beta 2: Beta 2 is "one", of many.'


def test_of_the_files_of_wos_2000_are_drawn_twice_balanced_and_always_the_same(published: Path) -> None:
    put(published / "wos" / "WOS46985", abstracts(7 * 800))
    task = load_task("wos", strict_data=True)
    assert task.labels == LABELS["wos"]
    again = load_task("wos", seed=1)
    assert task.test == again.test  # whatever the seed
    assert {sample.text for sample in task.val} != {sample.text for sample in again.val}
    assert len(task.test) == len(task.train) + len(task.val) == 2000
    assert sorted(Counter(sample.label for sample in task.test).values()) == [285, 285, 286, 286, 286, 286, 286]
    for sample in task.test:
        index = int(sample.id.removeprefix("test-")) - 1
        assert sample.text == f"We study thing {index}\u2028 in depth."
        assert (sample.label, sample.subclass) == (LABELS["wos"][index % 7], f"area {index % 5}")
    places = [int(sample.id[5:]) for sample in task.test]
    assert places == sorted(places)
    # the middle of 2,000 of 5,600 places lies near the middle: six standard errors, without replacement
    assert abs(sum(places) / 2000 - 2800) < 6 * 5600 / 12**0.5 * ((1 - 2000 / 5600) / 2000) ** 0.5


# A data set, one of its files, what stands in its second line, and what is told of it.
BAD_LINES: list[tuple[str, str, str, str]] = [
    *(
        ("cb", "train.jsonl", line, told)
        for line, told in (
            ('{"premise": "a", ', "no valid JSON"),
            (pair(1, "neutral", hypothesis=" "), "expected texts for premise and hypothesis, and a label"),
            (pair(1, "neutral", hypothesis="\ud800"), "the text holds half a surrogate pair"),
            (pair(1, "maybe"), "one of entailment, contradiction, neutral; it has {"),
        )
    ),
    *(
        ("dbpedia", "test.csv", line, "expected class number from 1 to 14, title, text; it has ['")
        for line in ("3,title", "15,title,text", '3,"title"," "')
    ),
    ("dbpedia", "test.csv", '3,"title","and then', "a quote is opened and never closed"),
    ("wos", "X.txt", " ", "the abstract is empty"),
    ("wos", "YL1.txt", "7", "is '7'; it must be a number from 0 to 6"),
    *(("wos", "YL1.txt", line, f"is '{line}'") for line in ("-1", "")),
    *(("trec", "TREC_10.label", line, "expected `COARSE:fine text`") for line in ("XXX:y how many ?", "NUM:count")),
]


@each("name, file, line, told", BAD_LINES)
def test_a_bad_line_is_told_with_its_file_and_number(
    published: Path, name: str, file: str, line: str, told: str
) -> None:
    path = put(published / name, FILES[name]) / file
    first, *others = FILES[name][file].split("\n")
    path.write_text("\n".join([first, line, *(others[1:] if name == "wos" else [])]))
    with pytest.raises(DataError) as caught:
        load_task(name)
    assert str(caught.value).startswith(f"{path}, line 2: {told if name in ('dbpedia', 'wos') else ''}")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


# A data set, one of its files, its content or None, and what is told of it.
LATIN: dict[str, bytes] = {
    "dbpedia": b'3,"Caf\xe9","a caf\xe9"\n',
    "wos": b"caf\xe9\n" + FILES["wos"]["X.txt"].encode(),
}
SPOILT: list[tuple[str, str, bytes | None, str]] = [
    ("cb", "val.jsonl", b"\n", r"val\.jsonl: is empty"),
    ("dbpedia", "test.csv", b"", r"test\.csv: is empty"),
    ("trec", "train_5500.label", b"", r"train_5500\.label: is empty"),
    ("dbpedia", "test.csv", articles("Beta", 2).encode() + LATIN["dbpedia"], r"test\.csv, after line \d: is not UTF-8"),
    ("wos", "YL1.txt", None, r"YL1\.txt is missing"),
    *(
        (
            "wos",
            name,
            text.rsplit("\n", 2)[0].encode(),
            r"X\.txt has 1\d\d lines and YL\d\.txt 1\d\d; .*fetch both again",
        )
        for name, text in FILES["wos"].items()
    ),
]


@each("name, file, content, told", SPOILT)
def test_a_spoilt_or_missing_file_is_told(
    published: Path, name: str, file: str, content: bytes | None, told: str
) -> None:
    path = put(published / name, FILES[name]) / file
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=told):
        load_task(name)


def test_too_few_abstracts_are_told(published: Path) -> None:
    put(published / "wos", abstracts(21))
    with pytest.raises(DataError, match="21 abstracts are too few"):
        load_task("wos")


def splits(task: Task) -> tuple[Any, Any, Any]:
    return (task.train, task.val, task.test)


def assert_sound(task: Task) -> None:
    assert task.labels == tuple(task.definitions) == LABELS[task.name]
    assert all({sample.label for sample in split} == set(task.labels) for split in splits(task))
    train, val, test = ({words(sample.text) for sample in split} for split in splits(task))
    assert train.isdisjoint(val | test)
    assert val.isdisjoint(test)
    for sample in (sample for split in splits(task) for sample in split):
        assert sample.subclass in task.subclasses[sample.label] if task.subclasses else sample.subclass is None


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PSOPT_OFFLINE", "1")
        patch.setattr("platformdirs.user_cache_path", lambda name: tmp_path_factory.mktemp("cache"))
        yield


@pytest.fixture(scope="module", params=LABELS)
def bundled(request: pytest.FixtureRequest, offline: None) -> Any:
    return load_task(request.param, seed=0)


def test_every_built_in_data_set_has_a_sample_in_its_place_that_is_a_whole_task(bundled: Task) -> None:
    assert {dataset.name for dataset in list_datasets()} == LABELS.keys()
    assert bundled.info.source == "bundled"
    assert_sound(bundled)
    sizes = Counter(sample.label for split in splits(bundled) for sample in split)
    assert sum(sizes.values()) >= LEAST[bundled.name]
    assert min(sizes.values()) >= 10
    texts = [words(sample.text) for split in splits(bundled) for sample in split]
    assert len(set(texts)) == len(texts) == sum(len(split) for split in read_bundled(bundled.name))
    name = bundled.name
    told = (f"{name.upper()}'s files are not at hand", "PSOPT_OFFLINE is set", f"{bundled.noun}s", f"data fetch {name}")
    for part in told:
        assert part in bundled.info.note
    assert "\n" not in bundled.info.note
    for sample in bundled.test:  # a definition must be understood: no text repeats it word by word
        assert bundled.definitions[str(sample.label)] not in sample.text
        if name in ("cb", "rte"):
            assert not re.search(r"\b(entailment|contradiction|neutral)\b", sample.text)


def test_real_trec_keeps_its_test_set(data_dir: Path, offline: None, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = load_task("trec", seed=0)
    monkeypatch.setenv("PSOPT_DATA_DIR", str(data_dir))
    real = load_task("trec", seed=0)
    assert_sound(real)
    assert (real.info.source, real.info.note) == ("local", "")
    assert (len(real.train), len(real.val), len(real.test)) == (5380 - 11 - 1000, 1000, 500)
    first = real.test[0]
    assert (first.id, first.text) == ("test-1", "How far is it from Denver to Aspen ?")
    assert (first.label, first.subclass) == ("Number", "dist")
    assert load_task("trec", seed=0) == real
    assert load_task("trec", seed=1).info.sha256 != real.info.sha256
    own, published = ({words(one.text) for split in splits(task) for one in split} for task in (sample, real))
    assert own.isdisjoint(published)  # no question of the sample is copied
