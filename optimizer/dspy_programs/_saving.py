"""Copies of programs that share no step with the original, and programs as files for `program.load()`."""

from __future__ import annotations

import copy
import json
import keyword
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._fingerprint import as_json_data
from psopt.errors import InputError
from psopt.search_spaces import filled_template, render_additions
from psopt.tasks import FREE, JSON, LABELS, NUMBER, TEXT, AnswerSpec, as_value
from psopt.templates import Field, split_description

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from psopt.search_spaces import Prompt
    from psopt.templates import Message


def copy_of(program: Any) -> Any:
    """Copy a program: objects that cannot be copied, such as clients or locks, are shared, but predictors never are.

    DSPy's own copy warns about each such object, and shares a whole list, including steps, if one item in it cannot be
    copied. Raises InputError, which names the attribute, if a predictor would still be shared.
    """
    steps = {id(predictor) for _, predictor in program.named_predictors()}
    try:
        copied = copy.deepcopy(program)
    except Exception:  # noqa: BLE001  # a user's object: if it raises anything, it cannot be copied
        copied = _parts_copied(program, {})
    shared = (name for name, predictor in copied.named_predictors() if id(predictor) in steps)
    if name := next(shared, ""):
        raise InputError(
            f"{type(program).__name__}.{name} can't be copied: the copy shares its predictor with yours, which every "
            "program that is tried would change; call steps by self, and keep clients and locks out of what holds them"
        )
    return copied


def _parts_copied(value: Any, copies: dict[int, Any]) -> Any:
    """A copy, part by part, wherever named_predictors looks; parts that cannot be copied are shared."""
    if id(value) in copies:
        return copies[id(value)]
    if isinstance(value, dspy.Module):
        kind: Any = type(value)
        twin = copies[id(value)] = kind.__new__(kind)
        twin.__dict__.update({name: _parts_copied(part, copies) for name, part in vars(value).items()})
        return twin
    if type(value) is dict:
        return {key: _parts_copied(part, copies) for key, part in value.items()}
    if type(value) in {list, tuple}:
        return type(value)(_parts_copied(part, copies) for part in value)
    memo = dict(copies)  # a failed copy leaves unfinished parts in it
    try:
        copied = copy.deepcopy(value, memo)
    except Exception:  # noqa: BLE001  # likewise
        copied = copies[id(value)] = value
    else:
        copies |= memo
    return copied


def finished_copy(program: Any) -> Any:
    """A copy with the mark that DSPy's optimizers leave."""
    finished = copy_of(program)
    finished._compiled = True
    return finished


PROGRAMS = "programs"
_KINDS: dict[str, Any] = {NUMBER: float, TEXT: str, JSON: dict[str, Any], FREE: str}
"""The type of a signature's output without labels."""
_HOLE = "\0"  # marks a field; no text that psopt reads contains it


def write_program(program: Any, folder: Path, prompt_id: str) -> None:
    """Write a program's state to the run's programs/ID.json."""
    target = folder / PROGRAMS / f"{prompt_id}.json"
    target.parent.mkdir(exist_ok=True)
    try:
        program.save(target)
    except Exception:  # noqa: BLE001  # values that are not JSON can still be shown as plain data
        plain = copy_of(program)
        for _, predictor in plain.named_predictors():
            predictor.demos = [as_json_data(dict(demo.items())) for demo in predictor.demos]
            try:
                json.dumps(predictor.lm and predictor.lm.dump_state())
            except (TypeError, ValueError):  # a model with an engine of the user's own, which can't be loaded
                predictor.lm = None
        plain.save(target)


