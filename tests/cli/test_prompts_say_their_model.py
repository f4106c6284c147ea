"""A run's prompt knows which model it was measured with, where and how; commands that use it ask no other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.guarding import Guard
from tests.commands import run_command
from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from psopt.tasks import Task

SMALL = ["--trials", "3", "--samples", "12", "--rephrasings", "3", "--rounds", "1"]
TEXTS = "what is x called ?\nwhat is y called ?\n"


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, server: FakeServer) -> Any:
    """A data set, a text, a prompt of psopt's that says no model, and two runs at the test server."""
    folder = tmp_path_factory.mktemp("said")
    rows = ["id,text,label,split"]
    for split in ("train", "val", "test"):
        rows += [f"{split}{i},what is {split} {i} called ?,{'ab'[i % 2] * 3},{split}" for i in range(12)]
    (folder / "data.csv").write_text("\n".join(rows) + "\n")
    (folder / "prompt.txt").write_text("Sort the question by what it asks for.")
    bare = {"description": "Sort the question by what it asks for.", "labels": ["aaa", "bbb"], "noun": "question"}
    (folder / "bare.json").write_text(json.dumps(bare))
    given = ["--dataset", "data.csv", "--api-base", server.url, *SMALL]
    for name, more in (("run", ["--max-tokens", "77", "--plain"]), ("other", ["--max-tokens", "55"])):
        psopt(folder, server, "optimize", *given, *more, "--model", f"openai/{name}", "--out", name, code=0)
    return folder


