"""From messages to the string that a model reads, and to tokens, up to where its answer begins."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import TemplateError
from psopt.errors import InputError, ModelError, first_line
from psopt.models.chat._dialect import alternating, without_system

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.search_spaces import Messages

    Tokens = list[int]

# A template that writes today's date would make answers change from day to day; this overrides that date.
_FIXED_DATE = (
    "{%- macro strftime_now(format) -%}{{ format | replace('%Y', '2025') | replace('%m', '01') | replace('%d', '01')"
    " | replace('%b', 'Jan') | replace('%B', 'January') }}{%- endmacro -%}"
)
# What a template is tried with, to see where it puts each part.
_SYSTEM = "Be brief."
_USER = "Label:"
_ANSWER = "Answer"
SAMPLE: Messages = [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": _USER}]


def common_length(sequences: Sequence[Any]) -> int:
    """Return the length of the longest beginning that all sequences, texts or lists, share.

    >>> common_length([[1, 2, 3], [1, 2], [1, 2, 4]])
    2
    """
    return len(os.path.commonprefix(list(sequences)))  # noqa: RUF071  # of no paths: item by item


class PromptTokenizer:
    """A tokenizer, and how its chat template must be used: found out by trying it on psopt's own messages.

    Raises ModelError if the template takes no conversation.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        # None without one: then the messages are joined by empty lines, and answers follow a space
        self._template: str | None = None
        # Whether the template refuses or drops a system message, so that it goes into the user's
        self._folds_system = False
        # What is cut off the end of the template's generation prompt, and what replaces it, so that the string ends
        # where a finished answer would begin: some templates open a reasoning block there, or leave out a header
        self.cut = self._added = ""
        self._opening: Tokens = []
        if tokenizer.chat_template is None:
            self._opening = _opening_tokens(tokenizer)
            return
        self._template = tokenizer.get_chat_template()
        if "strftime_now" in self._template:
            self._template = _FIXED_DATE + self._template
        try:
            self._folds_system = _SYSTEM not in self._render([SAMPLE])[0]
        except ModelError:
            self._folds_system = True
        self.cut, self._added = self._answer_opening(without_system(SAMPLE) if self._folds_system else SAMPLE)

    def _answer_opening(self, sample: Messages) -> tuple[str, str]:
        """How the beginning of a finished answer differs from the generation prompt: (cut, added)."""
        prompt = self._render([sample])[0]
        try:
            finished = [*sample, {"role": "assistant", "content": _ANSWER}]
            answered = self._render([finished], add_generation_prompt=False)[0]
        except ModelError:
            return "", ""
        beginning = answered[: answered.rfind(_ANSWER)]
        shared = common_length([prompt, beginning])
        if _ANSWER not in answered or shared < prompt.rfind(_USER) + len(_USER):
            return "", ""
        return prompt[shared:], beginning[shared:]

    def _render(self, conversations: Sequence[Messages], *, add_generation_prompt: bool = True) -> list[str]:
        try:
            return self._tokenizer.apply_chat_template(  # type: ignore[no-any-return]
                list(conversations),
                chat_template=self._template,
                tokenize=False,
                add_generation_prompt=add_generation_prompt,
                enable_thinking=False,  # where a template has this setting
            )
        except (TemplateError, TypeError, ValueError, KeyError) as error:
            raise ModelError(f"the model's chat template can't be used: {first_line(error)}") from error

    def write(self, conversations: Sequence[Messages]) -> list[str]:
        """Return each conversation as a string that a label can be appended to, also to what the assistant has begun.

        Turns that the template refuses are joined and folded. Raises ModelError if it does not take them then, either.
        """
        if self._template is None:
            return [_as_text(messages) + " " for messages in conversations]
        asked, begun = zip(*map(_parted, conversations), strict=True)
        usual = list(map(without_system, asked)) if self._folds_system else asked
        adapted = [usual, list(map(alternating, usual)), [alternating(without_system(messages)) for messages in asked]]
        refused = []
        for messages in adapted:
            try:
                rendered = self._render(messages)
                break
            except ModelError as error:
                refused.append(error)
        else:
            raise refused[0]
        return [text.removesuffix(self.cut) + self._added + end for text, end in zip(rendered, begun, strict=True)]

    def scored(
        self, conversations: Sequence[Messages], labels: Sequence[str], lead: str = "", asked: str = ""
    ) -> tuple[list[Tokens], LabelTree]:
        r"""Return the tokens of each conversation, up to where labels begin, and the labels that follow as a tree.

        `lead` precedes the label. `asked` is the end of the last turn, which an answer continues (``\nLabel:``): with a
        chat template it becomes the beginning of the answers. Raises InputError if a label is empty.

        A label is tokenized after the end of a short prompt: some tokenizers give a word another token at the start of
        a string. A prompt's last tokens that may merge with a label (the space of ``"Label: "``) are moved to it.
        """
        if nameless := [label for label in labels if not label.strip()]:
            raise InputError(f"label {nameless[0]!r} has no tokens: give every label a name")
        if asked and self._template is not None:
            conversations = [_moved_to_answers(messages, asked) for messages in conversations]
            lead = f"{asked.strip()} {lead}"
        begun = [message for message in conversations[0][-1:] if message["role"] == "assistant"]
        (written,) = self.write([[*SAMPLE, *begun]])
        written += lead
        (short,) = self._encode([written])
        together = self._encode([written + label.strip() for label in labels])
        n_shared = common_length([short, *together])
        endings = [sequence[n_shared:] for sequence in together]
        n_open = len(short) - n_shared
        prompts = self._encode([text + lead for text in self.write(conversations)])
        return [tokens[: len(tokens) - n_open] for tokens in prompts], label_tree(endings)

    def _encode(self, texts: list[str]) -> list[Tokens]:
        encoded = self._tokenizer(texts, add_special_tokens=False, truncation=False, verbose=False)
        return [self._opening + list(tokens) for tokens in encoded["input_ids"]]


