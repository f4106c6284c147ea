"""What the papers claim, and the rule by which a claim counts as seen, computed from the results' JSON."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean, median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Rows = list[dict[str, Any]]
SEEN = "seen"
NOT_SEEN = "not seen"
CONTRADICTED = "contradicted"
UNDECIDED = "undecided"
HOLDS = "check: holds"  # for what can't fail unless the code is wrong
FAILS = "check: fails"
NOT_TESTABLE = "not testable with these models"
LEVEL = 0.05  # the customary level of a test
SAME_F1 = 0.02  # about one standard error of F1 on 500 samples
FORMS_MOVE = 0.1  # in F1; Sclar et al. see up to .76 of accuracy
LARGER = {"qwen05": "qwen15"}  # the same kind of model, three times as large


@dataclass(frozen=True)
class Claim:
    """A claim.

    Attributes
    ----------
    source, text, rule : str
        Who says what, and when it counts as seen.
    experiment, rows : str
        The JSON file with the results, and the name of its list of rows.
    judge : callable
        From the rows of one model to a verdict and the reason for it.
    across : bool
        Whether the rows of all models are judged together.
    """

    source: str
    text: str
    rule: str
    experiment: str
    rows: str
    judge: Callable[[Rows], tuple[str, str]]
    across: bool = False


def _verdict(good: int, n: int, cases: str, detail: str = "") -> tuple[str, str]:
    """Seen if most cases show it."""
    return (SEEN if 2 * good > n else NOT_SEEN), f"{good} of {n} {cases}{f': {detail}' if detail else ''}"


def _against(rows: Rows, strategy: str, measure: str) -> list[tuple[str, float, float]]:
    of_strategy = [row for row in rows if row["strategy"] == strategy]
    tests = [(row["dataset"], row["against_simple"][measure]) for row in of_strategy]
    return [(dataset, test["difference"], test["p_value"]) for dataset, test in tests]


def one_shot(rows: Rows) -> tuple[str, str]:
    """S of 1-shot against simple."""
    return _by_data_set(_against(rows, "1-shot", "sensitivity"), sign=-1)


def detail_harms(rows: Rows) -> tuple[str, str]:
    """S of detail against simple: one clear rise is enough, and falls elsewhere do not contradict it."""
    return _by_data_set(_against(rows, "detail", "sensitivity"), sign=1, once=True)


def _by_data_set(cases: list[tuple[str, float, float]], sign: int, *, once: bool = False) -> tuple[str, str]:
    """Judge one estimate per data set, the mean over its seeds, with Holm's correction for multiple tests.

    Seeds share test questions and are not independent: twice the median p-value is valid whatever they share.
    """
    estimates = {}
    for dataset in dict.fromkeys(dataset for dataset, _, _ in cases):
        of_set = [(difference, p) for other, difference, p in cases if other == dataset]
        p_value = of_set[0][1] if len(of_set) == 1 else min(1.0, 2 * median(p for _, p in of_set))
        estimates[dataset] = (mean(difference for difference, _ in of_set), p_value)
    clear = []
    for place, (dataset, (_, p_value)) in enumerate(sorted(estimates.items(), key=lambda item: item[1][1])):
        if p_value * (len(estimates) - place) >= LEVEL:
            break
        clear.append(dataset)
    signs = {sign * estimates[dataset][0] > 0 for dataset in clear}
    if once:
        verdict = SEEN if True in signs else UNDECIDED
    else:
        verdict = UNDECIDED if len(signs) != 1 else SEEN if True in signs else CONTRADICTED
    detail = ", ".join(f"{dataset} {difference:+.3f} (p {p:.3f})" for dataset, (difference, p) in estimates.items())
    return verdict, f"clear in {len(clear)} of {len(estimates)} data sets: {detail}"


def apart(strategy: str, sign: int) -> Callable[[Rows], tuple[str, str]]:
    """Judge S of a strategy against simple, both calibrated, by whether their intervals lie apart.

    Stricter than a paired test, and without a correction for multiple tests.
    """

    def judge(rows: Rows) -> tuple[str, str]:
        cells = {(row["dataset"], row["strategy"]): row["batch"]["sensitivity"] for row in rows}
        pairs = [
            (dataset, cells[dataset, "simple"], cells[dataset, strategy])
            for dataset, other in cells
            if other == strategy and (dataset, "simple") in cells
        ]
        return _by_intervals(pairs, sign) if pairs else (NOT_TESTABLE, f"no set has both simple and {strategy}")

    return judge


def one_answer_looks_steady(rows: Rows) -> tuple[str, str]:
    """S and C of near-constant prompts, uncalibrated and calibrated."""
    near = [row for row in rows if row["none"]["near_constant"]]
    if not near:
        return NOT_TESTABLE, "no prompt is near-constant"
    more = sum(row["none"]["consistency"][0] > row["batch"]["consistency"][0] for row in near)
    less = sum(row["none"]["sensitivity"][0] < row["batch"]["sensitivity"][0] for row in near)
    both = f"C is higher in {more} of {len(near)}, S lower in {less}"
    return (SEEN if 2 * min(more, less) > len(near) else NOT_SEEN), both


def calibration_helps(rows: Rows) -> tuple[str, str]:
    """F1, uncalibrated and calibrated."""
    gains = [row["batch"]["f1"][0] - row["none"]["f1"][0] for row in rows]
    return _verdict(
        sum(gain > 0 for gain in gains), len(gains), "prompts", f"by {100 * mean(gains):.0f} points on average"
    )


def f1_hides(rows: Rows) -> tuple[str, str]:
    """Pairs of about equal F1 and different S."""
    pairs = [
        (row["dataset"], row["strategy"], row["against_simple"]["sensitivity"])
        for row in rows
        if "against_simple" in row and abs(row["against_simple"]["f1"]["difference"]) < SAME_F1
    ]
    if not pairs:
        return NOT_TESTABLE, f"no strategy is within {SAME_F1} of simple in F1"
    differ = [
        f"{dataset} {strategy}: S {test['difference']:+.3f}"
        for dataset, strategy, test in pairs
        if test["p_value"] < LEVEL
    ]
    return (SEEN if differ else NOT_SEEN), f"{len(differ)} of {len(pairs)} pairs: {'; '.join(differ) or '-'}"


def noise_raises(rows: Rows) -> tuple[str, str]:
    """S of predictor, half noised, random."""
    triples = _triples(rows, "sensitivity")
    good = sum(a < b < c for a, b, c in triples)
    return (HOLDS if good == len(triples) else FAILS), f"{good} of {len(triples)} data sets: {_arrows(triples)}"


def random_is_consistent(rows: Rows) -> tuple[str, str]:
    """C_y of a random predictor."""
    triples = _triples(rows, "consistency")
    return _verdict(sum(c > a for a, _, c in triples), len(triples), "data sets", _arrows(triples))


def _triples(rows: Rows, measure: str) -> list[tuple[float, ...]]:
    values = [row[measure] for row in rows]
    return [tuple(values[start : start + 3]) for start in range(0, len(values), 3)]


def _arrows(triples: list[tuple[float, ...]]) -> str:
    return "; ".join(" -> ".join(f"{value:.3f}" for value in triple) for triple in triples)


def on_topics(judge: Callable[[Rows], tuple[str, str]]) -> Callable[[Rows], tuple[str, str]]:
    """Judge by the topics that have any weak samples."""

    def judge_testable(rows: Rows) -> tuple[str, str]:
        with_texts = [row for row in rows if row["columns"]["before"]["right"]]
        return judge(with_texts) if with_texts else (NOT_TESTABLE, "no weak sample is on these topics")

    return judge_testable


def improves(kind: str) -> Callable[[Rows], tuple[str, str]]:
    """Most answers are right and S is lower: both better than before and than with the placebo."""

    @on_topics
    def judge(rows: Rows) -> tuple[str, str]:
        good = 0
        details = []
        tried = [row for row in rows if kind in row["columns"]]
        for row in tried:
            right = {name: sum(column["right"]) for name, column in row["columns"].items()}
            unstable = {name: sum(column["sensitivity"]) for name, column in row["columns"].items()}
            n = len(row["columns"]["before"]["right"])
            others = ("before", "placebo")
            better = all(right[kind] > right[other] and unstable[kind] < unstable[other] for other in others)
            good += better and 2 * right[kind] > n * row["rephrasings"]
            change = f"right {right['before'] / n:.1f} -> {right[kind] / n:.1f} (placebo {right['placebo'] / n:.1f})"
            change += (
                f", S {unstable['before'] / n:.2f} -> {unstable[kind] / n:.2f} (placebo {unstable['placebo'] / n:.2f})"
            )
            details.append(f"{row['topic']}: {change}")
        if not tried:
            return NOT_TESTABLE, "measured for no topic"
        return _verdict(good, len(tried), "topics", "; ".join(details))

    return judge


@on_topics
def topic_on_top(rows: Rows) -> tuple[str, str]:
    """One topic makes up half of the ten weakest samples, and a larger share of them than of all unstable ones."""
    shares = [(row["topic"], *row["topic_among_weakest"], *row["topic_among_all"]) for row in rows]
    detail = "; ".join(f"{topic} {k} of the top {n}, {j} of all {m}" for topic, k, n, j, m in shares)
    return (SEEN if any(2 * k >= n and k * m > j * n for _, k, n, j, m in shares) else NOT_SEEN), detail


@on_topics
def hidden_at_one(rows: Rows) -> tuple[str, str]:
    """The topic's share among the weakest, and among the misclassified at Q = 1."""
    shares = [(row["topic"], *row["topic_among_weakest"], *row["topic_among_misclassified_once"]) for row in rows]
    detail = "; ".join(f"{topic} {k} of {n}, at Q = 1 {j} of {m}" for topic, k, n, j, m in shares)
    return _verdict(sum(k * m > j * n for _, k, n, j, m in shares), len(shares), "topics", detail)


