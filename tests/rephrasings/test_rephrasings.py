"""The rephrasings of a task: those written for it, those by rule, how much they differ; and when a set is sound."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from psopt.errors import InputError
from psopt.rephrasings import (
    TAME,
    RephrasingOptions,
    RephrasingSet,
    diversity,
    diversity_of,
    freeze_rephrasings,
    read_file,
    rephrasings_for,
    tame_note,
    to_file,
)
from psopt.runs import read_source
from psopt.search_spaces import Prompt, render
from psopt.tasks import Task, list_datasets, load_task

from tests.sweeps import each
from tests.texts import letters

WRITTEN: dict[str, dict[str, Any]] = {
    file.name.removesuffix(".json"): json.loads(file.read_text("utf-8"))
    for file in (resources.files("psopt.rephrasings") / "builtin").iterdir()
    if file.name.endswith(".json")
}


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Task]]:
    """The samples that were written for the built-in tasks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PSOPT_OFFLINE", "1")
        patch.setattr("platformdirs.user_cache_path", lambda name: tmp_path_factory.getbasetemp())
        yield {name: load_task(name) for name in WRITTEN}


@pytest.fixture
def trec(task: Task) -> Task:
    return dataclasses.replace(task, name="trec", description=WRITTEN["trec"]["original"])


@pytest.fixture
def both(trec: Task) -> tuple[Task, Task]:
    """A task for which rephrasings are written and one for which none are."""
    return trec, dataclasses.replace(trec, name="toy")


def test_every_built_in_task_has_its_rephrasings() -> None:
    assert set(WRITTEN) == {dataset.name for dataset in list_datasets()}


@each("name", WRITTEN)
def test_what_is_written_for_a_task_is_enough_and_sound_and_names_no_class(name: str, bundled: dict[str, Task]) -> None:
    written, task = WRITTEN[name], bundled[name]
    assert written["task"] == name
    assert len(written["search"]) >= 30
    assert len(written["heldout"]) >= 10
    RephrasingSet(written["original"], (written["original"], *written["search"]), (*written["heldout"],), "builtin")
    assert letters(task.description) == letters(written["original"])
    assert rephrasings_for(task, 30, 10).source == "builtin"
    for texts in (written["search"], written["heldout"]):
        lengths = sorted(map(len, texts))
        assert lengths[-1] > 3 * lengths[0]
        assert any(text.endswith("?") for text in texts)
        assert len({text.split()[0] for text in texts}) > len(texts) / 2
        for text, label in itertools.product(texts, task.labels):
            assert not re.search(rf"\b{label}\b", text), text


@each("name", WRITTEN)
def test_of_sets_written_for_a_task_nothing_is_said_and_of_frames_alone_it_is(
    name: str, bundled: dict[str, Task]
) -> None:
    task = bundled[name]
    written = diversity_of(rephrasings_for(task), task.labels)
    assert min(value or 0 for value in written.values()) >= TAME
    framed = freeze_rephrasings(task, task.description, 10, 10, 0, RephrasingOptions(families=("wording",)))
    assert "--rephraser" in str(tame_note(diversity_of(framed, task.labels)["search"]))


def test_diversity_is_the_share_of_the_shorter_texts_words_and_pairs_that_the_other_lacks() -> None:
    # a, b, ab | a, c, d, ac, cd: of the first one's three, "a" is shared
    assert diversity(["A b.", "a c d"]) == pytest.approx(2 / 3)
    assert diversity(["a b", "a b", "c d"]) == pytest.approx((0 + 1 + 1) / 3)
    assert diversity(["", ""]) == 0
    assert diversity(["", "a"]) == 1
    assert math.isnan(diversity(["a"]))
    # frames add nothing, and another order does
    assert diversity(["Sort the mail.", "Task: Sort the mail. Be careful."]) == 0
    assert diversity(["mail the sort", "sort the mail"]) == pytest.approx(2 / 5)


def test_the_original_comes_first_and_is_one_of_q(both: tuple[Task, Task]) -> None:
    trec = both[0]
    found = rephrasings_for(trec, 10, 10)
    assert found.search[0] == trec.description
    assert (len(found.search), len(found.heldout), found.source) == (10, 10, "builtin")
    for texts, written in ((found.search[1:], WRITTEN["trec"]["search"]), (found.heldout, WRITTEN["trec"]["heldout"])):
        assert all(all(label in text for label in trec.labels) for text in texts[::2])
        assert set(texts[1::2]) <= set(written)
    for task in both:
        assert rephrasings_for(task, 1, 1).search == (task.description,)


def test_a_larger_set_begins_with_the_smaller_one_and_the_seed_decides(both: tuple[Task, Task]) -> None:
    for task, seed in itertools.product(both, (0, 42)):
        sets = [rephrasings_for(task, *sizes, seed=seed) for sizes in ((10, 5), (30, 10), (60, 30))]
        for small, large in itertools.pairwise(sets):
            assert large.search[: len(small.search)] == small.search
            assert large.heldout[: len(small.heldout)] == small.heldout
    for task in both:
        by_seed = {seed: rephrasings_for(task, seed=seed) for seed in (0, 1, 42)}
        assert rephrasings_for(task, seed=0) == by_seed[0]
        assert len({found.sha256 for found in by_seed.values()}) == 3
        assert rephrasings_for(task) == by_seed[42]


