"""report.html: a run on one page, built from the run directory alone."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.answers import AnswerType, answers_line
from psopt.diagnosis import suspects_line
from psopt.evaluation import (
    beside_quality_line,
    compare_paired,
    measure_names,
    na_lines,
    objective_values,
    shares_lines,
    verdict,
    why_worthless,
)
from psopt.rephrasings import tame_note
from psopt.report._class_figures import MOST_CLASSES, class_figures, confusion
from psopt.report._contents import Contents, read_contents
from psopt.report._page import PromptPanel, fixed_and_broken, render_page
from psopt.report._prompt_figures import contributions_figure, front_figure
from psopt.report._sample_figures import joint_view, kept_and_right, sample_sensitivity
from psopt.report._wording_figures import damage, enough, families, flips
from psopt.runs import (
    REPORT,
    SUSPECTS,
    limits_line,
    price_line,
    prompt_names,
)
from psopt.search.racing import racing_line
from psopt.settings import model_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.metrics import PairedDifference
    from psopt.report._theme import Figure
    from psopt.runs import RunDirectory


_WEAK_ROWS = 10  # rows of tables, all chosen by eye: as many as fit a page; the JSON files have all
_SLICE_ROWS = 15
_LOSS = 0.01  # of a class, in F1, S or C

_MEASURES = {
    "f1": ("", "higher", ""),
    "sensitivity": (", sensitivity", "lower", "How far answers to a sample differ between wordings: 0 if never."),
    "consistency": (", consistency", "higher", "How alike samples of one class are answered: 100 if all are."),
}


def write_report(directory: RunDirectory, pick: str = "recommended") -> list[Figure]:
    """Write report.html from the run's other files, every text in it escaped; return the figures that it shows.

    `pick` selects the prompt that is shown next to the baseline: the best one found, if that is the baseline itself.
    """
    contents = read_contents(directory, pick)
    gallery = _gallery(contents)
    figures = list(chain.from_iterable(gallery.values()))
    original = contents.prompts[contents.run["baseline"]["id"]]
    limits = contents.run.get("prompt_limits")
    page = render_page(
        "report.html",
        figures,
        run=contents.run,
        chosen=contents.chosen,
        name=contents.name,
        recommendation=contents.recommendation,
        headline=_headline(contents),
        warnings=[*_models_lines(contents.run), *_lopsided_lines(contents), *_na(contents)],
        has_passed=contents.run["recommended"]["verdict"] == "better",
        is_rejected=contents.is_rejected,
        changed=fixed_and_broken(contents.predictions["original prompt"], contents.answers),
        facts={name: fact for name, fact in _facts(contents).items() if fact},
        quality=contents.quality,
        names=measure_names(contents.quality),
        objectives=list(objective_values(contents.run["baseline"]["val"])),
        answered=_answered(contents),
        limits=limits and limits_line(limits),
        front=_rows(contents),
        most_classes=MOST_CLASSES,
        classes=_classes(contents.run["baseline"]["test"], contents.chosen["test"]),
        prompts={name: PromptPanel.of(prompt, original) for name, prompt in contents.prompts.items()},
        prices=contents.prices,
        gallery=gallery,
        groups=most_severe(contents.groups),
    )
    directory.write_text(REPORT, page)
    return figures


def _headline(contents: Contents) -> list[dict[str, Any]]:
    """The three measures before and after, and whether the difference is chance; none for a rejected prompt."""
    before = contents.run["baseline"]
    shown = [before]
    if not contents.is_rejected and contents.chosen["id"] != before["id"]:
        shown.append(contents.chosen)
    original = contents.predictions["original prompt"]
    tested: dict[str, PairedDifference] = {}
    if len(shown) > 1 and len(original.samples) > 1:
        tested = compare_paired(original, contents.answers)
    # S and C of a prompt that always answers the same, or guesses, mean nothing: neither can be better or worse.
    is_worthless = bool(before["test"].get("constant") or why_worthless(original))
    cards = []
    for key, name in contents.measures.items():
        word, better, meaning = _MEASURES[key]
        card: dict[str, Any] = {"name": f"{name}{word}", "better": better, "meaning": meaning, "p": "", "verdict": ""}
        card |= {split: [of[split][key] for of in shown] for split in ("test", "val")}
        card["ci"] = shown[-1]["test"]["ci"].get(key)
        if difference := tested.get(key):
            card["p"] = "p < .001; " if difference.p_value < 0.001 else f"p = {difference.p_value:.3f}; "
        if key == "f1" or not is_worthless:
            card["verdict"] = verdict(key, tested.get(key))
        cards.append(card)
    return cards


def _models_lines(run: Mapping[str, Any]) -> list[str]:
    """Which model's figures the page shows, where there are several."""
    first_model, *further_models = model_names(run["model"])
    if not further_models:
        return []
    over = "means of the models" if run["settings"]["over"] == "mean" else "those of the model that is worst in each"
    return [f"Measures are {over}. Classes, samples and wordings below are as {first_model} answers them, the first."]


