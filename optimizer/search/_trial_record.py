"""What a trial says about itself, so that it can be understood from the dashboard alone."""

from __future__ import annotations

import html
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import optuna
from psopt.evaluation import kept_arrays, shares_line
from psopt.search.distributed._study_keys import AUDIT, PROMPT_ID, RACED
from psopt.search_spaces import render_instructions, render_shown
from psopt.text import escaped_markdown, fenced

if TYPE_CHECKING:
    from psopt.evaluation import Predictions
    from psopt.models.chat import Budget
    from psopt.search._front import Candidate
    from psopt.search.racing import StoppedCandidate
    from psopt.search_spaces import Prompt

_MOST_WEAK = 5


@dataclass(frozen=True, slots=True)
class Effort:
    """What a trial took: requests, tokens, US dollars, seconds."""

    calls: int
    tokens: int
    cost_usd: float
    seconds: float


class EffortMeter:
    """Measures what a trial takes, from now on.

    Parameters
    ----------
    budget : Budget
        Counts what is asked.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._before = replace(budget.usage)
        self._started = time.monotonic()

    def read(self) -> Effort:
        """What it has taken so far."""
        before, after = self._before, self._budget.usage
        seconds = round(time.monotonic() - self._started, 3)
        return Effort(after.made - before.made, after.tokens - before.tokens, after.cost - before.cost, seconds)


def record_trial(
    trial: optuna.Trial,
    candidate: Candidate,
    baseline: Candidate,
    predictions: Predictions,
    effort: Effort,
    artifacts: Path | None,
) -> None:
    """Write a candidate's attributes, its note in Markdown, its predictions and its plot to its trial."""
    from optuna_dashboard import save_note

    scores = candidate.val
    attributes = {
        PROMPT_ID: candidate.id,
        "edits": [str(edit) for edit in candidate.edits],
        "per_class": {label: asdict(of_class) for label, of_class in scores.per_class.items()},
        "na_rate": scores.na_rate,
        **asdict(effort),
    }
    if scores.constant is not None:
        attributes["constant"] = f"always answers {scores.constant}"
    if scores.near_constant is not None and scores.shares is not None:
        attributes["shares"] = asdict(scores.shares)
    if candidate.audit:
        attributes[AUDIT] = candidate.audit
    for name, value in attributes.items():
        trial.set_user_attr(name, value)
    save_note(trial, note(candidate, baseline, predictions))
    if artifacts is not None:
        _keep_files(trial, candidate, baseline, predictions, artifacts)


def record_stopped(trial: optuna.Trial, stopped: StoppedCandidate, effort: Effort) -> None:
    """Write the attributes of a candidate that stopped to its trial; its values there are estimates."""
    attributes = {
        PROMPT_ID: stopped.id,
        "edits": [str(edit) for edit in stopped.edits],
        RACED: stopped.raced,
        **asdict(effort),
    }
    if stopped.audit:
        attributes[AUDIT] = stopped.audit
    for name, value in attributes.items():
        trial.set_user_attr(name, value)


def note(candidate: Candidate, baseline: Candidate, predictions: Predictions) -> str:
    """Say in Markdown what a prompt is, what it adds to the original prompt, and where it is weak.

    Whatever comes from data is escaped or fenced: it may read like Markdown or HTML.
    """
    parts = [f"# Prompt {candidate.id}", _scores(candidate, baseline, predictions.answers.quality_name)]
    if candidate.val.constant is not None:
        parts.append(
            f"**It always answers {escaped_markdown(candidate.val.constant)}**: S = 0 and C = 1 are worth nothing."
        )
    elif lopsided := shares_line(candidate.val.to_dict(), "It"):
        parts.append(escaped_markdown(lopsided))
    added = [f"- {edit.kind}: {escaped_markdown(str(edit))}" for edit in candidate.edits]
    parts += ["## Added to the original prompt", "\n".join(added) or "Nothing: this is the original prompt."]
    parts += ["## Where it is weak", _classes(candidate), _weak_samples(predictions)]
    parts += ["## The prompt", _prompt(candidate.prompt)]
    return "\n\n".join(parts) + "\n"


def _scores(candidate: Candidate, baseline: Candidate, quality: str) -> str:
    rows = [f"| | {quality} | S | C | N/A |", "|---|--:|--:|--:|--:|"]
    for name, val in (("this", candidate.val), ("original prompt", baseline.val)):
        cells = (val.f1, val.sensitivity, val.consistency, val.na_rate)
        rows.append(f"| {name} | {' | '.join('–' if cell is None else f'{cell:.3f}' for cell in cells)} |")
    return "\n".join(rows)


