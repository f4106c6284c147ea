"""An interrupt in the middle of a statement is neither lost nor leaves a lock behind."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import optuna
import pytest
from psopt.search.distributed import RetryPolicy, retrying

from tests.sweeps import each


def stored(work: Any) -> Any:
    """Do some work in the middle of a storage's statement."""
    storage = optuna.storages.InMemoryStorage()
    storage.get_all_studies = work  # type: ignore[method-assign]
    return retrying(storage, RetryPolicy()).get_all_studies()


@each("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_a_callback_that_swallows_errors_is_delivered_afterwards(number: int) -> None:
    received: list[int] = []

    def interrupt(number: int, _: object) -> None:
        received.append(number)
        raise KeyboardInterrupt

    before = signal.signal(number, interrupt)
    rows = [{"a set", "which a weak reference may point at"}]
    reference = weakref.ref(rows[0], lambda _: signal.raise_signal(number))
    steps: list[str] = []

    def work() -> None:
        rows.clear()
        steps.append("the callback has run")

    try:
        with pytest.raises(KeyboardInterrupt):
            stored(work)
        assert reference() is None
        assert steps == ["the callback has run"]
        assert received == [number]
        assert signal.getsignal(number) is interrupt
    finally:
        signal.signal(number, before)


def test_the_second_signal_is_obeyed_at_once_and_a_statement_that_hangs_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps: list[str] = []

    def work(*, is_hanging: bool) -> None:
        signal.raise_signal(signal.SIGINT)
        steps.append("held")
        if is_hanging:
            threading.Event().wait(30)
        else:
            signal.raise_signal(signal.SIGINT)
        steps.append("not reached")

    with pytest.raises(KeyboardInterrupt):
        stored(lambda: work(is_hanging=False))
    monkeypatch.setattr("psopt.search.distributed._storage._LONGEST_HELD", 0.05)
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        stored(lambda: work(is_hanging=True))
    assert time.monotonic() - started < 20
    assert steps == ["held", "held"]


def test_other_threads_need_nothing() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(stored, lambda: ["done"]).result() == ["done"]


def test_what_is_written_is_written_in_whole_and_the_file_is_free(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    storage = optuna.storages.RDBStorage(url)
    optuna.create_study(storage=storage, study_name="run")

    class Interrupted(optuna.storages.RDBStorage):
        """A storage in which Ctrl-C comes while it works."""

        def set_study_user_attr(self, study_id: int, key: str, value: object) -> None:
            signal.raise_signal(signal.SIGINT)
            super().set_study_user_attr(study_id, key, value)

    wrapped = retrying(Interrupted(url), RetryPolicy())
    with pytest.raises(KeyboardInterrupt):
        wrapped.set_study_user_attr(1, "key", "value")
    with contextlib.closing(storage.engine.raw_connection()) as connection:
        connection.execute("begin immediate")
        connection.rollback()
    assert storage.get_study_user_attrs(1) == {"key": "value"}
