"""What does each kind of edit do to a real language model, with the label prior and without?

    python experiments/lm_edits.py hf/smollm2.gguf [hf/qwen05.gguf ..] [--writer gguf/..]

On val samples of seven data sets, under people's wordings that no optimizer has seen: F1, S and C of the original
prompt, without edits and with all edits of one kind. Edits are drawn from train as in a search, by a diagnosis of the
original prompt. Expected after a first look (TREC, 100 questions): removing the prior helps most, examples hurt unless
it is removed, and a model this small gains little from definitions.

Each cell is saved when it is done, with one letter per answer, and not measured again.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from _lm_cells import KeptResults, lm_parser
from _lm_rules import CONTENT_FREE, PRIORS, SCORES, Scored, answers, as_letters, label_scores
from _lm_sets import enough, lm_task, wordings_by_people
from psopt.diagnosis import diagnose_predictions
from psopt.evaluation import evaluate
from psopt.models import ModelProvider
from psopt.models.chat import LMConfig
from psopt.models.hf._model import score
from psopt.proposals import ProposalChecks, examples_from_train, propose_edits
from psopt.proposals.llm import LLMProposer
from psopt.proposals.rules._notes import definitions_from_subclasses, definitions_from_task
from psopt.rephrasings import rephrasings_for
from psopt.search_spaces import WEAK_SPOT, Edit, apply_edits, render, seed_prompt
from psopt.tasks import subset

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from psopt.evaluation import Predictions
    from psopt.models.hf import HFModel
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task

    Cell = dict[str, Any]

_DIAGNOSED = (60, 3)  # train samples and rephrasings
_MOST_OF_A_KIND = 6  # notes or definitions at once: about as many as a search for a small model recommends


def main() -> None:
    """Measure what is missing."""
    parser = lm_parser(__doc__)
    parser.add_argument("--kinds", nargs="+", help="by default all")
    parser.add_argument("--writer", default="")
    parser.add_argument("--samples", type=int, default=60)
    parser.add_argument("--unlabelled", type=int, default=30)
    parser.add_argument("--wordings", type=int, default=3)
    words = parser.parse_args()
    setting = (
        f"At most {words.samples} val samples, {words.wordings} wordings by people, the prior on "
        f"{words.unlabelled} train texts; GGUF files in single precision; the assistant's turn begins with the label "
        f"(see answer_lead.py); edits of a kind at once, at most {_MOST_OF_A_KIND} notes or definitions."
    )
    kept = KeptResults(words.results, "lm_edits", "cells", setting, sets={})
    for name in words.models:
        for dataset in words.sets:
            for cell in _cells_of(name, dataset, words, kept):
                kept.add(cell)
                print(f"{cell['model']} {dataset} {cell['kind']}: {cell['seconds']} s", flush=True)


def _cells_of(name: str, dataset: str, words: argparse.Namespace, kept: KeptResults) -> Iterator[Cell]:
    """The missing cells of a model and a set."""
    model_name = Path(name).stem
    task = lm_task(dataset, words.data)
    drafted = Path.home() / ".cache" / "psopt-experiments" / f"lm_edits_{dataset}.json"  # has the set's texts: not ours
    edits_by_kind = json.loads(drafted.read_text("utf-8")) if drafted.exists() else {}
    models = ModelProvider(lm=LMConfig(calibration="batch"))
    model = _loaded(name, task, models)
    val = subset(enough(task), words.samples, seed=0)
    kept.content["sets"][dataset] = {
        "labels": list(task.labels),
        "truth": as_letters([task.labels.index(str(s.label)) for s in val]),
    }
    if not edits_by_kind:
        edits_of = _edits_by_kind(task, models.answering(name, task), models, words.writer)
        edits_by_kind = {kind: [edit.to_dict() for edit in edits] for kind, edits in edits_of.items()}
        drafted.parent.mkdir(parents=True, exist_ok=True)
        drafted.write_text(json.dumps(edits_by_kind), "utf-8")
    prompts = {kind: _prompt(task, kind, edits) for kind, edits in edits_by_kind.items()}
    unlabelled = subset(task.train, words.unlabelled, seed=0)
    wordings = wordings_by_people(dataset, words.data, words.wordings)
    shares = np.bincount([task.labels.index(str(s.label)) for s in unlabelled], minlength=len(task.labels))
    texts = [[sample.text for sample in val], [sample.text for sample in unlabelled], list(CONTENT_FREE)]
    for kind, prompt in prompts.items():
        if kept.has(model=model_name, dataset=dataset, kind=kind) or (words.kinds and kind not in words.kinds):
            continue
        started = time.monotonic()
        columns: dict[str, list[str]] = {}
        for wording in wordings:
            for rule, column in _answers(model, prompt.described_as(wording), texts, shares / shares.sum()).items():
                columns.setdefault(rule, []).append(column)
        seconds = round(time.monotonic() - started, 1)
        n_characters = len(render(prompt, "")[-1]["content"])
        yield {
            "model": model_name,
            "dataset": dataset,
            "kind": kind,
            "characters": n_characters,
            "seconds": seconds,
            "answers": columns,
        }


def _loaded(name: str, task: Task, models: ModelProvider) -> HFModel:
    from psopt.models import load_model

    return load_model(name, task, cache_dir=models.cache_dir)  # type: ignore[return-value]


def _answers(model: HFModel, prompt: Prompt, texts: Sequence[list[str]], shares: Any) -> dict[str, str]:
    """The answers to the first texts, by way of scoring and prior."""
    flat = [text for part in texts for text in part]
    prompts, tree = model.tokenizer.scored([render(prompt, text) for text in flat], prompt.labels)
    steps = np.empty((len(flat), len(tree.nodes)))
    for indices, scored in score(model.network, prompts, tree, model._limit, shares=True):
        steps[indices] = scored
    ends = np.cumsum([len(part) for part in texts])[:-1]
    found = {}
    for kind in SCORES:
        scored = Scored(*np.split(label_scores(tree, steps, kind), ends))
        for prior in PRIORS:
            found[f"{kind}, {prior}"] = as_letters(answers(scored, prior, shares))
    return found


def _prompt(task: Task, kind: str, edits: Sequence[dict[str, Any]]) -> Prompt:
    prompt = seed_prompt(task)
    if kind == "labels in another order":
        return replace(prompt, form=replace(prompt.form, label_order=1))
    order = next((order for order in ("by label", "shuffled 1") if kind.endswith(order)), "as chosen")
    return apply_edits(prompt, [Edit.from_dict(edit) for edit in edits], order)


def _edits_by_kind(task: Task, model: Any, models: ModelProvider, writer: str) -> dict[str, list[Edit]]:
    """What a search would be offered, by kind; each kind as a separate prompt."""
    prompt = seed_prompt(task)
    n_samples, n_rephrasings = _DIAGNOSED
    rephrasings = rephrasings_for(task).search[:n_rephrasings]
    train = evaluate(model, prompt, rephrasings, subset(task.train, n_samples, seed=1))
    diagnosis = diagnose_predictions(train, labelled=task.train)
    proposed = propose_edits(task, prompt, train, diagnosis)
    of_task, of_subclasses = definitions_from_task(task, train), definitions_from_subclasses(task, train)
    notes = [edit for edit in proposed if edit.kind == "note"]
    kinds: dict[str, list[Edit]] = {"no edit": [], "labels in another order": []}
    kinds["definitions of the task"] = _all_definitions(task, of_task)
    kinds["definitions of subclasses"] = of_subclasses[:_MOST_OF_A_KIND]
    kinds["notes by rule"] = notes[:_MOST_OF_A_KIND]
    kinds |= _examples(task, train)
    if writer:
        kinds |= _written(task, prompt, train, diagnosis, models, writer)
    return {kind: edits for kind, edits in kinds.items() if edits or kind in ("no edit", "labels in another order")}


def _all_definitions(task: Task, proposed: Sequence[Edit]) -> list[Edit]:
    """The task's own definitions, of all labels that have one."""
    if not proposed:
        return []
    return [replace(proposed[0], label=label, text=text) for label, text in task.definitions.items()]


