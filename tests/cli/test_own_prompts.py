"""Prompts, wordings and texts of one's own.

--prompt takes what people have in production: it is said how it was read, and shown what of it is rephrased. Wordings
are to search and test with, those of another source to test with beside.
"""

from __future__ import annotations

import html
import json
import re
from itertools import cycle
from pathlib import Path

import pytest
from psopt.errors import InputError
from psopt.rephrasings import given_wordings
from psopt.search_spaces import Example, Prompt
from psopt.tasks import load_task

from tests.cli.limited_runs import read
from tests.cli.telling import check_refused, check_says
from tests.commands import psopt
from tests.fake_server import FakeServer
from tests.mails import LABELS, SHAPES, make_mails
from tests.sweeps import each
from tests.tracking.small_runs import arguments, optimize

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


PEOPLE = (
    "Tell me what sort of answer each question wants.",
    "what kind of thing is the person asking about here?",
    "Put every question in the bucket of its answer.",
)
QUESTIONS = ("How far is the moon ?,Number", "Who wrote Faust ?,Person", "Where is Lima ?,Location")


@pytest.fixture
def wordings(tmp_path: Path) -> Path:
    path = tmp_path / "people.txt"
    path.write_text("\n\n".join([*PEOPLE, PEOPLE[0].upper()]) + "\n", "utf-8")
    return path


def report(folder: Path) -> str:
    return html.unescape((folder / "run" / "report.html").read_text())


def test_the_screen_run_json_and_the_report_say_both_and_a_resumed_run_needs_the_file_no_more(
    tmp_path: Path, wordings: Path
) -> None:
    done = psopt(tmp_path, *arguments(tmp_path, "--gate", "off", "--heldout-from", str(wordings)), code=0)
    run = read(tmp_path)
    other = run["other_wordings"]
    assert other["wordings"] == list(PEOPLE)
    assert other["id"] == run["recommended"]["id"]
    assert set(other["differences"]) == {"f1", "sensitivity", "consistency"}
    sensitivity = other["differences"]["sensitivity"]
    assert sensitivity["low"] <= sensitivity["after"] - sensitivity["before"] <= sensitivity["high"]
    assert sensitivity["before"] == other["baseline"]["sensitivity"]
    assert other["own_sensitivity"]["before"] == run["baseline"]["test"]["sensitivity"]
    said = f"S {100 * sensitivity['before']:.1f} -> {100 * sensitivity['after']:.1f}"
    for text in (done.stdout, report(tmp_path)):
        check_says(text, f"Under 3 wordings of {wordings}", said)
    wordings.unlink()
    psopt(tmp_path, "resume", "run", "--trials", "6", code=0)
    run = read(tmp_path)
    assert run["settings"]["trials"] == 6
    assert run["other_wordings"]["wordings"] == list(PEOPLE)


def test_texts_in_python_and_a_baseline_that_is_kept(tmp_path: Path) -> None:
    # of equal prompts none is better for sure
    path = tmp_path / "people.json"
    path.write_text(json.dumps({"original": "x", "search": ["x", *PEOPLE], "heldout": []}), "utf-8")
    assert given_wordings(path) == (PEOPLE, str(path))
    wordings = [*PEOPLE, load_task("trec").description]
    run = optimize(tmp_path / "run", model="sim/accuracy=1,wobble=0", heldout_from=wordings)
    other = read(tmp_path)["other_wordings"]
    assert run.recommended.id == run.baseline.id
    assert other["n_wordings"] == 3  # the prompt's own is none of another source
    assert other["source"] == "another source"


def test_a_wording_must_have_the_parts_of_the_prompt_and_its_labels(tmp_path: Path) -> None:
    parts = "Sort the question.\nQuestion: {text}\nAnswer with one label."
    named = "Does it ask for an Abbreviation, an Entity, a Description, a Person, a Location or a Number?\n{text}"
    for prompt, further, said in (
        (parts, "One.\n\nTwo.", ""),
        (named, "What is asked for?", "the rephrasing .* drops"),
    ):
        with pytest.raises(InputError, match=f"heldout_from: {said}"):
            optimize(tmp_path / "run", prompt=prompt, heldout_from=[*PEOPLE, further])


@pytest.mark.parametrize("is_labelled", [True, False])
def test_the_screen_run_json_and_the_report_say_how_both_prompts_fare_on_ones_own_texts(
    tmp_path: Path, is_labelled: bool
) -> None:
    rows = ["text,label", *QUESTIONS] if is_labelled else ["text", *(row.split(",")[0] for row in QUESTIONS)]
    path = tmp_path / "probe.csv"
    path.write_text("\n".join(rows) + "\n", "utf-8")
    done = psopt(tmp_path, *arguments(tmp_path, "--gate", "off", "--trials", "2", "--probe", str(path)), code=0)
    probe = read(tmp_path)["probe"]
    assert probe["n_texts"] == 3
    assert ("f1" in probe["original"]) == ("f1" in probe["recommended"]) == is_labelled
    for text in (done.stdout, report(tmp_path)):
        check_says(text, f"On the 3 texts of {path}: {'F1' if is_labelled else 'S'} ")


