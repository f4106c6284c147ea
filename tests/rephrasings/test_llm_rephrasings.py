"""Rephrasings written by a model: the conversation over a real socket, the checks, the file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import InputError
from psopt.models.chat import LMConfig, load_writer
from psopt.rephrasings import Checks, read_file, to_file, write_rephrasings

from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from pathlib import Path

ORIGINAL = "Say whether the review of {product} is good or bad."
LABELS = ("good", "bad")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789")


def writer_at(server: FakeServer, tmp_path: Path) -> Any:
    return load_writer("openai/test", cache_dir=tmp_path, options=LMConfig(api_base=server.url))


def test_a_model_writes_two_disjoint_sets_one_call_each_text(tmp_path: Path) -> None:
    with FakeServer() as server:
        found = write_rephrasings(writer_at(server, tmp_path), Checks(ORIGINAL, LABELS), 12, 6)
        n_requests = server.counts()["requests"]
        again = write_rephrasings(writer_at(server, tmp_path), Checks(ORIGINAL, LABELS), 12, 6)
        assert server.counts()["requests"] == n_requests
    assert found == again
    assert found.search[0] == ORIGINAL
    assert (len(found.search), len(found.heldout)) == (12, 6)
    assert not set(found.search) & set(found.heldout)
    assert all("{product}" in text and "good or bad" in text for text in (*found.search, *found.heldout))
    assert found.source == "openai/test"


def test_what_is_wrong_is_refused_with_its_reason_and_replaced(tmp_path: Path) -> None:
    with FakeServer(drafts="bad") as server:
        checks = Checks(ORIGINAL, LABELS, closeness=lambda one, other: 0.1 if "French" in other else 0.9)
        found = write_rephrasings(writer_at(server, tmp_path), checks, 6, 4)
    assert (len(found.search), len(found.heldout)) == (6, 4)
    reasons = {one.reason.partition(" (")[0] for one in found.rejected}
    assert {"empty", "more than one paragraph", "too long"} <= reasons
    wrong = {one.text for one in found.rejected if one.reason != "a duplicate"}
    assert not wrong & {*found.search, *found.heldout}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("One line.\nAnother.", "more than one paragraph"),
        ("Good or bad? {product}" * 40, "too long"),
        ("Go!", "too short"),
        ("Say whether the review of the product is good or bad.", "lost the mark {product}"),
        ("Say whether the review of {product} by {user} is good or bad.", "added the mark {user}"),
        ("Say whether the review of {product} is good or not.", "drops the label 'bad'"),
        ("say whether the review of {product} is good, or bad!", "a duplicate"),
        ("Is this review of {product} a good or a bad one, or is it spam?", "means something else (likeness 0.1)"),
        ("Tell me how {product} is reviewed: good, bad or in French?", "judged to ask for something else"),
        ("Is this review of {product} a good or a bad one?", None),
    ],
)
def test_each_check_names_what_it_refuses(text: Any, reason: str | None) -> None:
    checks = Checks(
        ORIGINAL,
        LABELS,
        closeness=lambda one, other: 0.1 if "spam" in other else 0.9,
        judge=lambda one, other: "French" not in other,
    )
    verdict = checks.verdict(text, ())
    assert verdict.accepted == (reason is None)
    assert reason is None or str(verdict.reason).startswith(reason)


def test_labels_may_be_dropped_on_request() -> None:
    checks = Checks(ORIGINAL, LABELS, keep_labels=False)
    assert checks.verdict("Say how the review judges {product}.", ()).accepted


def test_one_label_alone_is_a_word_and_no_enumeration() -> None:
    assert Checks("Say how good it is.", LABELS).verdict("Tell how well it is made.", ()).accepted


def test_a_model_that_repeats_itself_is_said(tmp_path: Path) -> None:
    with FakeServer(answer="fixed:x", drafts="good") as server:
        writer = writer_at(server, tmp_path)
        with pytest.raises(InputError, match=r"gave \d+ of 59 usable search rephrasings.*a duplicate"):
            write_rephrasings(writer, Checks("Sort it."), 60, 1)


def test_a_file_gives_the_set_back_and_may_be_edited_by_hand(tmp_path: Path) -> None:
    with FakeServer(drafts="bad") as server:
        found = write_rephrasings(writer_at(server, tmp_path), Checks(ORIGINAL, LABELS), 4, 2)
    path = tmp_path / "rephrasings.json"
    path.write_text(json.dumps(to_file(found)))
    read = read_file(path)
    assert read == found
    assert read.sha256 == found.sha256
    assert read.rejected == found.rejected
    data = json.loads(path.read_text())
    data["search"].append("Good or bad: which is this review of {product}?")
    path.write_text(json.dumps(data))
    assert len(read_file(path).search) == 5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "expected an object"),
        ("{", "no valid JSON"),
        ('{"search": ["a b"], "heldout": 3}', "'heldout' must be a list"),
        ('{"search": [{"txt": "a"}], "heldout": []}', "number 1 of 'search'"),
        ('{"search": ["Sort it.", "sort it"], "heldout": []}', "stands twice"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        read_file(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
