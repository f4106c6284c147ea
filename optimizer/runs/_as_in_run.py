"""A run's prompts are asked again as in the run: the same model, seed and wordings, but for what the user sets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.settings import changed_leaves

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from psopt.runs._measured import Measured
    from psopt.runs._prompt_source import PromptSource
    from psopt.settings import LMConfig, MeasureOptions


def as_in_run(
    sources: Sequence[PromptSource], model: Any, options: MeasureOptions, given: Collection[str]
) -> MeasureOptions:
    """Return options to measure prompts as their run did; those that are `given`, by name, stay."""
    options = replace(options, lm=lm_as_in_run(sources, model, options.lm, given))
    if "seed" not in given:
        options = replace(options, seed=seeds_of(sources, options.seed)[1])
    return _in_own_wordings(sources, options, is_counted="rephrasings" in given)


def set_in(options: MeasureOptions | LMConfig) -> set[str]:
    """The names of the options, and of those of the language model, that differ from their defaults."""
    return {leaf.key for leaf, _, _ in changed_leaves(type(options)(), options)}


def as_measured(sources: Sequence[PromptSource], given: Collection[str] = ()) -> Measured:
    """How prompts were measured, or are asked by their configuration: as far as they say it.

    Raises InputError if none does, no name loads the model, or they differ in what is not `given`.
    """
    measured = [(source, source.measured) for source in sources if source.measured is not None]
    if not measured:
        source = sources[0]
        fault = f"prompt {source.model_file or source.path} does not say which model it is for"
        raise InputError(f"{', '.join(filter(None, (fault, source.model_note)))}: give --model")
    for source, how in measured:
        if how.program is not None:
            raise InputError(
                f"prompt {source.path} is that of a DSPy program ({how.program}), run by {how.model}: use the program "
                "(psopt export RUN --format dspy), or give --model to try its text as a prompt of psopt's"
            )
        if not how.by_name:
            raise InputError(
                f"prompt {source.path} was measured with a model object in Python ({how.model}), which no name loads: "
                "give --model"
            )
    (first, how), *others = measured
    for other, different in others:
        for name in dict.fromkeys((*how.deciding, *different.deciding)):
            ours, theirs = how.deciding.get(name), different.deciding.get(name)
            if ours != theirs and name.replace("server", "api_base") not in given:
                raise InputError(
                    f"the prompts were measured differently, {first.path} with {name} {ours}, {other.path} with "
                    f"{theirs}: give --model, and how both are to be asked"
                )
    return how


def lm_as_in_run(sources: Sequence[PromptSource], model: Any, lm: LMConfig, given: Collection[str]) -> LMConfig:
    """Return how a model is asked: as its kind (before the slash) first was, but for what is `given`."""
    kind = model.partition("/")[0] if isinstance(model, str) else None
    measured = (source.measured for source in sources if source.measured is not None)
    alike = next((how for how in measured if how.model.partition("/")[0] == kind), None)
    options = alike.options if alike else {}
    return replace(lm, **{name: value for name, value in options.items() if name not in given})


def seeds_of(sources: Sequence[PromptSource], seed: int) -> tuple[int, int]:
    """The seeds by which the first run among the prompts split its data and drew from them; `seed` for both without.

    Under other seeds, test holds samples that the run has used to find its prompt.
    """
    for source in sources:
        if source.measured is not None and source.measured.seed is not None:
            return source.measured.dataset.get("split_seed", seed), source.measured.seed
    return seed, seed


def _in_own_wordings(sources: Sequence[PromptSource], options: MeasureOptions, *, is_counted: bool) -> MeasureOptions:
    """Return the options to measure a run's prompts under that run's wordings: all, or so many if that `is_counted`.

    The options stay as they are where they say whose wordings are used or ask for more than there are, and for prompts
    that were not measured under the same wordings.
    """
    if not sources or not options.rephrasing.are_usual or (own := sources[0].rephrasings) is None:
        return options

    def is_reworded_by_them(source: PromptSource) -> bool:
        sets_are_equal = source.rephrasings is not None and source.rephrasings.sha256 == own.sha256
        return sets_are_equal and bool(source.prompt and source.prompt.description.split() == own.original.split())

    wordings, _ = own.on(options.split)
    n = options.rephrasings if is_counted else len(wordings)
    if not 0 < n <= len(wordings) or not all(map(is_reworded_by_them, sources)):
        return options
    rephrasing = replace(options.rephrasing, file=sources[0].wordings, keep_labels=False)
    return replace(options, rephrasings=n, rephrasing=rephrasing)
