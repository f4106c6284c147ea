"""Whatever a template's instructions hold: what is protected, and what stands around them, comes through unchanged."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from psopt.errors import InputError
from psopt.rephrasings import rephrase_by_rules
from psopt.rephrasings._passages import protected_texts, read_passages
from psopt.templates import PART_BREAK, split_description

LABELS = ("billing", "sales")
SENTENCES = st.sampled_from(
    [
        "Decide which team the mail {body} is for.",
        "Classify the {{ subject }}\n  by its topic,\r\nplease.",
        'You work for "The Shop. Ltd".',
        "Is the text about billing or sales?",
        'Answer as JSON: {"team": "billing",\n "why": {"a": [1, "b. C"]}}',
        "Do not explain anything.",
        "- sales: whatever is for sale",
        "## Rules",
        '```\nfor x in {y}: "z\n```',
        "<b>Sort</b> the text: <ref id='1'/> see https://a.b/c?d=e.",
        "the text, as it is",
        "Sortiere die Anfrage “nach Thema”!",
        "100 % `code` {",
        'Write only the label, e.g. "sales"',
    ]
)
PARTS = st.lists(
    st.tuples(SENTENCES, st.lists(st.tuples(st.sampled_from([" ", "\n", "\n\t"]), SENTENCES), max_size=3)).map(
        lambda drawn: drawn[0] + "".join(joint + sentence for joint, sentence in drawn[1])
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=40)
@given(PARTS)
def test_what_is_protected_and_what_is_kept_come_through(parts: list[str]) -> None:
    description = PART_BREAK.join(parts)
    passages = read_passages(description, LABELS)
    assert passages.joined(passages.texts) == description
    try:
        found = rephrase_by_rules(description, "mail", 4, 3, 1, protect=LABELS, n_parts=len(parts))
    except InputError:
        assert not passages.texts  # the rules have something for every passage
        return
    assert found.original == found.search[0] == description
    for text in (*found.search[1:], *found.heldout):
        assert len(split_description(text)) == len(parts)
        position = 0
        for kept in passages.kept:
            position = text.index(kept, position) + len(kept)
        for passage in passages.texts:
            for protected, times in Counter(protected_texts(passage, LABELS)).items():
                assert text.count(protected) >= times
