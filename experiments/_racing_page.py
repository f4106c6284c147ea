"""The section on racing: per data set what each arm asked, found and wrongly stopped; the goals; where calls go."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from _tables import table

Rows = list[dict[str, Any]]

PLAIN = "plain"
MEASURES = {"f1": "F1", "sensitivity": "S", "consistency": "C"}
# The targets: at most this share of calls; at least this hypervolume, on average and in the worst seed.
GOALS = {"racing": 0.20, "everything": 0.10}
MEAN_VOLUME, WORST_VOLUME = 0.99, 0.97
_PHASES = {"val": "candidates on val", "train": "diagnoses on train", "test": "final test"}
_HEAD = """Mean over seeds, the worst seed in brackets. Calls: as a share of the plain search's with the same seed,
without and with the final test. Hypervolume: of the front on all of val, the reference point at F1 = 0, S = 1, C = 0;
gain: the part beyond the original prompt's, the stricter measure. Knee on test: against the plain search's knee, with
the mean of the seeds' 95 % intervals, and in how many seeds it is worse at the 5 % level (in any of the three). Wrong
stops: stopped candidates that would be on the front if all had been evaluated completely; and by the run's own audits.
"""


def racing(results: dict[str, Any]) -> str:
    """The whole section."""
    rows: Rows = results["rows"]
    parts = [_HEAD.replace("\n", " ").strip() + "\n"]
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        own = [row for row in rows if row["dataset"] == dataset]
        parts += [f"**{dataset}**\n", _arms(own)]
    return "\n".join([*parts, "**Goals**\n", _goals(rows), "**Where the calls go**\n", _where(rows)])


def _by_arm(rows: Rows) -> dict[str, Rows]:
    return {arm: [row for row in rows if row["arm"] == arm] for arm in dict.fromkeys(row["arm"] for row in rows)}


def _arms(rows: Rows) -> str:
    lines = []
    for arm, own in _by_arm(rows).items():
        shares = [_share(own, name, max) for name in ("share", "share_with_test")]
        volumes = [_share(own, name, min) for name in ("hypervolume", "gain")]
        knee = [_difference(own, measure) for measure in MEASURES]
        lines.append((arm, *shares, *volumes, *knee, _worse(own), *_stops(own)))
    head = ("arm", "calls", "with test", "hypervolume", "gain", *(f"knee's {name}" for name in MEASURES.values()),
            "worse", "wrong stops", "audits wrong")  # fmt: skip
    return table(head, lines)


def _share(rows: Rows, name: str, worst: Any) -> str:
    values = [row[name] for row in rows]
    return f"{np.mean(values):.1%} ({worst(values):.1%})"


def _difference(rows: Rows, measure: str) -> str:
    if rows[0]["arm"] == PLAIN:
        return f"{np.mean([row['knee_test'][measure] for row in rows]):.3f}"
    # the same knee: no difference, and no uncertainty
    triples = [row["against_plain"].get(measure, [0.0] * 4)[:3] for row in rows]
    difference, low, high = np.mean(triples, axis=0)
    return f"{difference:+.3f} [{low:+.3f}, {high:+.3f}]"


def _worse(rows: Rows) -> str:
    n = sum(any(_is_worse(measure, *row["against_plain"].get(measure, [0, 0, 0, 1])) for measure in MEASURES)
            for row in rows)  # fmt: skip
    return f"{n} of {len(rows)}"


def _is_worse(measure: str, difference: float, _low: float, _high: float, p_value: float) -> bool:
    return p_value < 0.05 and (difference > 0) == (measure == "sensitivity")


def _stops(rows: Rows) -> tuple[str, str]:
    total = {name: sum(row[name] for row in rows) for name in ("stopped_wrongly", "stopped", "audits_wrong", "audits")}
    return (
        f"{total['stopped_wrongly']} of {total['stopped']}",
        f"{total['audits_wrong']} of {total['audits']}",
    )


def _goals(rows: Rows) -> str:
    lines = []
    for arm, most in GOALS.items():
        for dataset in dict.fromkeys(row["dataset"] for row in rows):
            own = [row for row in rows if row["dataset"] == dataset and row["arm"] == arm]
            if own:
                lines.append((arm, dataset, *_reached(own, most)))
    head = ("arm", "data", f"calls at most {' / '.join(f'{most:.0%}' for most in GOALS.values())}",
            f"hypervolume {MEAN_VOLUME:.0%}, worst {WORST_VOLUME:.0%}", "knee no worse beyond noise")  # fmt: skip
    return table(head, lines)


def _reached(rows: Rows, most: float) -> tuple[str, str, str]:
    volumes = [row["hypervolume"] for row in rows]
    share = float(np.mean([row["share"] for row in rows]))
    is_wide = np.mean(volumes) >= MEAN_VOLUME and min(volumes) >= WORST_VOLUME
    worse = [MEASURES[measure] for measure in MEASURES if _is_worse_in_the_mean(rows, measure)]
    knee = "no: " + ", ".join(worse) if worse else "yes"
    return (
        f"{'yes' if share <= most else 'no'}: {share:.1%}",
        f"{'yes' if is_wide else 'no'}: {np.mean(volumes):.1%}, {min(volumes):.1%}",
        knee,
    )


def _is_worse_in_the_mean(rows: Rows, measure: str) -> bool:
    """Whether the mean interval of the knee's difference lies on the wrong side of 0."""
    _, low, high = np.mean([row["against_plain"].get(measure, [0.0] * 4)[:3] for row in rows], axis=0)
    return bool(low > 0) if measure == "sensitivity" else bool(high < 0)


