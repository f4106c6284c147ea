"""Answers that are no single label, from the command line: runs from end to end against a server on a socket."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.search.racing import racing_line

from tests import commands, open_tasks

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

KINDS = {
    "number:0.01": (open_tasks.server_of_bills, "accuracy"),
    "text:token-f1": (open_tasks.server_of_notices, "token F1"),
    "text:json": (open_tasks.server_of_orders, "exact match"),
    "labels": (open_tasks.server_of_complaints, "micro-F1"),
    "free": (open_tasks.server_of_questions, "similarity"),
}
BESIDE = {
    "number:0.01": "mean absolute error",
    "text:token-f1": "exact match",
    "text:json": "PSS",
    "labels": "subset accuracy",
    "free": "S at 0.95",
}
"""What stands beside quality."""


@dataclass
class Finished:
    """A run of one kind of answers, and what was said of it."""

    answers: str
    folder: Path
    server: open_tasks.RuleServer
    done: subprocess.CompletedProcess[str]

    @property
    def data(self) -> list[str]:
        return ["--dataset", "data.jsonl", "--label-column", "answer", "--answers", self.answers]

    @property
    def model(self) -> list[str]:
        return ["--model", "openai/rule", "--api-base", self.server.base]

    def psopt(self, *words: Any, code: int | None = None) -> subprocess.CompletedProcess[str]:
        return commands.psopt(self.folder, *words, code=code, OPENAI_API_KEY="none")

    def json(self, name: str) -> Any:
        return json.loads((self.folder / "run" / name).read_text())


@pytest.fixture(scope="module", params=KINDS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    folder = tmp_path_factory.mktemp("open")
    with KINDS[request.param][0]() as server:
        (folder / "data.jsonl").write_text("\n".join(map(json.dumps, server.rows)))
        finished = Finished(request.param, folder, server, None)  # type: ignore[arg-type]
        sizes = ["--trials", "5", "--rounds", "1", "--rephrasings", "4", "--heldout", "4"]
        finished.done = finished.psopt("optimize", *finished.data, *finished.model, *sizes, "--out", "run")
        yield finished


def test_a_run_ends_with_a_prompt_that_is_better(run: Finished) -> None:
    assert run.done.returncode == 0, run.done.stderr
    manifest = run.json("run.json")
    quality = KINDS[run.answers][1]
    assert quality in run.done.stdout
    assert manifest["dataset"]["answers"] == run.answers
    assert manifest["answers"]["type"] == run.answers
    baseline, knee = manifest["baseline"]["test"], next(entry for entry in manifest["front"] if entry["knee"])["test"]
    assert knee["f1"] > baseline["f1"]
    assert knee["sensitivity"] < baseline["sensitivity"]
    assert (knee["consistency"] is None) == (run.answers != "labels")
    assert "Traceback" not in run.done.stderr
    assert max(map(len, run.done.stdout.splitlines())) <= 100


def test_a_study_has_the_objectives_that_there_are(run: Finished) -> None:
    import optuna

    (study,) = optuna.get_all_study_summaries(f"sqlite:///{run.folder}/run/study.db")
    assert len(study.directions) == (3 if run.answers == "labels" else 2)


def test_predictions_are_kept_with_what_they_say(run: Finished) -> None:
    baseline = run.json("run.json")["baseline"]["id"]
    with np.load(run.folder / "run" / "predictions" / f"{baseline}.npz", allow_pickle=False) as arrays:
        texts = json.loads(arrays["answers"].tobytes().decode())
        assert arrays["test"].shape == (12, 4)
        assert arrays["test"].max() <= len(texts)
    assert all(isinstance(text, str) for text in texts)


def test_the_report_shows_what_was_answered(run: Finished) -> None:
    page = (run.folder / "run" / "report.html").read_text()
    assert "What samples were answered" in page
    assert ("C, consistency" in page) == (run.answers == "labels")
    assert "nan" not in page.split("<script", 1)[0].lower().replace("finance", "")


def test_a_run_that_is_resumed_asks_nothing_twice(run: Finished) -> None:
    n_asked = run.server.n_asked
    run.psopt("resume", "run", "--api-base", run.server.base, code=0)
    assert run.server.n_asked == n_asked


def test_answers_of_another_type_can_not_be_gone_on_with(run: Finished) -> None:
    data = ["--dataset", "data.jsonl", "--label-column", "answer", "--answers", "text"]
    done = run.psopt("optimize", *data, *run.model, "--out", "run", "--resume", code=2)
    assert len(done.stderr.strip().splitlines()[-1]) > 0
    assert "Traceback" not in done.stderr


def test_a_prompt_of_a_run_answers_new_texts(run: Finished) -> None:
    rows = run.server.rows[:3]
    (run.folder / "new.jsonl").write_text("\n".join(json.dumps({"text": row["text"]}) for row in rows))
    done = run.psopt(
        "classify", "new.jsonl", "--prompt", "run", "--api-base", run.server.base, "--json", "--wordings", "10", code=0
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["text"] for answer in answers] == [row["text"] for row in rows]
    assert all(0 < answer["agreement"] <= 1 for answer in answers)


def test_a_prompt_of_a_run_knows_what_its_answers_are(run: Finished) -> None:
    """Without --answers: by how the prompt was measured."""
    prompt = run.folder / "run" / "prompts" / f"{run.json('run.json')['baseline']['id']}.json"
    done = run.psopt(
        *("check", "--prompt", prompt, "--dataset", "data.jsonl", "--label-column", "answer", "--min-f1", "0.1"),
        *("--api-base", run.server.base, "--rephrasings", "6"),
        code=0,
    )
    assert f"ok: {KINDS[run.answers][1]}" in done.stdout
    assert BESIDE[run.answers] in " ".join(done.stderr.split())


def test_a_diagnosis_shows_the_same_answers_together(run: Finished) -> None:
    done = run.psopt("diagnose", *run.data, *run.model, "--rephrasings", "6", "--html", "page.html", code=0)
    assert "answered" in done.stdout
    assert BESIDE[run.answers] in " ".join(done.stdout.split())
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "The most sensitive samples" in (run.folder / "page.html").read_text()


def test_prompts_can_be_compared_picked_and_exported(run: Finished) -> None:
    ids = sorted((run.folder / "run" / "prompts").glob("*.json"))[:2]
    prompts = [word for path in ids for word in ("--prompt", path)]
    done = run.psopt("compare", *run.data, *run.model, *prompts, "--rephrasings", "6", code=0)
    assert KINDS[run.answers][1] in done.stdout
    assert "PSS" in done.stdout  # what stands beside quality
    for words in (("select", "run", "max f1 with S < .9"), ("export", "run", "--pick", "knee", "--format", "dspy")):
        done = run.psopt(*words, code=0)
    done = run.psopt("select", "run", "max c")
    assert done.returncode == (0 if run.answers == "labels" else 2)


@pytest.mark.parametrize("model", ["minilm", "sim/accuracy=0.5"])
def test_models_that_choose_labels_are_refused(run: Finished, model: str) -> None:
    done = run.psopt("optimize", *run.data, "--model", model, "--dry-run", code=2)
    assert "take a model that writes" in done.stderr


def test_c_is_checked_only_where_it_is_defined(run: Finished) -> None:
    done = run.psopt("check", *run.data, *run.model, "--min-consistency", "0.01", "--rephrasings", "6")
    assert done.returncode == (0 if run.answers == "labels" else 2), done.stderr
    if run.answers != "labels":
        assert "C is not defined for these answers" in done.stderr


def test_a_server_that_tells_no_log_probabilities_is_found_out_by_twenty_answers(run: Finished) -> None:
    n_asked = run.server.n_asked
    done = run.psopt("check", *run.data, *run.model, "--min-f1", "0.1", "--logprobs", code=2)
    assert "sent no log-probabilities with its answers: leave --logprobs out" in done.stderr
    assert run.server.n_asked - n_asked <= 20
    assert "Traceback" not in done.stderr


def test_a_run_with_log_probabilities_races_and_tells_how_sure_the_model_was(tmp_path: Path) -> None:
    with open_tasks.server_of_bills() as server:
        server.token_probabilities = lambda said: [0.9, 0.7] if said.endswith(("0", "5")) else [0.5, 0.1]
        server.rows += [{**row, "text": f"By mail: {row['text']}"} for row in server.rows]  # enough to race on
        (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, server.rows)))
        run = Finished("number:0.01", tmp_path, server, None)  # type: ignore[arg-type]
        sizes = ["--trials", "5", "--rounds", "1", "--rephrasings", "4", "--heldout", "2", "--race", "on"]
        done = run.psopt("optimize", *run.data, *run.model, *sizes, "--logprobs", "--verbose", "--out", "run", code=0)
        assert "confidence against S" in done.stdout
        first = run.json("run.json")
        assert racing_line(first["race"])[1:] in " ".join(done.stdout.split())
        n_asked = server.n_asked
        run.psopt("optimize", *run.data, *run.model, *sizes, "--logprobs", "--out", "again", code=0)
        export = run.psopt("export", "run", "--pick", "knee", "--verify", "4", "--api-base", server.base)
        assert "reproduces 4 of 4 answers (0 asked for, 4 known already)" in export.stderr + export.stdout
        row = json.dumps({"text": server.rows[0]["text"]})
        (tmp_path / "rows.jsonl").write_text(row)
        run.psopt("classify", "--prompt", "run", "--json", "--api-base", server.base, "rows.jsonl", code=0)
        assert server.n_asked == n_asked
    measures = first["baseline"]["test"]["open"]["measures"]
    assert 0.3 < measures["confidence"] < 0.8
    second = json.loads((tmp_path / "again" / "run.json").read_text())
    assert [entry["test"] for entry in second["front"]] == [entry["test"] for entry in first["front"]]


HOSTILE = [
    "",
    "x" * 20_000,
    "1 " * 5_000,
    "a\0b",
    "東京" * 500,
    "\u202e\u200b",
    "[" * 5_000,
    '{"a": ' * 2_000,
    "<script>alert(1)</script>",
    "<think>no end",
    "[bold]rich[/bold]",
]


@pytest.mark.parametrize("answers", ["number", "text:token-f1", "text:json", "labels"])
def test_whatever_is_answered_a_run_ends(tmp_path: Path, answers: str) -> None:
    server = KINDS["number:0.01" if answers == "number" else answers][0]()
    server.wrong = lambda _: HOSTILE
    with server:
        (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, server.rows)))
        run = Finished(answers, tmp_path, server, None)  # type: ignore[arg-type]
        sizes = ["--trials", "2", "--rounds", "1", "--rephrasings", "4", "--heldout", "2"]
        done = run.psopt("optimize", *run.data, *run.model, *sizes, "--out", "run", code=0)
        assert "Traceback" not in done.stderr
        assert "alert(1)" not in (tmp_path / "run" / "report.html").read_text().replace("&lt;script&gt;alert(1)", "")
        done = run.psopt("diagnose", *run.data, *run.model, "--rephrasings", "4", code=0)
        assert "Traceback" not in done.stderr


def test_workers_share_open_answers(tmp_path: Path) -> None:
    """A worker of another process takes over what was answered, and the study holds what the answers say."""
    storage = f"sqlite:///{tmp_path}/study.db"
    with open_tasks.server_of_bills() as server:
        (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, server.rows)))
        run = Finished("number", tmp_path, server, None)  # type: ignore[arg-type]
        sizes = ["--trials", "4", "--rounds", "1", "--rephrasings", "4", "--heldout", "4"]
        shared = ["--storage", storage, "--study-name", "bills"]
        run.psopt("optimize", *run.data, *run.model, *sizes, *shared, "--out", "run", code=0)
        n_asked = server.n_asked
        run.psopt("resume", "run", "--api-base", server.base, "--cache-dir", "other", code=0)
        # val is known by the study alone: without the cache only train and test are asked for anew
        on_val = 12 * 4
        assert server.n_asked - n_asked <= n_asked - on_val


@pytest.mark.parametrize("answers", ["number", "labels"])
def test_a_model_drafts_notes_on_what_fails(tmp_path: Path, answers: str) -> None:
    server = KINDS["number:0.01" if answers == "number" else answers][0]()
    with server:
        (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, server.rows)))
        run = Finished(answers, tmp_path, server, None)  # type: ignore[arg-type]
        sizes = ["--trials", "4", "--rounds", "1", "--rephrasings", "4", "--heldout", "4"]
        drafting = ["--proposer", "openai/rule", "--out", "run"]
        run.psopt("optimize", *run.data, *run.model, *sizes, *drafting, code=0)
        assert server.n_drafted >= 2
        edits = run.json("proposals.json")["edits"]
        drafted = [edit for edit in edits if edit["provenance"]["author"] == "openai/rule"]
        assert [edit["kind"] for edit in drafted] == ["note"]
        assert drafted[0]["label"] == ""
        assert run.json("proposals.json")["refused"]  # the same sentence is not taken twice


def fair(message: str) -> str:
    """Ten for what the server says if all goes well, two for anything else."""
    return "10" if ", please." in message.partition("<answer>")[2].partition("</answer>")[0] else "Rating: 2"


def contradicts_itself(message: str) -> str:
    return "9" if message.index("<answer>") < message.index("<reference>") else "3"


def praises_the_first(message: str) -> str:
    own = 7 if fair(message) == "10" else 2
    return str(min(10, own + 3 * (message.index("<answer>") < message.index("<reference>"))))


JUDGES = {"fair": fair, "contradicts itself": contradicts_itself, "praises the first": praises_the_first}


@pytest.mark.parametrize("judge", JUDGES)
def test_a_judge_rates_in_both_orders(tmp_path: Path, judge: str) -> None:
    with open_tasks.server_of_questions() as server:
        server.judge = JUDGES[judge]
        (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, server.rows)))
        run = Finished("free+judge:openai/rule", tmp_path, server, None)  # type: ignore[arg-type]
        sizes = ["--trials", "2", "--rounds", "1", "--rephrasings", "4", "--heldout", "4", "--effort", "light"]
        done = run.psopt("optimize", *run.data, *run.model, *sizes, "--out", "run", code=0)
        assert "rating" in done.stdout
        assert server.n_rated > 0
        scores = run.json("run.json")["baseline"]["test"]
        measures = scores["open"]["measures"]
        if judge == "fair":
            assert measures["judge agrees with itself"] == 1
            assert measures["judge's order bias"] == 0
            assert 0.1 < scores["f1"] < 1
        elif judge == "contradicts itself":
            assert measures["judge agrees with itself"] == 0
            assert measures["judge's order bias"] == pytest.approx(-6 / 9)
            assert scores["f1"] == pytest.approx(5 / 9, abs=0.2)  # the same for all, N/A apart
        else:
            assert measures["judge's order bias"] == pytest.approx(-3 / 9)
        n_rated = server.n_rated
        done = run.psopt("resume", "run", "--api-base", server.base, code=0)
        assert server.n_rated == n_rated  # what was rated once is not paid again


@pytest.mark.parametrize(
    ("said", "why"), [("11", "no rating from 1 to 10"), ("very good", "no rating from 1 to 10"), ("", "no rating")]
)
def test_a_judge_outside_its_scale_ends_the_run_in_one_line(tmp_path: Path, said: str, why: str) -> None:
    with open_tasks.server_of_questions() as server:
        server.judge = lambda _: said
        (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, server.rows)))
        run = Finished("free+judge:openai/rule", tmp_path, server, None)  # type: ignore[arg-type]
        done = run.psopt("check", *run.data, *run.model, "--min-f1", "0.1", "--rephrasings", "3")
        assert done.returncode in (2, 3), done.stderr
        assert why in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr


def test_a_judge_that_is_none_is_refused(tmp_path: Path) -> None:
    with open_tasks.server_of_questions() as server:
        (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, server.rows)))
        run = Finished("free+judge:azure/none", tmp_path, server, None)  # type: ignore[arg-type]
        done = run.psopt("check", *run.data, "--model", "minilm", "--min-f1", "0.1", code=2)
        run = Finished("free+judge:judge", tmp_path, server, None)  # type: ignore[arg-type]
        done = run.psopt("check", *run.data, *run.model, "--min-f1", "0.1", code=2)
        assert "a judge is for free+judge:MODEL, a chat model" in done.stderr
