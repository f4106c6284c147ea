"""The rephrasings of a run: from a file, written by a language model, written for this project, or by rule."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, MissingExtraError, UnknownNameError
from psopt.models import NAMES, ModelProvider
from psopt.models.chat import name_hint
from psopt.rephrasings._checks import Checks, dropped_label
from psopt.rephrasings._families import check_families, vary
from psopt.rephrasings._llm import write_rephrasings
from psopt.rephrasings._rules import NOTHING_TO_REPHRASE, as_rephrased, rephrase_by_rules
from psopt.rephrasings._set import RephrasingSet, check_fields, comparable, read_given, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from psopt.rephrasings._checks import Closeness, Verdict
    from psopt.search_spaces import Prompt
    from psopt.settings import RephrasingOptions
    from psopt.tasks import Task


def freeze_rephrasings(
    task: Task,
    prompt: Prompt | str,
    n_search: int,
    n_heldout: int,
    seed: int,
    options: RephrasingOptions,
    *,
    models: ModelProvider | None = None,
    on_text: Callable[[Verdict], None] | None = None,
) -> RephrasingSet:
    """Return the rephrasings under which every prompt of a run is measured.

    `prompt` is the prompt whose description is rephrased, or a bare description. In a prompt that came as a template,
    each part is rephrased on its own. `models` makes the models that write and judge; `on_text` receives the verdict on
    each text that was checked.

    Raises InputError if the file is for another description or holds too few, or too few by the rephraser pass.
    """
    description = prompt if isinstance(prompt, str) else prompt.description
    n_parts = n_parts_of(prompt)
    if options.texts or options.repeats:
        raise InputError(
            "--vary input and --vary repeat measure what there is: psopt diagnose and psopt check take them; "
            "leave them out here"
        )
    if n_parts:
        check_families(options.wordings)
    if options.file is not None:
        of_file = _from_file(options.file, description, n_parts, n_search, n_heldout)
        if options.keep_labels and of_file.source == "file":
            check_labels_given(options.file, of_file, task.labels)
        return of_file
    if options.is_written:
        provider = models or ModelProvider()
        writer = provider.writer(_rephraser(options))
        judge = provider.judge(options.judge) if options.judge is not None else None
        original = as_rephrased(description, n_parts)
        checks = Checks(original, task.labels, options.keep_labels, closeness(provider), judge)
        paraphrases = write_rephrasings(writer, checks, n_search, n_heldout, on_text, n_parts=n_parts)
    else:
        paraphrases = rephrasings_for(task, n_search, n_heldout, description=description, seed=seed, n_parts=n_parts)
    if not n_parts:
        paraphrases = _on_its_lines(paraphrases, description)
    if options.wordings == ("paraphrase",):
        return paraphrases
    return vary(paraphrases, task, options.wordings, seed)


def n_parts_of(prompt: Prompt | str) -> int:
    """How many parts a prompt's description has; 0 where psopt's own form is built around it.

    Raises InputError if it is a template without anything to rephrase.
    """
    if isinstance(prompt, str) or prompt.template is None:
        return 0
    if not prompt.template.n_parts:
        raise InputError(NOTHING_TO_REPHRASE)
    return prompt.template.n_parts


def _on_its_lines(rephrasings: RephrasingSet, description: str) -> RephrasingSet:
    """The same set with the original's line breaks restored; its rephrasings are one paragraph each."""
    lines = [line.rstrip() for line in description.strip().splitlines()]
    if len(lines) < 2:
        return rephrasings
    original = "\n".join(lines)
    return replace(rephrasings, original=original, search=(original, *rephrasings.search[1:]))


def _rephraser(options: RephrasingOptions) -> str:
    """The name of the model that rephrases, which must be one that writes text."""
    name = str(options.rephraser)
    if "/" not in name:
        chat_names = [name for name in NAMES if name.startswith(("openai", "azure", "dspy", "gguf"))]
        raise UnknownNameError("rephraser", name, ["rules", *chat_names], hint=name_hint(name))
    return name


