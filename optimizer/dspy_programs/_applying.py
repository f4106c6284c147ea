"""A prompt put into a program: instructions in other words, with edits added, and demonstrations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.dspy_programs._copying import copy_of
from psopt.dspy_programs._dspy import dspy
from psopt.search_spaces import render_additions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from psopt.search_spaces import Prompt

_NO_INSTRUCTIONS = "."  # none at all would be replaced by DSPy's own


def frame_of(program: Any) -> str:
    """What an adapter writes into every call of a program's steps beside instructions and inputs: fields, form.

    Demonstrations that the program has of its own are in it.
    """
    adapter = dspy.settings.adapter or dspy.ChatAdapter()
    parts = []
    for _, predictor in program.named_predictors():
        bare = predictor.signature.with_instructions(_NO_INSTRUCTIONS)
        # a conversation is none of its own words, and an empty text is no conversation
        inputs = {name: "" for name, field in bare.input_fields.items() if field.annotation is not dspy.History}
        messages = adapter.format(bare, demos=predictor.demos, inputs=inputs)
        parts += [str(message["content"]) for message in messages]
    return "\n".join(parts)


def apply_prompt(
    program: Any,
    prompt: Prompt,
    instructions: Mapping[str, str],
    outcome_step: str,
    demonstration: Callable[[str, str], Any],
) -> Any:
    """Return a copy of a program with a prompt in it.

    Parameters
    ----------
    program : dspy.Module
    prompt : Prompt
        Its definitions and notes are added to the instructions of the step that gives the outcome; its examples become
        demonstrations, of the step that they are for or of all.
    instructions : mapping of step to str
        What each step is told; a step that is left out keeps its own.
    outcome_step : str
    demonstration : callable
        (step, text) to the demonstration of a text at a step, or None.
    """
    copy = copy_of(program)
    additions = render_additions(prompt)
    for step, predictor in copy.named_predictors():
        parts = [instructions.get(step, predictor.signature.instructions)]
        if step == outcome_step and additions:
            parts.append(additions)
        predictor.signature = predictor.signature.with_instructions("\n\n".join(parts))
        texts = [example.text for example in prompt.examples if example.step in {"", step}]
        demonstrations = [demonstration(step, text) for text in texts]
        predictor.demos = [*predictor.demos, *(demo for demo in demonstrations if demo is not None)]
    return copy