def _examples(task: Task, train: Predictions) -> dict[str, list[Edit]]:
    checks = ProposalChecks.of(task, seed_prompt(task))

    def of(*layers: str) -> list[Edit]:
        return examples_from_train(train, layers, checks=checks)

    two = of("typical", "typical")
    return {
        "examples: 1 typical": of("typical"),
        "examples: 1 borderline": of("borderline"),
        "examples: 1 weak spot": of(WEAK_SPOT),
        "examples: 2 typical": two,
        "examples: 2 typical, by label": two,
        "examples: 2 typical, shuffled 1": two,
        "examples: 4 of all kinds": of("typical", "typical", "borderline", WEAK_SPOT),
    }


def _written(
    task: Task,
    prompt: Prompt,
    train: Predictions,
    diagnosis: Any,
    models: ModelProvider,
    writer: str,
) -> dict[str, list[Edit]]:
    proposer = LLMProposer(models.writer(writer))
    edits = proposer.propose(task, prompt, train, diagnosis)
    refused = [f"{draft.kind}: {draft.reason}" for draft in proposer.refused]
    print(f"{writer} on {task.name}: {len(edits)} drafts passed; refused {refused}", flush=True)
    return {
        "definitions by a model": [edit for edit in edits if edit.kind == "definition"],
        "notes by a model": [edit for edit in edits if edit.kind == "note"],
    }


if __name__ == "__main__":
    main()
