"""What a diagnosis says beside sensitivity: suspect labels, one answer to all texts, rare classes; what else may vary.

`psopt diagnose --suspects` lists suspect labels; a run writes them down, and its report says how many.
"""

from __future__ import annotations

import functools
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests import commands
from tests.cli.limited_runs import write_data
from tests.cli.telling import check_refused, check_says
from tests.fake_server import FakeServer
from tests.sweeps import each

psopt = functools.partial(commands.psopt, code=0)
MODEL = ["--dataset", "data.csv", "--model", "sim/accuracy=0.9,wobble=0,na=0", "--rephrasings", "3"]
SHAKY = [word.replace("accuracy=0.9,wobble=0,", "accuracy=0.6,wobble=0.3,") for word in MODEL]
WORDS = {"billing": "the invoice number {i} shows too many dollars", "delivery": "the parcel number {i} never arrived"}
LINE = "The prompt answers toys to 100 % of the texts, and 30 % are toys."
FURTHER = "Its F1 is 30.0, and 70.0 for always answering tools: its S and C say nothing."


def ticket(split: str, i: int) -> str:
    """Six labels of sixty are wrong."""
    teams = list(WORDS)
    return f"{WORDS[teams[i % 2]].format(i=i)} {split},{teams[(i + (i % 10 == 0)) % 2]}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_data(tmp_path, 60, ticket)


def test_they_are_listed_with_what_was_answered_and_how_much_of_the_class_looks_so(folder: Path) -> None:
    listed = psopt(folder, "diagnose", *MODEL, "--suspects", "--suspects-file", "suspect_labels.json").stdout
    kept = json.loads((folder / "suspect_labels.json").read_text())["train"]
    ids = [suspect["id"] for suspect in kept["samples"]]
    assert ids
    check_says(listed, f"{len(ids)} of 60 samples", *ids, "samples labelled", "look before you change a label")
    assert all(suspect["answered"] != suspect["label"] for suspect in kept["samples"])
    assert "(--suspects lists them)" in psopt(folder, "diagnose", *MODEL).stdout
    assert json.loads(psopt(folder, "diagnose", *MODEL, "--json").stdout)["suspects"] == kept


def test_labels_that_look_like_markup_are_shown_as_they_are(tmp_path: Path) -> None:
    labels = ["[/b]", "[red]hot", ":fire:"]
    folder = write_data(tmp_path, 30, lambda split, i: f"{split} {i} {labels[i % 3]},{labels[i % 3]}")
    shown = psopt(folder, "diagnose", *SHAKY).stdout
    for label in labels:
        assert any(line.split()[:2] == [label, "10"] for line in shown.splitlines())


def test_a_run_writes_them_down_and_its_report_says_how_many(folder: Path) -> None:
    search = ["--trials", "3", "--rounds", "1", "--heldout", "2", "--out", "run", "--quiet"]
    psopt(folder, "optimize", *SHAKY, *search)
    suspects = json.loads((folder / "run" / "suspect_labels.json").read_text())
    assert suspects["schema_version"] == 1
    assert set(suspects) == {"schema_version", "prompt", "train", "val"}
    assert f"{len(suspects['train']['samples'])} of 60 samples" in (folder / "run" / "report.html").read_text()
    kept_out = {one["id"] for one in suspects["train"]["samples"] if one["is_kept_out"]}
    proposed = json.loads((folder / "run" / "proposals.json").read_text())["edits"]
    cited = {sample for edit in proposed for sample in edit["provenance"]["samples"]}
    assert kept_out
    assert cited
    assert not kept_out & cited


def test_a_prompt_that_answers_one_label_is_told_by_a_diagnosis_and_a_check(tmp_path: Path) -> None:
    write_data(tmp_path, 40, lambda split, i: f"what is {split} {i} for ?,{'toys' if i % 10 < 3 else 'tools'}")
    with FakeServer(answer='fixed:{"label": "toys"}') as server:
        given = ["--dataset", "data.csv", "--rephrasings", "2", "--model", "openai/test", "--api-base", server.url]
        diagnosed = psopt(tmp_path, "diagnose", *given, "--split", "test", columns=100, OPENAI_API_KEY="none").stdout
        checked = psopt(tmp_path, "check", *given, "--max-sensitivity", "0.1", OPENAI_API_KEY="none").stderr
    check_says(diagnosed, f"{LINE} {FURTHER}", "largest class: tools (70 % of the samples)")
    assert ["toys", "100.0", "30.0"] in [line.split() for line in diagnosed.splitlines()]
    check_says(checked, LINE)


