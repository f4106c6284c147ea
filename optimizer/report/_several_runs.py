"""Two to five runs: what each recommends, and whether a difference on the same test samples is chance; their page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.evaluation import compare_paired, verdict
from psopt.report._contents import Contents, read_contents
from psopt.report._page import fixed_and_broken, render_page
from psopt.report._prompt_figures import fronts_figure
from psopt.runs import price_line, text_to_read
from psopt.settings import by_full_name
from psopt.text import latex_table, markdown_table, percent, unified_diff

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.evaluation import Predictions
    from psopt.metrics import PairedDifference
    from psopt.report._theme import Figure
    from psopt.runs import RunDirectory

_FEWEST = 2  # samples to draw from, and wordings, for an interval to mean anything
_MOST_MOVED = 15  # samples, chosen by eye
_LEFT_OUT = ("command", "prompt")  # settings that are shown elsewhere; a prompt by its id and text


def _facts(of: Contents) -> dict[str, Any]:
    """The inputs of a run, flat: the data, the model and every setting."""
    run, data = of.run, of.run["dataset"]
    facts = {"psopt": run["psopt_version"], "data": f"{data['name']}, sha256 {data['sha256'][:12]}"}
    facts |= {f"{split} samples": n for split, n in data["evaluated"].items()}
    facts |= {f"{kind} rephrasings": len(run["rephrasings"][kind]) for kind in ("search", "heldout")}
    settings = {name: value for name, value in run["settings"].items() if name not in _LEFT_OUT}
    return {**facts, "original prompt": run["baseline"]["id"], **by_full_name(settings)}


def _as_data(of: Contents) -> dict[str, Any]:
    """A run as plain JSON data."""
    return {
        "run": str(of.directory.path),
        "id": of.chosen["id"],
        "sentence": of.recommendation[0],
        "baseline": of.run["baseline"]["test"],
        "test": of.chosen["test"],
        "call": of.call.to_dict(),
        "calls": of.run["calls"],
        "seconds": of.run["seconds"],
    }


@dataclass(frozen=True, eq=False)
class TwoRuns:
    """Two runs, and the second's prompt compared with the first's."""

    first: Contents
    second: Contents
    # Both prompts' answers to the test samples of both runs, in one order; empty where they share fewer than two
    common: tuple[Predictions, ...]
    differences: Mapping[str, PairedDifference]  # second minus first on these; empty where they can't be paired
    basis: str  # what the differences are based on, or why there are none

    def verdict(self, measure: str) -> str:
        """``better``, ``worse`` or ``no difference`` against the first run's prompt, at the 5 % level."""
        return verdict(measure, self.differences.get(measure))

    @property
    def sentence(self) -> str:
        """The result of the comparison."""
        first, second = self.first.directory.path, self.second.directory.path
        if not self.differences:
            return f"{second} and {first} are not tested against each other: {self.basis}."
        parts = [
            f"{self.first.measures[measure]} {self.verdict(measure)} ({100 * difference.difference:+.1f}, "
            f"{100 * difference.low:+.1f} to {100 * difference.high:+.1f})"
            for measure, difference in self.differences.items()
        ]
        return f"{second} against {first}: {', '.join(parts)}. {self.basis}."

    def to_dict(self) -> dict[str, Any]:
        runs = [_as_data(self.first), _as_data(self.second)]
        differences = {
            measure: {**asdict(difference), "verdict": self.verdict(measure)}
            for measure, difference in self.differences.items()
        }
        changed = _changed_settings([self.first, self.second])
        return {"runs": runs, "against_first": differences, "basis": self.basis, "changed_settings": changed}


