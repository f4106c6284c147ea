"""Answers that are no single label, and ordered labels: runs from end to end, most against a server on a socket."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from psopt.search.racing import racing_line

from tests import commands, open_tasks
from tests.cli.limited_runs import own_words, read
from tests.cli.telling import check_refused, check_says
from tests.sweeps import each

# By kind: the server, how quality is called, and what stands beside it.
KINDS = {
    "labels": (open_tasks.server_of_complaints, "micro-F1", "subset accuracy"),
    "free": (open_tasks.server_of_questions, "similarity", "S at 0.95"),
}
SIZES = ["--trials", "4", "--rounds", "1", "--rephrasings", "4", "--heldout", "4"]


@dataclass
class Finished:
    """A run of one kind of answers, and what was said of it."""

    answers: str
    folder: Path
    server: open_tasks.RuleServer
    done: subprocess.CompletedProcess[str] = None  # type: ignore[assignment]

    @property
    def data(self) -> list[str]:
        return ["--dataset", "data.jsonl", "--label-column", "answer", "--answers", self.answers]

    @property
    def model(self) -> list[str]:
        return ["--model", "openai/rule", "--api-base", self.server.base]

    def psopt(self, *words: Any, code: int | None = None) -> subprocess.CompletedProcess[str]:
        done = commands.psopt(self.folder, *words, code=code, OPENAI_API_KEY="none")
        assert "Traceback" not in done.stderr
        return done

    def ask(self, verb: str, *words: Any, code: int | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command on the data with the server's model."""
        return self.psopt(verb, *self.data, *self.model, *words, code=code)

    def json(self, name: str) -> Any:
        return json.loads((self.folder / "run" / name).read_text())


def prepared(answers: str, folder: Path, server: open_tasks.RuleServer) -> Finished:
    """Write down the rows of a server."""
    (folder / "data.jsonl").write_text("\n".join(map(json.dumps, server.rows)))
    return Finished(answers, folder, server)


@pytest.fixture(scope="module", params=KINDS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    with KINDS[request.param][0]() as server:
        finished = prepared(request.param, tmp_path_factory.mktemp("open"), server)
        finished.done = finished.ask("optimize", *SIZES, "--trials", "5", "--out", "run", code=0)
        yield finished


def test_a_run_ends_with_a_prompt_that_is_better_in_the_objectives_that_there_are(run: Finished) -> None:
    manifest = run.json("run.json")
    assert KINDS[run.answers][1] in run.done.stdout
    assert max(map(len, run.done.stdout.splitlines())) <= 100
    assert manifest["dataset"]["answers"] == manifest["answers"]["type"] == run.answers
    baseline, knee = manifest["baseline"]["test"], next(entry for entry in manifest["front"] if entry["knee"])["test"]
    assert knee["f1"] > baseline["f1"]
    assert knee["sensitivity"] < baseline["sensitivity"]
    assert (knee["consistency"] is None) == (run.answers != "labels")
    (study,) = optuna.get_all_study_summaries(f"sqlite:///{run.folder}/run/study.db")
    assert len(study.directions) == (3 if run.answers == "labels" else 2)


def test_what_was_answered_is_kept_and_shown(run: Finished) -> None:
    baseline = run.json("run.json")["baseline"]["id"]
    with np.load(run.folder / "run" / "predictions" / f"{baseline}.npz", allow_pickle=False) as arrays:
        texts = json.loads(arrays["answers"].tobytes().decode())
        assert arrays["test"].shape == (12, 4)
        assert arrays["test"].max() <= len(texts)
    assert all(isinstance(text, str) for text in texts)
    page = (run.folder / "run" / "report.html").read_text()
    assert "What samples were answered" in page
    assert ("C, consistency" in page) == (run.answers == "labels")
    assert "nan" not in page.split("<script", 1)[0].lower().replace("finance", "")


def test_a_run_that_is_resumed_asks_nothing_twice_and_keeps_its_type_of_answers(run: Finished) -> None:
    n_asked = run.server.n_asked
    run.psopt("resume", "run", "--api-base", run.server.base, code=0)
    assert run.server.n_asked == n_asked
    done = run.ask("optimize", "--answers", "text", "--out", "run", "--resume", code=2)
    assert done.stderr.splitlines()[-1].startswith("psopt: ")


def test_a_prompt_of_a_run_answers_new_texts_and_knows_what_its_answers_are(run: Finished) -> None:
    rows = run.server.rows[:3]
    (run.folder / "new.jsonl").write_text("\n".join(json.dumps({"text": row["text"]}) for row in rows))
    at = ["--api-base", run.server.base]
    done = run.psopt("classify", "new.jsonl", "--prompt", "run", *at, "--json", "--wordings", "10", code=0)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["text"] for answer in answers] == [row["text"] for row in rows]
    assert all(0 < answer["agreement"] <= 1 for answer in answers)
    # without --answers: by how the prompt was measured
    prompt = run.folder / "run" / "prompts" / f"{run.json('run.json')['baseline']['id']}.json"
    given = ["--prompt", prompt, "--dataset", "data.jsonl", "--label-column", "answer", "--min-f1", "0.1"]
    done = run.psopt("check", *given, *at, "--rephrasings", "6", code=0)
    _, quality, beside = KINDS[run.answers]
    assert f"ok: {quality}" in done.stdout
    assert beside in " ".join(done.stderr.split())


