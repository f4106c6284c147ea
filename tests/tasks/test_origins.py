"""Where a built-in data set comes from: data folder, cache, origin, bundled sample. No test leaves this machine."""

from __future__ import annotations

import hashlib
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pooch
import pytest
import requests
from psopt.errors import DataError, UnknownNameError
from psopt.tasks import RemoteFile, fetch_dataset, list_datasets, load_task

from tests.tasks.toys import add_toy

if TYPE_CHECKING:
    from collections.abc import Mapping

TRAIN, TEST = "train_5500.label", "TREC_10.label"
LINES = {"NUM:count How many {} ?": 10, "LOC:city Where is {} ?": 10, "HUM:ind Who is {} ?": 10}
CONTENT = {
    TRAIN: "".join(line.format(f"thing {i}") + "\n" for line, n in LINES.items() for i in range(n)).encode(),
    TEST: b"NUM:count How many tests ?\nHUM:ind Who tests ?\n",
}


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A data set like TREC, small enough to be served by a test."""
    files = (
        RemoteFile(name, f"https://origin.invalid/{name}", hashlib.sha256(data).hexdigest(), len(data))
        for name, data in CONTENT.items()
    )
    add_toy(monkeypatch, "trec", *files)


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in ("PSOPT_DATA_DIR", "PSOPT_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / "cache")
    return tmp_path / "cache" / "data" / "toy"


@pytest.fixture(autouse=True)
def origin(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Serves CONTENT in place of the network; an exception put into "error" is raised instead. Counts requests."""
    served: dict[str, Any] = {"requests": 0, "error": None, "content": dict(CONTENT)}

    def download(url: str, output_file: Any, pooch: Any) -> None:
        served["requests"] += 1
        if served["error"]:
            raise served["error"]
        Path(output_file).write_bytes(served["content"][url.rpartition("/")[2]])

    monkeypatch.setattr(pooch, "HTTPDownloader", lambda **kwargs: download)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: [])
    return served


def put(folder: Path, content: Mapping[str, bytes] = CONTENT) -> Path:
    folder.mkdir(parents=True)
    for name, data in content.items():
        (folder / name).write_bytes(data)
    return folder


def test_the_data_folder_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path, origin: dict[str, Any]
) -> None:
    put(cache)
    put(tmp_path / "data" / "toy")
    monkeypatch.setenv("PSOPT_DATA_DIR", str(tmp_path / "data"))
    task = load_task("toy")
    assert (task.info.source, task.info.note, origin["requests"]) == ("local", "", 0)
    assert len(task.test) == 2
    assert list_datasets()[-1].path == tmp_path / "data" / "toy"


def test_a_download_is_kept_in_the_cache(cache: Path, origin: dict[str, Any]) -> None:
    assert load_task("toy").info.source == "downloaded"
    assert load_task("toy").info.source == "local"
    assert origin["requests"] == 2
    assert sorted(path.name for path in cache.iterdir()) == sorted(CONTENT)


def test_a_download_cut_between_two_files_is_completed(cache: Path, origin: dict[str, Any]) -> None:
    put(cache, {TRAIN: CONTENT[TRAIN]})
    assert load_task("toy").info.source == "downloaded"
    assert origin["requests"] == 1


def test_a_spoilt_cache_is_fetched_again(cache: Path, origin: dict[str, Any]) -> None:
    put(cache, {TRAIN: CONTENT[TRAIN][:50], TEST: CONTENT[TEST]})
    assert load_task("toy").info.source == "downloaded"
    assert (cache / TRAIN).read_bytes() == CONTENT[TRAIN]


def test_other_files_in_the_data_folder_are_used_and_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "toy", {TRAIN: CONTENT[TRAIN], TEST: CONTENT[TEST] + b"LOC:city Where ?\n"})
    monkeypatch.setenv("PSOPT_DATA_DIR", str(tmp_path))
    task = load_task("toy")
    assert len(task.test) == 3
    assert "not the published file" in task.info.note
    assert "sha256" in task.info.note


