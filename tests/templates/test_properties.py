"""Whatever a prompt and the data hold: fields are filled once, everything else is sent as it was written."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st
from psopt.errors import InputError
from psopt.templates import Additions, ReadTemplate, Template, write_template

from tests.templates.asking import asked, read_text, template_of, written

COLUMNS = ("a", "body", "text", "two words")
TOKENS = (
    *"{}\"'`<>#-: \n",
    "\r\n", "\n\n", "```", "{{", "}}", "{body}", "{{ body }}", "{{a}}", "{two words}", "{{psopt.notes}}", "{ body }",
    "<x>", "</x>", "Judge it. ", "Answer: ", "{nobody}", '{"a": 1}', "\u2028",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(TOKENS), max_size=25).map("".join)
VALUES = st.lists(st.sampled_from(TOKENS), max_size=6).map("".join)
FIELD = re.compile(r"\{\{[ \t]*(a|body|text|two words)[ \t]*\}\}|\{(a|body|text|two words)\}")


def read(text: str) -> ReadTemplate | None:
    """A prompt; None where the text is refused."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return read_text(Path(folder) / "prompt.txt", text, COLUMNS, ("x", "y"), prompt_format="text")
        except InputError:
            return None


@given(text=TEXTS, values=st.fixed_dictionaries(dict.fromkeys(COLUMNS, VALUES)))
@example(text="{body}{{{body}}}", values=dict.fromkeys(COLUMNS, "{a}"))
def test_a_text_is_sent_with_its_fields_replaced_once(text: str, values: dict[str, str]) -> None:
    prompt = read(f"Judge this now.\n{text}")
    if prompt is None:
        return
    (content,) = asked(prompt, values)
    expected = FIELD.sub(lambda match: values[match[1] or match[2]], _without_places(f"Judge this now.\n{text}"))
    if FIELD.search(text):
        assert content == expected
    else:
        assert content.startswith(expected)
        assert content.endswith(values["text"])


@given(text=TEXTS)
def test_what_is_shown_and_written_is_the_text(text: str) -> None:
    text = f"Judge this now.\n{text}"
    prompt = read(text)
    if prompt is None:
        return
    template = template_of(prompt)
    assert write_template(template) == text
    assert Template.from_dict(template.to_dict()) == template
    if "psopt." not in text:
        assert written(prompt) == text
    # What is added stands somewhere in the text, which is otherwise the same.
    edited = written(prompt, Additions(notes=("A note.",)))
    assert "A note." in edited
    rest = iter(edited)
    assert all(character in rest for character in _without_places(text))


def _without_places(text: str) -> str:
    """The text without its places for edits; one alone on its line goes with the line's end."""
    text = re.sub(r"^[ \t]*\{\{psopt\.notes\}\}[ \t\r]*(?:\n|\Z)", "", text, flags=re.MULTILINE)
    return text.replace("{{psopt.notes}}", "")