def _lopsided_lines(contents: Contents) -> list[str]:
    """Which prompts on the cards answer one label to most texts on test, or guess where the verdict does not say it."""
    shown = {"The original prompt": contents.run["baseline"]["test"]}
    if contents.chosen["id"] != contents.run["baseline"]["id"]:
        shown[contents.name.replace("p", "P", 1)] = contents.chosen["test"]
    return shares_lines(shown, contents.run["recommended"]["reason"])


def _gallery(contents: Contents) -> dict[str, list[Figure]]:
    """The figures of a run by section."""
    run = contents.run
    prompts = contents.predictions
    scores = {"original prompt": run["baseline"]["test"], contents.name: contents.chosen["test"]}
    sections: dict[str, list[Figure | None]] = {
        "front": [front_figure(run, contents.trials)],
        "unstable": [confusion(prompts), sample_sensitivity(prompts), joint_view(prompts), *class_figures(prompts)],
        "fixed": [contributions_figure(contents.contributions)],
        "sure": [
            damage(prompts, run["rephrasings"]["heldout"]),
            flips(prompts),
            families({name: scores[name] for name in prompts}),
            enough(prompts, run["seed"]),
            kept_and_right(prompts),
        ],
    }
    return {name: list(filter(None, figures)) for name, figures in sections.items()}


