"""The rephrasings of a run: from a file, by a language model, written for this project, or by rule; and families."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, MissingExtraError, UnknownNameError
from psopt.models import NAMES, ModelProvider
from psopt.models.chat import name_hint
from psopt.rephrasings._frames import Named
from psopt.rephrasings._llm import Checks, dropped_label, write_rephrasings
from psopt.rephrasings._rules import NOTHING_TO_REPHRASE, as_rephrased, rephrase_by_rules, rephrasings
from psopt.rephrasings._set import FEWEST, RephrasingSet, check_fields, comparable, read_given, shortened
from psopt.search_spaces import BULLETS, CASINGS, LISTINGS, PLAIN, SEPARATORS, PromptFormat, in_order
from psopt.settings import FAMILIES
from psopt.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from psopt.rephrasings._frames import Side
    from psopt.rephrasings._llm import Closeness, Verdict
    from psopt.search_spaces import Prompt
    from psopt.settings import Family, RephrasingOptions
    from psopt.tasks import Task

    Variant = tuple[str, PromptFormat]


OF_OWN_FORM: tuple[Family, ...] = ("format", "label-order")
"""Families that change how psopt lays out its own form; the user's own prompt keeps its layout."""


def vary(paraphrases: RephrasingSet, task: Task, families: Sequence[Family], seed: int) -> RephrasingSet:
    """Mix families in equal parts, into as many rephrasings in total as `paraphrases` holds.

    The original in psopt's own form comes first; then the families take turns. No layout and no order of labels is in
    both sets. Raises InputError if a family has too few members: three labels have only five other orders.
    """
    taken: set[PromptFormat] = {PLAIN}
    avoid = [paraphrases.original, *paraphrases.search, *paraphrases.heldout]

    def members(side: Side, texts: Sequence[str]) -> dict[Family, Iterator[Variant]]:
        original = paraphrases.original
        by_rule = rephrasings(original, Named(task.noun), side, seed, task.labels, avoid, n_parts=paraphrases.n_parts)
        return {
            "paraphrase": ((text, PLAIN) for text in texts),
            "wording": ((text, PromptFormat("wording")) for text in by_rule),
            "format": _forms(original, _layouts(seed), taken),
            "label-order": _forms(original, _label_orders(task.labels), taken),
            "example-order": _forms(
                original, (PromptFormat("example-order", example_order=n) for n in itertools.count(1)), taken
            ),
        }

    search = _in_turn(members("search", paraphrases.search[1:]), families, len(paraphrases.search) - 1)
    heldout = _in_turn(members("heldout", paraphrases.heldout), families, len(paraphrases.heldout))
    return replace(
        paraphrases,
        search=(paraphrases.original, *(text for text, _ in search)),
        heldout=tuple(text for text, _ in heldout),
        search_forms=(PLAIN, *(form for _, form in search)),
        heldout_forms=tuple(form for _, form in heldout),
    )


def check_families(families: Sequence[Family], where: str = "--vary") -> None:
    """Refuse families that would change the user's own layout; `where` says where they were named."""
    for family in families:
        if family in OF_OWN_FORM:
            fitting = ", ".join(alternative for alternative in FAMILIES if alternative not in OF_OWN_FORM)
            why = "changes psopt's own form, and this prompt keeps its layout"
            raise InputError(f"{where} {family} {why}: choose of {fitting}")


def check_room(n_families: int, n_rephrasings: int) -> None:
    """Refuse more families than there are rephrasings besides the first, which is unchanged."""
    if n_rephrasings <= n_families > 1:
        raise InputError(f"--vary: {n_families} families need --rephrasings {n_families + 1} or more")


def _in_turn(members: dict[Family, Iterator[Variant]], families: Sequence[Family], n: int) -> list[Variant]:
    variants: list[Variant] = []
    for number in range(n):
        family = families[number % len(families)]
        variant = next(members[family], None)
        if variant is None:
            wanted = f"{n} rephrasings in {len(families)} families"
            cure = "ask for fewer, or for more families"
            raise InputError(f"the family {family} has too few members for {wanted}; {cure}")
        variants.append(variant)
    return variants


def _forms(original: str, forms: Iterable[PromptFormat], taken: set[PromptFormat]) -> Iterator[Variant]:
    for form in forms:
        if form.layout not in taken:
            taken.add(form.layout)
            yield original, form