@on_topics
def half_at_zero(rows: Rows) -> tuple[str, str]:
    """How many end right under every wording (S = 0); always wrong is S = 0 too, but does not count."""
    after = [(row["topic"], row["columns"]["by hand"]) for row in rows if "by hand" in row["columns"]]
    samples = [(topic, list(zip(column["sensitivity"], column["right"], strict=True))) for topic, column in after]
    counts = [(topic, sum(s == 0 and right > 0 for s, right in pairs), len(pairs)) for topic, pairs in samples]
    detail = "; ".join(f"{topic} {k} of {n}" for topic, k, n in counts)
    return _verdict(sum(2 * k >= n for _, k, n in counts), len(counts), "topics", detail)


def shots_help(rows: Rows) -> tuple[str, str]:
    """PSS with the most examples against none."""
    most = max(row["shots"] for row in rows)
    cases = [row for row in rows if row["shots"] == most]
    detail = ", ".join(f"{row['against_none']:+.3f} [{row['ci'][0]:+.3f}, {row['ci'][1]:+.3f}]" for row in cases)
    return _verdict(sum(row["ci"][1] < 0 for row in cases), len(cases), f"seeds at {most} examples per class", detail)


def confident_is_steady(rows: Rows) -> tuple[str, str]:
    """Rank correlation of confidence and PSS; there is none where no sample is unstable."""
    defined = [row for row in rows if row["rho"] is not None]
    good = sum(row["rho"] < 0 and row["p_value"] < LEVEL for row in defined)
    detail = ", ".join(f"{row['rho']:+.2f}" for row in defined) or "none"
    return _verdict(good, len(rows), f"seeds, by {rows[0]['confidence']}: Spearman's rho", detail)


