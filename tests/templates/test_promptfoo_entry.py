"""A further prompt in a promptfoo configuration, however its prompts are written; all else stays to the byte."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml
from psopt.errors import InputError
from psopt.templates import fill_slots, promptfoo_text, with_prompt

from tests.sweeps import each
from tests.templates.asking import NOTHING, read_text, template_of

if TYPE_CHECKING:
    from pathlib import Path

ADDED = "Sort the mail: \"A\" or 'B'.\n\n  # indented: {{x}} \U0001f600\n"
FILES = {
    "block": "a: 1 # c\nprompts:\n  - one\n  - two  # mine\nproviders: [x] # p\n",
    "block at the margin": "prompts:\n- one\n- |\n  two\n\n\n# p\nproviders: [x]\n",
    "objects": "prompts:\n  - id: file://a.txt\n    label: l # c\n# p\n\ntests: []\n",
    "flow": "prompts: [one, 'two'] # c\nproviders: [x]\n",
    "one": "prompts: file://prompt.txt  # c\nproviders: [x]\n",
    "one object": "prompts: {raw: one, label: l} # c\nproviders: [x]\n",
    "windows": "prompts:\r\n  - one\r\nproviders: [x]\r\n",
    "mark": "\ufeffprompts:\n  - one\n",
    "p.json": '{\n  "prompts": [\n    "one",\n    "two"\n  ],\n  "tests": []\n}\n',
}


@each("name", FILES)
def test_a_prompt_is_added_and_the_rest_stays(name: str, tmp_path: Path) -> None:
    path = tmp_path / (name if name.endswith(".json") else "promptfooconfig.yaml")
    path.write_bytes(FILES[name].encode())
    changed = with_prompt(path, ADDED, "psopt-1")
    before, after = yaml.safe_load(FILES[name]), yaml.safe_load(changed)
    stated = before["prompts"] if isinstance(before["prompts"], list) else [before["prompts"]]
    assert after == {**before, "prompts": [*stated, {"label": "psopt-1", "raw": ADDED}]}
    assert changed.count("# c") == FILES[name].count("# c")
    assert changed.count("# p") == FILES[name].count("# p")
    if name != "one":
        kept = iter(changed)
        assert all(sign in kept for sign in FILES[name])  # nothing of it is lost, and all in its order
    path.write_bytes(changed.encode())
    with pytest.raises(InputError, match="holds this prompt already"):
        with_prompt(path, ADDED, "psopt-2")


def test_the_text_is_what_is_sent_with_variables(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": text} for text in ("Sort the mail.", "{body}")]
    prompt = read_text(tmp_path / "p.json", json.dumps([{"role": "user", "content": parts}]), ["body"], ["a", "b"])
    assert promptfoo_text(fill_slots(template_of(prompt), prompt.description, NOTHING)) == "Sort the mail.\n{{body}}"
    bare = read_text(tmp_path / "p.txt", "Sort it: a or b.", ["body"], ["a", "b"])
    with pytest.raises(InputError, match="would never show it the text"):
        promptfoo_text(fill_slots(template_of(bare), bare.description, NOTHING))


def test_prompts_that_others_share_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("mine: &p\n  - one\nprompts: *p\n")
    with pytest.raises(InputError, match="put it there by hand"):
        with_prompt(tmp_path / "c.yaml", ADDED, "psopt-1")
    (tmp_path / "d.yaml").write_text("tests: []\n")
    with pytest.raises(InputError, match="is no promptfoo configuration"):
        with_prompt(tmp_path / "d.yaml", ADDED, "psopt-1")
