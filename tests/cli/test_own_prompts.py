"""--prompt takes what people have in production: it is said how it was read; what can't be used ends in one line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.commands import exit_code
from tests.mails import LABELS, SHAPES, make_mails

if TYPE_CHECKING:
    from pathlib import Path

SIM = "sim/accuracy=0.7,wobble=0.3"
DATA = ["--dataset", "mails.csv", "--label-column", "team"]
MODEL = ["--model", SIM, "--rephrasings", "3", "--samples", "8"]
RUN = [*MODEL, "--trials", "2", "--rounds", "1", "--leave-one-out", "0", "--out", "run"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(tmp_path / "cache"))
    return make_mails(tmp_path)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_check_says_how_the_prompt_was_read(shape: str, capsys: pytest.CaptureFixture[str]) -> None:
    inputs = ["--input", "subject", "--input", "body"] if shape == "bare.md" else []
    assert exit_code("check", *DATA, *MODEL, "--prompt", shape, *inputs, "--min-f1", "0") == 0
    lines = capsys.readouterr().err.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert lines[0].startswith(f"prompt {shape}: format ")
    said = " ".join(line.strip() for line in lines)
    assert ("text goes to its end" in said) == (shape == "bare.md")
    assert "answers are read as json:team" in said if shape in {"mail.json", "mail.yaml"} else "read as label" in said
    assert f"fields: {'text' if shape == 'bare.md' else 'subject, body'}" in said
    assert "rephrased: '" in said


@pytest.mark.usefixtures("folder")
def test_prompts_of_several_shapes_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    prompts = [word for shape in SHAPES for word in ("--prompt", shape)]
    assert exit_code("compare", *DATA, *MODEL, *prompts, "--json") == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert [result["prompt"] for result in json.loads(shown.out)] == list(SHAPES)


def test_a_run_keeps_prompt_and_inputs_and_is_resumed_without_the_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = ["--prompt", "mail.json", "--answer", "last-line"]
    assert exit_code("optimize", *DATA, *RUN, *own, "--dry-run") == 0
    assert not (folder / "run").exists()
    assert exit_code("optimize", *DATA, *RUN, *own) == 0
    assert "format openai" in capsys.readouterr().err
    run = json.loads((folder / "run" / "run.json").read_text())
    assert run["prompt_source"] == {"format": "openai", "file": "mail.json", "fields": ["subject", "body"]}
    settings = run["settings"]
    assert settings["inputs"] == ["subject", "body"]
    assert settings["prompt_file"] == "mail.json"
    assert settings["prompt"]["template"]["answer"] == "last-line"
    (folder / "mail.json").unlink()
    assert exit_code("resume", "run", "--trials", "3") == 0
    assert "prompt mail.json, as the run keeps it" in capsys.readouterr().err
    run = json.loads((folder / "run" / "run.json").read_text())
    assert run["finish_reason"] in {"trials", "exhausted"}
    prompt = json.loads((folder / "run" / "prompts" / f"{run['baseline']['id']}.json").read_text())
    assert prompt["template"] == settings["prompt"]["template"]
    kept = f"run/prompts/{run['baseline']['id']}.json"
    assert exit_code("diagnose", *DATA, "--prompt", kept, "--rephrasings", "2", "--samples", "4") == 0
    assert f"model {SIM}, as in run" in capsys.readouterr().err


FAULTS: dict[str, tuple[list[str], str]] = {
    "no such file": (["--prompt", "none.txt"], "none.txt can't be read"),
    "a typo": (["--prompt", "mial.txt"], "did you mean"),
    "no such function": (["--prompt", "mail_prompt:promt"], "promt"),
    "other labels": (["--prompt", "other.json"], "is for the labels a, b; the data have billing, sales"),
    "a field that is no column": (["--prompt", "field.txt"], "names {titel}, and the data have no such column"),
    "no such format": (["--prompt", "mail.txt", "--prompt-format", "latex"], "latex"),
    "no such answer": (["--prompt", "mail.txt", "--answer", "yaml:team"], "yaml:team"),
    "psopt's own form": (["--prompt", "own.json", "--answer", "json:team"], "own.json is in psopt's own form"),
    "no schema": (["--prompt", "mail.txt", "--response-format", "other.json"], "--response-format other.json"),
    "no schema file": (["--prompt", "mail.txt", "--response-format", "no.json"], "no.json can't be read"),
    "no column": (["--prompt", "mail.txt", "--input", "titel"], "has no column 'titel'"),
    "the label": (["--input", "subject", "--input", "team"], "column 'team' can't hold both"),
    "a strategy": (["--prompt", "mail.txt", "--strategy", "simple"], "leave one of them out"),
    "no prompt": (["--answer", "json:team"], "give --prompt too"),
    "a layout": (["--prompt", "mail.txt", "--vary", "format"], "format"),
}


@pytest.mark.parametrize("verb", ["optimize", "check"])
@pytest.mark.parametrize("fault", FAULTS)
def test_what_can_t_be_used_ends_in_one_line_and_writes_nothing(
    verb: str, fault: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "other.json").write_text(json.dumps({"description": "Sort.", "labels": ["a", "b"]}))
    (folder / "own.json").write_text(json.dumps({"description": "Sort.", "labels": list(LABELS)}))
    (folder / "field.txt").write_text("Is it billing or sales?\n\n{titel}\n{body}")
    before = sorted(folder.iterdir())
    options, said = FAULTS[fault]
    given = RUN if verb == "optimize" else [*MODEL, "--min-f1", "0"]
    assert exit_code(verb, *DATA, *given, *options) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    lines = shown.err.splitlines()
    assert said in lines[-1]
    assert len(lines) == 1 or fault == "a layout"  # that is seen after it was said how the prompt was read
    assert [path for path in sorted(folder.iterdir()) if path.name not in {"cache", "__pycache__"}] == before


def test_a_program_has_a_prompt_of_its_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("dspy", reason="the extra `dspy` is not installed")
    assert exit_code("optimize", *DATA, *RUN, "--prompt", "mail.txt", "--program", "mine:program") == 2
    assert "--prompt means nothing for a --program" in capsys.readouterr().err
    assert not (folder / "run").exists()