def examples_steady(rows: Rows) -> tuple[str, str]:
    """Calibrated PSS of a language model without examples, and with the most per class."""
    most = max(row["shots"] for row in rows)
    pss = {(row["dataset"], row["shots"]): row["batch"]["pss"] for row in rows}
    pairs = [(dataset, pss[dataset, 0], pss[dataset, most]) for dataset, shots in pss if shots == most]
    return _by_intervals(pairs, sign=-1)


def larger_is_steadier(rows: Rows) -> tuple[str, str]:
    """Calibrated PSS of neighbouring sizes of one model family, without examples."""
    pss = {(row["dataset"], row["model"]): row["batch"]["pss"] for row in rows if row["shots"] == 0}
    pairs = [
        (dataset, of_smaller, pss[dataset, LARGER[model]])
        for (dataset, model), of_smaller in pss.items()
        if (dataset, LARGER.get(model)) in pss
    ]
    if not pairs:
        return NOT_TESTABLE, "no two sizes of one model family"
    return _by_intervals(pairs, sign=-1)


def _by_intervals(pairs: list[tuple[str, list[float], list[float]]], sign: int) -> tuple[str, str]:
    """Judge which way a figure moves where its intervals lie apart: (data set, before, after), each [value, low, high].

    Stricter than a paired test, and without a correction for multiple tests.
    """
    signs, told = set(), []
    for dataset, (before, low_before, high_before), (after, low, high) in pairs:
        is_clear = low > high_before or high < low_before
        if is_clear:
            signs.add(sign * (after - before) > 0)
        told.append(f"{dataset} {before:.3f} -> {after:.3f}{' (apart)' if is_clear else ''}")
    verdict = UNDECIDED if len(signs) != 1 else SEEN if True in signs else CONTRADICTED
    return verdict, ", ".join(told)


