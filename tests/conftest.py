"""What tests of several floors share: a small task, and a model whose answers can be worked out by hand."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy
from hypothesis import settings
from optuna.storages._rdb.storage import _VersionManager
from psopt.models.chat import LMConfig, load_writer
from psopt.models.gguf import KNOWN
from psopt.models.minilm import Encoder
from psopt.search_spaces import Prompt
from psopt.tasks import DatasetInfo, Sample, Task
from psopt.text import shows

from tests.fake_server import FakeServer
from tests.storages import STORAGES, Postgres

# No test is timed: much else may run beside them. Where changes are judged the same examples are drawn each time: none
# is refused for what was there before it. People's own runs look for what nobody has tried.
settings.register_profile("psopt", deadline=None, derandomize="CI" in os.environ, max_examples=40)
settings.load_profile("psopt")
ROOT = Path(__file__).resolve().parent.parent


# An environment may forbid it; without its bytecode each of the processes that tests start compiles psopt anew, .3 s.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Tests run on the bundled samples, whatever is at hand; what is about real data asks for `data_dir`. The processes that
# pytest starts read this file after the one that starts them, and by another name: it is gone by its own.
_DATA_DIR = os.environ.pop("PSOPT_DATA_DIR", None) or os.environ.get("PSOPT_TESTS_DATA_DIR")
if _DATA_DIR:
    os.environ["PSOPT_TESTS_DATA_DIR"] = _DATA_DIR

# Two processes on two cores slow each other down where each begins two threads.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

IN_MEMORY = "/dev/shm"
ROOM = 6 * 1024**3  # bytes; runs, environments and databases of a session take one and a half at most

# A module stays with the process that begins it: begun last, these kept one process busy while the other was done.
LONG_MODULES = """
    test_real_trec test_workers test_open_answers test_experiments test_sensitivity_optimizer test_any_program
    test_budgets test_readme_commands test_faults_in_the_loop test_optimize_command
    test_readme test_notebook test_every_verb test_hf test_report test_scores test_signals test_any_metric
    test_what_is_what test_terminal test_limits_keep_the_end test_hub test_prosa_free test_diagnoses
    test_run_folders
"""
# Folders whose runs have no report, which takes a third of a small one, unless a test asks for it
WITHOUT_REPORTS = {"api", "dspy_programs", "proposals", "search", "templates", "tracking"}


def pytest_configure() -> None:
    """Keep what tests write in memory where there is room: a study waits for the disk a hundred times."""
    with contextlib.suppress(OSError):
        if shutil.disk_usage(IN_MEMORY).free > ROOM and os.access(IN_MEMORY, os.W_OK):
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", IN_MEMORY)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the modules that take longest."""
    ranks = {name: rank for rank, name in enumerate(LONG_MODULES.split())}
    items.sort(key=lambda item: ranks.get(item.path.stem, len(ranks)))


@pytest.fixture(scope="session", autouse=True)
def heed_ctrl_c() -> None:
    """Let the processes that tests start hear SIGINT, which ``make test &`` inherits as ignored from its shell."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def each_text_is_embedded_once() -> Iterator[Any]:
    """Let minilm compute the vector of a text once in this process: each test has a cache of its own, and all of them
    ask about much the same texts. Its value is the method that computes them, for tests of just that.
    """
    vectors: dict[str, Any] = {}
    compute = Encoder._run

    def run(encoder: Encoder, texts: Sequence[str]) -> Any:
        new = [text for text in texts if text not in vectors]
        if new:
            vectors.update(zip(new, compute(encoder, new), strict=True))
        return np.stack([vectors[text] for text in texts])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Encoder, "_run", run)
        yield compute


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_the_disk() -> None:
    """Let SQLite leave it to the system when studies are written down: a run commits hundreds of times."""

    def leave_it_to_the_system(connection: Any, _: Any) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.execute("PRAGMA synchronous = OFF")

    sqlalchemy.event.listen(sqlalchemy.Engine, "connect", leave_it_to_the_system)


@pytest.fixture(scope="session", autouse=True)
def migrations_are_read_once() -> Iterator[None]:
    """Let Optuna read its thirty migrations once a process, not twice for every study: a tenth of a small run."""
    read = _VersionManager._create_alembic_script
    scripts: list[Any] = []

    def read_once(self: _VersionManager) -> Any:
        if not scripts:
            scripts.append(read(self))
        return scripts[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_VersionManager, "_create_alembic_script", read_once)
        yield


@pytest.fixture(autouse=True)
def keep_logging_on() -> Iterator[None]:
    """Fail the test that leaves logging off: those after it would look for notices in vain."""
    yield
    assert logging.root.manager.disable == logging.NOTSET
    assert logging.getLogger("psopt.waiting").propagate


@pytest.fixture
def report() -> None:
    """Ask for the report."""


@pytest.fixture(autouse=True)
def no_report(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the report out, unless a test asks for it, or a run is shared by a whole file."""
    has_none = any(ROOT / "tests" / folder in request.path.parents for folder in WITHOUT_REPORTS)
    if has_none and "report" not in request.fixturenames:
        monkeypatch.setattr("psopt.api._finishing.write_report", lambda _: None)


