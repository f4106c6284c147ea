"""Prompts that one would not ship: none of what was met in 0.1's is proposed for tickets as they come."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from psopt.diagnosis import diagnose_predictions, suspect_labels
from psopt.evaluation import Predictions, evaluate
from psopt.models.sim import SimulatedModel
from psopt.proposals import ProposalChecks, propose_edits
from psopt.proposals.llm import DraftChecks, DraftError
from psopt.search_spaces import Edit, seed_prompt
from psopt.settings import HoldBack
from psopt.tasks import DatasetInfo, Sample, Task, inputs_of, shown_words
from psopt.text import FUNCTION_WORDS, label_mentions

from tests.messy_tickets import NAMES, SENTIMENT
from tests.proposals.drafts import draft_of
from tests.sweeps import each

NEAR = "is nearly a text of val or test"
FEWEST = 3  # texts of a class that show what is quoted
PRIVATE = re.compile(
    r"@|(?<!order no\. )(?<!\d)\d{4,}|Baker Street|" + "|".join(name for names in NAMES for name in names.split()), re.I
)


def quoted(edits: Any, labels: Any) -> list[tuple[str, str, str]]:
    """(label, field or empty, phrase) of every phrase that notes quote."""
    phrases = []
    for edit in edits:
        if edit.kind == "note":
            (mention,) = label_mentions(edit.text, labels)
            fielded = [cue.rpartition(": ")[::2] for cue in mention.cues]
            phrases += [(edit.label, field, phrase) for field, phrase in fielded]
    return phrases


def shows_as_written(text: str, field: str, phrase: str) -> bool:
    """Whether a field, any one if none is named, has a phrase character by character, but for case."""
    values = [value for name, value in inputs_of(text).items() if field in ("", name)] or [text]
    words = re.escape(phrase.removeprefix("^")).replace(r"\ ", " +")
    pattern = rf"\A\W*{words}\b" if phrase.startswith("^") else rf"\b{words}\b"
    return any(re.search(pattern, value, re.I) for value in values)


def test_every_phrase_stands_in_texts_of_its_class_as_written_and_is_a_sure_sign_of_it(
    ticket_edits: list[Edit], tickets: Task
) -> None:
    """Met: 'contains "since" or "screen"', 'do people', of function words alone or of what some happened to say."""
    phrases = quoted(ticket_edits, tickets.labels)
    assert phrases
    assert not {"since", "screen", "do people", "the screen", "people"}.intersection(phrase for *_, phrase in phrases)
    for label, field, phrase in phrases:
        words = set(phrase.removeprefix("^").split())
        assert not FUNCTION_WORDS.issuperset(words)
        # Met: 'begins with "subject re delivery"', which no text has, of a field's name and its content.
        assert not {"subject", "body", "br", "nbsp", "div", "p"} & words
        # Met: 'typical wordings: dollars nobody told'.
        assert not {"dollars", "nobody", "told"} & words
        shown = [sample.label == label for sample in tickets.train if shows_as_written(sample.text, field, phrase)]
        assert sum(shown) >= FEWEST, (label, field, phrase)
        assert np.mean(shown) > 0.7, (label, field, phrase)


def test_no_two_notes_are_about_the_same(ticket_edits: list[Edit], tickets: Task) -> None:
    """Met: near-equal notes side by side."""
    notes = [edit for edit in ticket_edits if edit.kind == "note"]
    matched = [
        {
            sample.id
            for sample in tickets.train
            for _, *cue in quoted([note], tickets.labels)
            if shows_as_written(sample.text, *cue)
        }
        for note in notes
    ]
    for first, own in enumerate(matched):
        for second, other in enumerate(matched[:first]):
            if notes[first].label == notes[second].label:
                assert len(own & other) < 0.8 * len(own | other), (notes[first].text, notes[second].text)


def test_nothing_that_is_proposed_is_private_or_an_empty_example(ticket_edits: list[Edit]) -> None:
    """Met: raw mails of customers, with names, as examples; an example with an empty body."""
    for edit in ticket_edits:
        subject, body = (dict(edit.fields).get(name, edit.text) for name in ("subject", "body"))
        assert not PRIVATE.search(f"{subject} {body}"), edit.text
        assert all(re.search(r"\w", re.sub("<[^>]*>", "", shown)) for shown in (subject, body))


def held_back(checks: ProposalChecks, samples: list[Sample]) -> dict[str, str]:
    """The objections to showing samples, by their ids."""
    objections = {sample.id: checks.against_example(sample) for sample in samples}
    return {name: objection for name, objection in objections.items() if objection}


def test_what_all_samples_share_holds_none_back() -> None:
    """Met: a policy in every example made all of them near copies, and its phone number all of them private."""
    policy = "Refunds take ten days. Dear Anna Poe answers questions at 555-123-4567 on working days from nine to five."
    things = ["boat", "lamp", "desk", "chair", "cable", "phone", "radio", "clock", "mirror", "carpet", "bottle"]
    made: dict[str, Any] = {
        split: tuple(
            Sample(f"{split}-{place}", f"policy: {policy}\nmail: the {thing} {deed} {split}", label)
            for place, (thing, (deed, label)) in enumerate(
                itertools.product(things, (("broke in", "bugs"), ("costs too much in", "billing")))
            )
        )
        for split in ("train", "val", "test")
    }
    private = Sample("train-x", f"policy: {policy}\nmail: call Laura at 030 9018 2000", "bugs")
    copied = Sample("train-y", made["val"][0].text, "bugs")
    empty = Sample("train-z", "  ", "bugs")
    info = DatasetInfo("mails", "memory", "")
    task = Task("mails", "Sort the mail.", ("bugs", "billing"), **made, info=info)
    task_and_odd = [*made["train"], private, copied, empty]
    assert held_back(ProposalChecks.of(task), task_and_odd) == {
        "train-x": "holds private text",
        "train-y": NEAR,
        "train-z": "is empty",
    }
    of_each = {how: {*held_back(ProposalChecks.of(task, None, how), task_and_odd)} for how in get_args(HoldBack)}
    assert of_each == {
        "all": {"train-x", "train-y", "train-z"},
        "private": {"train-x", "train-z"},
        "copies": {"train-y", "train-z"},
        "none": {"train-z"},
    }


def test_no_example_is_mislabelled(ticket_edits: list[Edit], tickets: Task, ticket_answers: Predictions) -> None:
    """Met: mislabelled texts as examples."""
    samples: Any = ticket_answers.samples
    wrong = np.array([sample.text.fields["was"] != sample.label for sample in samples])
    suspect = suspect_labels(ticket_answers, labelled=tickets.train)
    assert suspect[wrong].mean() > 0.8
    assert suspect[~wrong].mean() < 0.05
    mislabelled = {sample.text for sample, is_wrong in zip(samples, wrong, strict=True) if is_wrong}
    assert not any(edit.text in mislabelled for edit in ticket_edits if edit.kind == "example")


def test_no_example_is_nearly_a_text_of_val_or_test(
    ticket_edits: list[Edit], tickets: Task, ticket_answers: Predictions
) -> None:
    checks = ProposalChecks.of(tickets, hold_back="copies")
    assert sum(checks.against_example(sample) == NEAR for sample in ticket_answers.samples) > 10
    held = [words_of(shown_words(sample.text)) for sample in (*tickets.val, *tickets.test)]
    for edit in ticket_edits:
        if edit.kind == "example":
            words = words_of(" ".join(dict(edit.fields)[name] for name in ("subject", "body")))
            assert max(len(words & other) / len(words | other) for other in held) < 0.9


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.lower()))


def test_a_near_copy_is_told_by_its_words() -> None:
    train = Task.from_records([(f"mail {n} of nobody", "ab"[n % 2]) for n in range(20)])
    held = "my invoice shows ten dollars too much, please fix it"
    checks = ProposalChecks.of(replace(train, val=(Sample("held", held, "a"),), test=()))
    for text in (held, f"Fwd: I wrote last week: {held}. What now?"):
        assert checks.against_example(Sample("s", text, "a")) == NEAR
    for text in ("my invoice shows nothing", "where does my parcel stay"):
        assert checks.against_example(Sample("s", text, "a")) != NEAR


@pytest.fixture(scope="module")
def reader(tickets: Task) -> DraftChecks:
    return DraftChecks.of(tickets)


@each(
    "note, reason",
    [
        ('A mail that contains "since" belongs to billing.', "no topic"),
        ('A mail that begins with "subject re delivery" belongs to delivery.', "fewer than|no topic"),
        ('A mail that contains "screen" belongs to bugs.', "no sure sign"),
        ('A mail whose subject contains "delivery" belongs to billing.', "a sign of billing"),
        ("Whatever order no. 153343 is about belongs to billing.", "private"),
        ('A mail whose subject contains "invoice" belongs to billing.', None),
        ("Complaints about amounts belong to billing.", None),
    ],
)
def test_drafts_pass_the_same_checks(reader: DraftChecks, note: str, reason: str | None) -> None:
    label = note.removesuffix(".").rsplit(" ", 1)[1]
    draft = draft_of(label, note=note)
    if reason is None:
        assert reader.read(draft, "note", label, ()) == note
    else:
        with pytest.raises(DraftError, match=reason):
            reader.read(draft, "note", label, ())


def test_what_a_class_of_reviews_holds_by_chance_is_no_sign_of_it() -> None:
    """Met in a DSPy program: "the phone" and "have" belong to positive."""
    samples = tuple(Sample(f"review {number}", text, label) for number, (text, label) in enumerate(SENTIMENT))
    task = replace(Task.from_records(SENTIMENT, noun="review"), train=samples)
    model = SimulatedModel("accuracy=0.5,wobble=0.6", task)
    on_train = evaluate(model, seed_prompt(task), [f"wording {number}" for number in range(6)], samples)
    edits = propose_edits(task, seed_prompt(task), on_train, diagnose_predictions(on_train, labelled=samples))
    signs = {("positive", "brilliant"), ("positive", "lovely")}
    signs |= {("negative", phrase) for phrase in ("awful", "an awful", "broken")}
    phrases = {(label, phrase) for label, _, phrase in quoted(edits, task.labels)}
    assert set() < phrases <= signs
