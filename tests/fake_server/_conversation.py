"""Any conversation, read as a small model would: which text is asked about, and what the rest says of labels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.fake_server._prompt_reading import text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.search_spaces import Prompt

# Shorter values, an id say, stand in texts by chance: a sample is not recognised by them; chosen, not measured.
_SHORTEST = 12
# Characters around a value that was recognised in which the sample's shorter ones are looked for.
_NEAR = 200
# Characters after an example's text in which its label is looked for: an answer in JSON may give a reason before it.
_ANSWER_WITHIN = 300
_ANSWER = "\x02"
_END = "\x03"


@dataclass(frozen=True, slots=True)
class KnownText:
    """A text that may be asked about, and its values, the longest first."""

    text: str
    values: tuple[str, ...]

    @property
    def telling(self) -> tuple[str, ...]:
        """The values by which it is recognised."""
        return tuple(value for value in self.values if len(value) >= _SHORTEST) or self.values[:1]

    @classmethod
    def of(cls, text: str, fields: Mapping[str, str]) -> KnownText:
        """Take what a sample's text holds of its fields."""
        held = {value.strip() for value in fields.values() if value.strip() and value in text}
        return cls(text, tuple(sorted(held, key=len, reverse=True)))


@dataclass(frozen=True, slots=True)
class Conversation:
    """Chat messages, taken apart.

    Attributes
    ----------
    text : str
        What is asked about: of the known texts the one that stands last in the last user message; else that message's
        last paragraphs, after the last one that names a label.
    instructions : str
        Everything else that user and system say, without the texts of examples.
    answers : tuple of str
        What the assistant has said before.
    examples : tuple of (text, label)
        Known texts that are shown with a label.
    """

    text: str
    instructions: str
    answers: tuple[str, ...]
    examples: tuple[tuple[str, str], ...]


def read_conversation(
    messages: Sequence[Mapping[str, Any]], labels: Sequence[str], known: Sequence[KnownText] = ()
) -> Conversation:
    r"""Find the text that is asked about, the examples, and what remains.

    >>> told = KnownText.of("Too high, the bill.", {"mail": "Too high, the bill."})
    >>> turn = {"role": "user", "content": "Sort mail into sales and billing.\n\nMail: Too high, the bill.\nTeam:"}
    >>> conversation = read_conversation([turn], ["sales", "billing"], [told])
    >>> conversation.text, conversation.instructions
    ('Too high, the bill.', 'Sort mail into sales and billing.\n\nMail: \nTeam:')
    """
    last = max((index for index, turn in enumerate(messages) if turn.get("role") == "user"), default=0)
    *before, asked = [text_of(turn) for turn in messages[: last + 1]] or [""]
    answers = tuple(text_of(turn) for turn in messages[:last] if turn.get("role") == "assistant")
    found = _latest(asked, known)
    if found is None:
        kept, text = _without_last_paragraphs(asked, labels)
    else:
        text = found.text
        kept = _without(asked, found)
    spoken = [
        f"{_ANSWER}{content}{_END}" if turn.get("role") == "assistant" else content
        for turn, content in zip(messages, before, strict=False)
    ]
    instructions, examples = _without_examples("\n\n".join([*spoken, kept]), labels, known)
    instructions = re.sub(f"{_ANSWER}[^{_END}]*{_END}|[{_ANSWER}{_END}]", "", instructions)
    return Conversation(text, instructions, answers, tuple(examples))


def as_prompt(conversation: Conversation, labels: Sequence[str]) -> Prompt:
    """What the conversation says, as a prompt that psopt's own models read.

    Lines that name one label are its definition or a note; what remains is the wording of the task.
    """
    from psopt.search_spaces import Definition, Example, Prompt
    from psopt.text import statements

    said = statements(conversation.instructions, labels)
    return Prompt(
        description="\n".join(said.rest) or "Answer.",
        labels=tuple(labels),
        definitions=tuple(Definition(label, text) for label, text in said.definitions),
        notes=said.notes,
        examples=tuple(Example(text, label) for text, label in conversation.examples),
    )


def _latest(content: str, known: Sequence[KnownText]) -> KnownText | None:
    """The known text that ends last; of several that end there the one with most of its values shown."""
    best = None
    highest = (-1, -1)
    for candidate in known:
        shown = [value for value in candidate.telling if value in content]
        if not shown:
            continue
        place = (max(content.rfind(value) + len(value) for value in shown), sum(map(len, shown)))
        if place > highest:
            best = candidate
            highest = place
    return best


def _without(content: str, known: KnownText) -> str:
    """The content without the last place of a known text."""
    anchor = next((value for value in known.telling if value in content), "")
    before, _, after = content.rpartition(anchor) if anchor else (content, "", "")
    for value in known.values:
        if value in before[-_NEAR:] and value != anchor:
            start = before.rindex(value)
            before = before[:start] + before[start + len(value) :]
        elif value in after[:_NEAR] and value != anchor:
            after = after.replace(value, "", 1)
    return before + after


def _without_last_paragraphs(content: str, labels: Sequence[str]) -> tuple[str, str]:
    """What stands up to the last paragraph that names a label, and what comes after it."""
    from psopt.text import names_label

    paragraphs = content.split("\n\n")
    naming = [
        index for index, paragraph in enumerate(paragraphs) if any(names_label(paragraph, label) for label in labels)
    ]
    start = naming[-1] + 1 if naming else 0
    start = start if start < len(paragraphs) else 0
    return "\n\n".join(paragraphs[:start]), "\n\n".join(paragraphs[start:])


def _without_examples(
    whole: str, labels: Sequence[str], known: Sequence[KnownText]
) -> tuple[str, list[tuple[str, str]]]:
    """What stands around the known texts that a label follows, and these with their labels.

    The line that the label stands in goes with its text.
    """
    if not labels:
        return whole, []
    pattern = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, sorted(labels, key=len, reverse=True)))})(?!\w)")
    examples = []
    for candidate in known:
        shown = next((value for value in candidate.telling if value in whole), "")
        if not shown:
            continue
        start = whole.index(shown) + len(shown)
        label = pattern.search(whole, start, start + _ANSWER_WITHIN)
        if label:
            examples.append((candidate.text, label[1]))
            line_end = whole.find("\n", label.end())
            whole = whole[:start] + (whole[line_end:] if line_end >= 0 else "")
            whole = _without(whole, candidate)
    return whole, examples