def _where(rows: Rows) -> str:
    arms = [arm for arm in (PLAIN, *GOALS) if arm in _by_arm(rows)]
    lines = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        for arm in arms:
            own = [row for row in rows if row["dataset"] == dataset and row["arm"] == arm]
            if own:
                lines.append((dataset, arm, *(_mean_calls(own, split) for split in _PHASES), _fates(own)))
    head = ("data", "arm", *_PHASES.values(), "on val, by what became of the candidate")
    last = [row for row in rows if row["arm"] == arms[-1]]
    return f"{table(head, lines)}\n{_next_tenth(arms[-1], last)}"


def _mean_calls(rows: Rows, split: str) -> str:
    return f"{np.mean([row['calls'][split] for row in rows]):,.0f}"


def _fates(rows: Rows) -> str:
    return ", ".join(f"{name} {n / len(rows):,.0f}" for name, n in _summed_fates(rows).most_common(6))


def _summed_fates(rows: Rows) -> Counter[str]:
    total: Counter[str] = Counter()
    for row in rows:
        total.update({name: round(n) for name, n in row["fates"].items()})
    return total


def _next_tenth(arm: str, rows: Rows) -> str:
    """The largest parts of an arm's calls: where any further saving would have to come from."""
    parts = _summed_fates(rows) + Counter({"diagnoses": sum(row["calls"]["train"] for row in rows)})
    total = sum(parts.values())
    largest = ", ".join(f"{name} {n / total:.0%}" for name, n in parts.most_common(5))
    return f"What “{arm}” still asks in its search, over all data: {largest}. More must be saved there.\n"


def lm_racing(results: dict[str, Any]) -> str:
    """Answers and hypervolume of each arm, as shares of the plain search's with the same seed: means over seeds."""
    rows = []
    runs = results["runs"]
    for model, dataset, arm in dict.fromkeys((run["model"], run["dataset"], run["arm"]) for run in runs):
        pairs = [
            (own, plain) for own, plain in beside_plain(runs, arm) if (own["model"], own["dataset"]) == (model, dataset)
        ]
        answers, volumes = ([own[name] / plain[name] for own, plain in pairs] for name in ("answers", "hypervolume"))
        gains = [
            (own["hypervolume"] - plain["of_original"]) / (plain["hypervolume"] - plain["of_original"])
            for own, plain in pairs
        ]
        parts = ((answers, max), (volumes, min), (gains, min))
        shares = [f"{np.mean(values):.1%} ({worst(values):.1%})" for values, worst in parts]
        stopped = sum(own["stopped"] for own, _ in pairs)
        rows.append((model, dataset, arm, len(pairs), *shares, stopped))
    return table(("model", "set", "arm", "seeds", "answers on val", "hypervolume", "gain", "stopped"), rows)


def beside_plain(runs: Rows, arm: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The runs of an arm, each with the plain search's of the same model, set and seed, where that is measured."""
    plain = {_draw(run): run for run in runs if run["arm"] == PLAIN}
    return [(run, plain[_draw(run)]) for run in runs if run["arm"] == arm and _draw(run) in plain]


def _draw(run: dict[str, Any]) -> tuple[str, str, int]:
    return run["model"], run["dataset"], run["seed"]
