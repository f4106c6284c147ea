"""What is handed back is no larger than one would ship; trials are spent on what fits."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from psopt.errors import InputError
from psopt.search import PromptLimits, tokens_a_call, tokens_of_mean_text
from psopt.search._front import EstimatedScores, Tried
from psopt.search._sources import in_place_of
from psopt.search_spaces import Edit, Prompt, Provenance, SearchRestriction, apply_edits

ORIGIN = Provenance("rules", "accuracy", "", ("train-1",))
PROMPT = Prompt("Say which of the two it is, by what is asked for.", ("a", "b"))
AROUND = tokens_of_mean_text(["who built it ?", "when was it built ?"])
OF_PROMPT = round(tokens_a_call(PROMPT, AROUND).middle)
NOTES = [Edit("note", "ab"[i % 2], f"A text that says {i} {i} {i} belongs to it.", ORIGIN, 0.01 * i) for i in range(8)]


def allowed(**restriction: Any) -> PromptLimits:
    return PromptLimits.of(PROMPT, AROUND, SearchRestriction(**restriction))


def test_25_edits_are_allowed_of_any_length_beside_examples_where_those_are_asked_for() -> None:
    limits = allowed()
    assert (limits.most_edits, limits.most_tokens) == (25, None)
    assert limits.allow(apply_edits(PROMPT, NOTES), NOTES)
    many = [Edit("note", "a", f"Note {i}.", ORIGIN) for i in range(26)]
    assert not limits.allow(PROMPT, many)
    assert limits.allow(PROMPT, many[:25])
    with_examples = allowed(examples_allowed=16)
    examples = [Edit("example", "a", f"text {i}", ORIGIN) for i in range(17)]
    assert not with_examples.are_too_many([*many[:25], *examples[:16]])
    assert with_examples.are_too_many(many)
    assert with_examples.are_too_many([*many[:25], *examples])
    own = allowed(examples_allowed=16, max_prompt_tokens=90)
    assert (own.most_edits, own.most_tokens) == (None, 90)


def test_definitions_of_one_label_count_once_unless_a_model_wrote_them_and_so_do_its_examples() -> None:
    limits = allowed(max_prompt_edits=2)
    definitions = [Edit("definition", "a", f"also {i}", ORIGIN) for i in range(5)]
    examples = [Edit("example", "ab"[i % 2], f"text {i}", ORIGIN) for i in range(6)]
    written = [Edit("definition", "a", f"It also covers {i}.", Provenance("gguf/writer", "accuracy")) for i in range(3)]
    for few in ([*definitions, NOTES[0]], examples, written[:2]):
        assert not limits.are_too_many(few)
    for many in ([*definitions, *NOTES[:2]], [*examples, NOTES[0]], written):
        assert limits.are_too_many(many)


def test_a_limit_of_ones_own_takes_the_place_of_the_default_and_has_room_for_the_seed_prompt() -> None:
    limits = allowed(max_prompt_tokens=500)
    assert limits.allow(apply_edits(PROMPT, NOTES), NOTES)
    small = allowed(max_prompt_tokens=OF_PROMPT)
    assert small.allow(PROMPT, ())
    assert not small.allow(apply_edits(PROMPT, NOTES), NOTES)
    with pytest.raises(
        InputError, match="--max-prompt-tokens 9 does not allow the original prompt: a call of it takes"
    ):
        allowed(max_prompt_tokens=9)


def search_state(*tried: Tried, **restriction: Any) -> Any:
    """The state of a search that has tried these beside the original prompt."""
    base = Tried(0, PROMPT, (), EstimatedScores(0.5, 0.1, 0.5))
    limits = allowed(**restriction)
    problem = SimpleNamespace(limits=limits, baseline_prompt=PROMPT, can_read=lambda prompt: True)
    history = SimpleNamespace(evaluated=(base, *tried), candidates=(base, *tried))
    return SimpleNamespace(problem=problem, history=history, pool=NOTES, baseline=base)


def test_in_place_of_what_is_too_long_that_is_tried_which_is_expected_to_gain_most_until_trials_tell_more() -> None:
    most = 2 * OF_PROMPT
    state = search_state(max_prompt_tokens=most)
    within = in_place_of(state, tuple(NOTES))
    assert within[-2:] == (NOTES[6], NOTES[7])
    assert NOTES[1] not in within
    assert state.problem.limits.allow(apply_edits(PROMPT, within), within)
    assert in_place_of(state, tuple(NOTES[:1])) == tuple(NOTES[:1])
    rng = np.random.default_rng(1)
    tried = []
    for number in range(1, 21):
        edits = tuple(note for note in NOTES if rng.random() < 0.5)
        scores = EstimatedScores(0.5 + 0.1 * (NOTES[1] in edits), 0.1, 0.5)
        tried.append(Tried(number, apply_edits(PROMPT, edits), edits, scores))
    assert NOTES[1] in in_place_of(search_state(*tried, max_prompt_tokens=most), tuple(NOTES))