def most_severe(slices: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The most severe slices, in weak_spots.json's form; one that several views see is one row."""
    topics: dict[tuple[str, str | None], dict[str, Any]] = {}
    for failing in sorted(slices, key=lambda failing: -failing["need"]):
        row = topics.setdefault((failing["topic"], failing["label"]), failing.copy())
        if failing["view"] not in row["view"].split(", "):
            row["view"] = f"{row['view']}, {failing['view']}"
    return list(topics.values())[:_SLICE_ROWS]


def _na(contents: Contents) -> list[str]:
    """Remarks on answers on test that name no label, prompt by prompt."""
    notes = {row["name"]: na_lines(row["test"]) for row in _rows(contents) if row["test"]}
    return [f"{name} on test: {'; '.join(lines)}" for name, lines in notes.items() if lines]


def _facts(contents: Contents) -> dict[str, str]:
    """What was done and with what, name by name; empty where nothing needs to be said."""
    run, before, after = contents.run, contents.run["baseline"], contents.chosen
    race = run.get("race") or {}
    settings = run["settings"]
    minutes, seconds = divmod(round(run["seconds"]), 60)
    answers = AnswerType.from_dict(run.get("answers")).note
    shown = {of["id"]: of["test"] for of in (before, after)}
    beside = beside_quality_line(*shown.values())
    arrow = " → ".join(dict.fromkeys(["original prompt", contents.name]))
    facts = {
        "prompt": _prompt_fact(run),
        **_data_facts(run),
        "trials": f"{race.get('candidates', settings['trials'])}, sampler {settings['sampler']}, seed {run['seed']}",
        "plan": _plan_fact(run),
        "answers": _answers_fact(run["calls"]),
        "workers": _workers_fact(run.get("workers")),
        "racing": racing_line(race).removeprefix("racing: ") if race else "",
        "time": f"{minutes}:{seconds:02} minutes",
        "psopt": "; ".join(filter(None, (run["psopt_version"], run["command"]))),
        "length": f"{arrow}: {price_line(contents.prices[before['id']], contents.call)}".replace("->", "→"),
    }
    return facts | {
        "answers are": answers and f"{answers}.",
        f"beside {contents.quality}": beside and f"On test, {arrow}: {beside}".replace("->", "→"),
        "suspect labels": _suspects_fact(contents.directory),
    }


def _data_facts(run: Mapping[str, Any]) -> dict[str, str]:
    """Which data and rephrasings, and how many."""
    data, rephrasings = run["dataset"], run["rephrasings"]
    evaluated = data["evaluated"]
    facts = {
        "data": f"{data['name']} ({data['source']}), sha256 {data['sha256'][:12]}",
        "samples": f"{evaluated['train']} train to draw edits from, {evaluated['val']} val, {evaluated['test']} test",
        "rephrasings": f"{len(rephrasings['search'])} to search with, {len(rephrasings['heldout'])} held out",
    }
    heldout = (rephrasings.get("diversity") or {}).get("heldout")
    if heldout is not None:
        facts["diversity of the held-out rephrasings"] = tame_note(heldout) or f"{heldout:.2f}"
    return facts


def _prompt_fact(run: Mapping[str, Any]) -> str:
    """The prompt's source, where it came from the user's own file or function."""
    if not (source := run.get("prompt_source")):
        return ""
    parts = [f"{source['file'] or 'given in Python'} ({source['format']})"]
    if source["fields"]:
        parts.append(f"fields {', '.join(source['fields'])}")
    if template := run["settings"]["prompt"].get("template"):
        parts.append(f"answers are read as {template.get('answer', 'label')}")
    return "; ".join(parts)


def _plan_fact(run: Mapping[str, Any]) -> str:
    """What the run was planned to ask, where it was planned."""
    if not (plan := run.get("plan")):
        return ""
    effort = "as its limits allow" if plan["effort"] == "limits" else f"effort {plan['effort']}"
    return f"{effort}, about {plan['calls']:,} answers; {run['calls']['made']:,} were asked for"


def _answers_fact(calls: Mapping[str, Any]) -> str:
    fact = f"{calls['made']:,} asked for, {calls['cached']:,} known already"
    if calls["failed"]:
        fact += f", {calls['failed']:,} failed"
    if not calls["tokens"]:
        return fact
    fact += f"; {calls['tokens']:,} tokens"
    if read_before := calls.get("cached_input_tokens"):
        fact += f" ({read_before:,} of them from the server's own cache)"
    return f"{fact}; {calls['cost_usd']:.2f} USD"


def _workers_fact(workers: Mapping[str, Any] | None) -> str:
    if not workers:
        return ""
    return f"{workers['calls']:,} answers more, in the {workers['trials']} trials that they evaluated"


def _suspects_fact(directory: RunDirectory) -> str:
    """How many labels of train are suspect; nothing for runs that did not check."""
    if not (directory.path / SUSPECTS).exists():
        return ""
    line = suspects_line(directory.read_json(SUSPECTS).get("train", {"samples": []}))
    return line and f"of train, {line} (suspect_labels.json)"


def _rows(contents: Contents) -> list[dict[str, Any]]:
    """The baseline, the front, and the short and the chosen prompt where they are not on it."""
    run, original_id = contents.run, contents.run["baseline"]["id"]
    entries = [*run["front"], run.get("short"), contents.chosen]
    if original_id not in {entry["id"] for entry in run["front"]}:
        entries.insert(0, {**run["baseline"], "edits": [], "knee": False})
    names = prompt_names(run)
    rows: dict[str, dict[str, Any]] = {}
    for entry in filter(None, entries):
        name = f"{names.get(entry['id'], '')} {entry['id']}".strip()
        is_recommended = entry["id"] == run["recommended"]["id"]
        rows.setdefault(entry["id"], {**entry, "name": name, "recommended": is_recommended})
    rows[original_id]["name"] = "original prompt"
    return list(rows.values())


def _classes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    """How often each class is answered, and its F1, S and C, before and after; N/A and macro-F1 last.

    `losses` are the measures that are worse by a point or more.
    """
    classes = dict.fromkeys([*before["per_class"], *before.get("answer_shares", ())])
    pairs = {name: [_of_class(scores, name) for scores in (before, after)] for name in classes}
    if pairs and before.get("macro_f1") is not None:
        # of these rows: with several models `macro_f1` is of all, and classes are the first's
        scores = ([of["f1"] for of in rows if of.get("f1") is not None] for rows in zip(*pairs.values(), strict=True))
        pairs["mean of the classes (macro-F1)"] = [{"f1": float(np.mean(f1)), "n": None} for f1 in scores]
    signs, rows = {"f1": 1, "sensitivity": -1, "consistency": 1}, []
    for name, (was, now) in pairs.items():
        both = [measure for measure in signs if None not in (was.get(measure), now.get(measure))]
        losses = [measure for measure in both if signs[measure] * (was[measure] - now[measure]) >= _LOSS]
        share = before.get("class_shares", {}).get(name)
        rows.append({"name": name, "n": was["n"], "share": share, "before": was, "after": now, "losses": losses})
    return rows


def _of_class(scores: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The scores of a class, or nothing of N/A, and how often it was answered, which not every run has recorded."""
    answered = {"answered": scores["answer_shares"][name]} if scores.get("answer_shares") else {}
    return {**scores["per_class"].get(name, {"n": None}), **answered}


def _answered(contents: Contents) -> list[dict[str, Any]]:
    """Answers to the test samples whose answers differ most, equal ones merged; none for single labels."""
    before = contents.predictions["original prompt"]
    if before.answers.open is None:
        return []
    rows = []
    for index in np.argsort(-before.sensitivities, kind="stable")[:_WEAK_ROWS].tolist():
        if before.sensitivities[index] > 0:
            sample = before.samples[index]
            answers = [answers_line(predictions.answers_to(index)) for predictions in contents.predictions.values()]
            rows.append({"id": sample.id, "text": sample.text, "right": sample.label, "answers": answers})
    return rows