def test_rare_classes_are_measured_where_all_samples_are(tmp_path: Path) -> None:
    texts = [(f"my invoice {i} is wrong", "billing") for i in range(20)]
    texts += [(f"crash {i}", "support") for i in range(20)]
    texts += [("the press asks", "press"), ("a paper asks", "press"), ("odd crash", "suport"), ("", "billing")]
    rows = [f"e2520e33-e44c-5055-6c71-{number:012d},{text},{label}" for number, (text, label) in enumerate(texts)]
    (tmp_path / "data.csv").write_text("id,text,label\n" + "\n".join(rows) + "\n")
    refused = psopt(tmp_path, "diagnose", *SHAKY, code=2).stderr
    check_says(refused, "line 45: the text (column 'text') is empty; fill it in or remove the row", "--skip-empty")
    done = psopt(tmp_path, "diagnose", "--skip-empty", *SHAKY, "--split", "all")
    check_says(
        done.stderr,
        "1 row without a text is left out",
        "no score on val and test is of 'press' (2), 'suport' (1)",
        "label 'suport' (1) looks like 'support' (20)",
    )
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("e2520e33-e44" in line for line in lines)


HOT = ["--extra-body", '{"temperature": 1}', "--vary", "repeat"]
TINY = ["--dataset", "data.csv", "--rephrasings", "4", "--samples", "8"]


@pytest.fixture(scope="module")
def drawing() -> Iterator[FakeServer]:
    """A server whose answers to half of the requests hang on the seed, at a temperature above 0."""
    with FakeServer(varies=0.5) as server:
        yield server


@pytest.fixture
def ask(data: Path, drawing: FakeServer) -> Any:
    drawing.reset()
    model = ["--model", "openai/test", "--api-base", drawing.url]

    def run(verb: str, *words: str, model: list[str] = model, code: int = 0) -> subprocess.CompletedProcess[str]:
        return commands.psopt(data, verb, *TINY, *model, *words, code=code, OPENAI_API_KEY="sk-any")

    return run


def n_sent(server: FakeServer) -> int:
    return int(server.counts()["requests"])


def test_s_of_reruns_stands_beside_s_and_is_paid_once_within_limits(ask: Any, drawing: FakeServer) -> None:
    ask("diagnose", *HOT, "--max-calls", "40", code=3)
    assert n_sent(drawing) <= 40
    found = json.loads(ask("diagnose", *HOT, "--json").stdout)
    again = found["reruns"]
    assert again["changes"]
    assert (again["n_samples"], again["n_askings"]) == (8, 4)
    assert again["beyond"] == pytest.approx(found["sensitivity"] - again["sensitivity"])
    assert drawing.last_request()["body"]["seed"] in range(42, 42 + 4)  # each asking has one of its own
    # of train the original wording, asked first, is a column of both grids; what the limit allowed is kept
    assert n_sent(drawing) == 8 * (4 + 4 - 1)
    assert json.loads(ask("diagnose", *HOT, "--json").stdout) == found
    of_it = f"S {100 * found['sensitivity']:.1f}, of it {100 * again['sensitivity']:.1f} by asking again: "
    check_says(ask("diagnose", *HOT).stdout, of_it)
    assert n_sent(drawing) == 8 * (4 + 4 - 1)


def test_a_model_that_answers_the_same_is_probed_and_no_more(ask: Any, drawing: FakeServer) -> None:
    shown = ask("diagnose", "--vary", "repeat").stdout
    check_says(shown, "Asking again changes nothing: 8 samples asked twice got the same answers")
    assert n_sent(drawing) == 8 * (4 + 1)
    assert json.loads(ask("diagnose", "--vary", "repeat", "--json").stdout)["reruns"]["changes"] is False
    local = ["--model", "sim/accuracy=0.6,wobble=0.4"]
    done = ask("check", "--vary", "repeat", "--max-sensitivity", "1", model=local)
    assert "Asking again changes nothing" in done.stderr