@each(
    "option, name, content, said",
    [
        ("--heldout-from", "people.txt", b"only one\n", "needs 2 wordings or more beside the prompt's own, and has 1"),
        ("--heldout-from", "people.json", b'{"a": 1}', "expected a list of texts, or a rephrasings.json"),
        ("--heldout-from", "empty.txt", b" \n", "empty.txt holds no wording: write one per line"),
        ("--heldout-from", "missing.txt", None, "can't be read"),
        ("--probe", "probe.csv", None, "there is no such file"),
        ("--probe", "probe.csv", b"text,label\nx,Foo\n", "'Foo' is none of the labels"),
    ],
)
def test_what_can_t_be_used_is_one_line_before_anything_is_asked(
    tmp_path: Path, option: str, name: str, content: bytes | None, said: str
) -> None:
    (tmp_path / name).unlink(missing_ok=True)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    check_refused(psopt(tmp_path, *arguments(tmp_path, option, str(tmp_path / name))), said)
    assert not (tmp_path / "run").exists()


TEAMS = {"Pagos": "reembolso pendiente", "Envíos": "paquete perdido"}
PROMPT = "¿Qué equipo debe atender este mensaje?"
WORDINGS = (
    "Decide qué equipo se ocupa de este mensaje.",
    "Indica el equipo responsable del mensaje.",
    PROMPT.upper(),
    "Asigna el mensaje a un equipo.",
    "Lee el mensaje y di qué equipo lo atiende.",
)
WOBBLING = "sim/accuracy=0.5,wobble=0.4"
OPTIONS = ("--dataset", "mails.csv", "--prompt", "prompt.txt", "--rephrasings-file", "wordings.txt")
SIZES = ("--rephrasings", "3", "--heldout", "2", "--trials", "4", "--leave-one-out", "0")


@pytest.fixture
def mails(tmp_path: Path) -> Path:
    rows = [f"{about} hace {n} días,{label}" for n, (label, about) in zip(range(40), cycle(TEAMS.items()))]
    (tmp_path / "mails.csv").write_text("\n".join(["text,label", *rows]), "utf-8")
    (tmp_path / "prompt.txt").write_text(f"{PROMPT}\n\nMensaje: {{text}}\nEquipo:", "utf-8")
    (tmp_path / "wordings.txt").write_text("\n".join(WORDINGS), "utf-8")
    return tmp_path


def prompts_of(run: Path) -> str:
    return "\n".join(path.read_text("utf-8") for path in run.glob("prompts/*.txt"))


def test_wordings_in_a_text_file_go_in_turns_to_the_search_and_the_test(mails: Path) -> None:
    asked = psopt(mails, "optimize", *OPTIONS, *SIZES, "--model", WOBBLING, "--out", "run", code=0)
    assert "notes by rule are in English; --proposer MODEL writes them in the prompt's language" in asked.stderr
    rephrasings = (mails / "run" / "rephrasings.json").read_text("utf-8")
    places = [rephrasings.index(text) for text in (PROMPT, *WORDINGS[:2], *WORDINGS[3:])]
    assert places[0] < places[1] < places[3] < rephrasings.index("heldout") < places[2] < places[4]
    assert PROMPT.upper() not in rephrasings  # the original in other letters
    assert "usually belongs to" in prompts_of(mails / "run")


def test_too_few_wordings_are_refused_with_the_options_that_fit(mails: Path) -> None:
    refused = psopt(mails, "optimize", *OPTIONS, "--model", WOBBLING, "--rephrasings", "10", "--heldout", "10", code=2)
    line = "wordings.txt holds 3 search rephrasings; 10 are to be used: add some, or --rephrasings 3 --heldout 2"
    assert line in refused.stderr
    refused = psopt(mails, "check", *OPTIONS, "--model", WOBBLING, "--min-f1", "0", code=2)
    assert "holds 2 held-out rephrasings; 10 are to be used: add some, or --rephrasings 2" in refused.stderr
    (mails / "wordings.txt").write_text("\n".join(WORDINGS[:2]), "utf-8")
    refused = psopt(mails, "check", *OPTIONS, "--model", WOBBLING, "--min-f1", "0", code=2)
    line = "holds 1 held-out rephrasing; 10 are to be used: add some"
    assert line in refused.stderr


def test_a_wording_names_the_labels_that_the_prompt_names(mails: Path) -> None:
    (mails / "prompt.txt").write_text("¿Qué equipo debe atenderlo, Pagos o Envíos?\n\nMensaje: {text}", "utf-8")
    diagnose = ("diagnose", *OPTIONS, "--rephrasings", "3", "--model", WOBBLING)
    refused = psopt(mails, *diagnose, code=2)
    assert "drops the label 'Envíos', which the original names: name it, or add --drop-labels" in refused.stderr
    psopt(mails, *diagnose, "--drop-labels", code=0)


def test_where_a_model_writes_no_note_is_in_english(mails: Path, server: FakeServer) -> None:
    writes = ("--model", WOBBLING, "--proposer", "openai/test", "--api-base", server.url)
    asked = psopt(mails, "optimize", *OPTIONS, *SIZES, *writes, "--out", "run", code=0)
    assert "notes by rule" not in asked.stderr
    assert "can't be used" not in asked.stderr
    assert "usually belongs to" not in prompts_of(mails / "run")


def test_show_splits_psopt_s_own_form_with_examples_as_turns(folder: Path) -> None:
    examples = (Example("I was charged twice", "billing"), Example("It crashes", "tech"))
    prompt = Prompt("Name the team.", ("billing", "tech"), "mail", examples=examples)
    (folder / "own.json").write_text(json.dumps(prompt.to_dict()))
    shown = psopt(folder, *SHOW, "own.json", code=0).stdout
    assert shown.count("<rephrase>") == 1
    said = ["<rephrase>Name the team.</rephrase>", "I was charged twice", "It crashes", "{text}"]
    places = [shown.index(text) for text in said]
    assert places == sorted(places)
    assert shown.count("[assistant]\n") == len(examples)
