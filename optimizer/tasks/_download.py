"""Where a built-in data set's files are, in the data folder or the user's cache, and how they are downloaded."""

from __future__ import annotations

import hashlib
import os
import socket
import sys
import tarfile
import threading
import zipfile
import zlib
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from psopt.errors import DataError
from psopt.tasks._builtin import BUILTINS, find_builtin
from psopt.tasks._hub import HubName, fetch_tables, is_hub_name, is_offline
from psopt.text import read_bytes

if TYPE_CHECKING:
    from psopt.tasks._builtin import Builtin, RemoteFile
    from psopt.tasks._row import Source


# Without a network the bundled sample is used after the first wait, so it is short; the second is for slow origins.
_CONNECT_S = 2.0
_READ_S = 20.0


class DownloadError(DataError):
    """The origin can't be used now; the message says why."""


@dataclass(frozen=True, slots=True)
class Origin:
    """A folder that holds a data set's files; `note` says in one line what to know about them."""

    path: Path
    source: Source
    note: str = ""


@dataclass(frozen=True, slots=True)
class DatasetStatus:
    """A built-in data set, and where its files are."""

    name: str
    description: str
    path: Path | None = None  # the folder that holds the files; None if they are not available
    source: str | None = None  # ``local``, or None if they are not available
    files: tuple[str, ...] = ()  # the names of the files that are needed
    n_bytes: int = 0  # the published size: of these files, or of the archive that holds them
    note: str = ""  # what is unusual about the files found, in one line


def list_datasets() -> list[DatasetStatus]:
    """List the built-in data sets; nothing is downloaded."""
    statuses = []
    for builtin in BUILTINS.values():
        n_bytes = sum(file.n_bytes for file in builtin.files)
        status = DatasetStatus(builtin.name, builtin.description, files=builtin.needed, n_bytes=n_bytes)
        try:
            if origin := find_local(builtin):
                status = replace(status, path=origin.path, source=origin.source, note=origin.note)
        except DataError as error:
            status = replace(status, note=str(error))
        statuses.append(status)
    return statuses


def find_local(builtin: Builtin) -> Origin | None:
    """Look in ``$PSOPT_DATA_DIR/<name>/`` and the subfolder that its archive makes, then in the user's cache.

    In the data folder, files that differ from the published ones are used, with a note; in the cache they don't count.
    """
    own = data_folder(builtin.name)
    if own:
        for inner in builtin.folders:
            if _holds_all(own / inner, builtin):
                return Origin(own / inner, "local", _differences(builtin, own))
    cached = cached_folder(builtin)
    paths = {cached / file.name: file.sha256 for file in builtin.files}
    are_published = all(os.access(path, os.F_OK) and _digest(path) == sha256 for path, sha256 in paths.items())
    if cached.is_dir() and (builtin.archive or are_published):
        return Origin(cached, "local")
    return None


def _holds_all(folder: Path, builtin: Builtin) -> bool:
    missing = [name for name in builtin.needed if not os.access(folder / name, os.F_OK)]
    if missing and len(missing) < len(builtin.needed):
        raise DataError(f"{folder}: {missing[0]} is missing; put it there, or set PSOPT_DATA_DIR to another folder")
    if missing and builtin.archive and os.access(folder / builtin.archive.name, os.F_OK):
        raise DataError(f"{folder}: {builtin.archive.name} is there, but its files are not; unpack it in this folder")
    return not missing


def data_folder(name: str) -> Path | None:
    """Where the user's own data folder would hold a data set, or None if no such folder is set."""
    folder = os.environ.get("PSOPT_DATA_DIR")
    return Path(folder) / name if folder else None


def cached_folder(builtin: Builtin) -> Path:
    """The folder in the user's cache with the fetched files; one named by an archive's digest is complete or absent."""
    import platformdirs

    folder = platformdirs.user_cache_path("psopt") / "data" / builtin.name
    return folder / f"unpacked-{builtin.archive.sha256[:12]}" if builtin.archive else folder


def by_hand(builtin: Builtin) -> str:
    """Say how a person gets the files without `psopt data fetch`."""
    folder = data_folder(builtin.name) or Path("$PSOPT_DATA_DIR", builtin.name)
    published = ", ".join(file.name for file in builtin.files)
    return f"to do it by hand, get {published} at {builtin.page} and put {', '.join(builtin.needed)} into {folder}"


def _differences(builtin: Builtin, folder: Path) -> str:
    if builtin.archive:  # the digests of its files are not known
        return ""
    for file in builtin.files:
        digest = _digest(folder / file.name)
        if digest != file.sha256:
            digests = f"sha256 {digest[:12]}.., published {file.sha256[:12]}.."
            return f"{folder / file.name} is used although it is not the published file: {digests}"
    return ""


