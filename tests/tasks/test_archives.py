"""Data sets that are published as archives: fetched from a server on the loopback, checked, unpacked with care."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import DataError
from psopt.tasks import fetch_dataset, list_datasets, load_task
from psopt.tasks._builtin import BUILTINS
from psopt.tasks._dataset import Builtin, RemoteFile
from psopt.tasks._download import unpack
from psopt.tasks._superglue import read_cb

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


def remote(name: str, url: str = "https://origin.invalid/") -> Any:
    data, members = ARCHIVES[name], ("TOY/train.jsonl", "TOY/val.jsonl")
    return RemoteFile(name, url + name, hashlib.sha256(data).hexdigest(), len(data), members, ("TOY/extra.txt",))


@pytest.fixture(params=ARCHIVES)
def cache(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: dict[str, Any]
) -> Path:
    """The user's cache of a data set like CB, published in one archive."""
    for name in ("PSOPT_DATA_DIR", "PSOPT_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / "cache")
    file = remote(request.param, server["url"])
    monkeypatch.setitem(BUILTINS, "toy", Builtin("toy", "a toy", (file,), read_cb, "psopt.tasks.bundled_cb", read_cb))
    return tmp_path / "cache" / "data" / "toy"


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


def unpacked(tmp_path: Path, name: str, data: Any) -> Any:
    path = tmp_path / "in" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    unpack(path, remote(name), path.parent / "out")
    return path.parent


@pytest.mark.parametrize("outside", ["../escaped", "/escaped", "TOY/../../train.jsonl"])
@pytest.mark.parametrize(("name", "pack"), [("TOY.zip", zipped), ("toy.tgz", tarred)])
def test_nothing_is_written_elsewhere(tmp_path: Path, name: str, pack: Any, outside: str) -> None:
    unpacked(tmp_path, name, pack(INSIDE | {outside: b"bad"}))
    assert {path.name: path.read_bytes() for path in (tmp_path / "in" / "out").iterdir()} == CONTENT
    assert len(list(tmp_path.rglob("*"))) == len(["in", name, "out", *CONTENT])


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    data = tarred({"TOY/val.jsonl": b"{}"}, links=[("TOY/train.jsonl", str(tmp_path / "secret"))])
    with pytest.raises(DataError, match=r"holds no TOY/train\.jsonl"):
        unpacked(tmp_path, "toy.tgz", data)
    assert os.listdir(tmp_path / "in") == ["toy.tgz"]  # noqa: PTH208


@pytest.mark.parametrize("name", ARCHIVES)
@pytest.mark.parametrize("spoil", [lambda data: data[: len(data) // 2], lambda data: b"<html>", lambda data: b""])
def test_a_spoilt_archive_is_told_and_leaves_nothing(tmp_path: Path, name: Any, spoil: Any) -> None:
    with pytest.raises(DataError, match=rf"{name}: can't be unpacked.*fetch it again"):
        unpacked(tmp_path, name, spoil(ARCHIVES[name]))
    assert os.listdir(tmp_path / "in") == [name]  # noqa: PTH208


def test_an_optional_file_is_unpacked_where_it_is_there(tmp_path: Path) -> None:
    folder = unpacked(tmp_path, "TOY.zip", zipped(INSIDE | {"TOY/extra.txt": b"more"}))
    assert (folder / "out" / "extra.txt").read_bytes() == b"more"


def test_a_second_process_that_was_quicker_is_no_error(tmp_path: Path) -> None:
    path = unpacked(tmp_path, "TOY.zip", ARCHIVES["TOY.zip"]) / "TOY.zip"
    unpack(path, remote("TOY.zip"), path.parent / "out")
    assert sorted(os.listdir(path.parent)) == ["TOY.zip", "out"]  # noqa: PTH208


@pytest.mark.parametrize("name", ["cb", "rte", "dbpedia", "wos"])
def test_the_built_in_archives_are_known_by_digest(name: str) -> None:
    (file,) = BUILTINS[name].files
    assert len(bytes.fromhex(file.sha256)) == 32
    assert file.url.startswith("https://")
    assert BUILTINS[name].archive is file
    assert len(BUILTINS[name].folders) == 2
