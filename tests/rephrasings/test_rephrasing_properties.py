"""The rule-based rephraser on any text at all."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from psopt.errors import InputError
from psopt.rephrasings import rephrase_by_rules

from tests.texts import letters

WORDS = ["Please", "Classify", "label", "Label", "decide whether", "based on its", "by the kind of", "a question"]
SMALL_WORDS = [
    "the text",
    "given",
    "text",
    "as",
    "or",
    "is",
    "it's",
    "don't",
    "into one of the classes",
    "ſort",
    "İf",
    "class",
]
VERBATIM = ["{text}", "{{x}}", '"the class"', "“text”", "https://a.b/text.", "'text'", "\ue000", "\ue0010\ue001"]
SIGNS = [".", "?", ":", ",", "…", "(", ")"]
FRAGMENTS = st.sampled_from([*WORDS, *SMALL_WORDS, *VERBATIM, *SIGNS])
SENTENCES = st.lists(FRAGMENTS, min_size=1, max_size=12).map(" ".join)
ANY_TEXT = st.one_of(st.text(min_size=1), SENTENCES).filter(str.split)


@settings(max_examples=60, deadline=None)
@given(ANY_TEXT, st.text(max_size=10), st.lists(st.text(max_size=5), max_size=3), st.integers(0, 3))
def test_any_description_can_be_rephrased(description: Any, noun: Any, protect: Any, seed: Any) -> None:
    try:
        found = rephrase_by_rules(description, noun, 15, 10, seed, protect=protect)
    except InputError as error:
        assume("not in English" not in str(error) and "this one is empty" not in str(error))  # signs that show nothing
        raise
    assert found == rephrase_by_rules(description, noun, 15, 10, seed, protect=protect)
    assert found.search[:5] == rephrase_by_rules(description, noun, 5, 1, seed, protect=protect).search
    assert found.search[0] == found.original == " ".join(description.split())
    assert len({letters(text) for text in (*found.search, *found.heldout)}) == 25


@settings(max_examples=60, deadline=None)
@given(SENTENCES, st.integers(0, 3))
def test_braces_quotes_and_addresses_come_out_as_they_went_in(description: Any, seed: Any) -> None:
    found = rephrase_by_rules(description, n_search=15, seed=seed)
    for text in (*found.search, *found.heldout):
        for part in ("{text}", "{{x}}", '"the class"', "“text”", "https://a.b/text.", "\ue000", "\ue001"):
            assert text.count(part) == description.count(part)