def _layouts(seed: int) -> Iterator[PromptFormat]:
    """Every layout, in an order that the seed decides."""
    parts = list(itertools.product(SEPARATORS, LISTINGS, BULLETS, CASINGS, (0, 1)))
    random.Random(seed).shuffle(parts)  # noqa: S311  # an order, nothing secret
    for layout in parts:
        yield PromptFormat("format", *layout)


def _label_orders(labels: Sequence[str]) -> Iterator[PromptFormat]:
    """Seeds that give different orders of the labels, none of them the given order."""
    seen = {tuple(labels)}
    for number in range(1, 2000):  # more seeds than orders, since several may give the same: six labels have 720
        order = tuple(in_order(labels, number))
        if order not in seen:
            seen.add(order)
            yield PromptFormat("label-order", label_order=number)


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

    `prompt` is the prompt whose description is rephrased, or a bare description. `models` makes the models that write
    and judge; `on_text` receives the verdict on each text that was checked.

    Raises InputError if the file is for another description or holds too few, or too few by the rephraser pass.
    """
    description = prompt if isinstance(prompt, str) else prompt.description
    n_parts = n_parts_of(prompt)
    if options.texts or options.repeats:
        where = "psopt diagnose and psopt check take them"
        raise InputError(f"--vary input and --vary repeat measure what there is: {where}; leave them out here")
    if n_parts:
        check_families(options.wordings)
    n_families = len(options.wordings)
    if n_search > 1:  # one alone shows nothing anyhow
        check_room(n_families, n_search)
    if 1 < n_heldout < n_families:
        raise InputError(f"--vary: {n_families} families need --heldout {n_families} or more")
    if options.file is not None:
        of_file = _from_file(options.file, description, n_parts, n_search, n_heldout)
        if options.keep_labels:  # a file that psopt wrote may have been edited
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
    """How many parts a description has, 0 in psopt's own form; raises InputError for a template that has none."""
    if isinstance(prompt, str) or prompt.template is None:
        return 0
    if not prompt.template.n_parts:
        raise InputError(NOTHING_TO_REPHRASE)
    return prompt.template.n_parts


def _on_its_lines(rephrasings: RephrasingSet, description: str) -> RephrasingSet:
    """The same set with the original's line breaks restored; its rephrasings are one paragraph each."""
    original = "\n".join(line.rstrip() for line in description.strip().splitlines())
    if "\n" not in original:
        return rephrasings
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
            fault = f"drops the label {dropped!r}, which the original names"
            raise InputError(f"{path}: the rephrasing {shortened(text)} {fault}: name it, or add --drop-labels")


def _check_enough_given(path: Path, rephrasings: RephrasingSet, n_search: int, n_heldout: int) -> None:
    n_held = len(rephrasings.heldout)
    of_heldout = "--rephrasings" if n_search == 1 else "--heldout"  # a verb that measures on test searches under none
    of_search = ("search", len(rephrasings.search), n_search, "--rephrasings")
    needs = (of_search, ("held-out", n_held, n_heldout, of_heldout))
    lacking = [of_set for of_set in needs if of_set[1] < of_set[2]]
    if lacking:
        kind, n, wanted, _ = lacking[0]
        cure = "add some"
        if n_held >= min(FEWEST, n_heldout):  # under one, S on test would always be 0
            cure += ", or " + " ".join(f"{option} {n}" for _, n, _, option in lacking)
        raise InputError(f"{path} holds {counted(n, f'{kind} rephrasing')}; {wanted} are to be used: {cure}")


def rephrasings_for(
    task: Task,
    n_search: int = 10,
    n_heldout: int = 10,
    *,
    description: str | None = None,
    seed: int = 42,
    n_parts: int = 0,
) -> RephrasingSet:
    """Return the rephrasings of a task's description, of which the original is one of the `n_search`, frozen.

    A built-in task with its own description gets those written for this project, in an order that the seed decides.
    They alternate with sentences by rule that name the labels. Rules provide whatever is asked for beyond them, and
    everything for any other description (see `rephrase_by_rules`).
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
    file = resources.files("psopt.rephrasings").joinpath("builtin", f"{task_name}.json")
    if not task_name.isidentifier() or not file.is_file():
        return None
    curated: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return curated
