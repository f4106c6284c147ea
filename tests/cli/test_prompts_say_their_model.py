"""A run's prompt knows which model it was measured with, where and how; commands that use it ask no other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.limited_runs import read, write_questions
from tests.cli.telling import check_refused
from tests.commands import run_command
from tests.fake_server import FakeServer
from tests.sweeps import each

SMALL = ["--trials", "3", "--samples", "12", "--rephrasings", "3", "--rounds", "1"]
TEXTS = "what is x called ?\nwhat is y called ?\n"
MEASURED = ["--dataset", "data.csv", "--rephrasings", "3"]
VERBS = {
    "classify": ["classify"],
    "check": ["check", *MEASURED, "--max-sensitivity", "1"],
    "diagnose": ["diagnose", *MEASURED],
    "compare": ["compare", *MEASURED, "--prompt", "prompt.txt"],
}
NOBODY = "http://127.0.0.1:9/v1"
# Imported by a process before all else: it refuses connections to any other port than one, and notes them.
GUARD = """
import os, socket

def _check(host, port):
    if (host, int(port)) != ("127.0.0.1", int(os.environ["GUARD_PORT"])):
        with open(os.environ["GUARD_FILE"], "a") as file:
            print(host, port, file=file)
        raise ConnectionRefusedError("the guard lets nobody through")

def _connect(self, address, _connect=socket.socket.connect):
    if isinstance(address, tuple):
        _check(*address[:2])
    return _connect(self, address)

def _resolve(host, port, *rest, _resolve=socket.getaddrinfo, **more):
    if host:
        _check(host, port or 0)
    return _resolve(host, port, *rest, **more)

socket.socket.connect, socket.getaddrinfo = _connect, _resolve
"""


class Folder:
    """A data set, a text, a prompt of psopt's that says no model, and two runs at the test server."""

    def __init__(self, path: Path, server: FakeServer) -> None:
        self.path = write_questions(path, 12)
        self.server = server
        (path / "prompt.txt").write_text("Sort the question by what it asks for.")
        bare = {"description": "Sort the question by what it asks for.", "labels": ["aaa", "bbb"], "noun": "question"}
        (path / "bare.json").write_text(json.dumps(bare))
        given = ["--dataset", "data.csv", "--api-base", server.url, *SMALL]
        for name, more in (("run", ["--max-tokens", "77", "--plain"]), ("other", ["--max-tokens", "55"])):
            self.psopt("optimize", *given, *more, "--model", f"openai/{name}", "--out", name)
        self.prompt = f"run/prompts/{read(path)['recommended']['id']}.json"

    def psopt(self, *words: str, code: int = 0, key: str = "sk-a-key-of-no-use") -> subprocess.CompletedProcess[str]:
        """Run a command where the environment names another server, at which nobody answers."""
        env = {**self.environment(), "OPENAI_BASE_URL": NOBODY, "OPENAI_API_KEY": key}
        return run_command(*words, cwd=self.path, env=env, texts=TEXTS, code=code)

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI")}
        return {**kept, "PSOPT_CACHE_DIR": str(self.path / "cache"), "COLUMNS": "100"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, server: FakeServer) -> Folder:
    return Folder(tmp_path_factory.mktemp("said"), server)


def test_a_runs_prompt_is_checked_on_test_under_the_wordings_that_the_run_held_out(folder: Folder) -> None:
    words = ["check", "--dataset", "data.csv", "--max-sensitivity", "1", "--prompt"]
    measured = json.loads((folder.path / folder.prompt).read_text())["measured"]["test"]
    (folder.path / "exported.json").write_text(folder.psopt("export", "run", "--format", "json").stdout)
    for prompt in ("run", folder.prompt, "exported.json"):
        scores = json.loads(folder.psopt(*words, prompt, "--json").stdout)
        for name in ("f1", "sensitivity", "consistency", "n_rephrasings"):
            assert scores[name] == measured[name]
    assert "wordings: 3 that run has held out" in folder.psopt(*words, "run").stderr
    assert "wordings: 2 that run has held out" in folder.psopt(*words, "run", "--rephrasings", "2").stderr
    both = folder.psopt("compare", *words[1:3], "--prompt", "run", "--prompt", "exported.json")
    assert "wordings: 3 that run has held out" in both.stderr
    more = folder.psopt(*words, "run", "--rephrasings", "5").stderr
    assert "wordings: psopt's own, since run has held out fewer than 5" in more
    data = folder.path / "data.csv"
    rows = data.read_text()
    data.write_text("".join(rows.splitlines(keepends=True)[:-1]))
    changed = folder.psopt(*words, "run").stderr
    data.write_text(rows)
    assert "data has changed since run was made, so it is split anew" in changed
    assert "has changed" not in more