def surer_is_steadier(rows: Rows) -> tuple[str, str]:
    """Rank correlation of a language model's confidence and PSS, calibrated, without examples."""
    bare = [row for row in rows if row["shots"] == 0]
    good = sum(row["batch"]["rho"] < 0 and row["batch"]["p_value"] < LEVEL for row in bare)
    detail = ", ".join(f"{row['dataset']} {row['batch']['rho']:+.2f}" for row in bare)
    return _verdict(good, len(bare), "sets", f"Spearman's rho {detail}")


def forms_alone_move(rows: Rows) -> tuple[str, str]:
    """F1's spread over forms of the prompt without examples, uncalibrated."""
    spreads = [(row["dataset"], _spread(row, "none")) for row in rows if row["prompt"] == "simple"]
    detail = ", ".join(f"{dataset} {spread:.2f}" for dataset, spread in spreads)
    good = sum(spread > FORMS_MOVE for _, spread in spreads)
    return _verdict(good, len(spreads), "sets, best minus worst", detail)


def calibration_narrows(rows: Rows) -> tuple[str, str]:
    """F1's spread over forms, uncalibrated and calibrated."""
    pairs = [(row, _spread(row, "none"), _spread(row, "batch")) for row in rows]
    detail = ", ".join(f"{row['dataset']} {row['prompt']} {before:.2f} -> {after:.2f}" for row, before, after in pairs)
    return _verdict(sum(after < before for _, before, after in pairs), len(pairs), "prompts", detail)


def _spread(row: dict[str, Any], prior: str) -> float:
    return float(row[prior]["best"] - row[prior]["worst"])


def formats_move(rows: Rows) -> tuple[str, str]:
    """F1's spread over formats, if the model reads them."""
    (row, *_) = [row for row in rows if row["family"] == "format"]
    if not row.get("moved"):
        return NOT_TESTABLE, "no answer depends on the format: this model does not read it"
    return (SEEN if row["spread"] > SAME_F1 else NOT_SEEN), f"best minus worst format: F1 {row['spread']:.3f}"


