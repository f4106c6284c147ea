"""``--no-verbatim``: no text of a sample enters a prompt, whoever proposes it, and whatever it is called."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psopt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psopt.errors import InputError
from psopt.proposals import LEAST_TEXTS, NoVerbatim
from psopt.runs import RunSettings
from psopt.search_spaces import Edit, Prompt, Provenance, SearchRestriction, seed_prompt
from psopt.settings import DataOptions, SearchOptions
from psopt.tasks import Task, columns_of_row
from psopt.text import FUNCTION_WORDS

from tests.messy_tickets import NAMES
from tests.sweeps import each

# What notes and definitions by rule are put together of.
OURS = {"begins", "contains", "belongs", "whose", "typical", "wordings", "also", "mail"}


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def texts_of(task: Task) -> list[str]:
    """All columns of all samples, as one text each."""
    samples = (*task.train, *task.val, *task.test)
    return [" \n ".join(value for _, value in columns_of_row(of.text)) or str(of.text) for of in samples]


def triples_of(text: str) -> set[tuple[str, ...]]:
    own = words(re.sub(r"<[^>]*>|&\w+;", " ", text))
    return set(zip(own, own[1:], own[2:], strict=False))


def check(said: Iterable[str], task: Task) -> None:
    """Look for samples' text in what prompts say, in a plainer way than psopt does."""
    texts = texts_of(task)
    triples = {run for text in texts for run in triples_of(text)}
    n_texts = Counter(word for text in texts for word in set(words(text)))
    users = words(" ".join([task.description, task.noun, *task.labels, *task.definitions.values()]))
    for text in said:
        assert not triples & triples_of(text), text
        assert "@" not in text
        for word in set(words(text)) - set(users) - OURS - FUNCTION_WORDS:
            assert not n_texts[word] or (n_texts[word] >= LEAST_TEXTS and not any(map(str.isdigit, word))), word
        assert not {part.casefold() for name in NAMES for part in name.split()} & set(words(text))


@pytest.fixture(scope="module")
def no_verbatim(tickets: Task) -> NoVerbatim:
    """It reads all texts once."""
    return NoVerbatim(tickets, seed_prompt(tickets))


@given(st.data())
def test_no_piece_of_any_sample_passes(tickets: Task, no_verbatim: NoVerbatim, data: Any) -> None:
    text = data.draw(st.sampled_from(texts_of(tickets)))
    own = words(re.sub(r"<[^>]*>|&\w+;", " ", text))
    start = data.draw(st.integers(0, max(0, len(own) - 3)))
    piece = " ".join(own[start : start + data.draw(st.integers(3, 12))])
    label = data.draw(st.sampled_from(tickets.labels))
    edit = Edit("note", label, f"A mail such as {piece} belongs to {label}.", Provenance("openai/drafts", "accuracy"))
    allowed = no_verbatim.allowed([edit])
    if allowed:
        check([edit.text], tickets)
    if len(words(piece)) >= 3:
        assert not allowed


def edit_of(text: str, author: str = "openai/drafts", kind: Any = "note") -> Edit:
    return Edit(kind, "a", text, Provenance(author, "accuracy"))


def small_task() -> Task:
    """Twelve texts: "refund" stands in all, "yacht" in four, "zebra" in one, 4711 in all."""
    texts = [f"refund {letter * 2} 4711" for letter in "abcdefghijkl"]
    texts[:4] = [f"{text} yacht" for text in texts[:4]]
    texts[5] += " zebra"
    rows = [(text, "ab"[i % 2]) for i, text in enumerate(texts)]
    return Task.from_records(rows, description="Say who pays for the yacht trip.", definitions={"a": "an old zebra"})


@each(
    "text, why",
    [
        ("Whoever wants a refund is a.", None),
        ("Whoever asks about insurance is a.", None),  # a word of nobody's
        ("Whoever has a yacht is a.", None),  # the user's own word
        ("Zebra owners are a.", None),  # of the user's definition
        ("Whoever says bb is a.", "holds 'bb', which stands in fewer than 5 samples"),
        ("Whoever names 4711 is a.", "holds '4711', a number of a sample"),
        ('It says "refund cc 4711".', "holds 'cc', which stands in fewer than 5 samples"),
    ],
)
def test_words_pass_that_are_nobodys_or_many_peoples_or_the_users(text: str, why: str | None) -> None:
    task = small_task()
    edit = edit_of(text)
    assert NoVerbatim(task, seed_prompt(task)).refused([edit]).get(edit.id) == why


def test_what_the_user_says_may_stand() -> None:
    task = small_task()
    check_ = NoVerbatim(task, Prompt("Answer refund bb 4711 with a.", task.labels))
    assert not check_.refused([edit_of("As said: refund bb 4711 is a."), edit_of("cc", "task", "definition")])
    assert check_.refused([edit_of("cc", "task", "example")])


def test_a_run_lets_no_text_of_a_sample_into_any_prompt_and_keeps_to_it(tmp_path: Path, tickets: Task) -> None:
    options: dict[str, Any] = {"model": "sim/accuracy=0.6,wobble=0.4,na=0", "rounds": 2, "rephrasings": 3, "heldout": 2}
    options |= {"cache_dir": tmp_path / "cache", "out": tmp_path / "run"}
    run = psopt.optimize(tickets, trials=6, no_verbatim=True, **options)
    proposed = json.loads((run.path / "proposals.json").read_text())["edits"]
    assert proposed
    assert not [edit for edit in proposed if edit["kind"] == "example"]
    prompts = [json.loads(path.read_text()) for path in (run.path / "prompts").glob("*.json")]
    assert len(prompts) > 1
    said = [edit["text"] for edit in proposed]
    for prompt in prompts:
        assert not prompt.get("examples")
        said += [*prompt["notes"], *(part for of in prompt["definitions"] for part in of["text"].split("; "))]
    check(said, tickets)
    settings = json.loads((run.path / "run.json").read_text())["settings"]
    assert RunSettings.from_dict(settings).search.parts.no_verbatim
    with pytest.raises(InputError, match="option no_verbatim was True when the run began, and can't become False"):
        psopt.optimize(tickets, trials=7, resume=True, **options)


def test_what_shows_samples_is_refused_beside_it() -> None:
    search = SearchOptions(parts=SearchRestriction(no_verbatim=True))
    with pytest.raises(InputError, match="1-shot shows texts of samples"):
        RunSettings(DataOptions("trec"), strategy="1-shot", search=search)
    with pytest.raises(InputError, match="name another kind of edit"):
        SearchRestriction(kinds=("example",), no_verbatim=True)
