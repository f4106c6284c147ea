"""`--probe`: texts of the user's own that the original and the recommended prompt are put to at the end."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING

import pytest

from tests.commands import exit_code
from tests.tracking.small_runs import arguments

if TYPE_CHECKING:
    from pathlib import Path

QUESTIONS = ("How far is the moon ?,Number", "Who wrote Faust ?,Person", "Where is Lima ?,Location")


@pytest.mark.parametrize("is_labelled", [True, False])
def test_the_screen_run_json_and_the_report_say_how_both_prompts_fare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], is_labelled: bool
) -> None:
    rows = ["text,label", *QUESTIONS] if is_labelled else ["text", *(row.split(",")[0] for row in QUESTIONS)]
    path = tmp_path / "probe.csv"
    path.write_text("\n".join(rows) + "\n", "utf-8")
    assert exit_code(*arguments(tmp_path, "--gate", "off", "--trials", "2", "--probe", str(path))) == 0
    probe = json.loads((tmp_path / "run" / "run.json").read_text())["probe"]
    assert probe["n_texts"] == 3
    assert ("f1" in probe["original"]) == ("f1" in probe["recommended"]) == is_labelled
    report = html.unescape((tmp_path / "run" / "report.html").read_text())
    for text in (capsys.readouterr().out, report):
        assert f"On the 3 texts of {path}: {'F1' if is_labelled else 'S'} " in " ".join(text.split())


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "there is no such file"), ("text,label\nx,Foo\n", "'Foo' is none of the task's labels"), ("", "probe.csv")],
)
def test_a_file_that_cannot_be_used_is_refused_before_anything_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, said: str
) -> None:
    path = tmp_path / "probe.csv"
    if content is not None:
        path.write_text(content, "utf-8")
    assert exit_code(*arguments(tmp_path, "--probe", str(path))) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
