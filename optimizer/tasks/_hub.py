"""Data sets of the Hugging Face hub, ``hf:ORG/NAME[:CONFIG][@REV]``: `datasets` fetches and keeps them in its cache.

``HF_ENDPOINT``, ``HF_TOKEN``, ``HF_HOME`` and ``HF_HUB_OFFLINE`` work as they do for that library.
"""

from __future__ import annotations

import importlib
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from psopt.errors import DataError, InputError, first_line, import_extra

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PREFIX = "hf:"
_FORM = re.compile(r"hf:(?P<repository>[\w.-]+/[\w.-]+)(?::(?P<config>[^@\s]+))?(?:@(?P<revision>[^@\s]+))?")


@dataclass(frozen=True, slots=True)
class HubName:
    """A data set on the hub.

    >>> HubName.read("hf:nyu-mll/glue:sst2@v1.0")
    HubName(repository='nyu-mll/glue', config='sst2', revision='v1.0')
    """

    repository: str  # ``ORG/NAME``
    config: str | None = None  # one of the data set's configurations; None for its default one
    revision: str | None = None  # a branch, a tag or a commit; None for the main branch

    @classmethod
    def read(cls, name: str) -> HubName:
        """Read a name; raises InputError if it has another form."""
        match = _FORM.fullmatch(name)
        if match is None:
            raise InputError(f"{name}: hf:ORG/NAME[:CONFIG][@REVISION] is expected, such as hf:nyu-mll/glue:sst2")
        return cls(**match.groupdict())

    def __str__(self) -> str:
        """The name as it is written in full."""
        config = f":{self.config}" if self.config else ""
        revision = f"@{self.revision}" if self.revision else ""
        return f"{PREFIX}{self.repository}{config}{revision}"

    @property
    def short(self) -> str:
        """What the task is called: the repository's own name, with the configuration if one is named.

        >>> HubName("nyu-mll/glue", "sst2").short
        'glue-sst2'
        """
        return "-".join(filter(None, (self.repository.partition("/")[2], self.config)))


def is_hub_name(dataset: object) -> bool:
    """Tell whether a data set is on the hub.

    >>> is_hub_name("hf:nyu-mll/glue"), is_hub_name("hf.csv")
    (True, False)
    """
    return str(dataset).startswith(PREFIX)


def is_offline() -> bool:
    """Tell whether ``PSOPT_OFFLINE`` says that nothing is to be downloaded."""
    return os.environ.get("PSOPT_OFFLINE", "0") not in ("", "0")


@dataclass(frozen=True, eq=False)
class HubTables:
    """A data set of the hub as it was fetched."""

    tables: Mapping[str, Any]
    revision: str  # the commit
    folder: Path  # where the library keeps it
    note: str = ""  # a note for the user: that it is an earlier copy


def fetch_tables(name: HubName, *, shows_progress: bool = False) -> HubTables:
    """Fetch a data set, or take it from the library's cache if its commit is there already.

    A branch is resolved to its commit first, so that all data are from one commit. If the hub can't be reached, the
    newest copy in the cache is used, and a note says so.
    """
    if is_offline():
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    datasets = import_extra("datasets", str(name), "hub")
    with _as_data_errors(name), _progress_bars(datasets, shown=shows_progress):
        note = ""
        if commit := _commit_of(name):
            builder = _builder_of(datasets, name, commit)
        else:
            builder = _cached(name)
            note = f"the hub can't be reached, so the copy in the cache is used: commit {str(builder.hash)[:12]}"
        builder.download_and_prepare()
        tables = builder.as_dataset()
    if not tables:
        raise DataError(f"{name}: holds no data")
    return HubTables(tables, str(builder.hash), Path(builder.cache_dir), note)


def _commit_of(name: HubName) -> str | None:
    """The commit that a branch or a tag stands for; None if the hub can't be reached."""
    from huggingface_hub import HfApi

    errors = _errors()
    try:
        return str(HfApi().dataset_info(name.repository, revision=name.revision).sha)
    except (errors.HTTPError, OSError) as error:
        if isinstance(error, errors.HfHubHTTPError) and error.response.status_code < 500:
            raise
        return None


