"""The samples that were written in place of published data: every built-in task has one, and it is a whole task."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from psopt.search_spaces import STRATEGIES, seed_prompt
from psopt.tasks import Task, list_datasets, load_task, read_bundled

from tests.texts import words

if TYPE_CHECKING:
    from pathlib import Path

LABELS = {"trec": 6, "cb": 3, "rte": 2, "dbpedia": 14, "wos": 7}
LEAST = {"trec": 300, "cb": 60, "rte": 60, "dbpedia": 140, "wos": 70}


@pytest.fixture(params=[dataset.name for dataset in list_datasets()])
def task(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setenv("PSOPT_OFFLINE", "1")
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path)
    return load_task(request.param, seed=0)


def splits(task: Task) -> tuple[Any, Any, Any]:
    return (task.train, task.val, task.test)


def test_it_is_a_whole_task(task: Any) -> None:
    assert len(task.labels) == LABELS[task.name]
    assert tuple(task.definitions) == task.labels
    assert all({sample.label for sample in split} == set(task.labels) for split in splits(task))
    assert task.info.source == "bundled"


def test_it_is_large_enough_in_every_class(task: Any) -> None:
    sizes = Counter(sample.label for split in splits(task) for sample in split)
    assert sum(sizes.values()) >= LEAST[task.name]
    assert min(sizes.values()) >= 10


def test_no_text_stands_twice_and_none_is_lost(task: Any) -> None:
    texts = [words(sample.text) for split in splits(task) for sample in split]
    assert len(set(texts)) == len(texts)
    assert len(texts) == sum(len(split) for split in read_bundled(task.name))


def test_no_text_gives_its_class_away(task: Any) -> None:
    """A definition or the class's name must be understood: the texts don't repeat them word by word."""
    for sample in task.test:
        assert task.definitions[sample.label] not in sample.text
        if task.name in ("cb", "rte"):
            assert not re.search(r"\b(entailment|contradiction|neutral)\b", sample.text)


def test_every_subclass_is_described(task: Any) -> None:
    for sample in (sample for split in splits(task) for sample in split):
        assert sample.subclass is None or sample.subclass in task.subclasses[sample.label]


def test_the_note_says_why_it_is_there_and_how_to_get_the_data(task: Any) -> None:
    for part in (f"{task.name.upper()}'s files are not at hand", f"{task.noun}s", f"psopt data fetch {task.name}"):
        assert part in task.info.note
    assert "\n" not in task.info.note


def test_every_strategy_makes_a_prompt_of_it(task: Any) -> None:
    detail, one_shot = seed_prompt(task, "detail"), seed_prompt(task, "1-shot")
    assert [one.label for one in detail.definitions] == list(task.labels)
    assert sorted(one.label for one in one_shot.examples) == sorted(task.labels)
    assert {seed_prompt(task, strategy).description for strategy in STRATEGIES} == {task.description}