def closeness(models: ModelProvider) -> Closeness | None:
    """What gives the likeness in meaning of two texts, by the sentence encoder; None where that is not installed."""
    try:
        encoder = models.encoder
    except MissingExtraError:
        return None

    def cosine(first: str, second: str) -> float:
        first_vector, second_vector = encoder.encode([first, second])
        return float(first_vector @ second_vector)

    return cosine


def _from_file(path: Path, description: str, n_parts: int, n_search: int, n_heldout: int) -> RephrasingSet:
    rephrasings = read_given(path, description, n_parts)
    if n_parts:
        rephrasings = replace(rephrasings, original=description, search=(description, *rephrasings.search[1:]))
        check_fields(rephrasings, path)
        check_families([form.family for form in (*rephrasings.search_forms, *rephrasings.heldout_forms)], f"{path}:")
    _check_enough_given(path, rephrasings, n_search, n_heldout)
    return replace(
        rephrasings,
        search=rephrasings.search[:n_search],
        heldout=rephrasings.heldout[:n_heldout],
        search_forms=rephrasings.search_forms[:n_search],
        heldout_forms=rephrasings.heldout_forms[:n_heldout],
    )


def check_labels_given(path: Path, rephrasings: RephrasingSet, labels: Sequence[str]) -> None:
    """Refuse a text by hand that names fewer labels than the original: answers would change for that reason."""
    for text in (*rephrasings.search, *rephrasings.heldout):
        if dropped := dropped_label(rephrasings.original, text, labels):
            raise InputError(
                f"{path}: the rephrasing {shortened(text)} drops the label {dropped!r}, which the original names: name "
                "it, or add --drop-labels"
            )


def _check_enough_given(path: Path, rephrasings: RephrasingSet, n_search: int, n_heldout: int) -> None:
    of_heldout = "--rephrasings" if n_search == 1 else "--heldout"  # a verb that measures on test searches under none
    asked = (
        ("search", len(rephrasings.search), n_search, "--rephrasings"),
        ("held-out", len(rephrasings.heldout), n_heldout, of_heldout),
    )
    lacking = [of_set for of_set in asked if of_set[1] < of_set[2]]
    if lacking:
        kind, n, wanted, _ = lacking[0]
        fewer = " ".join(f"{option} {n}" for _, n, _, option in lacking)
        raise InputError(f"{path} holds {n} {kind} rephrasings; {wanted} were asked for: add some, or {fewer}")


def rephrasings_for(
    task: Task,
    n_search: int = 10,
    n_heldout: int = 10,
    *,
    description: str | None = None,
    seed: int = 42,
    n_parts: int = 0,
) -> RephrasingSet:
    """Return the rephrasings of a task's description, frozen.

    A built-in task with its own description gets those written for this project, in an order that the seed decides (so
    that a larger set begins with the smaller one). They alternate with sentences by rule that name the labels. Rules
    provide whatever is asked for beyond them, and everything for any other description.

    The original is one of the `n_search`. See `rephrase_by_rules` for `n_parts`.

    Raises InputError if a number is too small, or larger than the rules can satisfy; or if the description is empty.
    """
    original = as_rephrased(task.description if description is None else description, n_parts)
    written = read_curated(task.name)
    if written is not None and comparable(written["original"]) != comparable(original):
        written = None
    return rephrase_by_rules(
        original,
        task.noun,
        n_search,
        n_heldout,
        seed,
        protect=task.labels,
        n_parts=n_parts,
        labels=task.classes,
        asks_for_label=not n_parts,  # psopt's own form lists the labels and asks for just one of them
        written=written,
    )


def read_curated(task_name: str) -> dict[str, Any] | None:
    """Return the texts (``search``, ``heldout``) written for a built-in task's ``original`` description, or None."""
    file = resources.files("psopt.rephrasings.builtin").joinpath(f"{task_name}.json")
    if not task_name.isidentifier() or not file.is_file():
        return None
    curated: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return curated
