"""What a run recommends: the words, what a call costs, the samples that would settle it, and what is picked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from psopt.evaluation import Predictions
from psopt.runs import (
    CallPrice,
    n_looks,
    pick_entry,
    pick_note,
    picked_prompt,
    price_line,
    read_entry,
    recommendation_lines,
)
from psopt.runs.planning import samples_needed
from psopt.search.gating import gate, untested
from psopt.search_spaces import Prompt

from tests.evaluation.grids import grid
from tests.sweeps import each


def predictions(n: int, share: float, seed: int) -> Predictions:
    """Each sample is right under all 10 wordings or under none."""
    truth = np.arange(n) % 2
    is_right = np.random.default_rng(seed).random(n) < share
    array = np.where(is_right, truth, 1 - truth)[:, None].repeat(10, axis=1)
    turned = np.random.default_rng(seed + 5).random(array.shape) < 0.02
    return grid(np.where(turned, 1 - array, array), truth.tolist())


def data_of(verdict: Any, prompt_id: str, **more: Any) -> dict[str, Any]:
    return {**verdict.to_dict(), "id": prompt_id, "samples_needed": None, "looks": 1, **more}


def lines(verdict: Any, prompt_id: str, **more: Any) -> list[str]:
    return recommendation_lines(data_of(verdict, prompt_id, **more))


def test_more_samples_are_needed_where_the_test_has_missed_and_they_would_do() -> None:
    before, after = predictions(120, 0.7, 3), predictions(120, 0.8, 4)
    verdict = gate(before, {"new": after})
    assert verdict.verdict == "keep"
    (test,) = verdict.tests
    needed = samples_needed(before, after, test, 0.01)
    assert needed
    assert needed > 120
    assert gate(predictions(3 * needed, 0.7, 3), {"new": predictions(3 * needed, 0.8, 4)}).verdict == "better"
    closer = replace(test, sensitivity=replace(test.sensitivity, difference=0.0))
    with_less = samples_needed(before, after, closer, 0.01)
    assert with_less is None or with_less > 2 * needed  # half the way to the margin takes about four times the samples
    worse = replace(test, f1=replace(test.f1, difference=-0.05))
    assert samples_needed(before, after, worse, 0.01) is None


BEFORE, GOOD, BAD = predictions(400, 0.6, 1), {"new": predictions(400, 0.9, 1)}, {"new": predictions(400, 0.3, 1)}


def test_the_words_say_what_was_tested_and_what_it_would_take() -> None:
    good = gate(BEFORE, GOOD)
    first, second = lines(good, "new")
    f1 = good.to_dict()["tests"][0]["f1"]
    f1_said = (
        f"F1 {100 * f1['before']:.1f} -> {100 * f1['after']:.1f} ({100 * f1['low']:+.1f} to {100 * f1['high']:+.1f})"
    )
    assert first.startswith(f"Use prompt new: {f1_said}, S ")
    assert "Tested at 5 %" in first
    assert "the original prompt and new, so" in second
    calls = {"before": CallPrice(41, 0.0123).to_dict(), "after": CallPrice(353, 0.0643).to_dict()}
    priced = lines(good, "new", call=calls)[0]
    assert "), 312 more tokens per call (0.052 USD more for a thousand). Tested" in priced
    few = gate(predictions(60, 0.6, 1), {"new": predictions(60, 0.68, 2)})
    keep = lines(few, "old", samples_needed=340)[0]
    assert keep.startswith("Keep yours. The best found, new, may be better: F1 ")
    assert keep.endswith("about 340 test samples would settle it.")
    shaky = good.to_dict()["tests"][0] | {"sensitivity": {"before": 0.1, "after": 0.3, "difference": 0.2, "low": 0.1}}
    shaky["sensitivity"]["high"] = 0.3
    said = recommendation_lines({**data_of(few, "old", samples_needed=340), "tests": [shaky]})[0]
    assert said.startswith("Keep yours. The best found, new, has a better F1, but is surely less steady: F1 ")
    assert lines(untested("sure", 0.01, "the run has ended"), "old") == ["Keep yours: the run has ended."]


@each(
    "nominees, mode, kept, said",
    [
        (BAD, "sure", "old", "Keep yours. The best found, new, looks no better on test: F1 "),
        ({"new": BEFORE}, "off", "new", "Not tested (--gate off): new is the best by val; on test F1 "),
        (GOOD, "likely", "new", "Likely better: new"),
        (BAD, "likely", "old", "Keep yours. The best found, new, is not likely better: F1 "),
    ],
)
def test_the_words_say_how_strict_the_gate_was(nominees: Any, mode: Any, kept: str, said: str) -> None:
    first = lines(gate(BEFORE, nominees, mode=mode), kept)[0]
    assert first.startswith(said)
    estimated = "by an estimate from test and, at half its weight, val: no test stands behind it" in first
    assert estimated == (kept == "new" and mode == "likely")


def test_a_second_look_at_test_is_counted_and_said() -> None:
    before = predictions(60, 0.6, 1)
    first = gate(before, {"new": predictions(60, 0.7, 2)})
    kept = {"recommended": data_of(first, "old")}
    assert n_looks({}, first) == 1
    assert n_looks(kept, first) == 1  # the same nominee is no new look
    assert n_looks(kept, gate(before, {"newer": predictions(60, 0.7, 3)})) == 2
    assert "look 2" in lines(first, "old", looks=2)[-1]


def test_the_recommended_prompt_is_picked_which_may_be_the_baseline(tmp_path: Path) -> None:
    knee, kept = ({"id": name, "knee": name == "bbbb2222", "val": {"f1": 0.5}} for name in ("bbbb2222", "aaaa1111"))
    front = {"prompts": [knee], "short": None, "recommended": kept}
    recommended = data_of(untested("sure", 0.01, "nothing was better"), "aaaa1111")
    (tmp_path / "front.json").write_text(json.dumps(front))
    (tmp_path / "run.json").write_text(json.dumps({"schema_version": 1, "recommended": recommended}))
    for which, found in (("recommended", "aaaa1111"), ("aaaa", "aaaa1111"), ("knee", "bbbb2222")):
        assert read_entry(tmp_path, which)["id"] == found
    assert picked_prompt(tmp_path).name == "aaaa1111.json"
    assert pick_note(tmp_path, "recommended") == ["Keep yours: nothing was better."]
    assert pick_note(tmp_path, "knee") == []
    assert pick_entry([kept, knee], "recommended") is knee  # of a front without a recommendation


PROMPT = Prompt("Sort the mail by who has to answer it.", ("billing", "sales"))
LONGER = Prompt(PROMPT.description, PROMPT.labels, notes=("Whoever asks what an offer costs writes to sales.",))


def test_a_thousand_calls_cost_what_a_thousand_times_the_tokens_cost_where_prices_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prices.toml").write_text('"openai/m" = { in = 2, out = 0 }')
    monkeypatch.setenv("PSOPT_PRICES", str(tmp_path / "prices.toml"))
    call = CallPrice.of(PROMPT, "openai/m")
    assert call.usd_per_thousand is not None
    assert abs(call.usd_per_thousand - call.tokens * 2 / 1000) < 0.002
    assert "USD for a thousand calls" in price_line(call, CallPrice.of(LONGER, "openai/m"))
    monkeypatch.setenv("PSOPT_PRICES", "/nowhere/prices.toml")
    assert CallPrice.of(PROMPT, "openai/gpt-4o").usd_per_thousand is None