@dataclass(frozen=True, eq=False)
class ComparedRuns:
    """Two to five runs, each after the first compared with the first."""

    runs: tuple[Contents, ...]
    pairs: tuple[TwoRuns, ...]

    @cached_property
    def names(self) -> list[str]:
        """The names of the runs in tables: the last parts of their folders that tell them apart."""
        paths = [run.directory.path.as_posix().split("/") for run in self.runs]
        for n_parts in range(1, max(map(len, paths)) + 1):
            names = ["/".join(parts[-n_parts:]) for parts in paths]
            if len(set(names)) == len(names):
                return names
        return [f"run {number}" for number in range(1, len(paths) + 1)]  # a run compared with itself

    @cached_property
    def measures(self) -> dict[str, str]:
        """The measures that any run has, by their keys; what is F1 in one and accuracy in another has both names."""
        names: dict[str, list[str]] = {}
        for run in self.runs:
            for measure, name in run.measures.items():
                names.setdefault(measure, []).append(name)
        return {measure: " or ".join(dict.fromkeys(of)) for measure, of in names.items()}

    def page(self) -> tuple[str, list[Figure]]:
        """Render them as HTML that opens offline; return it with its figures."""
        by_name = dict(zip(self.names, self.runs, strict=True))
        figure = fronts_figure({name: of.run for name, of in by_name.items()})
        rows = [_copied_row(name, run, self.measures) for name, run in by_name.items()]
        page = render_page(
            "runs.html",
            [figure],
            names=self.names,
            runs=self.runs,
            tests=self.pairs,
            pairs=[_pair(self.names[0], name, runs) for name, runs in zip(self.names[1:], self.pairs, strict=True)],
            measures=self.measures,
            classes=_classes(self.runs),
            changed=_changed_settings(self.runs),
            front=figure,
            markdown=markdown_table(rows),
            latex=latex_table(rows),
        )
        return page, [figure]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data: the first pair, all runs, and further pairs."""
        first, *further = [pair.to_dict() for pair in self.pairs]
        data = {**first, "runs": list(map(_as_data, self.runs))}
        return {**data, "further": further} if further else data


def compare_runs(directories: Sequence[RunDirectory], pick: str = "recommended") -> ComparedRuns:
    """Compare finished runs, and test each one's prompt against the first's where that is fair.

    No model is asked: the answers are those that the runs have recorded. `pick` selects the prompt of each, as for
    `psopt.runs.pick_entry`.

    Raises InputError if a run was not finished, a file is damaged, or there is no such prompt.
    """
    first, *others = [read_contents(directory, pick, beside_baseline=False) for directory in directories]
    return ComparedRuns((first, *others), tuple(_compared(first, other) for other in others))


def _changed_settings(runs: Sequence[Contents]) -> dict[str, list[Any]]:
    """Settings that differ, by their names in run.json's `settings`, with each run's value."""
    facts = list(map(_facts, runs))
    values = {name: [of.get(name) for of in facts] for name in chain.from_iterable(facts)}
    return {name: of_runs for name, of_runs in values.items() if of_runs.count(of_runs[0]) < len(runs)}


def _compared(first: Contents, second: Contents) -> TwoRuns:
    shown, answers = (first, second), (first.answers, second.answers)
    if (reason := unlike(*answers)) is not None:
        return TwoRuns(*shown, (), {}, reason)
    common = _common_samples(*answers)
    n = len(common[0].samples)
    if n < _FEWEST:
        return TwoRuns(*shown, (), {}, "they were tested on different samples")
    own = ""
    if n < max(len(predictions.samples) for predictions in answers):
        own = "; the scores of each run are on all of its own samples"
    if common[0].others and common[0].over == "worst":
        own += "; each difference is that with the model that gains least"
    held_out = [of.run["rephrasings"]["heldout"] for of in shown]
    both = [wording for wording in held_out[0] if wording in held_out[1]]
    if len(both) >= _FEWEST:
        ours = common[0].under([held_out[0].index(wording) for wording in both])
        theirs = common[1].under([held_out[1].index(wording) for wording in both])
        basis = f"Paired on {n} test samples and {len(both)} held-out wordings that both have{own}"
        return TwoRuns(*shown, common, compare_paired(ours, theirs), basis)
    if common[0].n_rephrasings != common[1].n_rephrasings:
        counts = " and ".join(str(predictions.n_rephrasings) for predictions in common)
        return TwoRuns(*shown, common, {}, f"their held-out wordings differ, and so does their number ({counts})")
    basis = f"Paired on {n} test samples, each run under its own held-out wordings: intervals are of other samples"
    return TwoRuns(*shown, common, compare_paired(*common, wordings="fixed"), f"{basis} alone{own}")


def unlike(first: Predictions, second: Predictions) -> str | None:
    """Why answers can't be compared at all."""
    if first.labels != second.labels:
        return "their labels differ"
    if [of.model for of in first.each] != [of.model for of in second.each]:
        return "one is of several models, and the other not of the same"
    if first.answers.to_dict() != second.answers.to_dict():
        return f"one answers with {first.answers.name}, the other with {second.answers.name}"
    if (first.probabilities is None) != (second.probabilities is None):
        return "one was scored by its answers, the other by probabilities"
    return None


def _common_samples(first: Predictions, second: Predictions) -> tuple[Predictions, Predictions]:
    """The answers to the samples that both have, in the first's order."""
    ours = {(sample.id, sample.text, sample.label): place for place, sample in enumerate(first.samples)}
    theirs = {(sample.id, sample.text, sample.label): place for place, sample in enumerate(second.samples)}
    both = [key for key in ours if key in theirs]
    our_rows, their_rows = (np.array([*map(places.get, both)], dtype=np.int64) for places in (ours, theirs))
    return first.of_samples(our_rows), second.of_samples(their_rows)


def _copied_row(name: str, shown: Contents, measures: Mapping[str, str]) -> dict[str, str]:
    """A run as a row of the table for copying."""
    scores = shown.chosen["test"]
    row = {"run": name, "model": str(shown.run["model"])}
    for measure, title in measures.items():
        row[title] = percent(scores[measure])
        if measure in scores["ci"]:
            low, high = scores["ci"][measure]
            row[title] += f" ({100 * low:.0f}–{100 * high:.0f})"
    return {**row, "tokens per call": f"{shown.call.tokens:,}"}


def _classes(shown: Sequence[Contents]) -> list[dict[str, Any]]:
    """F1, S and C of each class under each run's prompt, for the classes that all runs have."""
    scores = [run.chosen["test"].get("per_class", {}) for run in shown]
    shared = set.intersection(*map(set, scores))
    return [{"name": name, "runs": list(map(itemgetter(name), scores))} for name in scores[0] if name in shared]


def _pair(first: str, second: str, runs: TwoRuns) -> dict[str, Any]:
    """A run next to the first: its test, the samples that moved, and what differs between the prompts."""
    ours, theirs = runs.first, runs.second
    old, new = (f"{text_to_read(contents.prompt)}\n" for contents in (ours, theirs))
    old_name, new_name = f"{first}, {ours.chosen['id']}", f"{second}, {theirs.chosen['id']}"
    pair: dict[str, Any] = {
        "names": [first, second],
        "sentence": runs.sentence,
        "moved": [],
        "diff": unified_diff(old, new, old_name, new_name),
        "length": price_line(runs.first.call, runs.second.call).replace("->", "→"),
    }
    if runs.common:
        pair["moved"] = fixed_and_broken(runs.common[0], runs.common[1], _MOST_MOVED)
        pair["n_common"] = len(runs.common[0].samples)
    return pair
