"""Where a built-in data set comes from: data folder, cache, origin, bundled sample; as files, and as archives.

No test leaves this machine: a server on the loopback is their origin.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pooch
import pytest
import requests
from psopt.errors import DataError
from psopt.tasks import RemoteFile, fetch_dataset, list_datasets, load_task
from psopt.tasks._builtin import BUILTINS

from tests.loopback import Answer, Request, answering
from tests.sweeps import each

TRAIN, TEST = "train_5500.label", "TREC_10.label"
LINES = {"NUM:count How many {} ?": 10, "LOC:city Where is {} ?": 10, "HUM:ind Who is {} ?": 10}
QUESTIONS = {
    TRAIN: "".join(line.format(f"thing {i}") + "\n" for line, n in LINES.items() for i in range(n)).encode(),
    TEST: b"NUM:count How many tests ?\nHUM:ind Who tests ?\n",
}
LABELS = ("entailment", "contradiction", "neutral")
PAIR = '{{"premise": "thing {} fell", "hypothesis": "it fell", "label": "{}"}}\n'
PAIRS = {
    name: "".join(PAIR.format(f"{name[0]}{i}", LABELS[i % 3]) for i in range(15)).encode()
    for name in ("train.jsonl", "val.jsonl")
}


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of the data set "toy" in the user's cache."""
    for name in ("PSOPT_DATA_DIR", "PSOPT_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / "cache")
    return tmp_path / "cache" / "data" / "toy"


@dataclass
class Origin:
    """Serves what is published; `cut` says how many bytes short an answer breaks off. Counts requests."""

    publish: Callable[..., None]
    """Makes files those of a data set "toy", which is read as one of the built-in ones is."""
    content: dict[str, bytes] = field(default_factory=dict)
    requests: int = 0
    cut: int = 0

    def answer(self, request: Request) -> Answer:
        self.requests += 1
        data = self.content.get(request.target.strip("/"))
        if data is None:
            return Answer(404)
        headers = {"Content-Length": str(len(data)), "Connection": "close"}
        return Answer(200, data[: len(data) - self.cut], headers)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Origin]:
    monkeypatch.setenv("NO_PROXY", "*")

    def publish(like: str, content: Mapping[str, bytes], *members: tuple[str, ...]) -> None:
        origin.content.update(content)
        files = (
            RemoteFile(name, f"{url}/{name}", hashlib.sha256(data).hexdigest(), len(data), *members)
            for name, data in content.items()
        )
        toy = replace(BUILTINS[like], name="toy", description="a toy", files=tuple(files))
        monkeypatch.setattr(type(toy), "bundled_folder", BUILTINS[like].bundled_folder)
        monkeypatch.setitem(BUILTINS, "toy", toy)

    origin = Origin(publish)
    with answering(origin.answer) as url:
        yield origin


@pytest.fixture
def origin(server: Origin) -> Origin:
    """Publishes a data set like TREC."""
    server.publish("trec", QUESTIONS)
    return server


def put(folder: Path, content: Mapping[str, bytes] = QUESTIONS) -> Path:
    folder.mkdir(parents=True)
    for name, data in content.items():
        (folder / name).write_bytes(data)
    return folder


def test_the_data_folder_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path, origin: Origin
) -> None:
    trec, *_, toy = list_datasets()
    assert (trec.name, trec.files, trec.n_bytes) == ("trec", (TRAIN, TEST), 359_212)
    assert (toy.path, toy.source) == (None, None)
    put(cache)
    assert (list_datasets()[-1].path, list_datasets()[-1].source) == (cache, "local")
    put(tmp_path / "data" / "toy")
    monkeypatch.setenv("PSOPT_DATA_DIR", str(tmp_path / "data"))
    task = load_task("toy")
    assert (task.info.source, task.info.note, origin.requests) == ("local", "", 0)
    assert len(task.test) == 2
    assert list_datasets()[-1].path == tmp_path / "data" / "toy"
    (tmp_path / "data" / "toy" / TEST).write_bytes(QUESTIONS[TEST] + b"LOC:city Where ?\n")
    other = load_task("toy")
    assert len(other.test) == 3
    assert re.search(r"is used although it is not the published file: sha256 \w+\.\., published", other.info.note)


def test_a_download_is_kept_in_the_cache(cache: Path, origin: Origin) -> None:
    assert load_task("toy").info.source == "downloaded"
    assert load_task("toy").info.source == "local"
    assert fetch_dataset("toy") == cache
    assert origin.requests == 2
    assert {path.name: path.read_bytes() for path in cache.iterdir()} == QUESTIONS
    (cache / TEST).unlink()  # a download cut between two files is completed
    assert load_task("toy").info.source == "downloaded"
    assert origin.requests == 3
    (cache / TRAIN).write_bytes(QUESTIONS[TRAIN][:50])  # a spoilt file is fetched again
    assert load_task("toy").info.source == "downloaded"
    assert (cache / TRAIN).read_bytes() == QUESTIONS[TRAIN]


def test_half_a_data_set_in_the_data_folder_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, origin: Origin
) -> None:
    put(tmp_path / "toy", {TRAIN: QUESTIONS[TRAIN]})
    monkeypatch.setenv("PSOPT_DATA_DIR", str(tmp_path))
    with pytest.raises(DataError, match=r"TREC_10\.label is missing"):
        load_task("toy")
    assert "is missing" in list_datasets()[-1].note


