"""Whatever a prompt and the data hold: fields are filled once, everything else is sent as it was written."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st
from psopt.errors import InputError
from psopt.templates import (
    Additions,
    ReadTemplate,
    Template,
    fill_slots,
    read_template,
    render_template,
    write_template,
)

COLUMNS = ("a", "body", "text", "two words")
TOKENS = (
    *"{}\"'`<>#-: \n",
    "\r\n", "\n\n", "```", "{{", "}}", "{body}", "{{ body }}", "{{a}}", "{two words}", "{{psopt.notes}}", "{ body }",
    "<x>", "</x>", "Judge it. ", "Answer: ", "{nobody}", '{"a": 1}', "\u2028",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(TOKENS), max_size=25).map("".join)
VALUES = st.lists(st.sampled_from(TOKENS), max_size=6).map("".join)
FIELD = re.compile(r"\{\{[ \t]*(a|body|text|two words)[ \t]*\}\}|\{(a|body|text|two words)\}")
NOTE = Additions(notes=("A note.",))


def read(text: str) -> ReadTemplate:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "prompt.txt"
        path.write_bytes(text.encode())
        return read_template(path, COLUMNS, labels=("x", "y"), prompt_format="text")


def template_of(text: str) -> tuple[Template, str] | None:
    """A template; None where the text is refused."""
    try:
        prompt = read(text)
    except InputError:
        return None
    assert prompt.template is not None
    return prompt.template, prompt.description


@given(text=TEXTS, values=st.fixed_dictionaries(dict.fromkeys(COLUMNS, VALUES)))
@example(text="{body}{{{body}}}", values=dict.fromkeys(COLUMNS, "{a}"))
def test_a_text_is_sent_with_its_fields_replaced_once(text: str, values: dict[str, str]) -> None:
    made = template_of(f"Judge this now.\n{text}")
    if made is None:
        return
    (message,) = render_template(*made, Additions(), values)
    expected = FIELD.sub(lambda match: values[match[1] or match[2]], _without_places(f"Judge this now.\n{text}"))
    if not made[0].messages[0].pieces[-1:] or FIELD.search(text):
        assert message["content"] == expected
    else:
        assert message["content"].startswith(expected)
        assert message["content"].endswith(values["text"])


@given(text=TEXTS)
def test_what_is_shown_and_written_is_the_text(text: str) -> None:
    text = f"Judge this now.\n{text}"
    made = template_of(text)
    if made is None:
        return
    template, description = made
    assert write_template(template) == text
    assert Template.from_dict(template.to_dict()) == template
    if "psopt." not in text:
        assert write_template(fill_slots(template, description, Additions())) == text
    # What is added stands somewhere in the text, which is otherwise the same.
    written = write_template(fill_slots(template, description, NOTE))
    assert "A note." in written
    assert _is_subsequence(_without_places(text), written)


@given(text=TEXTS)
def test_marks_are_never_sent(text: str) -> None:
    made = template_of(f"Now: <rephrase>judge {text} it</rephrase> {text}")
    if made is not None:
        template, description = made
        written = write_template(fill_slots(template, description, Additions()))
        assert written == _without_places(f"Now: judge {text} it {text}")


def _without_places(text: str) -> str:
    """The text without its places for edits; one alone on its line goes with the line's end."""
    text = re.sub(r"^[ \t]*\{\{psopt\.notes\}\}[ \t\r]*(?:\n|\Z)", "", text, flags=re.MULTILINE)
    return text.replace("{{psopt.notes}}", "")


def _is_subsequence(short: str, long: str) -> bool:
    rest = iter(long)
    return all(character in rest for character in short)
