"""From messages to the string that a model reads, up to the place where its answer begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jinja2 import TemplateError
from psopt.errors import ModelError, first_line
from psopt.models.chat._features import alternating, without_system
from psopt.models.scoring._common_prefix import common_length

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
    """How a tokenizer's chat template is used."""

    tokenizer: Any
    # None for a tokenizer without one: then the messages are joined by empty lines, and the answer follows a space
    template: str | None
    # Whether the template refuses or drops a system message, so that it goes into the user's
    folds_system: bool = False
    # What is taken off the end of the template's generation prompt and what takes its place, so that the string ends as
    # a finished answer's beginning does: templates open a reasoning block there, or leave out a header
    cut: str = ""
    added: str = ""

    def write(self, conversations: Sequence[Messages]) -> list[str]:
        """Return each conversation as a string that a label can be appended to.

        A conversation that ends with the assistant's turn has its answer begun there.

        Raises ModelError if the template does not take the conversations.
        """
        if self.template is None:
            return ["\n\n".join(message["content"] for message in messages) + " " for messages in conversations]
        begun = [_begun_answer(messages) for messages in conversations]
        rendered = self._rendered([messages[:-1] if begun[i] else messages for i, messages in enumerate(conversations)])
        endings = [self.added + beginning for beginning in begun]
        return [text.removesuffix(self.cut) + ending for text, ending in zip(rendered, endings, strict=True)]

    def _rendered(self, conversations: Sequence[Messages]) -> list[str]:
        """Fill in the template, with what it refuses joined and folded; messages of psopt's own it has taken before."""
        fold = without_system if self.folds_system else _as_it_is
        refused: ModelError | None = None
        for adapt in (fold, lambda messages: alternating(fold(messages)), _alternating_without_system):
            try:
                return _render(self.tokenizer, self.template or "", [adapt(messages) for messages in conversations])
            except ModelError as error:
                refused = refused or error
        raise refused or ModelError("the model's chat template can't be used")


def find_format(tokenizer: Any) -> ChatFormat:
    """Find out how a tokenizer's template wants to be used, by trying it.

    Raises ModelError if the template takes neither form of a conversation.
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
    sample = without_system(SAMPLE) if folds_system else SAMPLE
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


def _begun_answer(conversation: Messages) -> str:
    return conversation[-1]["content"] if conversation[-1]["role"] == "assistant" else ""


def _as_it_is(conversation: Messages) -> Messages:
    return conversation


def _alternating_without_system(conversation: Messages) -> Messages:
    return alternating(without_system(conversation))
