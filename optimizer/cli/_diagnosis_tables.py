"""A diagnosis as tables on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.answers import answers_line
from psopt.cli._tables import new_table
from psopt.evaluation import OBJECTIVES
from psopt.settings import UNCHANGED
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.diagnosis import Contrast, PromptReport, Suspect, ToLabel
    from psopt.evaluation import AnswerShares, FamilyScores, Scores
    from rich.table import Table

# By eye: two tables and their titles on one screen, a text in two or three lines of 80 columns, a UUID in three.
_ROWS = 12
_LONGEST = 120
_NARROWEST_ID = 6
_WIDEST_ID = 12
_WIDEST_ANSWER = 24


def scores_table(report: PromptReport) -> Table:
    """Scores, overall and per class."""
    scores = report.scores
    columns = ("samples", scores.quality_name if scores else "F1", "S", "C")
    table = new_table("Scores in percent", texts=[""], numbers=columns)
    n_samples = str(len(report.predictions.samples))
    if scores is None:
        table.add_row("all", n_samples, "–", _percent(report.sensitivity), "–")
        return table
    whole = [_with_interval(scores, name) for name in OBJECTIVES]
    table.add_row("all", n_samples, *whole, style="bold")
    for label, of_class in scores.per_class.items():
        numbers = (of_class.f1, of_class.sensitivity, of_class.consistency)
        table.add_row(label, str(of_class.n), *(_percent(number) for number in numbers))
    return table


def shares_table(shares: AnswerShares) -> Table:
    """How often each label is answered, beside how often it is right; without labels the former alone."""
    columns = {"of the answers": shares.answer_shares}
    if shares.class_shares:
        columns["of the samples"] = shares.class_shares
    table = new_table("What is answered, in percent", texts=["label"], numbers=list(columns))
    for label in shares.answer_shares:
        if any(of.get(label) for of in columns.values()):
            table.add_row(Text(label), *(_percent(of.get(label, 0.0)) for of in columns.values()))
    return table


def families_table(families: Mapping[str, FamilyScores], quality_name: str) -> Table:
    """Scores by family of rephrasings, and of changed texts how many answers change with them."""
    has_texts = any(of_family.flips is not None for of_family in families.values())
    columns = ["variants" if has_texts else "rephrasings", quality_name, "S", *(["answers changed"] * has_texts)]
    table = new_table("By what is varied, in percent", texts=["family"], numbers=columns)
    for family, of_family in sorted(families.items(), key=lambda item: (item[0] != UNCHANGED, -item[1].sensitivity)):
        of_s = _percent(None if family == UNCHANGED else of_family.sensitivity)  # of one answer there is none
        cells = [family, str(of_family.n), _percent(of_family.f1), of_s]
        table.add_row(*cells, *([_percent(of_family.flips)] if has_texts else []))
    return table


def _with_interval(scores: Scores, name: str) -> str:
    low, high = scores.ci.get(name, (None, None))
    interval = "" if low is None or high is None else f" {100 * low:.0f}–{100 * high:.0f}"
    return _percent(getattr(scores, name)) + interval


def slices_table(report: PromptReport) -> Table:
    """The slices with the highest severity; one that several views see is one row."""
    table = new_table("What unstable or wrong samples share")
    is_open = report.predictions.answers.open is not None
    table.add_column("topic", overflow="fold", min_width=20)
    if is_open:
        for name in ("weak", "others", "p"):
            table.add_column(name, justify="right", no_wrap=True)
    else:
        table.add_column("class", overflow="fold")
        table.add_column("taken for", overflow="fold")
        table.add_column("samples", justify="right", no_wrap=True)
    table.add_column("of S", justify="right", no_wrap=True)
    table.add_column("seen by", overflow="fold", min_width=11)  # consistency
    pairs = list(zip(report.diagnosis.slices, report.diagnosis.evidence, strict=True))
    pairs.sort(key=lambda pair: -pair[0].severity)
    views: dict[tuple[str, str | None], list[str]] = {}
    for slice_, _ in pairs:
        seen_by = views.setdefault((slice_.topic, slice_.label), [])
        seen_by += [slice_.view] * (slice_.view not in seen_by)
    most_severe = {(slice_.topic, slice_.label): (slice_, evidence) for slice_, evidence in reversed(pairs)}
    for key, seen_by in list(views.items())[:_ROWS]:
        slice_, evidence = most_severe[key]
        of_labels = [slice_.label or "–", slice_.predicted or "–", str(len(slice_.samples))]
        cells = [slice_.topic, *(contrast_cells(slice_.contrast) if slice_.contrast else of_labels)]
        cells += [f"{100 * evidence.share:.0f} %", ", ".join(seen_by)]
        table.add_row(*(Text(cell) for cell in cells))
    return table


def contrast_cells(contrast: Contrast) -> list[str]:
    """How many weak samples show a topic, how many others, and how surely that is no chance.

    >>> from psopt.diagnosis import Contrast
    >>> contrast_cells(Contrast(9, 12, 1, 88, 0.002))
    ['9 of 12', '1 of 88', '0.002']
    """
    weak = f"{contrast.weak_showing} of {contrast.weak}"
    return [weak, f"{contrast.others_showing} of {contrast.others}", f"{contrast.p_value:.3f}"]


def clusters_table(report: PromptReport) -> Table:
    """Clusters of classes that fall apart, if they are answered as another class."""
    title = "Parts of a class that are answered alike as another one"
    columns = ("samples", "C within", "C across")
    table = new_table(title, texts=("class", "answered", "telling words"), numbers=columns)
    amiss = [cluster for cluster in report.diagnosis.clusters if cluster.answered != cluster.label]
    for cluster in amiss[:_ROWS]:
        cells = [cluster.label, cluster.answered, ", ".join(cluster.words), str(len(cluster.samples))]
        cells += [_percent(cluster.within), _percent(cluster.across)]
        table.add_row(*(Text(cell) for cell in cells))
    return table


def weakest_table(report: PromptReport, *, is_whole: bool = False) -> Table:
    """The most sensitive samples; long texts cut off, unless they are wanted whole."""
    labels = report.predictions.labels
    samples = report.diagnosis.failure_cases["sensitivity"][:_ROWS]
    table = _of_samples("The most sensitive samples", [sample.id for sample in samples], is_whole=is_whole)
    table.add_column("S", justify="right", min_width=4)
    table.add_column("right", justify="right", min_width=5)
    is_open = report.predictions.answers.open is not None
    if is_open:
        table.add_column("right answer", overflow="fold", max_width=None if is_whole else _WIDEST_ANSWER)
    else:
        width = min(_WIDEST_ID, max(map(len, labels), default=1))
        table.add_column("class", overflow="fold", min_width=width)
    table.add_column("text", overflow="fold")
    if is_open:
        table.add_column("answered", overflow="fold")
    n_rephrasings = report.predictions.array.shape[1]
    for sample in samples:
        right = "–" if sample.right is None else f"{sample.right}/{n_rephrasings}"
        texts = [sample.label or "–", sample.text, *([answers_line(sample.answers)] if is_open else [])]
        cells = [_cell(text, is_whole=is_whole) for text in texts]
        table.add_row(Text(sample.id), _percent(sample.sensitivity), right, *cells)
    return table


def suspects_table(found: tuple[Suspect, ...], *, is_whole: bool) -> Table:
    """The samples whose labels are suspect, with what their words say."""
    table = _of_samples("Suspect labels", [suspect.id for suspect in found], is_whole=is_whole)
    for name in ("label", "answered", "by its words", "text"):
        table.add_column(name, overflow="fold")
    says = {True: "answer", False: "label", None: "–"}
    for suspect in found:
        cells = (suspect.id, suspect.label, suspect.answered, says[suspect.by_words])
        table.add_row(*map(Text, cells), _cell(suspect.text, is_whole=is_whole))
    return table


def to_label_table(found: Sequence[ToLabel], *, is_whole: bool) -> Table:
    """The samples to label first, with what most wordings answer."""
    table = _of_samples("Samples to label first", [sample.id for sample in found], is_whole=is_whole)
    table.add_column("S", justify="right", min_width=4)
    table.add_column("answered", overflow="fold")
    table.add_column("by", justify="right", min_width=4)
    table.add_column("text", overflow="fold")
    for sample in found:
        cells = (sample.id, _percent(sample.sensitivity), sample.answer, f"{100 * sample.agreement:.0f} %")
        table.add_row(*map(Text, cells), _cell(sample.text, is_whole=is_whole))
    return table


def _of_samples(title: str, ids: Sequence[str], *, is_whole: bool) -> Table:
    """An empty table with a column of ids, which long ones may not fill."""
    table = new_table(title)
    narrowest = min(max(map(len, ids), default=1), _NARROWEST_ID)
    table.add_column("id", overflow="fold", min_width=narrowest, max_width=None if is_whole else _WIDEST_ID)
    return table


def _cell(text: str, *, is_whole: bool) -> Text:
    """A text from data; cut off where it is long, unless it is wanted whole."""
    if is_whole:
        return Text(" ".join(text.split()))
    return Text(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"
