"""A set of rephrasings is sound, or it does not come into being."""

from __future__ import annotations

import json
from typing import Any

import pytest
from psopt.errors import InputError
from psopt.rephrasings import RephrasingSet, from_file, to_file

ONE = RephrasingSet("a b", ("a b", "c"), ("d",), "file")


def test_a_set_survives_the_way_through_json() -> None:
    assert from_file(json.loads(json.dumps(to_file(ONE)))) == ONE


def test_a_set_edited_by_hand_needs_no_digest() -> None:
    data = {part: value for part, value in to_file(ONE).items() if part != "sha256"}
    assert from_file(data) == ONE


def test_the_digest_depends_on_both_sets_and_on_the_order_and_not_on_the_source() -> None:
    digests = [
        ONE.sha256,
        RephrasingSet("a b", ("a b", "d"), ("c",), "file").sha256,
        RephrasingSet("a b", ("a b", "c", "e"), ("d",), "file").sha256,
        RephrasingSet("a b", ("a b", "e", "c"), ("d",), "file").sha256,
    ]
    assert len(set(digests)) == 4
    assert RephrasingSet("a b", ("a b", "c"), ("d",), "rules").sha256 == ONE.sha256
    assert to_file(ONE)["sha256"] == ONE.sha256


def test_the_digest_is_the_same_on_every_machine() -> None:
    """printf '["a b", ["a b", "c"], ["d"]]' | sha256sum"""
    assert ONE.sha256 == "7be5963f8ba71428871859473963a35e27c6bd7210eb7ad126f6b6833bc60e4a"


@pytest.mark.parametrize(
    ("search", "heldout", "message"),
    [
        (("b",), (), "first search rephrasing"),
        ((), (), "first search rephrasing"),
        (("b", "a"), (), "first search rephrasing"),
        (("a", "b", "B!"), (), "stands twice"),
        (("a", "b", "b"), (), "'b' stands twice; change"),
        (("a", "b"), ("c", "d", "c"), "stands twice"),
        (("a", "b"), ("A.",), "'A.' stands twice, first as 'a'"),
        (("a", " "), (), "one paragraph"),
        (("a", "b\nc"), (), "one paragraph"),
        (("a", "b\u2028c"), (), "one paragraph"),
        (("a", "b\n"), (), "one paragraph"),
    ],
)
def test_a_set_that_is_not_sound_is_refused(search: Any, heldout: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        RephrasingSet("a", search, heldout, "file")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"search": None}, "'search' must be a list of texts"),
        ({"search": "a b"}, "'search' must be a list of texts"),
        ({"heldout": [1]}, "number 1 of 'heldout' is neither a text nor"),
        ({"original": None}, "'original' must be text, not None"),
        ({"source": "dreams"}, "builtin, rules, file or a model, not from 'dreams'"),
    ],
)
def test_data_that_are_no_set_are_refused_in_one_line(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        from_file({**to_file(ONE), **change})
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("part", ["search", "heldout"])
def test_a_missing_part_is_named(part: str) -> None:
    data = {name: value for name, value in to_file(ONE).items() if name != part}
    with pytest.raises(InputError, match=f"'{part}' must be a list of texts"):
        from_file(data)


def test_a_long_text_is_quoted_in_short() -> None:
    with pytest.raises(InputError) as refused:
        RephrasingSet("a", ("a", "x" * 10_000, "X" * 10_000), (), "file")
    assert len(str(refused.value)) < 300