def _digest(path: Path) -> str:
    return hashlib.sha256(read_bytes(path, error=DataError)).hexdigest()


def fetch_dataset(name: str) -> Path:
    """Download a data set, a built-in one or one on the hub, and return the folder in the user's cache.

    Existing files with the right digest are kept. Raises UnknownNameError if there is no such data set, and DataError
    if the origin can't be reached, or sends anything other than what was published.
    """
    if is_hub_name(name):
        return fetch_tables(HubName.read(name), shows_progress=sys.stderr.isatty()).folder
    builtin = find_builtin(name)
    try:
        return download(builtin)
    except DownloadError as error:
        here = find_local(builtin)
        remedy = f"{here.path} has its files, and they are used" if here else by_hand(builtin)
        raise DataError(f"{name} can't be fetched: {error}; {remedy}") from error


def download(builtin: Builtin) -> Path:
    """Download what the user's cache lacks, and return the folder."""
    check_online()
    target = cached_folder(builtin)
    if builtin.archive and target.is_dir():
        return target
    folder = target.parent if builtin.archive else target
    for file in builtin.files:
        retrieve(file, folder)
    if builtin.archive:
        path = folder / builtin.archive.name
        try:
            unpack(path, builtin.archive, target)
            path.unlink(missing_ok=True)
        except OSError as error:
            if not target.is_dir():  # if it exists, another process was quicker and has removed the archive
                raise DownloadError(f"{target} can't be written: {error.strerror}") from error
    return target


def check_online() -> None:
    """Raise DownloadError if ``PSOPT_OFFLINE`` is set."""
    if is_offline():
        raise DownloadError("PSOPT_OFFLINE is set")


def retrieve(file: RemoteFile, folder: Path) -> None:
    """Download a file into a folder, unless it is there; raises DownloadError, without a network in two seconds."""
    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")  # it reports every file that it fetches
    host = urlsplit(file.url).hostname or ""
    downloader = pooch.HTTPDownloader(timeout=(_CONNECT_S, _READ_S))
    if not requests.utils.get_environ_proxies(file.url) and not os.access(folder / file.name, os.F_OK):
        _check_name_server(host)
    try:
        pooch.retrieve(file.url, f"sha256:{file.sha256}", fname=file.name, path=folder, downloader=downloader)
    except requests.HTTPError as error:
        raise DownloadError(f"{host} refuses: {error}") from error
    except requests.exceptions.ChunkedEncodingError as error:
        raise DownloadError(f"{host} broke off before the end of {file.name}; try again") from error
    except (requests.ConnectionError, requests.Timeout, socket.gaierror) as error:
        raise DownloadError(f"no connection to {host}") from error
    except requests.RequestException as error:
        raise DownloadError(f"{host} can't be used: {type(error).__name__}") from error
    except ValueError as error:
        raise DownloadError(f"{file.url} is not the published file, its sha256 differs") from error
    except OSError as error:
        raise DownloadError(f"{folder} can't be written: {error.strerror}") from error


def _check_name_server(host: str) -> None:
    """Give up early if no name server answers: the system itself would try for up to 20 s."""
    answered = threading.Event()

    def ask() -> None:
        with suppress(OSError):  # a quick refusal: then the connection itself fails as quickly, and says so
            socket.getaddrinfo(host, 443)
        answered.set()

    threading.Thread(target=ask, daemon=True).start()
    if not answered.wait(_CONNECT_S):
        raise DownloadError(f"no name server answers for {host}")


def unpack(archive: Path, file: RemoteFile, folder: Path) -> None:
    """Unpack the wanted files of a published archive into a new folder, which appears only once it is complete."""
    with TemporaryDirectory(prefix="unpacking-", dir=folder.parent) as temporary:
        unpacked, target = Path(temporary, "all"), Path(temporary, folder.name)
        try:
            if archive.suffix == ".zip":
                with zipfile.ZipFile(archive) as zipped:
                    zipped.extractall(unpacked)  # noqa: S202  # its digest has been checked
            else:
                with tarfile.open(archive) as tarred:
                    tarred.extraction_filter = getattr(tarfile, "data_filter", None)  # Python has it since 3.11.4
                    tarred.extractall(unpacked)  # noqa: S202
        except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise DataError(f"{archive} can't be unpacked: {error}; delete it and fetch it again") from error
        target.mkdir()
        for member in (*file.members, *file.optional):
            if member in file.members or (unpacked / member).exists():
                (unpacked / member).rename(target / PurePosixPath(member).name)
        try:
            target.rename(folder)
        except OSError:
            if not folder.is_dir():  # if it exists, another process was quicker
                raise
