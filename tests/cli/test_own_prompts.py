"""--prompt takes what people have in production: it is said how it was read, and shown what of it is rephrased."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.cli.limited_runs import read
from tests.cli.telling import check_refused, check_says
from tests.commands import psopt
from tests.mails import LABELS, SHAPES, make_mails
from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path

SIM = "sim/accuracy=0.7,wobble=0.3"
DATA = ["--dataset", "mails.csv", "--label-column", "team"]
MODEL = ["--model", SIM, "--rephrasings", "3", "--samples", "8"]
RUN = ["optimize", *DATA, *MODEL, "--trials", "2", "--rounds", "1", "--leave-one-out", "0", "--out", "run"]
CHECK = ["check", *DATA, *MODEL, "--min-f1", "0"]
MARKED = """\
<rephrase>Decide whether {subject} is "urgent". Sort the mail
by its team.</rephrase>

Answer with JSON only: {"team": ".."}

Mail: {{ body }}
"""
SHOW = ["rephrase", "--show", "--prompt"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    (tmp_path / "other.json").write_text(json.dumps({"description": "Sort.", "labels": ["a", "b"]}))
    (tmp_path / "own.json").write_text(json.dumps({"description": "Sort.", "labels": list(LABELS)}))
    (tmp_path / "marked.txt").write_text(MARKED)
    (tmp_path / "field.txt").write_text("Is it billing or sales?\n\n{titel}\n{body}")
    return make_mails(tmp_path)


def test_checks_say_how_prompts_of_each_shape_were_read_and_these_are_compared(folder: Path) -> None:
    for shape in SHAPES:
        is_bare = shape == "bare.md"
        inputs = ["--input", "subject", "--input", "body"] if is_bare else []
        said = psopt(folder, *CHECK, "--prompt", shape, *inputs, code=0).stderr
        assert all(len(line) <= 80 for line in said.splitlines())
        assert said.startswith(f"prompt {shape}: format ")
        read_as = "answers are read as json:team" if shape in {"mail.json", "mail.yaml"} else "read as label"
        check_says(said, read_as, f"fields: {'text' if is_bare else 'subject, body'}", "rephrased: '")
        assert ("text goes to its end" in " ".join(said.split())) == is_bare
    prompts = [f"--prompt={shape}" for shape in SHAPES]
    shown = psopt(folder, "compare", *DATA, *MODEL, *prompts, "--json", code=0)
    assert shown.stderr == ""
    assert [result["prompt"] for result in json.loads(shown.stdout)] == list(SHAPES)


def test_a_run_keeps_prompt_and_inputs_and_is_resumed_without_the_file(folder: Path) -> None:
    own = ["--prompt", "mail.json", "--answer", "last-line"]
    psopt(folder, *RUN, *own, "--dry-run", code=0)
    assert not (folder / "run").exists()
    assert "format openai" in psopt(folder, *RUN, *own, code=0).stderr
    run = read(folder)
    assert run["prompt_source"] == {"format": "openai", "file": "mail.json", "fields": ["subject", "body"]}
    settings = run["settings"]
    assert (settings["inputs"], settings["prompt_file"]) == (["subject", "body"], "mail.json")
    assert settings["prompt"]["template"]["answer"] == "last-line"
    (folder / "mail.json").unlink()
    resumed = psopt(folder, "resume", "run", "--trials", "3", code=0)
    assert "prompt mail.json, as the run keeps it" in resumed.stderr
    run = read(folder)
    assert run["finish_reason"] in {"trials", "exhausted"}
    kept = f"prompts/{run['baseline']['id']}.json"
    assert read(folder, kept)["template"] == settings["prompt"]["template"]
    done = psopt(folder, "diagnose", *DATA, "--prompt", f"run/{kept}", "--rephrasings", "2", "--samples", "4", code=0)
    assert f"model {SIM}, as in run" in done.stderr


@each(
    "options, said",
    [
        ("--prompt mial.txt", "did you mean"),
        ("--prompt other.json", "is for the labels a, b; the data have billing, sales"),
        ("--prompt field.txt", "names {titel}, and the data have no such column"),
        ("--prompt mail.txt --answer yaml:team", "yaml:team"),
        ("--prompt own.json --answer json:team", "own.json is in psopt's own form"),
        ("--prompt mail.txt --response-format other.json", "--response-format other.json"),
        ("--input subject --input team", "column 'team' can't hold both"),
        ("--prompt mail.txt --strategy simple", "leave one of them out"),
        ("--answer json:team", "give --prompt too"),
        ("--prompt mail.txt --vary format", "format"),
    ],
)
def test_what_can_t_be_used_ends_in_one_line_and_writes_nothing(options: str, said: str, folder: Path) -> None:
    before = {path.name for path in folder.iterdir()}
    for words in (RUN, CHECK):
        # a layout is refused after it was said how the prompt was read
        check_refused(psopt(folder, *words, *options.split()), said, alone="--vary" not in options)
    assert {path.name for path in folder.iterdir()} - before <= {"cache", "__pycache__"}


def test_what_is_rephrased_is_shown_in_a_pipe_between_marks_and_as_json_by_stretches(folder: Path) -> None:
    done = psopt(folder, *SHOW, "marked.txt", code=0)
    assert re.sub(r"\n\n\{\{psopt\.\w+\}\}", "", done.stdout) == MARKED  # without the places of what is added
    assert "{{psopt.notes}}" in done.stdout
    check_says(done.stderr, "between <rephrase> and </rephrase>", "names in braces are taken for columns")
    with_data = psopt(folder, *SHOW, "marked.txt", *DATA, code=0)
    assert with_data.stdout == done.stdout
    assert "names in braces are taken" not in with_data.stderr
    done = psopt(folder, *SHOW, "marked.txt", "--json")
    assert done.stderr == ""
    data = json.loads(done.stdout)
    assert (data["format"], data["fields"], data["answer"]) == ("text", ["subject", "body"], "json:team")
    (message,) = data["messages"]
    stretches = message["content"]
    shown = "".join(stretch["text"] for stretch in stretches if stretch["kind"] != "slot")
    assert shown == MARKED.replace("<rephrase>", "").replace("</rephrase>", "")
    assert {stretch["kind"] for stretch in stretches} == {"rephrased", "kept", "field", "slot"}
    assert {"text": "{subject}", "kind": "field", "passage": 0} in stretches
    assert {"text": "{{ body }}", "kind": "field"} in stretches


def test_what_is_shown_is_what_is_rephrased(folder: Path) -> None:
    sizes = ["--rephrasings", "4", "--heldout", "3"]
    found = json.loads(psopt(folder, "rephrase", "--prompt", "marked.txt", *sizes, *DATA, code=0).stdout)
    texts = [entry["text"] for entry in (*found["search"], *found["heldout"])]
    assert texts[0] == MARKED[len("<rephrase>") : MARKED.index("</rephrase>")]
    assert len(set(texts)) == 7
    assert all("{subject}" in text and '"urgent"' in text for text in texts)


@each(
    "words, message",
    [
        (["rephrase", "--show"], "give --prompt too"),
        (["rephrase", "--prompt", "marked.txt"], "Missing option '--dataset'"),
        ([*SHOW, "marked.txt", "--out", "r.json"], "leave --out out"),
        ([*SHOW, "gone.txt"], "gone.txt can't be read"),
        ([*SHOW, "field.txt", *DATA], "{titel}"),
    ],
)
def test_what_can_t_be_shown_is_said_in_one_line(folder: Path, words: list[str], message: str) -> None:
    check_refused(psopt(folder, *words), message)
