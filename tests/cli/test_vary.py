"""`--vary repeat` and `--vary input`: what is measured, what is paid, what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from tests import commands
from tests.cli.telling import check_refused, check_says
from tests.fake_server import FakeServer
from tests.sweeps import each

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

HOT = ["--extra-body", '{"temperature": 1}', "--vary", "repeat"]
TINY = ["--dataset", "data.csv", "--rephrasings", "4", "--samples", "8"]


@pytest.fixture(scope="module")
def drawing() -> Iterator[FakeServer]:
    """A server whose answers to half of the requests hang on the seed, at a temperature above 0."""
    with FakeServer(varies=0.5) as server:
        yield server


@pytest.fixture
def psopt(data: Path, drawing: FakeServer) -> Any:
    drawing.reset()
    model = ["--model", "openai/test", "--api-base", drawing.url]

    def run(verb: str, *words: str, model: list[str] = model, code: int = 0) -> subprocess.CompletedProcess[str]:
        return commands.psopt(data, verb, *TINY, *model, *words, code=code, OPENAI_API_KEY="sk-any")

    return run


def n_sent(server: FakeServer) -> int:
    return int(server.counts()["requests"])


def test_s_of_reruns_stands_beside_s_and_is_paid_once_within_limits(psopt: Any, drawing: FakeServer) -> None:
    psopt("diagnose", *HOT, "--max-calls", "40", code=3)
    assert n_sent(drawing) <= 40
    found = json.loads(psopt("diagnose", *HOT, "--json").stdout)
    again = found["reruns"]
    assert again["changes"]
    assert (again["n_samples"], again["n_askings"]) == (8, 4)
    assert again["beyond"] == pytest.approx(found["sensitivity"] - again["sensitivity"])
    assert drawing.last_request()["body"]["seed"] in range(42, 42 + 4)  # each asking has one of its own
    # of train the original wording, asked first, is a column of both grids; what the limit allowed is kept
    assert n_sent(drawing) == 8 * (4 + 4 - 1)
    assert json.loads(psopt("diagnose", *HOT, "--json").stdout) == found
    of_it = f"S {100 * found['sensitivity']:.1f}, of it {100 * again['sensitivity']:.1f} by asking again: "
    check_says(psopt("diagnose", *HOT).stdout, of_it)
    assert n_sent(drawing) == 8 * (4 + 4 - 1)


def test_a_model_that_answers_the_same_is_probed_and_no_more(psopt: Any, drawing: FakeServer) -> None:
    shown = psopt("diagnose", "--vary", "repeat").stdout
    check_says(shown, "Asking again changes nothing: 8 samples asked twice got the same answers")
    assert n_sent(drawing) == 8 * (4 + 1)
    assert json.loads(psopt("diagnose", "--vary", "repeat", "--json").stdout)["reruns"]["changes"] is False
    local = ["--model", "sim/accuracy=0.6,wobble=0.4"]
    done = psopt("check", "--vary", "repeat", "--max-sensitivity", "1", model=local)
    assert "Asking again changes nothing" in done.stderr


def test_a_check_may_ask_for_s_beyond_reruns(psopt: Any, data: Path) -> None:
    words = ["check", *HOT, "--max-sensitivity", ".9", "--beyond-reruns", "--junit", "junit.xml"]
    found = json.loads(psopt(*words, "--json").stdout)
    (bound,) = found["checks"]
    assert bound["measure"] == "sensitivity beyond reruns"
    assert bound["value"] == found["reruns"]["beyond"] < found["sensitivity"]
    assert bound["interval"] == found["reruns"]["ci"]
    suite = ET.parse(data / "junit.xml").getroot()[0]
    assert [case.get("name") for case in suite.iter("testcase")] == ["sensitivity beyond reruns"]
    psopt(*words, "--sure", code=1 if bound["interval"][1] > 0.9 else 0)


def test_changed_texts_are_told_apart_by_family(psopt: Any, data: Path) -> None:
    found = json.loads(psopt("diagnose", "--vary", "input", "--rephrasings", "11", "--json").stdout)
    families = found["per_family"]
    assert list(families) == ["unchanged", "case", "whitespace", "padding", "typos"] or set(families) > {"case"}
    assert families["unchanged"]["n"] == 1
    assert families["case"]["flips"] > 0  # by a hash of the messages
    assert found["n_rephrasings"] == 11
    done = psopt("diagnose", "--vary", "typos,case,padding", "--html", "page.html")
    check_says(done.stdout, "8 samples × 4 changed texts", "answers changed")
    assert "[case]" in (data / "page.html").read_text("utf-8")
    # texts and wordings share the askings, and a check says so
    done = psopt("check", "--vary", "paraphrase,case", "--max-sensitivity", "1")
    assert "x 4 wordings and changed texts)" in done.stdout
    one = psopt("check", "--vary", "case", "--max-sensitivity", "1", "--json")
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
    psopt: Any, drawing: FakeServer, data: Path, verb: str, words: list[str], said: str
) -> None:
    check_refused(psopt(verb, *words, code=2), said, alone=False)
    assert n_sent(drawing) == 0
    assert {path.name for path in data.iterdir()} <= {"cache", "data.csv", "prices.toml"}
