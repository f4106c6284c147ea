"""What is rephrased: what the author marked, else the first instructions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from psopt.templates import Additions, read_template, render_template

from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ("good", "bad", "mixed")
PARTS = {
    "first paragraphs": ("Read the review.\n\nSay how it is.\n\nIt is from a shop.\n\nReview: {text}", 2),
    "no heading": ("# Judge the review\n\n[Say how it is.]\n\n{text}", 1),
    "no role alone": ("You are a judge of texts.\n\n[Judge the review.]\n\n{text}", 1),
    "role where nothing else is": ("[You are a judge of texts.]\n\n{text}", 1),
    "role within": ("[You are a judge. Judge the review.]\n\n{text}", 1),
    "no output line": ("[Judge the review.]\nAnswer with one word only.\n\n{text}", 1),
    "no output sentence": ("[Judge the review.] Respond as JSON with tone.\n\n{text}", 1),
    "no label list": ("Labels: good, bad, mixed\n\n[Judge the review.]\n\n{text}", 1),
    "labels within": ("[Judge whether the review is good, bad or mixed.]\n\n{text}", 1),
    "no JSON": ('[Judge the review.]\n{"tone": "good"}\n\n{text}', 1),
    "no fence": ("```\nJudge this not.\n```\n[Judge the review.]\n\n{text}", 1),
    "no tags": ("<task>[Judge the review.]</task>\n<text>{text}</text>", 1),
    "no examples": ("Examples:\nIs it good?\n\n# Task\n[Judge the review.]\n\n{text}", 1),
    "no shown review": ("[Judge it well.]\n\nReview: Judge me!\nLabel: bad\n\nReview: {text}\nLabel:", 1),
    "before a field": ("[Judge this review:] {text}", 1),
    "around a field": ("[Is the review {text} good or bad?] Answer with one word only.", 1),
    "question": ("[Which tone has the review?]\n\n{text}", 1),
    "task caption": ("Task: [judge the review.]\nReview: {text}", 1),
    "another language": ("[Ordne die Bewertung ein.]\n\n{text}", 1),
    "no spaces": ("[请判断以下评论的情感。]\n\n评论:{text}", 1),
    "list": ("- [Read the review.]\n- [Judge it.]\n\n{text}", 2),
    "broken line": ("[Judge the review, and\nanswer nothing else than you would.]\n\n{text}", 1),
    "marked": ("Judge.\n<rephrase>[One paragraph\nof two lines.]\n\n- [an item]\n- [another]\n</rephrase>\n{text}", 3),
    "marked within": ("Please <rephrase>[judge {text} now]</rephrase>, thanks.", 1),
}


@each("case", PARTS)
def test_the_instruction_is_found(tmp_path: Path, case: str) -> None:
    text, n_parts = PARTS[case]
    path = tmp_path / "prompt.txt"
    path.write_text(text.replace("[", "").replace("]", ""))
    prompt = read_template(path, ("text",), labels=LABELS, prompt_format="text")
    parts = prompt.description.split("\n\n")
    assert len(parts) == n_parts
    if "[" in text:
        assert parts == [piece.split("]")[0] for piece in text.split("[")[1:]]


def test_each_message_gives_its_first_instruction_but_no_turn_of_an_example(tmp_path: Path) -> None:
    chat = [
        {"role": "system", "content": "Judge reviews."},
        {"role": "user", "content": "Judge this review: Bah."},
        {"role": "assistant", "content": "Judge it bad."},
        {"role": "user", "content": "Say how this is: {text}"},
    ]
    (tmp_path / "chat.json").write_text(json.dumps(chat))
    prompt = read_template(tmp_path / "chat.json", ("text",), labels=LABELS)
    assert prompt.description == "Judge reviews."
    (tmp_path / "chat.json").write_text(json.dumps([chat[0], {"role": "user", "content": "Say how it is.\n\n{text}"}]))
    assert (
        read_template(tmp_path / "chat.json", ("text",), labels=LABELS).description
        == "Judge reviews.\n\nSay how it is."
    )


def test_a_rephrasing_keeps_the_fields_of_its_part(tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text("Please <rephrase>judge {{ text }} now</rephrase>, thanks.")
    prompt = read_template(path, ("text",), labels=LABELS)
    assert prompt.template is not None
    assert prompt.template.fields == ("text",)
    row = {"text": "{{ text }} {x}"}
    (message,) = render_template(prompt.template, "say how {{ text }} is", Additions(), row)
    assert message["content"] == "Please say how {{ text }} {x} is, thanks."
    with pytest.raises(ValueError, match=r"a rephrasing lost the field \{\{ text \}\}: 'say how it is'"):
        render_template(prompt.template, "say how it is", Additions(), row)
    with pytest.raises(ValueError, match="1 parts that are rephrased, and the description 2"):
        render_template(prompt.template, "a {{ text }}\n\nb", Additions(), row)