@each(
    "error, part",
    [
        (requests.ConnectionError("no"), "no connection to 127.0.0.1"),
        (requests.Timeout("slow"), "no connection to 127.0.0.1"),
        (requests.HTTPError("404 Client Error: Not Found"), "404"),
        (requests.TooManyRedirects("round"), "TooManyRedirects"),
        (PermissionError(13, "Permission denied"), "can't be written: Permission denied"),
    ],
)
def test_without_its_origin_the_bundled_sample_takes_its_place(
    origin: Origin, monkeypatch: pytest.MonkeyPatch, error: Any, part: str
) -> None:
    def download(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(pooch, "HTTPDownloader", lambda **_: download)
    task = load_task("toy")
    assert task.info.source == "bundled"
    assert part in task.info.note
    assert "\n" not in task.info.note
    with pytest.raises(DataError, match="psopt data fetch toy, or set PSOPT_DATA_DIR"):
        load_task("toy", strict_data=True)
    with pytest.raises(DataError, match="toy can't be fetched"):
        fetch_dataset("toy")


def test_other_content_than_published_is_refused(origin: Origin, cache: Path) -> None:
    origin.content[TEST] = b"<html>moved</html>"
    with pytest.raises(DataError, match="sha256 differs"):
        fetch_dataset("toy")
    assert not (cache / TEST).exists()


def test_offline_is_obeyed(monkeypatch: pytest.MonkeyPatch, origin: Origin) -> None:
    monkeypatch.setenv("PSOPT_OFFLINE", "1")
    assert "PSOPT_OFFLINE" in load_task("toy").info.note
    assert origin.requests == 0
    monkeypatch.setenv("PSOPT_OFFLINE", "0")
    assert load_task("toy").info.source == "downloaded"


def packed(folder: Path, form: str, content: Mapping[str, bytes]) -> bytes:
    for name, text in content.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text)
    return Path(shutil.make_archive(f"{folder}-packed", form, folder)).read_bytes()


INSIDE = {f"TOY/{name}": text for name, text in PAIRS.items()} | {"TOY/test.jsonl": b"{}", "README": b"read me"}
FORMS = {"TOY.zip": "zip", "toy.tgz": "gztar"}


def publish_archive(server: Origin, name: str, data: bytes) -> None:
    """Publish a data set like CB in one archive."""
    server.publish("cb", {name: data}, ("TOY/train.jsonl", "TOY/val.jsonl"), ("TOY/extra.txt",))


@pytest.fixture(params=FORMS)
def archive(request: pytest.FixtureRequest, server: Origin, tmp_path: Path) -> str:
    """The name of a published archive."""
    publish_archive(server, request.param, packed(tmp_path / "inside", FORMS[request.param], INSIDE))
    return str(request.param)


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_archive_is_fetched_once_and_after_a_download_that_broke_off_anew_and_what_is_needed_unpacked(
    archive: str, cache: Path, server: Origin
) -> None:
    server.cut = 10
    with pytest.raises(DataError, match=r"toy can't be fetched: 127\.0\.0\.1 broke off before the end of"):
        fetch_dataset("toy")
    assert not list(cache.iterdir())
    server.cut = 0
    with ThreadPoolExecutor(2) as threads:  # two that fetch at once are no error
        (folder,) = set(threads.map(fetch_dataset, ["toy", "toy"]))
    assert files_in(cache) == files_in(folder) == PAIRS
    assert list(cache.iterdir()) == [folder]
    n_requests = server.requests
    assert fetch_dataset("toy") == folder
    task = load_task("toy")
    assert (task.info.source, len(task.test), server.requests) == ("local", 15, n_requests)
    assert list_datasets()[-1].path == folder


def test_a_refusal_says_how_to_do_it_by_hand_and_an_archive_put_there_that_it_is_to_be_unpacked(
    archive: str, server: Origin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = server.content.pop(archive)
    with pytest.raises(DataError, match=r"404.*do it by hand.*train\.jsonl, val\.jsonl into \$PSOPT_DATA_DIR/toy"):
        fetch_dataset("toy")
    monkeypatch.setenv("PSOPT_DATA_DIR", str(tmp_path))
    with pytest.raises(DataError, match=rf"into {tmp_path}/toy"):
        fetch_dataset("toy")
    put(tmp_path / "toy", {archive: data})
    with pytest.raises(DataError, match="its files are not; unpack it in this folder"):
        load_task("toy")


def test_an_archive_that_cant_be_unpacked_is_one_line_and_an_optional_file_is_unpacked_if_there(
    server: Origin, tmp_path: Path
) -> None:
    for name, form in FORMS.items():
        publish_archive(server, name, packed(tmp_path / "inside", form, INSIDE)[:200])
        with pytest.raises(DataError, match=r"can't be unpacked: .*; delete it and fetch it again"):
            fetch_dataset("toy")
    whole = packed(tmp_path / "whole", "gztar", INSIDE | {"TOY/extra.txt": b"more"})
    publish_archive(server, "toy.tgz", whole)
    assert files_in(fetch_dataset("toy")) == PAIRS | {"extra.txt": b"more"}