def test_prompts_are_diagnosed_compared_picked_and_exported(run: Finished) -> None:
    _, quality, beside = KINDS[run.answers]
    done = run.ask("diagnose", "--rephrasings", "6", "--html", "page.html", code=0)
    assert "answered" in done.stdout
    assert beside in " ".join(done.stdout.split())
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "The most sensitive samples" in (run.folder / "page.html").read_text()
    one, other = sorted((run.folder / "run" / "prompts").glob("*.json"))[:2]
    done = run.ask("compare", "--prompt", one, "--prompt", other, "--rephrasings", "6", code=0)
    assert quality in done.stdout
    assert "PSS" in done.stdout  # what stands beside quality
    run.psopt("select", "run", "max f1 with S < .9", code=0)
    run.psopt("export", "run", "--pick", "knee", "--format", "dspy", code=0)


def test_what_these_answers_do_not_have_is_refused(run: Finished) -> None:
    for model in ("minilm", "sim/accuracy=0.5"):
        done = run.psopt("optimize", *run.data, "--model", model, "--dry-run", code=2)
        assert "take a model that writes" in done.stderr
    has_c = run.answers == "labels"
    run.psopt("select", "run", "max c", code=0 if has_c else 2)
    done = run.ask("check", "--min-consistency", "0.01", "--rephrasings", "6", code=0 if has_c else 2)
    assert has_c or "C is not defined for these answers" in done.stderr


def test_a_run_with_log_probabilities_races_and_tells_how_sure_the_model_was(tmp_path: Path) -> None:
    with open_tasks.server_of_bills() as server:
        server.token_probabilities = lambda said: [0.9, 0.7] if said.endswith(("0", "5")) else [0.5, 0.1]
        server.rows += [{**row, "text": f"By mail: {row['text']}"} for row in server.rows]  # enough to race on
        run = prepared("number:0.01", tmp_path, server)
        sizes = [*SIZES, "--trials", "5", "--heldout", "2", "--race", "on", "--logprobs"]
        done = run.ask("optimize", *sizes, "--verbose", "--out", "run", code=0)
        assert "confidence against S" in done.stdout
        first = run.json("run.json")
        assert racing_line(first["race"])[1:] in " ".join(done.stdout.split())
        export = run.psopt("export", "run", "--pick", "knee", "--verify", "4", "--api-base", server.base)
        assert "reproduces 4 of 4 answers" in export.stderr + export.stdout
        n_asked = server.n_asked
        (tmp_path / "rows.jsonl").write_text(json.dumps({"text": server.rows[0]["text"]}))
        run.psopt("classify", "--prompt", "run", "--json", "--api-base", server.base, "rows.jsonl", code=0)
        assert server.n_asked == n_asked
    assert 0.3 < first["baseline"]["test"]["open"]["measures"]["confidence"] < 0.8


HOSTILE = ["", "x" * 20_000, "1 " * 5_000, "a\0b", "東京" * 500, "\u202e\u200b", "[" * 5_000, '{"a": ' * 2_000]
HOSTILE += ["<script>alert(1)</script>", "<think>no end", "[bold]rich[/bold]"]


