"""`psopt.rephrase`: a description in other words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.api._prompts import what_to_rephrase
from psopt.models import ModelProvider
from psopt.rephrasings import RephrasingOptions, RephrasingSet, Verdict, freeze_rephrasings
from psopt.runs import N_HELDOUT, PromptSource

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from psopt.models.chat import LMConfig
    from psopt.search_spaces import Prompt
    from psopt.settings import PromptOptions
    from psopt.tasks import Task


def rephrase(
    task: Task,
    prompt: Prompt | PromptSource | Path | str | None = None,
    *,
    prompt_options: PromptOptions | None = None,
    rephrasings: int = 10,
    heldout: int = N_HELDOUT,
    rephrasing: RephrasingOptions | None = None,
    seed: int = 42,
    lm: LMConfig | None = None,
    cache_dir: str | Path | None = None,
    on_text: Callable[[Verdict], None] | None = None,
) -> RephrasingSet:
    """Reword a description, as a run does; `psopt.rephrasings.to_file` makes a file's content of the result.

    Parameters
    ----------
    task : Task
    prompt : Prompt, PromptSource, Path or str, optional
        What to rephrase: a prompt's instructions, those of a prompt's file, or a description as a text; by default the
        task's description.
    prompt_options : PromptOptions, optional
        How a prompt's file is read, if it does not say so itself.
    rephrasings, heldout : int
        How many for the search, including the original, and how many for the report.
    rephrasing : RephrasingOptions, optional
        Who writes them, who judges them, and which families they are from.
    seed : int
        The seed of the rules' choices.
    lm, cache_dir
        How language models are asked, and where their answers are kept.
    on_text : callable, optional
        Is called with the verdict on each text that was checked.

    Raises
    ------
    PsoptError
        If an argument can't be used, or too few texts pass the checks.
    """
    return freeze_rephrasings(
        task,
        what_to_rephrase(task, prompt, prompt_options),
        rephrasings,
        heldout,
        seed,
        rephrasing or RephrasingOptions(),
        models=ModelProvider(cache_dir, lm),
        on_text=on_text,
    )
