"""From messages to the string that a model reads, up to the place where its answer begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jinja2 import TemplateError
from psopt.errors import ModelError
from psopt.models.hf._common_prefix import common_length
from psopt.models.hf._loading import first_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.search_spaces import Messages

# A template that writes today's date would make answers change from day to day; this shadows the date it is given.
_FIXED_DATE = (
    "{%- macro strftime_now(format) -%}{{ format | replace('%Y', '2025') | replace('%m', '01') | replace('%d', '01')"
    " | replace('%b', 'Jan') | replace('%B', 'January') }}{%- endmacro -%}"
)
# What a template is tried with, to see where it puts them.
_SYSTEM = "Be brief."
_USER = "Label:"
_ANSWER = "Answer"
SAMPLE: Messages = [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": _USER}]


@dataclass(frozen=True, slots=True)
class ChatFormat:
    """How a tokenizer's chat template is used.

    Attributes
    ----------
    tokenizer : PreTrainedTokenizerBase
    template : str or None
        None for a tokenizer without one: then the messages are joined by empty lines, and the answer follows a space.
    folds_system : bool
        Whether the template refuses or drops a system message, so that it goes into the user's.
    cut, added : str
        What is taken off the end of the template's generation prompt and what takes its place, so that the string
        ends as a finished answer's beginning does: templates open a reasoning block there, or leave out a header.
    """

    tokenizer: Any
    template: str | None
    folds_system: bool = False
    cut: str = ""
    added: str = ""

    def write(self, conversations: Sequence[Messages]) -> list[str]:
        """Return each conversation as a string that a label can be appended to.

        Raises
        ------
        ModelError
            If the template does not take the conversations.
        """
        if self.template is None:
            return ["\n\n".join(message["content"] for message in messages) + " " for messages in conversations]
        rendered = _render(self.tokenizer, self.template, [self._folded(messages) for messages in conversations])
        return [text.removesuffix(self.cut) + self.added for text in rendered]

    def _folded(self, conversation: Messages) -> Messages:
        return _fold_system(conversation) if self.folds_system else conversation


def find_format(tokenizer: Any) -> ChatFormat:
    """Find out how a tokenizer's template wants to be used, by trying it.

    Raises
    ------
    ModelError
        If the template takes neither form of a conversation.
    """
    if tokenizer.chat_template is None:
        return ChatFormat(tokenizer, None)
    template = tokenizer.get_chat_template()
    if "strftime_now" in template:
        template = _FIXED_DATE + template
    try:
        folds_system = _SYSTEM not in _render(tokenizer, template, [SAMPLE])[0]
    except ModelError:
        folds_system = True
    sample = _fold_system(SAMPLE) if folds_system else SAMPLE
    return ChatFormat(tokenizer, template, folds_system, *_answer_opening(tokenizer, template, sample))


def _answer_opening(tokenizer: Any, template: str, sample: Messages) -> tuple[str, str]:
    """How the beginning of a finished answer differs from the generation prompt: (cut, added)."""
    prompt = _render(tokenizer, template, [sample])[0]
    try:
        finished = [*sample, {"role": "assistant", "content": _ANSWER}]
        answered = _render(tokenizer, template, [finished], add_generation_prompt=False)[0]
    except ModelError:
        return "", ""
    beginning = answered[: answered.rfind(_ANSWER)]
    shared = common_length([prompt, beginning])
    if _ANSWER not in answered or shared < prompt.rfind(_USER) + len(_USER):
        return "", ""
    return prompt[shared:], beginning[shared:]


def _render(
    tokenizer: Any, template: str, conversations: Sequence[Messages], *, add_generation_prompt: bool = True
) -> list[str]:
    try:
        return tokenizer.apply_chat_template(  # type: ignore[no-any-return]
            list(conversations),
            chat_template=template,
            tokenize=False,
            add_generation_prompt=add_generation_prompt,
            enable_thinking=False,  # where a template knows the word
        )
    except (TemplateError, TypeError, ValueError, KeyError) as error:
        raise ModelError(f"the model's chat template can't be used: {first_line(error)}") from error


def _fold_system(conversation: Messages) -> Messages:
    """Put the system message before the first user message, in one."""
    if conversation[0]["role"] != "system":
        return conversation
    system, first, *rest = conversation
    return [{"role": "user", "content": f"{system['content']}\n\n{first['content']}"}, *rest]
