"""`psopt rephrase --show` says before any run what of a prompt is rephrased and what is kept."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.cli.telling import check_refused, check_says
from tests.commands import psopt

if TYPE_CHECKING:
    from pathlib import Path

MARKED = """\
<rephrase>Decide whether {subject} is "urgent". Sort the mail
by its team.</rephrase>

Answer with JSON only: {"team": ".."}

Mail: {{ body }}
"""
PROMPT = MARKED.replace("<rephrase>", "").replace("</rephrase>", "")
SHOW = ["rephrase", "--show", "--prompt"]
DATA = ["--dataset", "mail.csv", "--label-column", "team"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a prompt and data."""
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "prompt.txt").write_text(MARKED)
    rows = [f"s{i},mail {i},{'ab'[i % 2] * 3}" for i in range(30)]
    (tmp_path / "mail.csv").write_text("\n".join(["subject,body,team", *rows]) + "\n")
    return tmp_path


def without_places(text: str) -> str:
    return re.sub(r"\n\n\{\{psopt\.\w+\}\}", "", text)


def test_a_pipe_gets_marks_around_what_is_rephrased_and_with_data_columns_are_fields(folder: Path) -> None:
    done = psopt(folder, *SHOW, "prompt.txt", code=0)
    assert "{{psopt.notes}}" in done.stdout
    assert without_places(done.stdout) == MARKED
    check_says(done.stderr, "between <rephrase> and </rephrase>", "names in braces are taken for columns")
    done = psopt(folder, *SHOW, "prompt.txt", *DATA, code=0)
    assert without_places(done.stdout) == MARKED
    assert "names in braces are taken" not in done.stderr
    (folder / "wrong.txt").write_text(MARKED.replace("{{ body }}", "{bodi}"))
    assert "{bodi}" in psopt(folder, *SHOW, "wrong.txt", *DATA, code=2).stderr


def test_what_is_shown_is_what_is_rephrased(folder: Path) -> None:
    sizes = ["--rephrasings", "4", "--heldout", "3"]
    found = json.loads(psopt(folder, "rephrase", "--prompt", "prompt.txt", *sizes, *DATA, code=0).stdout)
    texts = [entry["text"] for entry in (*found["search"], *found["heldout"])]
    assert texts[0] == MARKED[len("<rephrase>") : MARKED.index("</rephrase>")]
    assert len(set(texts)) == 7
    assert all("{subject}" in text and '"urgent"' in text for text in texts)


def test_json_holds_every_stretch(folder: Path) -> None:
    done = psopt(folder, *SHOW, "prompt.txt", "--json")
    assert done.stderr == ""
    data = json.loads(done.stdout)
    assert (data["format"], data["fields"], data["answer"]) == ("text", ["subject", "body"], "json:team")
    (message,) = data["messages"]
    stretches = message["content"]
    assert "".join(stretch["text"] for stretch in stretches if stretch["kind"] != "slot") == PROMPT
    assert {stretch["kind"] for stretch in stretches} == {"rephrased", "kept", "field", "slot"}
    assert {"text": "{subject}", "kind": "field", "passage": 0} in stretches
    assert {"text": "{{ body }}", "kind": "field"} in stretches


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rephrase", "--show"], "give --prompt too"),
        (["rephrase", "--prompt", "prompt.txt"], "Missing option '--dataset'"),
        ([*SHOW, "prompt.txt", "--out", "r.json"], "leave --out out"),
        ([*SHOW, "gone.txt"], "gone.txt can't be read"),
    ],
)
def test_what_makes_no_sense_is_said_in_one_line(folder: Path, words: list[str], message: str) -> None:
    check_refused(psopt(folder, *words), message)