def _classes(candidate: Candidate) -> str:
    rows = ["| class | samples | F1 | S | C |", "|---|--:|--:|--:|--:|"]
    for label, scores in candidate.val.per_class.items():
        cells = [
            "–" if value is None else f"{value:.3f}" for value in (scores.f1, scores.sensitivity, scores.consistency)
        ]
        rows.append(f"| {escaped_markdown(label)} | {scores.n} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _weak_samples(predictions: Predictions) -> str:
    """The least stable samples of val."""
    order = np.argsort(-predictions.sensitivities, kind="stable")[:_MOST_WEAK]
    shaking = [index for index in order if predictions.sensitivities[index] > 0]
    if not shaking:
        return "No sample of val changes its answer."
    rows = ["| S | right | class | sample of val |", "|--:|--:|---|---|"]
    for index in shaking:
        sample = predictions.samples[index]
        text = escaped_markdown(sample.text[:200])
        label = escaped_markdown(str(sample.label))
        share = f"{predictions.n_right[index]}/{predictions.n_rephrasings}"
        rows.append(f"| {predictions.sensitivities[index]:.2f} | {share} | {label} | {text} |")
    return "\n".join(rows)


def _keep_files(
    trial: optuna.Trial, candidate: Candidate, baseline: Candidate, predictions: Predictions, artifacts: Path
) -> None:
    artifacts.mkdir(parents=True, exist_ok=True)
    store = optuna.artifacts.FileSystemArtifactStore(str(artifacts))
    with tempfile.TemporaryDirectory() as folder:
        answers, plot = Path(folder) / f"{candidate.id}-val.npz", Path(folder) / f"{candidate.id}-classes.svg"
        arrays: dict[str, Any] = {
            **kept_arrays({"val": predictions}),
            "labels": np.array(predictions.class_names),
        }
        if predictions.probabilities is not None:
            arrays["val_probabilities"] = predictions.probabilities
        np.savez_compressed(answers, **arrays)
        plot.write_text(class_plot(candidate, baseline), encoding="utf-8", newline="\n")
        for file in (answers, plot):
            optuna.artifacts.upload_artifact(artifact_store=store, file_path=str(file), study_or_trial=trial)


def _prompt(prompt: Prompt) -> str:
    """The prompt in a code block; one of the user's own as a diff, so that what was added stands out."""
    if prompt.template is None:
        return fenced(render_instructions(prompt))
    return fenced(render_shown(prompt, marked=True), "diff")


_LABEL, _BAR, _GAP, _HIGH = 150, 230, 24, 9
_MEASURES = (("f1", "F1", "#2563eb"), ("sensitivity", "S", "#d97706"))
_GREY = "#9ca3af"


def class_plot(candidate: Candidate, baseline: Candidate) -> str:
    """Draw an SVG of two columns of bars; whatever comes from data is escaped.

    It is drawn by hand: a plotting library would need a browser, or tens of megabytes, for these bars in every trial.
    """
    rows = candidate.val.per_class
    width = _LABEL + len(_MEASURES) * (_BAR + 2 * _GAP)
    height = 44 + (2 * _HIGH + 12) * len(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        '<rect width="100%" height="100%" fill="#fff"/><g font-family="sans-serif" font-size="12" fill="#111">',
    ]
    for column, (_, name, color) in enumerate(_MEASURES):
        x = _LABEL + column * (_BAR + 2 * _GAP)
        parts.append(f'<text x="{x}" y="18">{name} <tspan fill="{color}">this prompt</tspan>')
        parts.append(f'<tspan fill="{_GREY}"> original prompt</tspan></text>')
    for row, (label, scores) in enumerate(rows.items()):
        top = 34 + row * (2 * _HIGH + 12)
        parts.append(f'<text x="{_LABEL - 8}" y="{top + 13}" text-anchor="end">{html.escape(_short(label))}</text>')
        for column, (field, _, color) in enumerate(_MEASURES):
            x = _LABEL + column * (_BAR + 2 * _GAP)
            pair = ((getattr(scores, field), color), (getattr(baseline.val.per_class[label], field), _GREY))
            for line, (value, fill) in enumerate(pair):
                parts.append(_bar(x, top + line * _HIGH, value, fill))
    return "".join([*parts, "</g></svg>\n"])


def _bar(x: int, top: int, value: float | None, fill: str) -> str:
    if value is None:
        return f'<text x="{x}" y="{top + _HIGH - 1}" font-size="9">–</text>'
    long = _BAR * value
    return (
        f'<rect x="{x}" y="{top}" width="{long:.1f}" height="{_HIGH - 1}" fill="{fill}"/>'
        f'<text x="{x + long + 3:.1f}" y="{top + _HIGH - 1}" font-size="9">{value:.2f}</text>'
    )


def _short(label: str) -> str:
    return label if len(label) <= 20 else label[:19] + "…"