def test_another_description_or_name_does_not_get_at_what_is_written(trec: Task) -> None:
    found = rephrasings_for(trec, 5, 5, description="Sort it\n  out.")
    assert (found.source, found.original) == ("rules", "Sort it out.")
    for name in ("toy", "Trec?", "../trec", "builtin/trec", "trec.json", ""):
        assert rephrasings_for(dataclasses.replace(trec, name=name), 5, 5).source == "rules"


def test_a_rephrasing_by_rule_brings_in_all_labels_or_none(trec: Task) -> None:
    labels = ("Task", "Query", "Work")
    task = dataclasses.replace(trec, name="toy", labels=labels, train=(), val=(), test=(), definitions={})
    found = rephrasings_for(task, 90, 90)
    for text in (*found.search, *found.heldout):
        words = set(re.findall(r"\w+", text.casefold()))
        assert {"task", "query", "work"} & words in (set(), {"task", "query", "work"})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"description": ""}, "description is needed"),
        ({"n_search": 9000}, r"9000 search rephrasings were asked for; the rules give \d+"),
    ],
)
def test_wrong_input_is_refused_in_one_line(both: tuple[Task, Task], wrong: dict[str, Any], message: str) -> None:
    for task in both:
        with pytest.raises(InputError, match=message) as refused:
            rephrasings_for(task, **wrong)
        assert len(str(refused.value).splitlines()) == 1


ONE = RephrasingSet("a b", ("a b", "c"), ("d",), "file")


def test_the_digest_depends_on_both_sets_and_on_the_order_and_not_on_the_source() -> None:
    digests = [
        ONE.sha256,
        RephrasingSet("a b", ("a b", "d"), ("c",), "file").sha256,
        RephrasingSet("a b", ("a b", "c", "e"), ("d",), "file").sha256,
        RephrasingSet("a b", ("a b", "e", "c"), ("d",), "file").sha256,
    ]
    assert len(set(digests)) == 4
    assert RephrasingSet("a b", ("a b", "c"), ("d",), "rules").sha256 == ONE.sha256
    # on every machine: printf '["a b", ["a b", "c"], ["d"]]' | sha256sum
    assert ONE.sha256 == "7be5963f8ba71428871859473963a35e27c6bd7210eb7ad126f6b6833bc60e4a"


@each(
    "search, heldout, message",
    [
        (("b",), (), "first search rephrasing"),
        (("a", "b", "B!"), (), "stands twice"),
        (("a", "b"), ("A.",), "'A.' stands twice, first as 'a'"),
        (("a", " "), (), "one paragraph"),
        (("a", "b\u2028c"), (), "one paragraph"),
    ],
)
def test_a_set_that_is_not_sound_is_refused(search: Any, heldout: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        RephrasingSet("a", search, heldout, "file")


@each(
    "content, message",
    [
        ("[]", "expected an object"),
        ("{", "no valid JSON"),
        ({"search": ...}, "'search' must be a list of texts"),
        ({"search": [{"txt": "a"}]}, "number 1 of 'search'"),
        ({"source": "dreams"}, "builtin, rules, file or a model, not from 'dreams'"),
        ({"search": ["a b", "A b"]}, "stands twice"),
        ({"heldout": [{"text": "c d", "form": 3}]}, "'form' of number 1 of 'heldout' must be an object, not 3"),
    ],
)
def test_a_file_that_is_damaged_or_holds_no_set_is_refused_in_one_line(
    content: Any, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "r.json"
    if isinstance(content, dict):
        content = json.dumps({name: value for name, value in {**to_file(ONE), **content}.items() if value is not ...})
    path.write_text(content)
    with pytest.raises(InputError, match=message) as refused:
        read_file(path)
    assert str(path) in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


TEXT = "Sort the question by what it asks for.\n- dates are numbers\n- names are persons"


def test_the_original_keeps_its_lines_through_rephrasing_and_files(task: Task, tmp_path: Path) -> None:
    found = freeze_rephrasings(task, TEXT, 4, 3, 1, RephrasingOptions())
    assert found.search[0] == found.original == TEXT
    assert all("\n" not in text for text in (*found.search[1:], *found.heldout))
    file = tmp_path / "rephrasings.json"
    file.write_text(json.dumps(to_file(found)))
    assert read_file(file) == found
    again = freeze_rephrasings(task, TEXT, 4, 3, 1, RephrasingOptions(file=file))
    assert again.sha256 == found.sha256
    # a set of an earlier version still fits
    flat = freeze_rephrasings(task, " ".join(TEXT.split()), 4, 3, 1, RephrasingOptions())
    file.write_text(json.dumps(to_file(flat)))
    assert freeze_rephrasings(task, TEXT, 4, 3, 1, RephrasingOptions(file=file)) == flat
    orders = freeze_rephrasings(task, TEXT, 2, 1, 1, RephrasingOptions(families=("format",)))
    assert orders.search == (TEXT, TEXT)


def test_a_text_file_makes_a_prompt_on_its_lines(task: Task, tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text(TEXT.replace("\n", "  \r\n") + "\n\n")
    prompt = read_source(file).for_task(task)
    assert prompt == Prompt(TEXT, task.labels, task.noun)
    assert TEXT in render(prompt, "who ?")[1]["content"]
    assert Prompt.from_dict(prompt.to_dict()).id == prompt.id
    (tmp_path / "one.txt").write_text("Sort  the question.\n")
    assert read_source(tmp_path / "one.txt").for_task(task).description == "Sort the question."