def predict_state(prompt: Prompt) -> dict[str, Any]:
    """Return the state of a `dspy.Predict` that asks the same as a prompt.

    The inputs of its signature are the fields of the prompt's template; without one, the prompt's noun is the only
    input (spaces and other characters become underscores). Its output is ``label``: a Literal of the prompt's labels,
    or for other answers a list of these, a number or a text.
    """
    kind: Any = _KINDS.get(prompt.asks)
    if kind is None:
        one_label: Any = Literal[prompt.labels]
        kind = list[one_label] if prompt.asks == LABELS else one_label
    if prompt.template is None:
        inputs = {"text": prompt.noun.replace(" ", "_")}
        instructions = "\n\n".join(filter(None, (prompt.description, render_additions(prompt))))
    else:
        inputs = _field_names(prompt.template.fields)
        instructions = _template_instructions(prompt)
    fields = {name: (str, dspy.InputField()) for name in inputs.values()} | {"label": (kind, dspy.OutputField())}
    program = dspy.Predict(dspy.Signature(fields, instructions))
    for example in prompt.examples:
        shown = {name: example.values[column] for column, name in inputs.items() if column in example.values}
        label = as_value(example.label, AnswerSpec.of_form(prompt.asks))
        program.demos.append(dspy.Example({**shown, "label": label}))
    versions = dspy.utils.saving.get_dependency_versions()  # `program.load` refuses files without them
    state = {**program.dump_state(), "metadata": {"dependency_versions": versions}}
    plain: dict[str, Any] = json.loads(json.dumps(state, default=str))
    return plain


def _field_names(columns: Sequence[str]) -> dict[str, str]:
    """Return a valid Python name for each column; ``label`` is reserved for the output.

    >>> _field_names(["subject", "e-mail body", "label"])
    {'subject': 'subject', 'e-mail body': 'e_mail_body', 'label': 'label_'}
    """
    names: dict[str, str] = {}
    for column in columns:
        name = re.sub(r"\W", "_", column)
        if not name.isidentifier():
            name = f"field_{name}"
        while name in {"label", *names.values()} or keyword.iskeyword(name):
            name += "_"
        names[column] = name
    return names


def _template_instructions(prompt: Prompt) -> str:
    """Return the instructions in a template, with the prompt's definitions and notes.

    DSPy itself formats fields, examples and the answer: turns that show an answer, the part of a paragraph after a
    field, and paragraphs that ask for JSON or a tag are left out, unless they are instructions themselves.
    """
    messages = filled_template(replace(prompt, examples=())).messages
    next_roles = [*(message.role for message in messages[1:]), ""]
    instructions = split_description(prompt.description)
    paragraphs: list[str] = []
    for message, next_role in zip(messages, next_roles, strict=True):
        if "assistant" not in {message.role, next_role}:
            paragraphs += [
                text
                for text in _paragraphs(message)
                if any(part in text for part in instructions) or not _fixes_the_answer(text, prompt.answer)
            ]
    return "\n\n".join(paragraphs) or prompt.description


def _paragraphs(message: Message) -> list[str]:
    """The paragraphs of a message but for those of fields, with headings above them, and lines that open an answer."""
    text = "".join(_HOLE if isinstance(piece, Field) else str(piece) for piece in message.pieces)
    is_after_field = False
    paragraphs: list[str] = []
    for paragraph in filter(str.strip, re.split(r"\n[ \t]*\n", text)):
        before, field, _ = paragraph.strip("\n").partition(_HOLE)
        lines = before.split("\n")
        if field:
            is_after_field = True
            lines.pop()  # what stands before the field on its own line
            while lines and re.fullmatch(r"\s*<[^>]+>\s*", lines[-1]):
                lines.pop()
            if not lines and paragraphs and re.fullmatch(r"#+ .*", paragraphs[-1]):
                paragraphs.pop()
        elif is_after_field and re.fullmatch(r".*:\s*", before):
            continue
        if lines:
            paragraphs.append("\n".join(lines))
    return paragraphs


def _fixes_the_answer(paragraph: str, answer: str) -> bool:
    """Whether a paragraph asks for JSON or a tag, if the template's answers are read from that."""
    kind, _, name = answer.partition(":")
    if kind == "json":
        return f'"{name}"' in paragraph or "JSON" in paragraph
    return kind == "xml" and f"<{name}>" in paragraph
