"""What weak samples share whose answers are no single labels; and that nothing is named where they share nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from psopt.answers import AnswerType, code_of
from psopt.diagnosis import diagnose_predictions, find_open_slices
from psopt.diagnosis._diagnosis import excess_severity
from psopt.evaluation import Predictions
from psopt.tasks import AnswerSpec, Sample
from scipy import sparse

from tests.sweeps import each

NUMBERS = AnswerType(spec=AnswerSpec("number"))
WORDINGS = 6
_PEOPLE = ("the baker", "Ada", "our school", "the club", "the museum", "a farmer", "the harbour", "my uncle")
_DEEDS = ("bought", "sold", "repaired", "painted", "counted", "carried", "lost", "found")
_GOODS = ("lamps", "chairs", "apples", "boats", "bricks", "clocks", "ropes", "drums", "tents", "kites", "spoons")


def texts(n: int) -> list[str]:
    """Sentences that share people, deeds and goods, in no order that weakness follows."""
    return [f"{_PEOPLE[i % 8]} {_DEEDS[i // 8 % 8]} {2 + i} {_GOODS[i % 11]} in week {i % 13}" for i in range(n)]


def answered(asked: Sequence[str], weak: Any, *, wrong: int = 3) -> Predictions:
    """A weak sample is answered wrong under so many of the six wordings; all others are right."""
    rows = []
    for number, is_weak in enumerate(weak):
        right = code_of(str(number))
        rows.append([code_of(str(5000 + number)) if is_weak and q < wrong else right for q in range(WORDINGS)])
    samples = tuple(Sample(f"s{number}", text, str(number)) for number, text in enumerate(asked))
    return Predictions(np.array(rows), samples, (), answers=NUMBERS)


def priced() -> Predictions:
    """Ten of a hundred texts tell a price: eight of them are weak, and so are two of the others."""
    asked = [f"{text}{', at a price of 3 each' if i % 10 == 3 else ''}" for i, text in enumerate(texts(100))]
    return answered(asked, [(i % 10 == 3 and i < 80) or i in {11, 62} for i in range(100)])


def test_what_weak_samples_share_is_named_with_its_evidence_and_its_share_of_all_s() -> None:
    (shaking, wrong) = find_open_slices(priced(), ["sensitivity", "accuracy"])
    assert (shaking.view, wrong.view) == ("sensitivity", "accuracy")
    assert shaking.topic == '"price"'
    assert set(shaking.samples) == {f"s{i}" for i in range(3, 80, 10)}
    contrast = shaking.contrast
    assert contrast is not None
    assert (contrast.weak_showing, contrast.weak) == (8, 10)
    assert (contrast.others_showing, contrast.others) == (2, 90)
    assert 0 < contrast.p_value <= 0.05
    assert (shaking.label, shaking.gain) == (None, 0)
    diagnosis = diagnose_predictions(priced())
    first, *_ = diagnosis.to_dict()["groups"]
    assert first["share"] == pytest.approx(0.8)  # eight of the ten samples that shake, all alike
    assert first["contrast"]["weak_showing"] == 8
    assert {failing.view for failing in diagnosis.of_views(["accuracy"]).slices} == {"accuracy"}


LETTERS = [*texts(70), *["please tell me the price of a drum"] * 30]  # one sent thirty times is one piece of evidence


@each(
    "asked, weak",
    [
        (LETTERS, [i >= 70 for i in range(100)]),
        (texts(60), [True] * 60),
        (["a lamp", "a drum"], [True, False]),
    ],
)
def test_where_too_little_speaks_for_it_nothing_is_named(asked: list[str], weak: list[bool]) -> None:
    assert find_open_slices(answered(asked, weak), ["sensitivity", "accuracy"]) == ()


def test_weakness_at_random_names_a_topic_in_at_most_one_of_twenty_tasks() -> None:
    asked = texts(80)
    n_named = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 30])
        found = answered(asked, rng.random(80) < 0.3, wrong=int(rng.integers(1, WORDINGS)))
        n_named += bool(find_open_slices(found, ["sensitivity", "accuracy"]))
    assert n_named <= 3


def test_the_excess_and_its_chance_are_as_counted_by_hand() -> None:
    """Of two of six samples that fail the one trait holds both, the other none and half of the rest."""
    severities = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    shown = sparse.csr_array(np.array([[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0]]).T.astype(float))
    excess, p_values = excess_severity(severities, shown)
    # two samples with 2/3 above the mean of 1/3 each, and two with 1/3 below it; both by sqrt(2 * 4 / 6 + 5)
    np.testing.assert_allclose(excess, np.array([4 / 3, -2 / 3]) / np.sqrt(2 * 4 / 6 + 5))
    # both failing samples meet in the first or in the second pair in 2 of 15 shuffles
    assert p_values[0] == pytest.approx(2 / 15, abs=0.03)
    assert p_values[1] == 1.0
