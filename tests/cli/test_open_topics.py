"""Topics of weak samples, from the command line: a server on a socket errs on one kind of question, or at random."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_open_answers import SIZES, Finished, prepared
from tests.open_tasks import server_of_desk_questions

if TYPE_CHECKING:
    from collections.abc import Iterator

DIAGNOSED = ("--split", "all", "--rephrasings", "6")


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    """A run whose model errs on what something costs, or on texts drawn at random."""
    with server_of_desk_questions(errs_on_costs=request.param) as server:
        finished = prepared("number", tmp_path_factory.mktemp("topics"), server)
        sizes = [*SIZES, "--trials", "8", "--rephrasings", "6", "--heldout", "6", "--race", "off"]
        finished.done = finished.ask("optimize", *sizes, "--proposer", "openai/rule", "--out", "run", code=0)
        yield finished


only_costs = pytest.mark.parametrize("run", [True], indirect=True)


@only_costs
def test_a_diagnosis_names_the_kind_of_question_that_fails(run: Finished) -> None:
    first, *others = json.loads(run.ask("diagnose", *DIAGNOSED, "--json", code=0).stdout)["groups"]
    assert "cost" in first["topic"]
    assert first["label"] is None
    contrast = first["contrast"]
    assert contrast["weak_showing"] >= 20  # of the twenty-four questions about what something costs
    assert contrast["others_showing"] + contrast["weak_showing"] == 24
    assert contrast["p_value"] <= 0.05
    assert first["share"] > 0.6
    assert all("cost" in other["topic"] for other in others)  # of the other view


@only_costs
def test_the_screen_the_page_and_the_report_show_the_topic_with_its_evidence(run: Finished) -> None:
    done = run.ask("diagnose", *DIAGNOSED, "--html", "page.html")
    assert "What unstable or wrong samples share" in done.stdout
    lines = done.stdout.splitlines()
    (place,) = [number for number, line in enumerate(lines) if line.lstrip("│ ").startswith('"cost"')]  # one row
    row = " ".join(lines[place : place + 10])  # at this width its cells may stand one below the other
    assert {"sensitivity", "accuracy"} <= set(row.replace(",", " ").replace("│", " ").split())
    page = (run.folder / "page.html").read_text()
    assert "weak samples that show it" in page
    assert "&#34;cost&#34;" in page
    report = (run.folder / "run" / "report.html").read_text()
    assert "&#34;cost&#34;" in report.partition("Unstable samples</h2>")[2].partition("What fixed it</h2>")[0]
