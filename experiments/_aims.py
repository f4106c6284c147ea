"""What psopt set out to reach on real language models, and what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _equal_calls_page import IS_BETTER, MEASURES, lead
from _promise_cells import clopper_pearson
from _promise_page import is_worse as is_truly_worse
from _racing_page import MEASURES as NAMES
from _racing_page import beside_plain
from _shipping_page import is_worse, under_other_wordings
from lm_table1 import SETS
from psopt.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    Results = dict[str, Any]
    Judged = tuple[str, str]

REACHED, NOT_REACHED, NOT_MEASURED = "reached", "**not reached**", "**not measured**"
SO_FAR = "reached so far"  # on less than was asked for
_PSOPT = "psopt.optimize, without DSPy / 1500"
_POINT = 0.01
_SEEDS = 3
_RUNS = 200


@dataclass(frozen=True)
class Aim:
    """An aim.

    Attributes
    ----------
    text, asked : str
        What it is about, and the figure that was asked for.
    experiment : str
        The JSON file with the results.
    judge : callable
        From these results to the verdict and the measured figures; None where nothing was measured.
    """

    text: str
    asked: str
    experiment: str
    judge: Callable[[Results], Judged | None]


def verdicts(results: dict[str, Results]) -> list[tuple[str, ...]]:
    """A row for each aim: its text, what was asked, what was measured, the verdict, and whence."""
    rows = []
    for aim in AIMS:
        judged = aim.judge(results[aim.experiment]) if aim.experiment in results else None
        verdict, measured = judged or (NOT_MEASURED, "–")
        rows.append((aim.text, aim.asked, measured, verdict, f"`{aim.experiment}`"))
    return rows


def _verdict(is_reached: Any, n: int = 1, asked: int = 1) -> str:
    """In a word, where `asked` runs were to be made and `n` were."""
    if not is_reached:
        return NOT_REACHED
    return REACHED if n >= asked else SO_FAR


def on_trec(model: str, edits_by: str, least_f1: float, most_s: float) -> Callable[[Results], Judged | None]:
    """F1 and S of what whole runs recommend, the mean over seeds: F1 at least, S at most."""

    def judge(results: Results) -> Judged | None:
        runs = [run for run in _runs(results, model, edits_by) if run["dataset"] == "trec"]
        if not runs:
            return None
        f1, s = (np.mean([run["recommended"][name] for run in runs]) for name in MEASURES[:2])
        told = f"F1 {f1:.3f}, S {s:.3f}; seeds: {len(runs)}"
        people = [pair[1] for run in runs if (pair := under_other_wordings(run))]
        if people:
            f1_people, s_people = (np.mean([scores[name] for scores in people]) for name in MEASURES[:2])
            told += f"; under people's wordings F1 {f1_people:.3f}, S {s_people:.3f}"
        return _verdict(f1 >= least_f1 and s <= most_s, len(runs), _SEEDS), told

    return judge


def on_five_sets(results: Results) -> Judged | None:
    """How many sets have a better prompt in F1, and how many a worse one."""
    runs = [run for run in _runs(results, "smollm2", "rules") if run["dataset"] in SETS]
    if not runs:
        return None
    measured = [dataset for dataset in SETS if any(run["dataset"] == dataset for run in runs)]
    gains = {dataset: np.mean([_gain(run, "f1") for run in runs if run["dataset"] == dataset]) for dataset in measured}
    n_worse = sum(is_worse(run) for run in runs)
    n_better = sum(gain > _POINT for gain in gains.values())
    told = ", ".join(f"{dataset} {100 * gain:+.1f}" for dataset, gain in gains.items())
    missing = sorted(set(SETS) - set(measured))
    if missing:
        told += f"; not measured: {', '.join(missing)}"
    return _verdict(not n_worse and n_better >= len(SETS) - 1), f"F1 {told}; worse in {n_worse} runs"


def on_probes(results: Results) -> Judged | None:
    """F1 on probes, by who wrote the edits."""
    runs = [run for run in results["runs"] if run["probe"] and "without" not in run["edits_by"]]
    if not runs:
        return None
    gains = [_probe_gain(run) for run in runs]
    told = f"{100 * np.mean(gains):+.1f} points on average, at least {100 * min(gains):+.1f}, in {len(runs)} runs"
    return _verdict(min(gains) >= 0 and np.mean(gains) >= 0.05), told


def by_planted(results: Results) -> Judged | None:
    """How often planted phrases flip answers, of the original prompt and of the recommended one."""
    planted = [run["planted"] for run in _runs(results, "smollm2", "rules") if run["planted"]]
    if not planted:
        return None
    before, after = (float(np.mean([of[name] for of in planted])) for name in ("original", "recommended"))
    return _verdict(after <= before / 2), f"{before:.0%} -> {after:.0%} of the texts, in {len(planted)} runs"


def few_edits(results: Results) -> Judged | None:
    """The number of edits on TREC; examples are told apart, since they are most of them."""
    of_runs = [run["edits"] for run in _runs(results, "smollm2", "rules") if run["dataset"] == "trec"]
    if not of_runs:
        return None
    told = ", ".join(f"{len(edits)} ({edits.count('example')})" for edits in of_runs)
    return _verdict(max(map(len, of_runs)) <= 12), f"{told}; in brackets the examples"


def usable_drafts(results: Results) -> Judged | None:
    """The share of a writer's drafts that pass the checks, by set."""
    shares = {
        cell["dataset"]: cell["n_passed"] / cell["n_requests"]
        for cell in results["cells"]
        if cell["writer"] == "qwen15"
    }
    if not shares:
        return None
    told = ", ".join(f"{dataset} {share:.0%}" for dataset, share in shares.items())
    return _verdict(all(share >= 0.5 for share in shares.values())), told