@pytest.mark.parametrize(("data", "part"), [(b"", "is empty"), (CONTENT[TRAIN][:-20] + b"\n\nLOC:ci", "line")])
def test_spoilt_files_in_the_data_folder_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: Any, part: str
) -> None:
    put(tmp_path / "toy", {TRAIN: data, TEST: CONTENT[TEST]})
    monkeypatch.setenv("PSOPT_DATA_DIR", str(tmp_path))
    with pytest.raises(DataError, match=part):
        load_task("toy")


def test_half_a_data_set_in_the_data_folder_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "toy", {TRAIN: CONTENT[TRAIN]})
    monkeypatch.setenv("PSOPT_DATA_DIR", str(tmp_path))
    with pytest.raises(DataError, match=r"TREC_10\.label is missing"):
        load_task("toy")
    assert "is missing" in list_datasets()[-1].note


FAILURES = [
    (requests.ConnectionError("no"), "no connection to origin.invalid"),
    (requests.Timeout("slow"), "no connection to origin.invalid"),
    (requests.HTTPError("404 Client Error: Not Found"), "404"),
    (requests.TooManyRedirects("round"), "TooManyRedirects"),
    (PermissionError(13, "Permission denied"), "can't be written: Permission denied"),
]


@pytest.mark.parametrize(("error", "part"), FAILURES, ids=[type(error).__name__ for error, _ in FAILURES])
def test_without_its_origin_the_bundled_sample_takes_its_place(origin: dict[str, Any], error: Any, part: Any) -> None:
    origin["error"] = error
    task = load_task("toy")
    assert task.info.source == "bundled"
    assert part in task.info.note
    assert "\n" not in task.info.note
    with pytest.raises(DataError, match="psopt data fetch toy, or set PSOPT_DATA_DIR"):
        load_task("toy", strict_data=True)
    with pytest.raises(DataError, match="toy can't be fetched"):
        fetch_dataset("toy")


def test_other_content_than_published_is_refused(origin: dict[str, Any], cache: Path) -> None:
    origin["content"][TEST] = b"<html>moved</html>"
    with pytest.raises(DataError, match="sha256 differs"):
        fetch_dataset("toy")
    assert not (cache / TEST).exists()


def test_offline_is_obeyed(monkeypatch: pytest.MonkeyPatch, origin: dict[str, Any]) -> None:
    monkeypatch.setenv("PSOPT_OFFLINE", "1")
    assert "PSOPT_OFFLINE" in load_task("toy").info.note
    assert origin["requests"] == 0
    monkeypatch.setenv("PSOPT_OFFLINE", "0")
    assert load_task("toy").info.source == "downloaded"


def test_a_silent_name_server_is_given_up(monkeypatch: pytest.MonkeyPatch, origin: dict[str, Any]) -> None:
    never = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: never.wait())
    monkeypatch.setattr("psopt.tasks._download._CONNECT_S", 0.01)
    try:
        with pytest.raises(DataError, match="no name server answers"):
            fetch_dataset("toy")
    finally:
        never.set()


def test_fetch_returns_the_folder_and_asks_once(cache: Path, origin: dict[str, Any]) -> None:
    assert fetch_dataset("toy") == fetch_dataset("toy") == cache
    assert origin["requests"] == 2
    with pytest.raises(UnknownNameError, match="did you mean 'trec'"):
        fetch_dataset("trek")


def test_the_list_shows_what_is_at_hand(cache: Path) -> None:
    trec, *_, toy = list_datasets()
    assert (trec.name, trec.files, trec.n_bytes) == ("trec", (TRAIN, TEST), 359_212)
    assert (toy.path, toy.source) == (None, None)
    put(cache)
    assert (list_datasets()[-1].path, list_datasets()[-1].source) == (cache, "local")