def test_whatever_is_answered_a_run_ends(tmp_path: Path) -> None:
    with open_tasks.server_of_bills() as server:
        server.wrong = lambda _: HOSTILE
        run = prepared("number:0.01", tmp_path, server)
        run.ask("optimize", *SIZES, "--trials", "2", "--heldout", "2", "--out", "run", code=0)
        assert "alert(1)" not in (tmp_path / "run" / "report.html").read_text().replace("&lt;script&gt;alert(1)", "")
        run.ask("diagnose", "--rephrasings", "4", code=0)


def test_a_judge_that_is_none_or_outside_its_scale_ends_the_run_in_one_line(tmp_path: Path) -> None:
    with open_tasks.server_of_questions() as server:
        run = prepared("free+judge:openai/rule", tmp_path, server)
        server.judge = lambda _: "11"
        done = run.ask("check", "--min-f1", "0.1", "--rephrasings", "3", code=2)
        assert "no rating from 1 to 10" in done.stderr.splitlines()[-1]
        done = prepared("free+judge:judge", tmp_path, server).ask("check", "--min-f1", "0.1", code=2)
        assert "a judge is for free+judge:MODEL, a chat model" in done.stderr


def test_topics_of_what_fails_are_named_with_their_evidence(tmp_path: Path) -> None:
    with open_tasks.server_of_desk_questions() as server:
        run = prepared("number", tmp_path, server)
        diagnosed = ("diagnose", "--split", "all", "--rephrasings", "6", "--html", "page.html")
        first, *others = json.loads(run.ask(*diagnosed, "--json", code=0).stdout)["groups"]
        shown = run.ask(*diagnosed, code=0).stdout
    assert "cost" in first["topic"]
    assert first["label"] is None
    contrast = first["contrast"]
    assert contrast["weak_showing"] >= 20  # of the twenty-four questions about what something costs
    assert contrast["others_showing"] + contrast["weak_showing"] == 24
    assert first["share"] > 0.6
    assert all("cost" in other["topic"] for other in others)  # of the other view
    assert "What unstable or wrong samples share" in shown
    assert any(line.lstrip("│ ").startswith('"cost"') for line in shown.splitlines())
    page = (tmp_path / "page.html").read_text()
    assert "weak samples that show it" in page
    assert "&#34;cost&#34;" in page


# Free answers that a judge says to be the same.
JUDGE = "free:judge:openai/rule+judge:openai/rule"


def is_kind(text: str) -> bool:
    return "please" in text


def compares(message: str) -> str:
    """Says that two answers are the same if both or neither say please."""
    first, second = (message.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0] for tag in ("first", "second"))
    return "yes" if is_kind(first) == is_kind(second) else "no"


def rates(message: str) -> str:
    """Praises what is kind, and the one that stands first."""
    own = 7 if is_kind(message.partition("<answer>")[2].partition("</answer>")[0]) else 2
    return str(own + 3 * (message.index("<answer>") < message.index("<reference>")))


@pytest.fixture
def judged(tmp_path: Path) -> Iterator[Finished]:
    """What a run of questions needs, and a server that rates and compares."""
    with open_tasks.server_of_questions() as server:
        server.compares = compares
        server.judge = rates
        yield prepared(JUDGE, tmp_path, server)


def test_what_is_the_same_and_how_good_it_is_is_asked_once_and_kept(judged: Finished) -> None:
    done = judged.ask("optimize", *SIZES, "--trials", "2", "--effort", "light", "--out", "run", code=0)
    assert "rating" in done.stdout
    baseline = judged.json("run.json")["baseline"]
    with np.load(judged.folder / "run" / "predictions" / f"{baseline['id']}.npz", allow_pickle=False) as arrays:
        same, places = arrays["test_same"].tolist(), arrays["test"].tolist()
        texts = json.loads(arrays["answers"].tobytes().decode())
    for numbers, row in zip(same, places, strict=True):
        kinds = [is_kind(texts[place]) for place in row]
        assert [number == numbers[0] for number in numbers] == [kind == kinds[0] for kind in kinds]
    measures = baseline["test"]["open"]["measures"]
    assert measures["judge's order bias"] == pytest.approx(-3 / 9)
    assert "judge of sameness agrees with itself" in measures
    assert "S at 0.85" not in measures  # no embedding says what is the same
    before = (judged.server.n_asked, judged.server.n_rated)
    judged.psopt("resume", "run", "--api-base", judged.server.base, code=0)
    judged.psopt("report", "run", code=0)
    assert (judged.server.n_asked, judged.server.n_rated) == before  # neither of them needs a judge