def own_wordings(results: Results) -> Judged | None:
    """S under psopt's wordings as a share of that under people's, on TREC."""
    shares = {}
    for cell in results["cells"]:
        if cell["dataset"] == "trec":
            _, people = cell["kinds"]["people"]
            _, own = cell["kinds"]["curated, labels named"]
            shares[cell["model"]] = own / people
    if not shares:
        return None
    return _verdict(min(shares.values()) >= 0.8), ", ".join(f"{model} {share:.2f}" for model, share in shares.items())


def first_at_equal_calls(results: Results) -> Judged | None:
    """Whether psopt leads everybody who was measured on the same draws, in every measure, and is never worse."""
    runs = results["runs"]
    measured = [rows for rows in runs.values() if _PSOPT in rows]
    if not measured:
        return None
    others = dict.fromkeys(key for rows in measured for key in rows if key != _PSOPT)
    behind = []
    for other in others:
        leads = {measure: IS_BETTER[measure] * lead(runs, _PSOPT, other, measure).mean() for measure in MEASURES}
        lost = [NAMES[measure] for measure, of in leads.items() if of < 0]
        if lost:
            behind.append(f"{other.partition(' / ')[0]} ({', '.join(lost)})")
    ahead = f"ahead of {len(others) - len(behind)} of {len(others)} in all three"
    return _verdict(not behind), f"{ahead}; behind: {'; '.join(behind) or '-'}"


def racing_saves(results: Results) -> Judged | None:
    """Answers and hypervolume of racing against the plain search."""
    pairs = beside_plain(results["runs"], "racing")
    if not pairs:
        return None
    answers, volume = (
        float(np.mean([own[name] / plain[name] for own, plain in pairs])) for name in ("answers", "hypervolume")
    )
    verdict = _verdict(answers <= 0.2 and volume >= 0.99, len(pairs), 2 * _SEEDS)
    return verdict, f"{answers:.0%} of the answers, {volume:.1%}, in {counted(len(pairs), 'run')}"


def promise_holds(results: Results) -> Judged | None:
    """How many runs recommend a prompt that is truly worse."""
    runs = [run for run in results["runs"] if run["model"] == "smollm2"]
    if not runs:
        return None
    worse = sum(is_truly_worse(run, "recommended") for run in runs)
    most = clopper_pearson(worse, len(runs), 0.9)  # two-sided, hence 95 % for its upper end alone
    told = f"{worse} of {len(runs)} runs: at most {most:.1%}, with 95 % confidence"
    return _verdict(worse <= 0.05 * len(runs), len(runs), _RUNS), told


def intervals_cover(results: Results) -> Judged | None:
    """In how many cells an interval holds the truth in 90 % of draws."""
    cells = [cell for cell in results["cells"].get("smollm2", []) if MEASURES[0] in cell]
    if not cells:
        return None
    counts = [sum(cell[measure]["inside"] >= 0.9 for cell in cells) for measure in MEASURES]
    told = ", ".join(f"{name} {count}" for name, count in zip(NAMES.values(), counts, strict=True))
    return _verdict(min(counts) == len(cells)), f"{told} of {len(cells)} cells"


def _runs(results: Results, model: str, edits_by: str) -> list[Results]:
    """A model's runs, with a limit of their own or without."""
    return [run for run in results["runs"] if (run["model"], run["edits_by"].split(",")[0]) == (model, edits_by)]


def _gain(run: Results, measure: str) -> float:
    return float(run["recommended"][measure] - run["original"][measure])


def _probe_gain(run: Results) -> float:
    original = run["probe"]["original"]
    return float(run["probe"].get("recommended", original)["f1"] - original["f1"])


AIMS = (
    Aim("What a run on TREC recommends, SmolLM2", "F1 at least .60, S at most .08", "shipping",
        on_trec("smollm2", "rules", 0.60, 0.08)),
    Aim("What a run on TREC recommends, the 0.5B", "F1 at least .60, S at most .12", "shipping",
        on_trec("qwen05", "itself", 0.60, 0.12)),
    Aim("Five sets, SmolLM2", "worse on none, F1 better on four", "shipping", on_five_sets),
    Aim("Texts written to test what labels mean", "below the original prompt in no run, 5 points above on average",
        "shipping", on_probes),
    Aim("Answers that a planted phrase flips", "half as many as before", "shipping", by_planted),
    Aim("Edits in the recommended prompt, TREC", "at most 12", "shipping", few_edits),
    Aim("Drafts of the 1.5B that pass the checks", "half of them on every set", "drafts", usable_drafts),
    Aim("S under psopt's own wordings on TREC", "at least .8 of S under people's", "whose_words", own_wordings),
    Aim("Optimizers within 1,500 calls, SmolLM2", "first in mean F1, S and C", "dspy_equal_calls_smollm2",
        first_at_equal_calls),
    Aim("Racing on SmolLM2", "20 % of the answers for 99 % of the hypervolume", "lm_racing", racing_saves),
    Aim("Worse prompts handed back, SmolLM2", "at most 5 % of 200 runs", "lm_promise", promise_holds),
    Aim("Intervals on real answers", "hold the truth in 90 % of draws in every cell", "real_grids", intervals_cover),
)  # fmt: skip
