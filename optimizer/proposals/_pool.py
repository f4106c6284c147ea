"""The pool of edits that a search chooses from, proposed by rule, without a language model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.diagnosis import find_slices
from psopt.proposals._checks import ProposalChecks
from psopt.proposals._quoted_phrases import NoteTopics, one_a_topic, with_support
from psopt.proposals.rules._examples import EXAMPLE_LAYERS, MOST_EXAMPLE_CHARACTERS, examples_from_train
from psopt.proposals.rules._notes import (
    NONE_APPLIES,
    NUMBER_ALONE,
    definitions_from_subclasses,
    definitions_from_task,
    notes_from_slices,
    notes_on_open_answers,
)
from psopt.templates import template_marks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.diagnosis import Diagnosis
    from psopt.evaluation import Predictions
    from psopt.search_spaces import Edit, Prompt
    from psopt.tasks import Task


def propose_edits(
    task: Task,
    prompt: Prompt,
    predictions: Predictions,
    diagnosis: Diagnosis,
    pool: Sequence[Edit] = (),
    checks: ProposalChecks | None = None,
    many_examples: bool = False,
) -> list[Edit]:
    """Propose edits for a prompt from its diagnosis on train, those with the highest possible gain first.

    Excluded are edits that the prompt already holds, examples in the pool, second notes on a topic, and edits that
    `checks` object to (by default those of the task's train). For a template, so is text that would read as a part of
    it once exported. With `many_examples` there are up to twice as many examples, if they are short: for models that
    read them as turns of a conversation.
    """
    checks = checks or ProposalChecks.of(task, prompt)
    shown = {example.text for example in prompt.examples} | {edit.text for edit in pool if edit.kind == "example"}
    more = EXAMPLE_LAYERS if many_examples and not task.spec.is_open else ()
    examples = examples_from_train(
        predictions, taken=shown, checks=checks, more_layers=more, most_characters=MOST_EXAMPLE_CHARACTERS
    )
    edits = definitions_from_task(task, predictions)
    if task.spec.is_open:
        # In the prompt's own JSON or tag, a number does not stand alone, nor does an empty list.
        unfit = () if prompt.answer == "label" else (NUMBER_ALONE, NONE_APPLIES)
        edits += [note for note in notes_on_open_answers(task, predictions) if note.text not in unfit]
        edits += examples
    else:
        # Found again, by sure signs alone: a slice named by a chance phrase would hide those that others could name.
        views = list(dict.fromkeys(failing.view for failing in diagnosis.slices))
        slices = find_slices(predictions, views, labelled=checks.evidence.samples, signs=checks.evidence.is_sign)
        edits += [*definitions_from_subclasses(task, predictions), *notes_from_slices(slices, task.noun), *examples]
        edits = checks.allowed(edits)
    columns = task.fields if prompt.template else ()  # looks at all samples
    new = [edit for edit in edits if not _holds(prompt, edit) and not _is_ambiguous(prompt, edit, columns)]
    if not task.spec.is_open:  # notes on the form name no label, and have different topics
        new = one_a_topic(new, NoteTopics(task, pool, prompt.notes))
    return with_support(sorted(new, key=lambda edit: (-edit.gain, edit.id)), task)


def _holds(prompt: Prompt, edit: Edit) -> bool:
    if edit.kind == "note":
        return edit.text in prompt.notes
    if edit.kind == "definition":
        return any(definition.label == edit.label and edit.text in definition.text for definition in prompt.definitions)
    return any(example.text == edit.text for example in prompt.examples)


def _is_ambiguous(prompt: Prompt, edit: Edit, columns: Sequence[str]) -> bool:
    """Whether the edit would add text to a template that would be a field there, such as ``{body}``, or refused."""
    shown = [value for name, value in edit.fields if name in prompt.fields]
    return prompt.template is not None and any(template_marks(text, columns) for text in (edit.text, *shown))
