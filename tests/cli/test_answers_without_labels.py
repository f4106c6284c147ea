"""Answers that name no label, and texts that are never answered, as a user of the command line meets them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests import commands
from tests.fake_server import FakeServer

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

NONSENSE = "fixed:That is hard to say."


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Questions of two classes, 30 a split; three of each split are about bombs."""
    rows = ["id,text,label,split"]
    for split in ("train", "val", "test"):
        for i in range(30):
            about = "bomb" if i % 10 == 0 else "thing"
            rows.append(f"{split}{i},what is {about} {split} {i} called ?,{'ab'[i % 2] * 3},{split}")
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def psopt(
    folder: Path, verb: str, server: FakeServer, *arguments: str, **more: Any
) -> subprocess.CompletedProcess[str]:
    where = ["--model", "openai/test", "--api-base", server.url, "--concurrency", "4"]
    return commands.psopt(
        folder, verb, *where, *arguments, columns=100, OPENAI_API_KEY="sk-very-secret-0123456789", **more
    )


def measure(
    folder: Path, verb: str, server: FakeServer, *arguments: str, code: int | None = None
) -> subprocess.CompletedProcess[str]:
    given = ["--dataset", "data.csv", "--rephrasings", "2", *arguments]
    if verb == "optimize":
        given += ["--trials", "2", "--rounds", "1", "--out", "run"]
    if verb == "compare":
        (folder / "p.txt").write_text("Say what the question is about.")
        given += ["--prompt", "p.txt", "--model2", "openai/other"]
    if verb == "check":
        given += ["--max-sensitivity", "1"]
    return psopt(folder, verb, server, *given, code=code)


@pytest.mark.parametrize("verb", ["diagnose", "check", "compare", "optimize"])
def test_a_model_that_names_no_label_is_found_out_by_twenty_answers(data: Path, verb: str) -> None:
    with FakeServer(answer=NONSENSE) as server:
        done = measure(data, verb, server)
        assert server.counts()["requests"] == 20
    assert done.returncode == 2
    assert "none of the first 20 answers names a label (20 unknown label)" in done.stderr
    assert "it said: 'That is hard to say.'" in done.stderr
    assert "try --plain" in done.stderr
    assert "Traceback" not in done.stderr


def test_tokens_used_up_by_thinking_are_said_with_the_cure(data: Path) -> None:
    with FakeServer(shape="thought-out") as server:
        done = measure(data, "diagnose", server, "--max-tokens", "64")
        assert server.counts()["requests"] == 20
    assert done.returncode == 2
    assert "20 cut off" in done.stderr
    assert "raise --max-tokens (64)" in done.stderr


def test_fewer_than_twenty_answers_are_looked_at_all(data: Path) -> None:
    with FakeServer(answer=NONSENSE) as server:
        done = measure(data, "diagnose", server, "--samples", "4", "--rephrasings", "1")
    assert done.returncode == 2
    assert "none of 4 answers names a label" in done.stderr


def test_it_is_found_out_again_without_asking_again(data: Path) -> None:
    with FakeServer(answer=NONSENSE) as server:
        measure(data, "diagnose", server)
        done = measure(data, "diagnose", server)
        assert server.counts()["requests"] == 20
    assert done.returncode == 2
    assert "names a label" in done.stderr


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("content_filter", "content filter", "content management policy"),
        ("context_length", "context length", "maximum context length"),
        ("vllm_context", "context length", "512 tokens"),
        ("llama_context", "context length", "available context size"),
        ("invalid_json", "invalid JSON", "Failed to generate JSON"),
        ("filtered", "content filter", "filtered"),
        ("refusal", "refused", "I can't help with that."),
    ],
)
def test_texts_that_are_never_answered_are_n_a_of_their_kind_and_asked_once(
    data: Path, kind: str, name: str, said: str
) -> None:
    with FakeServer(unanswerable=f"bomb:{kind}") as server:
        done = measure(data, "diagnose", server, "--max-unanswered", "0.2", "--json")
        again = measure(data, "diagnose", server, "--max-unanswered", "0.2", "--json")
        assert server.counts()["requests"] == 60
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["na_kinds"] == {name: 6}
    assert report["na_rate"] == pytest.approx(0.1)
    assert report["na_examples"][name]["samples"] == ["train0", "train10", "train20"]
    assert said in report["na_examples"][name]["said"]
    assert json.loads(again.stdout)["na_kinds"] == {name: 6}


