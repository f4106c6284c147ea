"""`--vary repeat` and `--vary input`: what is measured, what is paid, what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import psopt as api
import pytest
from psopt.models.chat import LMConfig

from tests import commands
from tests.fake_server import FakeServer

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

HOT = ["--extra-body", '{"temperature": 1}']
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

    def run(
        verb: str, *words: str, model: list[str] = model, code: int | None = None
    ) -> subprocess.CompletedProcess[str]:
        return commands.psopt(data, verb, *TINY, *model, *words, code=code, OPENAI_API_KEY="sk-any")

    return run


def n_sent(server: FakeServer) -> int:
    return int(server.counts()["requests"])


def test_s_of_reruns_stands_beside_s_and_is_paid_once(psopt: Any, drawing: FakeServer) -> None:
    done = psopt("diagnose", *HOT, "--vary", "repeat", "--json", code=0)
    found = json.loads(done.stdout)
    again = found["reruns"]
    assert again["changes"]
    assert (again["n_samples"], again["n_askings"]) == (8, 4)
    assert again["beyond"] == pytest.approx(found["sensitivity"] - again["sensitivity"])
    # of train the original wording, asked first, is a column of both grids
    n_all = n_sent(drawing)
    assert n_all == 8 * (4 + 4 - 1)
    resumed = psopt("diagnose", *HOT, "--vary", "repeat", "--json")
    assert json.loads(resumed.stdout) == found
    assert n_sent(drawing) == n_all
    shown = " ".join(psopt("diagnose", *HOT, "--vary", "repeat").stdout.split())
    assert f"S {100 * found['sensitivity']:.1f}, of it {100 * again['sensitivity']:.1f} by asking again: " in shown


def test_each_asking_has_a_seed_of_its_own(psopt: Any, drawing: FakeServer) -> None:
    psopt("diagnose", *HOT, "--vary", "repeat", code=0)
    assert drawing.last_request()["body"]["seed"] in range(42, 42 + 4)


def test_a_server_that_answers_the_same_is_probed_and_no_more(psopt: Any, drawing: FakeServer) -> None:
    done = psopt("diagnose", "--vary", "repeat", "--json")
    assert json.loads(done.stdout)["reruns"]["changes"] is False
    assert n_sent(drawing) == 8 * (4 + 1)
    shown = " ".join(psopt("diagnose", "--vary", "repeat").stdout.split())
    assert "Asking again changes nothing: 8 samples asked twice got the same answers" in shown


def test_a_limit_holds_for_reruns_and_what_was_asked_is_kept(psopt: Any, drawing: FakeServer) -> None:
    psopt("diagnose", *HOT, "--vary", "repeat", "--max-calls", "40", code=3)
    n_first = n_sent(drawing)
    assert n_first <= 40
    psopt("diagnose", *HOT, "--vary", "repeat", code=0)
    assert n_sent(drawing) == 8 * 7


def test_a_check_may_ask_for_s_beyond_reruns(psopt: Any, data: Path) -> None:
    words = [*HOT, "--vary", "repeat", "--max-sensitivity", ".9", "--beyond-reruns", "--junit", "junit.xml"]
    done = psopt("check", *words, "--json", code=0)
    found = json.loads(done.stdout)
    (bound,) = found["checks"]
    assert bound["measure"] == "sensitivity beyond reruns"
    assert bound["value"] == found["reruns"]["beyond"] < found["sensitivity"]
    assert bound["interval"] == found["reruns"]["ci"]
    suite = ET.parse(data / "junit.xml").getroot()[0]
    assert [case.get("name") for case in suite.iter("testcase")] == ["sensitivity beyond reruns"]
    assert psopt("check", *words, "--sure").stdout.startswith("missed") is (bound["interval"][1] > 0.9)


def test_the_estimate_counts_what_is_sent(psopt: Any, drawing: FakeServer) -> None:
    hot = json.loads(psopt("diagnose", *HOT, "--vary", "repeat", "--dry-run", "--json").stdout)
    cold = json.loads(psopt("diagnose", "--vary", "repeat", "--dry-run", "--json").stdout)
    texts = json.loads(psopt("diagnose", "--vary", "padding", "--dry-run", "--json").stdout)
    assert n_sent(drawing) == 0
    assert [phase["calls"] for phase in hot["phases"]] == [32, 32]
    assert [phase["calls"] for phase in cold["phases"]] == [32, 16]
    assert [phase["calls"] for phase in texts["phases"]] == [32]


def test_changed_texts_are_told_apart_by_family(psopt: Any, data: Path) -> None:
    found = json.loads(psopt("diagnose", "--vary", "input", "--rephrasings", "11", "--json").stdout)
    families = found["per_family"]
    assert list(families) == ["unchanged", "case", "whitespace", "padding", "typos"] or set(families) > {"case"}
    assert families["unchanged"]["n"] == 1
    assert families["case"]["flips"] > 0  # by a hash of the messages
    assert found["n_rephrasings"] == 11
    page = " ".join(psopt("diagnose", "--vary", "input", "--html", "page.html").stdout.split())
    assert "8 samples × 4 changed texts" in page
    assert "answers changed" in page
    assert "[case]" in (data / "page.html").read_text("utf-8")


def test_texts_and_wordings_share_the_askings_and_a_check_says_so(psopt: Any) -> None:
    done = psopt("check", "--vary", "paraphrase,case", "--max-sensitivity", "1", code=0)
    assert "x 4 wordings and changed texts)" in done.stdout
    one = psopt("check", "--vary", "case", "--max-sensitivity", "1", "--json")
    assert json.loads(one.stdout)["checks"][0]["varied"] == "changed texts"


def test_local_models_say_that_asking_again_changes_nothing(psopt: Any) -> None:
    done = psopt(
        "check", "--vary", "repeat", "--max-sensitivity", "1", model=["--model", "sim/accuracy=0.6,wobble=0.4"], code=0
    )
    assert "Asking again changes nothing" in done.stderr


def test_python_has_the_same_by_keyword(data: Path, drawing: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-any")
    task = api.load_task(str(data / "data.csv"))
    lm = LMConfig(api_base=drawing.url, temperature=0.7)
    given: dict[str, Any] = {"model": "openai/test", "lm": lm, "rephrasings": 4, "samples": 8, "cache_dir": data / "c"}
    report = api.diagnose(task, vary="repeat", **given)
    assert report.reruns is not None
    assert report.reruns.changes
    result = api.check(task, vary=("repeat", "typos"), max_sensitivity=1.0, beyond_reruns=True, **given)
    assert result.reruns is not None
    assert result.thresholds[0].value == result.reruns.beyond
    assert {"unchanged", "typos"} == set(api.measure(task, vary="typos", **given).families)


@pytest.mark.parametrize(
    ("verb", "words", "said"),
    [
        ("check", ["--max-sensitivity", ".1", "--beyond-reruns"], "add --vary repeat"),
        ("check", ["--min-f1", ".1", "--beyond-reruns", "--vary", "repeat"], "give --max-sensitivity too"),
        ("diagnose", ["--vary", "inputs"], "did you mean 'input'"),
        ("diagnose", ["--vary", "text-paraphrase"], "add --rephraser MODEL"),
        ("diagnose", ["--vary", "repeat", "--rephrasings", "1"], "--rephrasings 2"),
        ("optimize", ["--vary", "input"], "psopt diagnose and psopt check take them"),
        ("optimize", ["--vary", "repeat"], "psopt diagnose and psopt check take them"),
        ("compare", ["--vary", "repeat", "--model2", "minilm"], "leave it out here"),
    ],
)
def test_what_makes_no_sense_is_one_line(
    psopt: Any, drawing: FakeServer, data: Path, verb: str, words: list[str], said: str
) -> None:
    before = sorted(data.iterdir())
    done = psopt(verb, *words, code=2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert n_sent(drawing) == 0
    assert {path.name for path in data.iterdir()} - {path.name for path in before} <= {"cache"}
