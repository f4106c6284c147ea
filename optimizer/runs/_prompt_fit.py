"""Whether a prompt is one for a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.tasks import FREE, JSON, LABEL, LABELS, NUMBER, TEXT

if TYPE_CHECKING:
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task

_NAMED = {
    LABEL: "a label",
    LABELS: "several labels",
    NUMBER: "a number",
    TEXT: "a text",
    JSON: "JSON",
    FREE: "a free answer",
}


def check_fits(prompt: Prompt, task: Task, source: str = "") -> None:
    """Refuse a prompt for other labels, or one that names fields which the samples don't have.

    Parameters
    ----------
    prompt : Prompt
    task : Task
    source : str
        Where the prompt comes from, as messages name it; empty for one that was made in Python.

    Raises
    ------
    InputError
    """
    named = f"prompt {source or prompt.id}"
    if prompt.asks != task.spec.form:
        raise InputError(f"{named} asks for {_NAMED[prompt.asks]}; the data's answers are {_NAMED[task.spec.form]}")
    if set(prompt.labels) != set(task.labels):
        own = ", ".join(prompt.labels)
        raise InputError(f"{named} is for the labels {own}; the data have {', '.join(task.labels)}")
    fields = prompt.template.fields if prompt.template else ()
    columns = dict.fromkeys((*task.fields, "text"))
    for field in fields:
        if field not in columns:
            raise InputError(
                f"{named} names the field {field}, and the data have no such column; columns: {', '.join(columns)}"
            )