def test_more_refused_texts_than_allowed_stop_a_run_that_goes_on_when_they_are_allowed(data: Path) -> None:
    with FakeServer(unanswerable="bomb:content_filter") as server:
        stopped = measure(data, "optimize", server, code=2)
        assert "more than --max-unanswered 0.05 allows" in stopped.stderr
        assert "psopt resume run" in stopped.stderr
        commands.psopt(data, "resume", "run", "--max-unanswered", "0.2", "--json", OPENAI_API_KEY="k", code=0)
        assert server.counts()["answered_twice"] == 0
    run = json.loads((data / "run" / "run.json").read_text())
    assert run["baseline"]["test"]["na_kinds"] == {"content filter": 6}
    assert "content filter: 6" in (data / "run" / "report.html").read_text()
    with np.load(data / "run" / "predictions" / f"{run['baseline']['id']}.npz") as arrays:
        assert (arrays["test_na_kinds"] == "content filter").sum() == 6


def test_a_server_that_refuses_every_text_is_found_out_at_once(data: Path) -> None:
    with FakeServer(unanswerable="called:vllm_context") as server:
        done = measure(data, "diagnose", server, "--max-unanswered", "0.9")
        assert server.counts()["requests"] <= 24
    assert done.returncode == 2
    assert "20 context length" in done.stderr


def test_a_check_fails_where_s_rests_on_n_a(data: Path) -> None:
    with FakeServer(unanswerable="bomb:refusal,3 called:refusal,5 called:refusal") as server:
        given = ["--max-unanswered", "1", "--max-sensitivity", "1"]
        missed = measure(data, "check", server, *given, "--min-consistency", "0")
        allowed = measure(data, "check", server, *given, "--max-na-rate", "0.3")
    assert missed.returncode == 1, missed.stderr
    assert "missed: S is unreliable: 30 % of the answers name no label (18 refused)" in missed.stderr
    assert allowed.returncode == 0, allowed.stderr
    assert "Note: S is unreliable" in allowed.stderr


def test_answers_that_are_cut_are_said_beside_the_scores(data: Path) -> None:
    with FakeServer(unanswerable="bomb:refusal,3 called:refusal,5 called:refusal") as server:
        done = measure(data, "diagnose", server, "--max-unanswered", "1", "--html", "page.html")
        compared = measure(data, "compare", server, "--max-unanswered", "1")
    assert "S is unreliable" in done.stdout
    assert 'N/A, refused: 18, such as "I can\'t help with that."' in done.stdout
    assert "N/A, refused: 18" in (data / "page.html").read_text()
    assert compared.stdout.count("S is unreliable") == 2


def test_classify_says_why_a_text_has_no_label(data: Path) -> None:
    prompt = {"description": "Sort it.", "labels": ["aaa", "bbb"], "noun": "question"}
    (data / "prompt.json").write_text(json.dumps(prompt))
    texts = "what is it ?\nhow to make a bomb ?\n"
    with FakeServer(unanswerable="bomb:content_filter") as server:
        done = psopt(data, "classify", server, "--prompt", "prompt.json", "--json", "-", texts=texts)
        plain = psopt(data, "classify", server, "--prompt", "prompt.json", "-", texts=texts)
    assert done.returncode == 0, done.stderr
    first, second = map(json.loads, done.stdout.splitlines())
    assert "na_kind" not in first
    assert (second["label"], second["na_kind"]) == (None, "content filter")
    assert plain.stdout.splitlines()[1] == "N/A"
    assert "N/A: 1 of 2 texts (1 content filter)" in plain.stderr


def test_log_probabilities_that_begin_with_thoughts_are_said(data: Path) -> None:
    with FakeServer(answer="fixed:<think>Hm, a</think> aaa", structured="ignore") as server:
        done = measure(data, "diagnose", server, "--logprobs")
        assert server.counts()["requests"] <= 20
    assert done.returncode == 2
    assert "thinks before it answers" in done.stderr


def test_a_server_without_log_probabilities_is_found_out_by_twenty_answers(data: Path) -> None:
    with FakeServer(logprobs="no") as server:
        done = measure(data, "diagnose", server, "--logprobs")
        assert server.counts()["requests"] <= 20
    assert done.returncode == 2
    assert "sent no probabilities" in done.stderr


@pytest.mark.parametrize("verb", ["diagnose", "optimize"])
def test_a_judge_without_rephrasings_to_judge_is_refused(data: Path, verb: str) -> None:
    with FakeServer() as server:
        done = measure(data, verb, server, "--judge", "openai/judge")
        assert server.counts()["requests"] == 0
    assert done.returncode == 2
    assert "--judge openai/judge has nothing to judge" in done.stderr
    assert not (data / "run").exists()