BY_DATA_SET = "S {}: mean over seeds, p < .05 by Holm over data sets"
MORE_RIGHT = "most answers right, more than before and than with the placebo, and S lower than both, for most topics"
CLAIMS = (
    Claim("E25, Table 1", "1-shot is more stable than simple", BY_DATA_SET.format("lower on some, higher on none"),
          "table1", "rows", one_shot),
    Claim("E25, Table 1", "details about the classes can raise S", BY_DATA_SET.format("higher on some data set"),
          "table1", "rows", detail_harms),
    Claim("E25, Table 1", "F1 does not reveal S", f"two strategies within {SAME_F1} in F1 differ in S with p < {LEVEL}",
          "table1", "rows", f1_hides),
    Claim("E25, Table 1", "1-shot is more stable than simple", "calibrated, S lower with 95 % intervals apart on some, "
          "higher on none", "lm_table1", "cells", apart("1-shot", sign=-1)),
    Claim("E25, Table 1", "details about the classes can raise S", "calibrated, S higher with 95 % intervals apart",
          "lm_table1", "cells", apart("detail", sign=1)),
    Claim("psopt", "near-constant answers look stable and consistent", "most near-constant prompts have a higher C and "
          "a lower S than when calibrated", "lm_table1", "cells", one_answer_looks_steady),
    Claim("psopt", "calibration alone raises F1", "for most prompts", "lm_table1", "cells", calibration_helps),
    Claim("E25, App. A", "noise raises S", "no rule: S of predictor < half noised < random must hold",
          "appendix_a", "rows", noise_raises),
    Claim("E25, App. A", "random answers look consistent", "C_y of the random predictor above the predictor's",
          "appendix_a", "rows", random_is_consistent),
    *(Claim("E25, App. B", "the samples with the highest S share a topic", "half of the ten are on it, more than "
            "its share of all", file, "fixes", topic_on_top) for file in ("appendix_b", "lm_appendix_b")),
    *(Claim("E25, App. C", "the least consistent samples of a class share a topic", "as in App. B, for one class",
            file, "fixes", topic_on_top) for file in ("appendix_c", "lm_appendix_c")),
    *(Claim("E25, App. C", "errors of one wording don't show the topic", "its share of the ten is above that at Q = 1",
            file, "fixes", hidden_at_one) for file in ("appendix_c", "lm_appendix_c")),
    *(Claim("E25, App. C", "most of them end at S = 0", "at least half end right with S = 0, for most topics",
            file, "fixes", half_at_zero) for file in ("appendix_c", "lm_appendix_c")),
    *(Claim(f"{source}, App. {file[-1].upper()}", text, MORE_RIGHT, file, "fixes", improves(kind))
      for file in ("appendix_b", "lm_appendix_b", "appendix_c", "lm_appendix_c")
      for source, text, kind in (("E25", "a sentence written by hand fixes them", "by hand"),
                                 ("psopt", "psopt fixes them by itself", "automatic"))),
    *(Claim(f"psopt, App. {file[-1].upper()}", text, MORE_RIGHT, file, "fixes", improves(kind))
      for file in ("lm_appendix_b", "lm_appendix_c")
      for text, kind in (("its rule's sentence fixes what it found", "by rule"),
                         ("a writer's edits fix what it found", "by a writer"))),
    Claim("P24", "few-shot examples lower PSS", "with the most examples the 95 % interval is below 0, for most seeds",
          "prosa", "by_shots", shots_help),
    Claim("P24", "confidence goes with low PSS", f"Spearman's rho < 0 with p < {LEVEL}, for most seeds",
          "prosa", "by_confidence", confident_is_steady),
    Claim("P24", "few-shot examples lower PSS", "calibrated, lower with the most examples, 95 % intervals apart on "
          "some set, higher on none", "lm_prosa", "cells", examples_steady),
    Claim("P24", "confidence goes with low PSS", f"calibrated, Spearman's rho < 0 with p < {LEVEL}, on most sets",
          "lm_prosa", "cells", surer_is_steadier),
    Claim("P24", "larger models are more robust", "calibrated, of two sizes of one family, PSS of the larger is lower "
          "with 95 % intervals apart on some set, higher on none", "lm_prosa", "cells", larger_is_steadier,
          across=True),
    Claim("Sclar 2024", "formats alone move F1", f"best minus worst format above {SAME_F1}, if any answer moves",
          "what_shakes", "rows", formats_move),
    Claim("Sclar 2024", "formats alone move F1", f"best minus worst of 20 forms above {FORMS_MOVE}, on most sets",
          "lm_formats", "cells", forms_alone_move),
    Claim("psopt", "calibration narrows the spread over formats", "for most prompts", "lm_formats", "cells",
          calibration_narrows),
)  # fmt: skip