def _builder_of(datasets: Any, name: HubName, commit: str) -> Any:
    # With this prefix, a folder of the same name in the working directory is not taken for the data set.
    path = f"hf://datasets/{name.repository}"
    try:
        return datasets.load_dataset_builder(path, name.config, revision=commit)
    except ValueError as error:
        configs = datasets.get_dataset_config_names(path, revision=commit)
        if name.config in configs or (name.config is None and len(configs) < 2):
            raise  # the configuration is not at fault
        which = f"no configuration {name.config!r}" if name.config else "several configurations"
        named = f"name one of {', '.join(configs)}, as hf:{name.repository}:{configs[0]}"
        raise DataError(f"{name}: has {which}: {named}") from error


def _cached(name: HubName) -> Any:
    """What reads the newest copy in the cache, or that of the commit that is named."""
    from datasets.packaged_modules.cache.cache import Cache

    own = {"repo_id": name.repository, "dataset_name": name.repository.partition("/")[2]}
    try:
        newest = Cache(**own, config_name=name.config, version="auto", hash="auto")
    except ValueError as error:
        no_copy = f"no copy of it is in the cache ({_in_words(error)})"
        raise DataError(f"{name}: no connection to {_host()}, and {no_copy}") from error
    if name.revision in (None, newest.hash):
        return newest
    named = Cache(**own, config_name=newest.config.name, version=str(newest.config.version), hash=name.revision)
    if Path(named.cache_dir).is_dir():
        return named
    # The message gives the full commit: the hub does not accept an abbreviated one.
    other = f"the copy in the cache is of another commit: go online, or name {replace(name, revision=newest.hash)}"
    raise DataError(f"{name}: no connection to {_host()}, and {other}")


@contextmanager
def _as_data_errors(name: HubName) -> Iterator[None]:
    """Turn the errors of the hub and its libraries into one-line messages."""
    import pyarrow as pa
    from datasets.exceptions import DatasetsError

    errors = _errors()
    try:
        yield
    except DataError:  # said in one line already
        raise
    except errors.GatedRepoError as error:
        raise DataError(f"{name}: {_gated(name)}") from error
    except errors.RepositoryNotFoundError as error:
        fix = "look at the name, or set HF_TOKEN to a token that may read it"
        raise DataError(f"{name}: {_host()} has no such data set, or hides it: {fix}") from error
    except errors.RevisionNotFoundError as error:
        raise DataError(f"{name}: has no revision {name.revision!r}; name a branch, a tag or a commit of it") from error
    except errors.HfHubHTTPError as error:
        status = error.response.status_code
        fix = "look at HF_TOKEN" if status in (401, 403) else "try again later"
        raise DataError(f"{name}: {_host()} answers {status}; {fix}") from error
    except (errors.HTTPError, ConnectionError) as error:
        raise DataError(f"{name}: the connection to {_host()} broke off ({_in_words(error)}); try again") from error
    except (DatasetsError, pa.ArrowException, OSError, RuntimeError, ValueError, TypeError) as error:
        if "gated" in str(error):  # the library reports it only in its message
            raise DataError(f"{name}: {_gated(name)}") from error
        raise DataError(f"{name}: can't be read: {_in_words(error)}") from error


def _errors() -> Any:
    """The errors of the hub's client; its version decides which library its HTTPError comes from."""
    return importlib.import_module("huggingface_hub.errors")


def _gated(name: HubName) -> str:
    from huggingface_hub import constants

    page = f"{constants.ENDPOINT}/datasets/{name.repository}"
    return f"is gated: ask for access at {page}, and set HF_TOKEN to a token that has it"


def _in_words(error: BaseException) -> str:
    """The first line of an error's message, or of its cause's if the error itself says nothing."""
    if type(error).__name__ == "DatasetGenerationError" and error.__cause__:
        error = error.__cause__
    return first_line(error)


def _host() -> str:
    from huggingface_hub import constants

    return urlsplit(constants.ENDPOINT).netloc


@contextmanager
def _progress_bars(datasets: Any, *, shown: bool) -> Iterator[None]:
    """Hide the libraries' warnings and, unless `shown`, their bars; afterwards both are as before."""
    from datasets.utils import logging
    from huggingface_hub import utils as hub

    quiet = [library for library in (datasets, hub) if not (shown or library.are_progress_bars_disabled())]
    verbosity = logging.get_verbosity()
    logging.set_verbosity(logging.CRITICAL)
    for library in quiet:
        library.disable_progress_bars()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        for library in quiet:
            library.enable_progress_bars()
