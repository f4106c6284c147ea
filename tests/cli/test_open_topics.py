"""Topics of weak samples, from the command line: a server on a socket errs on one kind of question, or at random."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.test_open_answers import Finished
from tests.open_tasks import server_of_desk_questions

if TYPE_CHECKING:
    from collections.abc import Iterator

_DIAGNOSED = ("--split", "all", "--rephrasings", "6")


def finished(tmp_path_factory: pytest.TempPathFactory, *, errs_on_costs: bool) -> Iterator[Finished]:
    folder = tmp_path_factory.mktemp("topics")
    with server_of_desk_questions(errs_on_costs=errs_on_costs) as server:
        (folder / "data.jsonl").write_text("\n".join(map(json.dumps, server.rows)))
        run = Finished("number", folder, server, None)  # type: ignore[arg-type]
        sizes = ["--trials", "8", "--rounds", "1", "--rephrasings", "6", "--heldout", "6"]
        drafting = ["--proposer", "openai/rule", "--race", "off", "--out", "run"]
        run.done = run.psopt("optimize", *run.data, *run.model, *sizes, *drafting)
        yield run


@pytest.fixture(scope="module")
def costs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    yield from finished(tmp_path_factory, errs_on_costs=True)


@pytest.fixture(scope="module")
def noise(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    yield from finished(tmp_path_factory, errs_on_costs=False)


def diagnosed(run: Finished) -> Any:
    done = run.psopt("diagnose", *run.data, *run.model, *_DIAGNOSED, "--json", code=0)
    return json.loads(done.stdout)


def test_a_diagnosis_names_the_kind_of_question_that_fails(costs: Finished) -> None:
    first, *others = diagnosed(costs)["groups"]
    assert "cost" in first["topic"]
    assert first["label"] is None
    contrast = first["contrast"]
    assert contrast["weak_showing"] >= 20  # of the twenty-four questions about what something costs
    assert contrast["others_showing"] + contrast["weak_showing"] == 24
    assert contrast["p_value"] <= 0.05
    assert first["share"] > 0.6
    assert all("cost" in other["topic"] for other in others)  # of the other view


def test_the_screen_and_the_page_show_the_topic_with_its_evidence(costs: Finished) -> None:
    done = costs.psopt("diagnose", *costs.data, *costs.model, *_DIAGNOSED, "--html", "page.html")
    assert "What unstable or wrong samples share" in done.stdout
    lines = done.stdout.splitlines()
    (place,) = [number for number, line in enumerate(lines) if line.lstrip("│ ").startswith('"cost"')]  # one row
    row = " ".join(lines[place : place + 10])  # at this width its cells may stand one below the other
    assert {"sensitivity", "accuracy"} <= set(row.replace(",", " ").replace("│", " ").split())
    page = (costs.folder / "page.html").read_text()
    assert "weak samples that show it" in page
    assert "&#34;cost&#34;" in page


def test_the_report_shows_the_topic_under_what_shook(costs: Finished) -> None:
    assert costs.done.returncode == 0, costs.done.stderr
    page = (costs.folder / "run" / "report.html").read_text()
    shook = page.partition("Unstable samples</h2>")[2].partition("What fixed it</h2>")[0]
    assert "&#34;cost&#34;" in shook


def test_edits_that_address_the_topic_are_offered(costs: Finished) -> None:
    edits = costs.json("proposals.json")["edits"]
    of_topic = [edit for edit in edits if "cost" in edit["provenance"]["topic"]]
    assert {edit["kind"] for edit in of_topic if edit["provenance"]["author"] == "rules"} == {"example"}
    (drafted,) = [edit for edit in of_topic if edit["provenance"]["author"] == "openai/rule"]
    assert "of one piece" in drafted["text"]
    assert len(drafted["provenance"]["samples"]) > 5
    assert len({edit["id"] for edit in edits}) == len(edits)


def test_what_is_wrong_at_random_has_no_topic(noise: Finished) -> None:
    found = diagnosed(noise)
    assert found["sensitivity"] > 0.05  # it does shake
    assert found["groups"] == []
    assert noise.json("weak_spots.json")["before"]["groups"] == []
    assert "No group of samples with a common wording stands out" in (noise.folder / "run" / "report.html").read_text()
    topics = {edit["provenance"]["topic"] for edit in noise.json("proposals.json")["edits"]}
    assert not any('"' in topic for topic in topics)