def test_a_runs_prompt_its_front_and_its_export_say_how_it_was_measured(folder: Folder) -> None:
    run, first = read(folder.path), read(folder.path, "front.json")["prompts"][0]
    exported = json.loads(folder.psopt("export", "run", "--format", "json").stdout)
    alone = read(folder.path, f"prompts/{first['id']}.json")
    for how in (exported["measured"], alone["measured"], first["measured"]):
        assert (how["model"], how["server"]) == ("openai/run", folder.server.url)
        assert how["client"]["max_tokens"] == 77
        assert how["client"]["structured"] is False
        assert "max_calls" not in how["client"]
        told = {"sha256": run["rephrasings"]["sha256"], "n_search": 3, "n_heldout": 3}
        assert told.items() <= how["rephrasings"].items()
        assert how["dataset"]["sha256"] == run["dataset"]["sha256"]
    for split, which in (("val", "search"), ("test", "heldout")):
        part, scores = alone["measured"][split], run["front"][0][split]
        assert (part["rephrasings"], part["n_samples"], part["n_rephrasings"]) == (which, 12, 3)
        assert (part["sensitivity"], part["f1"]) == (scores["sensitivity"], scores["f1"])


@each("verb", VERBS)
def test_a_verb_asks_the_runs_model_at_the_runs_server_as_the_run_did(folder: Folder, verb: str) -> None:
    server = folder.server
    server.reset()
    given = [*VERBS[verb], "--prompt", folder.prompt, "--cache-dir", f"own-{verb}"]
    done = folder.psopt(*given)
    assert f"model openai/run at {server.url}, as in run" in done.stderr.splitlines()
    assert server.counts()["requests"] > 0
    asked = server.last_request()["body"]
    assert (asked["model"], asked["max_tokens"]) == ("run", 77)
    assert "response_format" not in asked
    done = folder.psopt(*given, "--json")
    assert done.stderr == ""
    said = [json.loads(line) for line in done.stdout.splitlines()] if verb == "classify" else json.loads(done.stdout)
    for one in said if isinstance(said, list) else [said]:
        assert (one["model"], one["server"]) == ("openai/run", server.url)


@each("verb", VERBS)
def test_a_prompt_that_does_not_say_its_model_stops_in_one_line(folder: Folder, verb: str) -> None:
    for prompt in ["bare.json"] if verb == "classify" else ["bare.json", "prompt.txt"]:
        named = "prompt.txt" if verb == "compare" else prompt
        said = f"prompt {named} does not say which model it is for: give --model"
        check_refused(folder.psopt(*VERBS[verb], "--prompt", prompt, code=2), said)


def test_what_is_said_on_the_command_line_goes_before_the_runs(folder: Folder) -> None:
    server = folder.server
    server.reset()
    classify = ["classify", "--prompt", folder.prompt, "--cache-dir", "own-33"]
    done = folder.psopt(*classify, "--model", "openai/new", key="")
    measured = f"{folder.prompt} was measured with openai/run at {server.url}"
    assert f"model openai/new at {server.url}, as --model says; {measured}" in done.stderr
    assert server.counts()["requests"] == 2
    folder.psopt(*classify, "--max-tokens", "33")
    assert server.last_request()["body"]["max_tokens"] == 33


def test_prompts_of_different_models_are_not_compared_unsaid(folder: Folder) -> None:
    other = sorted((folder.path / "other" / "prompts").glob("*.json"))[0]
    done = folder.psopt("compare", "--dataset", "data.csv", "--prompt", folder.prompt, "--prompt", str(other), code=2)
    check_refused(done, "were measured differently", "with model openai/run")


def test_dspy_fetches_nothing_beside_the_answers(folder: Folder) -> None:
    pytest.importorskip("dspy", reason="the extra `dspy` is not installed")
    place = folder.path / "guard"
    place.mkdir()
    (place / "sitecustomize.py").write_text(GUARD)
    path = os.pathsep.join([str(place), *filter(None, [os.environ.get("PYTHONPATH")])])
    guard = {"PYTHONPATH": path, "GUARD_PORT": str(folder.server.port), "GUARD_FILE": str(place / "tried.txt")}
    given = ["classify", "--prompt", "bare.json", "--model", "dspy/openai/x", "--api-base", folder.server.url]
    # in a process of its own, where nothing has been imported before
    env = {**folder.environment(), **guard, "OPENAI_API_KEY": "sk-a-key-of-no-use"}
    command = [sys.executable, "-m", "psopt", *given]
    done = subprocess.run(command, cwd=folder.path, env=env, input=TEXTS, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert not (place / "tried.txt").exists()
    assert len(done.stdout.splitlines()) == 2


def test_addresses_and_prompts_that_can_t_be_used_are_refused(folder: Folder) -> None:
    (folder.path / "latin.json").write_bytes('{"description": "Prüfe", "labels": ["a"]}'.encode("latin-1"))
    asked = ["classify", "--model", "openai/x", "--prompt"]
    openai = ["--api-base", "https://api.openai.com/v1"]
    check_refused(folder.psopt(*asked, "bare.json", *openai, code=2, key=""), "needs a key", alone=False)
    address = folder.server.url.replace("http://", "http://me:very-secret@")
    done = folder.psopt(*asked, "bare.json", "--api-base", address, code=2)
    check_refused(done, "--api-base holds a password", alone=False)
    assert "very-secret" not in done.stderr
    check_refused(folder.psopt(*asked, "latin.json", code=2), "latin.json, line 1: byte 0xfc is not UTF-8", alone=False)
    text = folder.prompt.replace(".json", ".txt")
    done = folder.psopt("diagnose", "--dataset", "data.csv", "--prompt", text, "--model", "openai/x", code=2)
    check_refused(done, f"give {folder.prompt}", alone=False)