@pytest.fixture(scope="module")
def running_server() -> Iterator[FakeServer]:
    """The server of a file's tests."""
    with FakeServer() as running:
        yield running


@pytest.fixture(scope="module")
def server(running_server: FakeServer) -> FakeServer:
    """A server that behaves, until a test changes it."""
    return running_server


@pytest.fixture
def writer(server: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A model that writes well until the server is told otherwise."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789")
    server.change(answer="hash", drafts="good")
    return load_writer("openai/test", cache_dir=tmp_path, options=LMConfig(api_base=server.url))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data sets; tests that need it are skipped, with this reason, where it is not."""
    folder = _DATA_DIR
    if not folder:
        pytest.skip("PSOPT_DATA_DIR is not set: it names the folder that holds trec/TREC_10.label")
    if not Path(folder, "trec", "TREC_10.label").is_file():
        pytest.skip(f"real TREC is not in {folder}: set PSOPT_DATA_DIR to the folder that holds trec/TREC_10.label")
    return Path(folder)


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The file of the embedded language model; tests that need it are skipped where it is not here."""
    model = KNOWN["smollm2"]
    given = os.environ.get("PSOPT_SMOLLM2")
    if not (given or model.is_fetched()):
        pytest.skip("SmolLM2 is not here: psopt models fetch smollm2")
    return Path(given) if given else model.path()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    # Not beside the tests' own folders: whoever starts another pytest takes them from PostgreSQL's user.
    with tempfile.TemporaryDirectory(prefix="psopt-postgres-", ignore_cleanup_errors=True) as folder:
        server = Postgres(Path(folder))
        yield server
        with contextlib.suppress(AssertionError):
            server.stop()


@pytest.fixture(params=STORAGES)
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new storage of every kind."""
    match request.param:
        case "sqlite":
            return f"sqlite:///{tmp_path / 'study.db'}"
        case "journal":
            return f"journal:{tmp_path / 'study.log'}"
        case _:
            postgres: Postgres = request.getfixturevalue("postgres")
            return postgres.new_database()


@pytest.fixture(scope="session")
def cache_dir(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """One embedding store for the whole session, shared by its workers."""
    own = tmp_path_factory.getbasetemp()
    folder = (own if worker_id == "master" else own.parent) / "cache"
    folder.mkdir(exist_ok=True)
    return folder


def make_samples(prefix: str, n: int, first: int) -> tuple[Sample, ...]:
    """Questions of two classes: those with "when" or "how many" are Number, those with "who" or "whose" Person."""
    wordings = [("when did {} end ?", "Number"), ("who built {} ?", "Person")]
    wordings += [("how many people saw {} ?", "Number"), ("whose idea was {} ?", "Person")]
    return tuple(
        Sample(f"{prefix}-{i}", wordings[i % 4][0].format(f"thing {first + i}"), wordings[i % 4][1]) for i in range(n)
    )


@pytest.fixture(scope="session")
def task() -> Task:
    return Task(
        name="toy",
        description="Sort the question by what it asks for.",
        labels=("Number", "Person"),
        train=make_samples("train", 40, 0),
        val=make_samples("val", 40, 100),
        test=make_samples("test", 40, 200),
        info=DatasetInfo("toy", "memory", "0" * 64),
        definitions={"Number": "a count or a date", "Person": "somebody's name"},
        noun="question",
    )


class KeywordModel:
    """Obeys quoted notes; otherwise answers "who" and "how many" right, and the rest by the wording's length.

    So under the bare prompt half of the questions get a label that depends on the rephrasing alone, and a note that
    quotes "when" or "whose" fixes a quarter of them.
    """

    name = "keyword"

    def __init__(self) -> None:
        self.n_grids = 0

    def predict(self, prompts: Sequence[Prompt], texts: Sequence[str], on_progress: Any = None) -> Any:
        self.n_grids += 1
        return np.array([[self._answer(prompt, text) for prompt in prompts] for text in texts], dtype=np.int64)

    def _answer(self, prompt: Prompt, text: str) -> int:
        for note in prompt.notes:
            quoted = [part for part in note.split('"')[1::2] if shows(text, part)]
            if quoted:
                return next(index for index, label in enumerate(prompt.labels) if label in note)
        if shows(text, "who"):
            return 1
        if shows(text, "how many"):
            return 0
        return len(prompt.description) % 2


@pytest.fixture
def keyword_model() -> KeywordModel:
    return KeywordModel()
