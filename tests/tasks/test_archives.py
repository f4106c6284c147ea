"""Data sets that are published as archives: fetched from a server on the loopback, checked, unpacked with care."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import DataError
from psopt.tasks import RemoteFile, fetch_dataset, list_datasets, load_task

from tests.tasks.toys import BUILTINS, add_toy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

LABELS = ("entailment", "contradiction", "neutral")
PAIR = '{{"premise": "thing {} fell", "hypothesis": "it fell", "label": "{}"}}\n'
CONTENT = {
    name: "".join(PAIR.format(f"{name[0]}{i}", LABELS[i % 3]) for i in range(15)).encode()
    for name in ("train.jsonl", "val.jsonl")
}


def zipped(content: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in content.items():
            file.writestr(name, text)
    return data.getvalue()


def tarred(content: dict[str, bytes], links: Sequence[tuple[str, str]] = ()) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as file:
        for name, text in content.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            file.addfile(entry, io.BytesIO(text))
        for name, target in links:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            file.addfile(entry)
    return data.getvalue()


INSIDE = {f"TOY/{name}": text for name, text in CONTENT.items()} | {"TOY/test.jsonl": b"{}", "README": b"read me"}
ARCHIVES = {"TOY.zip": zipped(INSIDE), "toy.tgz": tarred(INSIDE)}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """Serves ARCHIVES; `cut` says how many bytes short an answer breaks off. Counts requests."""
    served: dict[str, Any] = {"requests": 0, "cut": 0, "content": dict(ARCHIVES)}

    class Origin(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            served["requests"] += 1
            data = served["content"].get(self.path.strip("/"))
            self.send_response(404 if data is None else 200)
            self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            self.wfile.write((data or b"")[: len(data or b"") - served["cut"]])

    monkeypatch.setenv("NO_PROXY", "*")
    with ThreadingHTTPServer(("127.0.0.1", 0), Origin) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        served["url"] = f"http://127.0.0.1:{httpd.server_port}/"
        yield served
        httpd.shutdown()


@pytest.fixture
def publish(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: dict[str, Any]) -> Any:
    """Publishes a data set like CB in one archive; returns the folder of the user's cache that is its."""
    for name in ("PSOPT_DATA_DIR", "PSOPT_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / "cache")

    def published(name: str, data: bytes) -> Path:
        server["content"][name] = data
        members, digest = ("TOY/train.jsonl", "TOY/val.jsonl"), hashlib.sha256(data).hexdigest()
        url = server["url"] + name
        add_toy(monkeypatch, "cb", RemoteFile(name, url, digest, len(data), members, ("TOY/extra.txt",)))
        return tmp_path / "cache" / "data" / "toy"

    return published


@pytest.fixture(params=ARCHIVES)
def cache(request: pytest.FixtureRequest, publish: Any) -> Any:
    return publish(request.param, ARCHIVES[request.param])


def test_an_archive_is_fetched_once_and_what_is_needed_unpacked(cache: Path, server: dict[str, Any]) -> None:
    folder = fetch_dataset("toy")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == CONTENT
    assert os.listdir(cache) == [folder.name]  # noqa: PTH208
    assert fetch_dataset("toy") == folder
    task = load_task("toy")
    assert (task.info.source, len(task.test), server["requests"]) == ("local", 15, 1)
    assert list_datasets()[-1].path == folder


def test_loading_fetches(cache: Path, server: dict[str, Any]) -> None:
    assert load_task("toy").info.source == "downloaded"
    assert load_task("toy").info.source == "local"
    assert server["requests"] == 1


def test_a_download_that_breaks_off_is_told_and_leaves_nothing(cache: Path, server: dict[str, Any]) -> None:
    server["cut"] = 10
    with pytest.raises(DataError, match=r"toy can't be fetched: 127\.0\.0\.1 broke off before the end of"):
        fetch_dataset("toy")
    assert not list(cache.iterdir())
    server["cut"] = 0
    assert fetch_dataset("toy").is_dir()


def test_another_archive_than_the_published_one_is_refused(cache: Path, server: dict[str, Any]) -> None:
    for name, data in ARCHIVES.items():
        server["content"][name] = data[:-10]
    with pytest.raises(DataError, match="is not the published file, its sha256 differs"):
        fetch_dataset("toy")
    assert not list(cache.iterdir())


def test_a_refusal_says_how_to_do_it_by_hand(
    cache: Path, server: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server["content"].clear()
    with pytest.raises(DataError, match=r"404.*do it by hand.*train\.jsonl, val\.jsonl into \$PSOPT_DATA_DIR/toy"):
        fetch_dataset("toy")
    monkeypatch.setenv("PSOPT_DATA_DIR", str(tmp_path))
    with pytest.raises(DataError, match=rf"into {tmp_path}/toy"):
        fetch_dataset("toy")


def test_an_archive_that_waits_to_be_unpacked_is_told(
    cache: Path, server: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = BUILTINS["toy"].files[0].name
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / name).write_bytes(ARCHIVES[name])
    monkeypatch.setenv("PSOPT_DATA_DIR", str(tmp_path))
    with pytest.raises(DataError, match="its files are not; unpack it in this folder"):
        load_task("toy")


def test_a_data_folder_comes_before_the_cache(
    cache: Path, server: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch_dataset("toy")
    (tmp_path / "toy" / "TOY").mkdir(parents=True)
    for name, text in CONTENT.items():
        (tmp_path / "toy" / "TOY" / name).write_bytes(text)
    monkeypatch.setenv("PSOPT_DATA_DIR", str(tmp_path))
    assert list_datasets()[-1].path == tmp_path / "toy" / "TOY"


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("outside", ["../escaped", "/escaped", "TOY/../../train.jsonl"])
@pytest.mark.parametrize(("name", "pack"), [("TOY.zip", zipped), ("toy.tgz", tarred)])
def test_nothing_is_written_elsewhere(tmp_path: Path, publish: Any, name: str, pack: Any, outside: str) -> None:
    publish(name, pack(INSIDE | {outside: b"bad"}))
    assert files_in(fetch_dataset("toy")) == files_in(tmp_path) == CONTENT


def test_a_link_is_not_followed(tmp_path: Path, publish: Any) -> None:
    (tmp_path / "secret").write_text("secret")
    links = [("TOY/train.jsonl", str(tmp_path / "secret"))]
    cache = publish("toy.tgz", tarred({"TOY/val.jsonl": b"{}"}, links=links))
    with pytest.raises(DataError, match=r"holds no TOY/train\.jsonl"):
        fetch_dataset("toy")
    assert set(files_in(cache)) == {"toy.tgz"}


@pytest.mark.parametrize("name", ARCHIVES)
@pytest.mark.parametrize("spoil", [lambda data: data[: len(data) // 2], lambda data: b"<html>", lambda data: b""])
def test_a_spoilt_archive_is_told_and_leaves_nothing_else(publish: Any, name: Any, spoil: Any) -> None:
    cache = publish(name, spoil(ARCHIVES[name]))
    with pytest.raises(DataError, match=rf"{name}: can't be unpacked.*fetch it again"):
        fetch_dataset("toy")
    assert set(files_in(cache)) == {name}


def test_an_optional_file_is_unpacked_where_it_is_there(publish: Any) -> None:
    publish("TOY.zip", zipped(INSIDE | {"TOY/extra.txt": b"more"}))
    assert (fetch_dataset("toy") / "extra.txt").read_bytes() == b"more"


def test_two_that_fetch_at_once_are_no_error(cache: Path) -> None:
    with ThreadPoolExecutor(2) as threads:
        (folder,) = set(threads.map(fetch_dataset, ["toy", "toy"]))
    assert files_in(cache) == files_in(folder) == CONTENT


@pytest.mark.parametrize("name", ["cb", "rte", "dbpedia", "wos"])
def test_the_built_in_archives_are_known_by_digest(name: str) -> None:
    (file,) = BUILTINS[name].files
    assert len(bytes.fromhex(file.sha256)) == 32
    assert file.url.startswith("https://")
    assert BUILTINS[name].archive is file
    assert len(BUILTINS[name].folders) == 2
