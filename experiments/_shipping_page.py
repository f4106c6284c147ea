"""The section of RESULTS.md on whole runs with language models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from _tables import table

if TYPE_CHECKING:
    Results = dict[str, Any]

_MEASURES = ("f1", "sensitivity", "consistency")
_HEAD = """F1 / S / C in percent, means over seeds: of the original prompt, then of the recommended one. Seeds whose
verdict was to keep the original prompt count with its scores. *Worse* counts runs whose recommended prompt is lower
than the original one on test by more than a point in F1, or higher by more than a point in S (in F1 alone where the
original prompt always gives the same answer). *Probes*: F1 on 30 texts per set that we wrote to test what labels mean.
*Planted*: the share of texts of other classes that a planted phrase from the recommended prompt's notes flips to the
note's label; a dash where it has no such note. Edits by *itself*: the rules, and drafts by the model that answers.
Such drafts are refused now, since most of them copied samples (`drafts.py`). The runs of SmolLM2 by *rules* on TREC,
CB, RTE and WoS, the second on DBpedia, and the last two of the 0.5B, are of today's code; where texts are long, a run
had at most 1,000 calls (some answers were kept from runs that were broken off), and 40 other texts were asked; that on
WoS was tested under four wordings, where five are the least now. The others are older: at most four examples a class
were offered; three wordings by people and the probes were asked within the run, on its own test texts and at the cost
of its limit; and in all but that on messages no rephrasing by rule names the labels.
"""


def shipping(results: Results) -> str:
    """By model, set and who wrote the edits: what runs started from, and what they recommend."""
    groups: dict[tuple[str, str, str], list[Results]] = {}
    for run in results["runs"]:
        groups.setdefault((run["model"], run["dataset"], run["edits_by"]), []).append(run)
    head = ("model", "set", "edits by", "runs", "test", "original", "recommended", "under people's wordings")
    more = ("probes", "planted", "better", "worse", "edits", "calibrated", "answers")
    return f"{_HEAD}\n{table((*head, *more), [_row(*group, runs) for group, runs in groups.items()])}"


def _row(model: str, dataset: str, edits_by: str, runs: list[Results]) -> tuple[str, ...]:
    people = [pair for run in runs if (pair := under_other_wordings(run))]
    before, after = ([pair[index] for pair in people] for index in (0, 1))
    return (
        model,
        dataset,
        edits_by,
        str(len(runs)),
        str(runs[0]["evaluated"]["test"]),
        _triple([run["original"] for run in runs]),
        _triple([run["recommended"] for run in runs]),
        f"{_triple(before)} -> {_triple(after)}",
        _on_probes(runs),
        _by_planted(runs),
        f"{sum(run['verdict'] == 'better' for run in runs)} of {len(runs)}",
        f"{sum(is_worse(run) for run in runs)} of {len(runs)}",
        " ".join(str(len(run["edits"])) for run in runs),
        f"{sum(run['calibrated'] for run in runs)} of {len(runs)}",
        f"{np.mean([run['answers'] for run in runs]):,.0f}",
    )


def is_worse(run: Results) -> bool:
    """Whether what a run recommends is lower in F1 on test by more than a point, or higher in S where that counts.

    S of a prompt that always gives the same answer means nothing: there F1 alone is compared, as in the gate.
    """
    change = {name: run["recommended"][name] - run["original"][name] for name in _MEASURES}
    counts = "say nothing" not in run["reason"]
    return bool(change["f1"] < -0.01 or (counts and change["sensitivity"] > 0.01))


def under_other_wordings(run: Results) -> tuple[Results, Results] | None:
    """The original's scores and those of the recommended prompt, if measured; the same where the original is kept.

    Earlier runs measured them themselves, on their own test texts.
    """
    if "people" in run:
        return run["people"]["original"], run["people"]["recommended"]
    measured = run["other_wordings"]
    if not measured:
        return None
    if run["verdict"] != "better":
        return measured["baseline"], measured["baseline"]
    return measured["baseline"], {name: change["after"] for name, change in measured["differences"].items()}


def _on_probes(runs: list[Results]) -> str:
    """F1 on the probes; a prompt that is kept has the original's."""
    measured = [run["probe"] for run in runs if run["probe"]]
    if not measured:
        return "-"
    before = [probe["original"]["f1"] for probe in measured]
    after = [probe.get("recommended", probe["original"])["f1"] for probe in measured]
    return f"{100 * np.mean(before):.1f} -> {100 * np.mean(after):.1f}"


def _by_planted(runs: list[Results]) -> str:
    measured = [run["planted"] for run in runs if run["planted"]]
    if not measured:
        return "-"
    shares = [100 * np.mean([planted[name] for planted in measured]) for name in ("original", "recommended")]
    return f"{shares[0]:.0f} % -> {shares[1]:.0f} %"


def _triple(scores: list[Results]) -> str:
    return " / ".join(f"{100 * np.mean([of[name] for of in scores]):.1f}" for name in _MEASURES)
