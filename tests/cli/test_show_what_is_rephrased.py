"""`psopt rephrase --show` says before any run what of a prompt is rephrased and what is kept."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from psopt.cli import main
from psopt.search_spaces import Prompt
from psopt.templates import Field, Message, Part, Slot, Template

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Show = Callable[..., tuple[int, str, str]]

MARKED = """\
<rephrase>Decide whether {subject} is "urgent". Sort the mail
by its team.</rephrase>

Answer with JSON only: {"team": ".."}

Mail: {{ body }}
"""
PROMPT = MARKED.replace("<rephrase>", "").replace("</rephrase>", "")


@pytest.fixture
def show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Show:
    """Run `psopt rephrase --show` in a folder with a prompt and data."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "prompt.txt").write_text(MARKED)
    rows = [f"s{i},mail {i},{'ab'[i % 2] * 3}" for i in range(30)]
    (tmp_path / "mail.csv").write_text("\n".join(["subject,body,team", *rows]) + "\n")

    def run(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(["rephrase", *words])
        shown = capsys.readouterr()
        return int(str(end.value.code)), shown.out, shown.err

    return run


def without_places(text: str) -> str:
    return re.sub(r"\n\n\{\{psopt\.\w+\}\}", "", text)


def test_a_pipe_gets_marks_around_what_is_rephrased(show: Show) -> None:
    code, out, err = show("--prompt", "prompt.txt", "--show")
    assert code == 0
    assert "{{psopt.notes}}" in out
    assert without_places(out) == MARKED
    assert "between <rephrase> and </rephrase>" in err
    assert "names in braces are taken for columns" in err


def test_with_data_columns_are_fields_and_other_braces_are_text(show: Show, tmp_path: Path) -> None:
    data = ["--dataset", "mail.csv", "--label-column", "team"]
    _, out, err = show("--prompt", "prompt.txt", "--show", *data)
    assert without_places(out) == MARKED
    assert "names in braces are taken" not in err
    code, out, err = show("--prompt", "prompt.txt", "--rephrasings", "4", "--heldout", "3", *data)
    assert code == 0
    texts = [entry["text"] for entry in (*json.loads(out)["search"], *json.loads(out)["heldout"])]
    assert texts[0] == MARKED[len("<rephrase>") : MARKED.index("</rephrase>")]
    assert len(set(texts)) == 7
    assert all("{subject}" in text and '"urgent"' in text for text in texts)
    (tmp_path / "wrong.txt").write_text(MARKED.replace("{{ body }}", "{bodi}"))
    code, _, err = show("--prompt", "wrong.txt", "--show", *data)
    assert code == 2
    assert "{bodi}" in err


def test_a_terminal_gets_colours(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = show("--prompt", "prompt.txt", "--show")
    assert "\x1b[1;32mDecide whether \x1b[0m\x1b[36m{subject}\x1b[0m" in out
    assert '\x1b[2m"urgent"\x1b[0m' in out
    assert "<rephrase>" not in out
    assert all(len(re.sub(r"\x1b\[[\d;]*m", "", line)) <= 80 for line in out.splitlines())
    monkeypatch.setenv("NO_COLOR", "1")
    _, out, _ = show("--prompt", "prompt.txt", "--show")
    assert without_places(out) == MARKED


def test_json_holds_every_stretch(show: Show) -> None:
    _, out, err = show("--prompt", "prompt.txt", "--show", "--json")
    assert err == ""
    data = json.loads(out)
    assert (data["format"], data["fields"], data["answer"]) == ("text", ["subject", "body"], "json:team")
    (message,) = data["messages"]
    stretches: list[dict[str, Any]] = message["content"]
    assert "".join(stretch["text"] for stretch in stretches if stretch["kind"] != "slot") == PROMPT
    assert {stretch["kind"] for stretch in stretches} == {"rephrased", "kept", "field", "slot"}
    assert {"text": "{subject}", "kind": "field", "passage": 0} in stretches
    assert {"text": "{{ body }}", "kind": "field"} in stretches


def test_a_description_is_shown_in_psopts_own_form(show: Show, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("Sort the mail.\n")
    _, out, _ = show("--prompt", "own.txt", "--show")
    assert "<rephrase>Sort the mail.</rephrase>\nAnswer with exactly one of these labels" in out


def test_a_prompt_of_a_run_is_shown_without_its_edits_which_is_said(show: Show, tmp_path: Path) -> None:
    template = Template((Message("user", (Part(0), Slot("notes", opening="\n\n"), "\n", Field("body", "{body}"))),))
    prompt = Prompt("Sort it.", ("aaa", "bbb"), notes=("Be exact.",), template=template)
    (tmp_path / "edited.json").write_text(json.dumps(prompt.to_dict()))
    _, out, err = show("--prompt", "edited.json", "--show")
    assert out == "<rephrase>Sort it.</rephrase>\n\n{{psopt.notes}}\n{body}\n"
    assert "What was added to it (1 edits)" in err


def test_a_prompt_of_which_nothing_is_rephrased_says_so(show: Show, tmp_path: Path) -> None:
    (tmp_path / "bare.txt").write_text("{body} Answer with JSON only.\n")
    code, _, err = show("--prompt", "bare.txt", "--show")
    assert code == 0
    assert "Nothing of it is rephrased: mark instructions" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--show"], "give --prompt too"),
        (["--prompt", "prompt.txt"], "Missing option '--dataset'"),
        (["--prompt", "prompt.txt", "--show", "--out", "r.json"], "leave --out out"),
        (["--prompt", "gone.txt", "--show"], "gone.txt can't be read"),
    ],
)
def test_what_makes_no_sense_is_said_in_one_line(show: Show, words: list[str], message: str) -> None:
    code, out, err = show(*words)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