def _moved_to_answers(messages: Messages, turn_end: str) -> Messages:
    """Move what asks for the answer from the end of each turn to the beginning of the answer that follows."""
    moved: Messages = []
    is_asked = False
    for message in messages:
        content = message["content"]
        if is_asked and message["role"] == "assistant":
            content = f"{turn_end.strip()} {content}"
        is_asked = message["role"] == "user" and content.endswith(turn_end)
        if is_asked:
            content = content.removesuffix(turn_end)
        moved.append({**message, "content": content})
    return moved


def _parted(messages: Messages) -> tuple[Messages, str]:
    """The turns before the answer, and what the assistant has already said of it."""
    last = messages[-1]
    if last["role"] == "assistant" and last["content"]:
        return messages[:-1], last["content"]
    return messages, ""


def _as_text(messages: Messages) -> str:
    text = ""
    for message in messages:
        joint = " " if message["role"] == "assistant" else "\n\n"
        text += joint * bool(text) + message["content"]
    return text


def _opening_tokens(tokenizer: Any) -> Tokens:
    """The special tokens that a tokenizer puts before a text."""
    (plain,) = tokenizer(["Label:"], add_special_tokens=False)["input_ids"]
    (special,) = tokenizer(["Label:"], add_special_tokens=True)["input_ids"]
    n_before = next((n for n in range(len(special)) if special[n : n + len(plain)] == plain), 0)
    return list(special[:n_before])


@dataclass(frozen=True, slots=True)
class LabelTree:
    """The tokens that must be read after a prompt to score every label.

    A token's log-probability is read at the node before it (0: the prompt's end), so a label's last token is no node.
    """

    # Token and parent of each node except the root; a parent comes before its children
    tokens: tuple[int, ...]
    parents: tuple[int, ...]
    # The steps, label after label: label, node, and the token that follows there
    labels: tuple[int, ...]
    nodes: tuple[int, ...]
    targets: tuple[int, ...]

    def paths(self) -> list[list[int]]:
        """Return the paths from the root to each leaf, as nodes; together they contain every node."""
        ways = [[0]]
        for node, parent in enumerate(self.parents, start=1):
            ways.append([*ways[parent], node])
        return [way for node, way in enumerate(ways) if node not in self.parents]

    def log_likelihoods(self, steps: NDArray[np.float64], *, per_token: bool) -> NDArray[np.float64]:
        """Return each label's log-probability, the sum or mean over its tokens: (n_texts, n_steps) to
        (n_texts, n_labels).
        """
        starts = np.flatnonzero(np.diff(self.labels, prepend=-1))
        totals = np.add.reduceat(steps, starts, axis=1)
        if per_token:
            totals = totals / np.bincount(self.labels)
        return np.asarray(totals, dtype=np.float64)


def label_tree(labels: Sequence[Sequence[int]]) -> LabelTree:
    """Build the tree of labels, given as tokens, at least one each.

    >>> tree = label_tree([[5], [5, 6], [7, 8, 9]])  # the first is a beginning of the second
    >>> tree.tokens, tree.parents, tree.paths()
    ((5, 7, 8), (0, 0, 2), [[0, 1], [0, 2, 3]])
    """
    node_of: dict[tuple[int, ...], int] = {(): 0}  # by the tokens on the path to it
    tokens: list[int] = []
    parents: list[int] = []
    steps: list[tuple[int, int, int]] = []
    for label, label_tokens in enumerate(labels):
        for n_read, target in enumerate(label_tokens):
            read = tuple(label_tokens[:n_read])
            if read not in node_of:
                node_of[read] = len(node_of)
                tokens.append(read[-1])
                parents.append(node_of[read[:-1]])
            steps.append((label, node_of[read], target))
    label_of, nodes, targets = zip(*steps, strict=True)
    return LabelTree(tuple(tokens), tuple(parents), label_of, nodes, targets)