def psopt(
    folder: Path,
    server: FakeServer,
    *arguments: str,
    key: str | None = "sk-a-key-of-no-use-123456",
    texts: str = "",
    env: Mapping[str, str] | None = None,
    alone: bool = False,
    code: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command under a guard; `alone` is in a process of its own, where nothing has been imported before."""
    guard = Guard(folder, server.port)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI")}
    env = {**kept, "PSOPT_CACHE_DIR": str(folder / "cache"), "COLUMNS": "100", **(env or {})}
    env |= {"OPENAI_API_KEY": key} if key else {}
    if alone:
        command = [sys.executable, "-m", "psopt", *arguments]
        env |= guard.environment
        done = subprocess.run(command, cwd=folder, env=env, input=texts, capture_output=True, text=True, timeout=600)
    else:
        with guard.in_this_process():
            done = run_command(*arguments, cwd=folder, env=env, texts=texts)
    assert guard.tried == []
    assert code in {None, done.returncode}, done.stderr
    return done


def prompt_of(folder: Path, run: str = "run") -> Any:
    return sorted((folder / run / "prompts").glob("*.json"))[0]


@pytest.mark.parametrize("command", ["check", "diagnose"])
def test_a_run_stands_for_the_prompt_that_it_recommends(folder: Any, server: FakeServer, command: str) -> None:
    recommended = json.loads((folder / "run" / "run.json").read_text())["recommended"]["id"]
    given = ["--dataset", "data.csv", "--rephrasings", "3", "--json"]
    given += ["--max-sensitivity", ".9"] if command == "check" else []
    by_run, by_file = (
        psopt(folder, server, command, *given, "--prompt", prompt)
        for prompt in ("run", f"run/prompts/{recommended}.json")
    )
    assert by_run.returncode == by_file.returncode == 0, by_run.stderr
    assert by_run.stdout.replace('"run"', f'"run/prompts/{recommended}.json"') == by_file.stdout
    none = psopt(folder, server, command, *given, "--prompt", "cache", code=2)
    assert "cache is no run directory" in none.stderr


def test_a_runs_prompt_its_front_and_its_export_say_how_it_was_measured(folder: Any, server: FakeServer) -> None:
    front = json.loads((folder / "run" / "front.json").read_text())["prompts"]
    run = json.loads((folder / "run" / "run.json").read_text())
    exported = json.loads(psopt(folder, server, "export", "run", "--format", "json").stdout)
    alone = json.loads((folder / "run" / "prompts" / f"{front[0]['id']}.json").read_text())
    for how in (exported["measured"], alone["measured"], front[0]["measured"]):
        assert (how["model"], how["server"]) == ("openai/run", server.url)
        assert how["client"]["max_tokens"] == 77
        assert how["client"]["structured"] is False
        assert "max_calls" not in how["client"]
        assert how["rephrasings"] == {"sha256": run["rephrasings"]["sha256"], "n_search": 3, "n_heldout": 3}
        assert how["dataset"]["sha256"] == run["dataset"]["sha256"]
    entry = run["front"][0]
    for split, which, q in (("val", "search", 3), ("test", "heldout", 3)):
        part = alone["measured"][split]
        assert (part["rephrasings"], part["n_samples"], part["n_rephrasings"]) == (which, 12, q)
        assert part["sensitivity"] == entry[split]["sensitivity"]
        assert part["f1"] == entry[split]["f1"]


VERBS = {
    "classify": ["classify"],
    "check": ["check", "--dataset", "data.csv", "--max-sensitivity", "1"],
    "diagnose": ["diagnose", "--dataset", "data.csv", "--rephrasings", "3"],
    "compare": ["compare", "--dataset", "data.csv", "--rephrasings", "3", "--prompt", "prompt.txt"],
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_asks_the_runs_model_at_the_runs_server_as_the_run_did(
    folder: Any, server: FakeServer, verb: Any
) -> None:
    """Not even an address in the environment leads elsewhere."""
    server.reset()
    given = [*VERBS[verb], "--prompt", str(prompt_of(folder).relative_to(folder)), "--cache-dir", f"own-{verb}"]
    elsewhere = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    done = psopt(folder, server, *given, texts=TEXTS, env=elsewhere, code=0)
    assert f"model openai/run at {server.url}, as in run" in done.stderr.splitlines()
    assert server.counts()["requests"] > 0
    asked = server.last_request()["body"]
    assert asked["model"] == "run"
    assert asked["max_tokens"] == 77
    assert "response_format" not in asked


@pytest.mark.parametrize("verb", VERBS)
def test_json_says_model_and_server(folder: Any, server: FakeServer, verb: Any) -> None:
    done = psopt(folder, server, *VERBS[verb], "--prompt", str(prompt_of(folder)), "--json", texts=TEXTS)
    assert done.stderr == ""
    said = [json.loads(line) for line in done.stdout.splitlines()] if verb == "classify" else json.loads(done.stdout)
    for one in said if isinstance(said, list) else [said]:
        assert (one["model"], one["server"]) == ("openai/run", server.url)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("prompt", ["bare.json", "prompt.txt"])
def test_a_prompt_that_does_not_say_its_model_stops_in_one_line(
    folder: Any, server: FakeServer, verb: Any, prompt: str
) -> None:
    if (verb, prompt) == ("classify", "prompt.txt"):
        return  # it lacks more than a model
    done = psopt(folder, server, *VERBS[verb], "--prompt", prompt, texts=TEXTS)
    assert (done.returncode, done.stdout) == (2, "")
    named = "prompt.txt" if verb == "compare" else prompt
    assert done.stderr == f"psopt: prompt {named} does not say which model it is for: give --model\n"


def test_no_model_is_presumed_for_a_prompt_of_ones_own(folder: Path, server: FakeServer) -> None:
    done = psopt(folder, server, "optimize", "--dataset", "data.csv", "--prompt", "prompt.txt", "--out", "none", code=2)
    assert "psopt: prompt prompt.txt does not say which model it is for: give --model" in done.stderr
    assert not (folder / "none").exists()


def test_minilm_is_the_default_only_without_a_prompt(folder: Any, server: FakeServer) -> None:
    done = psopt(folder, server, "diagnose", "--dataset", "data.csv", "--rephrasings", "2", key=None, code=0)
    assert "model minilm, the default" in done.stderr


def test_another_model_on_the_command_line_is_asked_at_the_runs_server_and_said(
    folder: Any, server: FakeServer
) -> None:
    server.reset()
    prompt = prompt_of(folder)
    done = psopt(
        folder, server, "classify", "--prompt", str(prompt), "--model", "openai/new", texts=TEXTS, key=None, code=0
    )
    said = f"model openai/new at {server.url}, as --model says; {prompt} was measured with openai/run at {server.url}"
    assert said in done.stderr
    assert server.counts()["requests"] == 2


def test_options_on_the_command_line_go_before_the_runs(folder: Any, server: FakeServer) -> None:
    server.reset()
    given = ["--prompt", str(prompt_of(folder)), "--max-tokens", "33", "--cache-dir", "own-33"]
    psopt(folder, server, "classify", *given, texts=TEXTS, code=0)
    assert server.last_request()["body"]["max_tokens"] == 33


def test_prompts_of_different_models_are_not_compared_unsaid(folder: Any, server: FakeServer) -> None:
    both = ["--prompt", str(prompt_of(folder)), "--prompt", str(prompt_of(folder, "other"))]
    done = psopt(folder, server, "compare", "--dataset", "data.csv", *both, code=2)
    assert "were measured differently" in done.stderr
    assert "with model openai/run" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_prompt_that_was_measured_with_an_object_says_so(
    folder: Any, server: FakeServer, task: Task, keyword_model: Any, tmp_path: Path
) -> None:
    import psopt as package

    run = package.optimize(task, model=keyword_model, trials=2, rephrasings=2, out=tmp_path / "own")
    prompt = run.path / "prompts" / f"{run.baseline.id}.json"
    done = psopt(folder, server, "classify", "--prompt", str(prompt), texts=TEXTS, code=2)
    assert "was measured with a model object in Python (keyword), which no name loads: give --model" in done.stderr
    resumed = psopt(folder, server, "resume", str(run.path), code=2)
    assert "psopt.optimize(task, model=.." in resumed.stderr


def test_dspy_fetches_nothing_beside_the_answers(folder: Any, server: FakeServer) -> None:
    pytest.importorskip("dspy", reason="the extra `dspy` is not installed")
    given = ["--prompt", "bare.json", "--model", "dspy/openai/x", "--api-base", server.url]
    done = psopt(folder, server, "classify", *given, texts=TEXTS, alone=True, code=0)
    assert len(done.stdout.splitlines()) == 2


def test_without_a_key_openai_itself_is_never_asked(folder: Any, server: FakeServer) -> None:
    given = ["classify", "--prompt", "bare.json", "--model", "openai/x"]
    for more in ([], ["--api-base", "https://api.openai.com/v1"]):
        done = psopt(folder, server, *given, *more, texts=TEXTS, key=None, code=2)
        assert "needs a key" in done.stderr


def test_a_password_in_an_address_is_refused_and_not_repeated(folder: Any, server: FakeServer) -> None:
    address = server.url.replace("http://", "http://me:very-secret@")
    given = ["--prompt", "bare.json", "--model", "openai/x", "--api-base", address]
    done = psopt(folder, server, "classify", *given, texts=TEXTS, code=2)
    assert "--api-base holds a password" in done.stderr
    assert "very-secret" not in done.stderr


def test_a_runs_prompt_as_text_is_refused_with_the_one_to_give(folder: Any, server: FakeServer) -> None:
    text = prompt_of(folder).with_suffix(".txt")
    done = psopt(
        folder, server, "diagnose", "--dataset", "data.csv", "--prompt", str(text), "--model", "openai/x", code=2
    )
    assert f"give {text.with_suffix('.json')}" in done.stderr


def test_a_prompt_that_is_not_utf_8_is_called_that(folder: Any, server: FakeServer) -> None:
    (folder / "latin.json").write_bytes('{"description": "Prüfe", "labels": ["a"]}'.encode("latin-1"))
    done = psopt(folder, server, "classify", "--prompt", "latin.json", "--model", "openai/x", texts=TEXTS, code=2)
    assert "latin.json, line 1: byte 0xfc is not UTF-8" in done.stderr