def test_the_calls_of_judges_are_in_the_estimate(judged: Finished) -> None:
    done = judged.ask("optimize", "--dry-run", *SIZES, "--effort", "light", "--json", code=0)
    calls = {phase["what"]: phase["calls"] for phase in json.loads(done.stdout)["phases"]}
    rated, compared = calls.pop("answers, rated"), calls.pop("answers, compared")
    del calls["drafts of edits"]  # nobody judges these
    assert rated == 2 * sum(calls.values())
    assert compared == round(2 * 1.5 * 3 / 4 * sum(calls.values()))
    for answers, why in (("free:nowhere:none", "nowhere"), ("free:judge:gpt-4o", "say free, free:embedding:THRESHOLD")):
        judged.answers = answers
        check_refused(judged.ask("check", "--min-f1", "0.1"), why, alone=False)
    assert judged.server.n_asked == 0


WORDS = {"low": "slight trifle", "medium": "notable bother", "high": "fatal outage"}
TICKETS = ["--dataset", "tickets.csv", "--rephrasings", "3", "--samples", "24"]
SIM = ["--model", "sim/accuracy=0.5"]
ORDERED = ["--answers", "ordinal", "--order", "low,medium,high"]
RACE = ["--trials", "5", "--rounds", "1", "--race", "on", "--out", "run"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ordered")
    rows = [
        f"a {words} of {own_words(place * 40 + number)},{label}"
        for place, (label, words) in enumerate(WORDS.items())
        for number in range(40)
    ]
    (folder / "tickets.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    (folder / "one.txt").write_text("Sort the ticket.\n")
    (folder / "two.txt").write_text("Say how bad it is.\n")
    return folder


@pytest.fixture(scope="module")
def ordered(folder: Path) -> Any:
    return commands.psopt(folder, "optimize", *TICKETS, *SIM, *RACE, "--verbose", *ORDERED, code=0)


def test_a_run_and_its_report_say_what_stands_in_the_place_of_f1(ordered: Any, folder: Path) -> None:
    check_says(ordered.stdout, "Labels are ordered", "closeness", "quadratic kappa")
    assert re.search(r"original on test: [\d.]+ % of the answers are N/A", ordered.stdout)
    assert "F1 on test" not in ordered.stdout
    page = (folder / "run" / "report.html").read_text("utf-8")
    check_says(
        page, "Labels are ordered", "closeness on val", "<th>closeness</th>", "quadratic kappa", "F1 counts only exact"
    )
    data = read(folder)
    assert data["answers"] == {"type": "ordinal", "positions": [0.0, 1.0, 2.0]}
    assert data["settings"]["order"] == ["low", "medium", "high"]
    scores = data["baseline"]["test"]
    assert scores["f1"] > scores["ordinal"]["micro_f1"], "near answers count as near"
    assert scores["sensitivity"] < scores["ordinal"]["nominal_sensitivity"]


def test_a_run_and_its_prompt_keep_the_order(ordered: Any, folder: Path) -> None:
    before = read(folder)
    prompt = folder / "run" / "prompts" / f"{before['front'][0]['id']}.json"
    done = commands.psopt(folder, "check", *TICKETS, "--prompt", prompt, "--min-f1", "0.1", code=0)
    assert "ok: closeness" in done.stdout
    commands.psopt(folder, "resume", "run", code=0)
    after = read(folder)
    assert after["baseline"]["test"] == before["baseline"]["test"]
    assert after["answers"] == before["answers"]
    done = commands.psopt(folder, "optimize", *TICKETS, *SIM, *RACE, "--resume", code=2)
    check_says(done.stderr, "the answers (was ordinal: low < medium < high, is label)")


@each("words", [["diagnose"], ["check", "--min-f1", "0.1"], ["compare", "--prompt", "one.txt", "--prompt", "two.txt"]])
def test_every_command_that_measures_takes_them(folder: Path, words: list[str]) -> None:
    done = commands.psopt(folder, *words, *TICKETS, *SIM, *ORDERED, code=0)
    check_says(done.stderr + done.stdout, "Labels are ordered", "closeness")
    assert words[0] == "compare" or "exactly right" in done.stdout + done.stderr
    if words == ["diagnose"]:
        (heading,) = (line for line in done.stdout.splitlines() if "samples" in line and "closeness" in line)
        assert heading.split() == ["samples", "closeness", "F1", "S", "C"], "a class has an F1, and no closeness"
