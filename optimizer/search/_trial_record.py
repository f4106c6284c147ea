"""What a trial records about itself, so that it can be understood from the dashboard alone."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.evaluation import shares_line
from psopt.search.distributed import AUDIT, PROMPT_ID, RACED
from psopt.search_spaces import render_instructions, render_shown
from psopt.text import escaped_markdown, fenced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import optuna
    from psopt.evaluation import ModelScores, Predictions, Scores
    from psopt.models.chat import Budget
    from psopt.search._front import Candidate, Tried
    from psopt.search.racing import StoppedCandidate
    from psopt.search_spaces import Prompt

    Effort = Callable[[], dict[str, float]]

_MOST_WEAK = 5  # samples in a note in the dashboard


def effort_meter(budget: Budget) -> Effort:
    """Return what measures what a trial takes from now on: requests, tokens, US dollars and seconds."""
    before, started = replace(budget.usage), time.monotonic()

    def read() -> dict[str, float]:
        after = budget.usage
        return {
            "calls": after.made - before.made,
            "tokens": after.tokens - before.tokens,
            "cost_usd": after.cost - before.cost,
            "seconds": round(time.monotonic() - started, 3),
        }

    return read


def record_trial(
    trial: optuna.Trial,
    candidate: Candidate,
    baseline: Candidate,
    predictions: Predictions,
    effort: dict[str, float],
) -> None:
    """Write a candidate's attributes and its note in Markdown to its trial."""
    from optuna_dashboard import save_note

    scores = candidate.val
    attributes: dict[str, Any] = {
        "per_class": {label: asdict(of_class) for label, of_class in scores.per_class.items()},
        "na_rate": scores.na_rate,
    }
    if scores.constant is not None:
        attributes["constant"] = f"always answers {scores.constant}"
    if scores.shares is not None and scores.shares.is_hollow:
        attributes["shares"] = asdict(scores.shares)
    _set(trial, candidate, attributes | effort)
    save_note(trial, note(candidate, baseline, predictions))


def record_stopped(trial: optuna.Trial, stopped: StoppedCandidate, effort: dict[str, float]) -> None:
    """Write the attributes of a candidate that stopped to its trial; its values there are estimates."""
    _set(trial, stopped, {RACED: stopped.raced, **effort})


def _set(trial: optuna.Trial, candidate: Tried, attributes: dict[str, Any]) -> None:
    attributes = {PROMPT_ID: candidate.id, "edits": [str(edit) for edit in candidate.edits], **attributes}
    if candidate.audit:
        attributes[AUDIT] = candidate.audit
    for name, value in attributes.items():
        trial.set_user_attr(name, value)


def note(candidate: Candidate, baseline: Candidate, predictions: Predictions) -> str:
    """Describe a prompt, what it adds, and where it is weak, in Markdown; all text from data is escaped or fenced."""
    parts = [f"# Prompt {candidate.id}", _scores(candidate, baseline, predictions.answers.quality_name)]
    if candidate.val.constant is not None:
        parts.append(
            f"**It always answers {escaped_markdown(candidate.val.constant)}**: S = 0 and C = 1 are worth nothing."
        )
    elif lopsided := shares_line(candidate.val.to_dict(), "It"):
        parts.append(escaped_markdown(lopsided))
    added = [f"- {edit.kind}: {escaped_markdown(str(edit))}" for edit in candidate.edits]
    parts += ["## Added to the original prompt", "\n".join(added) or "Nothing: this is the original prompt."]
    parts += ["## Where it is weak", _classes(candidate, baseline), _weak_samples(predictions)]
    parts += ["## The prompt", _prompt(candidate.prompt)]
    return "\n\n".join(parts) + "\n"


def _scores(candidate: Candidate, baseline: Candidate, quality: str) -> str:
    rows = [f"| | {quality} | S | C | N/A |", "|---|--:|--:|--:|--:|"]
    shown: dict[str, Scores | ModelScores] = {"this": candidate.val, "original prompt": baseline.val}
    shown |= {f"this, {escaped_markdown(name)}": scores for name, scores in candidate.val.per_model.items()}
    for name, val in shown.items():
        cells = (val.f1, val.sensitivity, val.consistency, val.na_rate)
        rows.append(f"| {name} | {_cells(cells)} |")
    return "\n".join(rows)


def _cells(values: Iterable[float | None]) -> str:
    """Cells of a table; a dash is what is not defined."""
    return " | ".join("–" if value is None else f"{value:.3f}" for value in values)


def _classes(candidate: Candidate, baseline: Candidate) -> str:
    rows = ["| class | samples | F1 | original F1 | S | original S | C |", "|---|--:|--:|--:|--:|--:|--:|"]
    for label, scores in candidate.val.per_class.items():
        before = baseline.val.per_class[label]
        values = (scores.f1, before.f1, scores.sensitivity, before.sensitivity, scores.consistency)
        rows.append(f"| {escaped_markdown(label)} | {scores.n} | {_cells(values)} |")
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


def _prompt(prompt: Prompt) -> str:
    """The prompt in a code block; a user's own prompt as a diff, so that additions stand out."""
    if prompt.template is None:
        return fenced(render_instructions(prompt))
    return fenced(render_shown(prompt, marked=True), "diff")