def test_a_check_may_ask_for_s_beyond_reruns(ask: Any, data: Path) -> None:
    words = ["check", *HOT, "--max-sensitivity", ".9", "--beyond-reruns", "--junit", "junit.xml"]
    found = json.loads(ask(*words, "--json").stdout)
    (bound,) = found["checks"]
    assert bound["measure"] == "sensitivity beyond reruns"
    assert bound["value"] == found["reruns"]["beyond"] < found["sensitivity"]
    assert bound["interval"] == found["reruns"]["ci"]
    suite = ET.parse(data / "junit.xml").getroot()[0]
    assert [case.get("name") for case in suite.iter("testcase")] == ["sensitivity beyond reruns"]
    ask(*words, "--sure", code=1 if bound["interval"][1] > 0.9 else 0)


def test_changed_texts_are_told_apart_by_family(ask: Any, data: Path) -> None:
    found = json.loads(ask("diagnose", "--vary", "input", "--rephrasings", "11", "--json").stdout)
    families = found["per_family"]
    assert set(families) == {"unchanged", "case", "whitespace", "padding", "stop-words", "typos"}
    assert families["unchanged"]["n"] == 1
    assert families["case"]["flips"] > 0  # by a hash of the messages
    assert found["n_rephrasings"] == 11
    done = ask("diagnose", "--vary", "typos,case,padding", "--html", "page.html")
    check_says(done.stdout, "8 samples × 4 changed texts", "answers changed")
    assert "[case]" in (data / "page.html").read_text("utf-8")
    # texts and wordings share the askings, and a check says so
    done = ask("check", "--vary", "paraphrase,case", "--max-sensitivity", "1")
    assert "x 4 wordings and changed texts)" in done.stdout
    one = ask("check", "--vary", "case", "--max-sensitivity", "1", "--json")
    assert json.loads(one.stdout)["checks"][0]["varied"] == "changed texts"


@each(
    "verb, words, said",
    [
        ("check", ["--max-sensitivity", ".1", "--beyond-reruns"], "add --vary repeat"),
        ("diagnose", ["--vary", "text-paraphrase"], "add --rephraser MODEL"),
        ("diagnose", ["--vary", "repeat", "--rephrasings", "1"], "--rephrasings 2"),
        ("check", ["--vary", "input", "--max-sensitivity", "1"], "5 families need --rephrasings 6 or more"),
        ("optimize", ["--vary", "input"], "psopt diagnose and psopt check take them"),
        ("optimize", ["--vary", "format,label-order", "--rephrasings", "2"], "2 families need --rephrasings 3"),
        ("compare", ["--vary", "repeat", "--model2", "minilm"], "leave it out here"),
    ],
)
def test_what_makes_no_sense_is_one_line(
    ask: Any, drawing: FakeServer, data: Path, verb: str, words: list[str], said: str
) -> None:
    check_refused(ask(verb, *words, code=2), said, alone=False)
    assert n_sent(drawing) == 0
    assert {path.name for path in data.iterdir()} <= {"cache", "data.csv", "prices.toml"}


def test_of_many_classes_the_most_telling_are_shown(tmp_path: Path) -> None:
    rows = [f"text {label} {number},class {label}" for label in range(60) for number in range(6)]
    (tmp_path / "many.csv").write_text("\n".join(["text,label", *rows]))
    words = ("diagnose", "--dataset", "many.csv", "--model", "sim/accuracy=0.6,wobble=0.4", "--rephrasings", "3")
    shown = psopt(tmp_path, *words, code=0).stdout
    told = json.loads(psopt(tmp_path, *words, "--json", code=0).stdout)
    worst = sorted(told["per_class"], key=lambda label: told["per_class"][label]["f1"])
    assert len(worst) == 60
    assert "20 of higher F1: --json" in shown
    scores = shown.partition("of higher F1")[0]
    assert f"{worst[0]} " in scores
    assert f"{worst[-1]} " not in scores
    assert "closer to their shares: --json" in shown
