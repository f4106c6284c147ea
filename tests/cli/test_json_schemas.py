"""What `--json` prints, and the files that a run leaves, are what their schemas say, key for key."""

from __future__ import annotations

import contextlib
import functools
import json
import signal
import socket
import urllib.request
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from psopt.cli import command_line

from tests import commands
from tests.cli.conftest import TREC
from tests.fake_server import FakeServer
from tests.processes import Process
from tests.sweeps import each
from tests.waiting import wait_until

PRINTED = {
    "resume": ["resume", "run"],
    "dry-run": ["optimize", *TREC, "--trials", "4", "--dry-run"],
    "diagnose": ["diagnose", *TREC],
    "compare": ["compare", *TREC, "--model2", "sim/accuracy=0.9"],
    "check": ["check", *TREC, "--min-f1", "0", "--max-sensitivity", "1", "--each", ".1", "--min-each", "0"],
    "check-fresh": ["check", "--baseline", "run", "--fresh", "texts.txt"],
    "classify": ["classify", "--prompt", "run", "texts.txt"],
    "rephrase": ["rephrase", "--dataset", "trec"],
    "rephrase-show": ["rephrase", "--prompt", "prompt.txt", "--show"],
    "report": ["report", "run"],
    "report-two": ["report", "run", "run"],
    "select": ["select", "run"],
    "export": ["export", "run", "--diff", "--verify", "5"],
    "migrate": ["migrate", "run", "--model", "sim/accuracy=0.9", "--no-search"],
    "data-list": ["data", "list"],
    "models-list": ["models", "list"],
    "skill": ["skill"],
    "completion": ["completion", "bash"],
}
# Run by the fixture; need others, or a network.
ELSEWHERE = {"optimize", "worker", "doctor", "dashboard", "serve", "data-fetch", "models-fetch"}
FILES = ["run.json", "front.json", "weak_spots.json"]


def psopt(folder: Path, *words: str) -> str:
    return commands.psopt(folder, *words, code=0).stdout


@pytest.fixture(scope="module")
def folder(trec_run: Path) -> Path:
    """A folder with a run in it, a prompt and texts."""
    (trec_run / "texts.txt").write_text("Who was he ?\nWhere is it ?\n")
    (trec_run / "prompt.txt").write_text("Classify the question.\n\n{text}\n")
    check("optimize", json.loads((trec_run / "printed.json").read_text("utf-8")))
    return trec_run


@functools.cache
def schema_of(name: str) -> Any:
    return json.loads(psopt(Path.cwd(), "schema", name))


def check(name: str, data: Any) -> None:
    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    faults = jsonschema.Draft202012Validator(schema).iter_errors(data)
    assert [f"{fault.json_path}: {fault.message[:200]}" for fault in faults] == []


@each("name", PRINTED)
def test_what_is_printed_is_what_its_schema_says(folder: Path, name: str) -> None:
    printed = psopt(folder, *PRINTED[name], "--json")
    documents = map(json.loads, printed.splitlines()) if name == "classify" else [json.loads(printed)]
    for data in documents:
        check(name, data)
        for entry in data if isinstance(data, list) else [data]:
            assert entry["schema_version"] == 1


def test_files_of_a_run_and_a_diagnosis_without_labels_are_what_their_schemas_say(folder: Path) -> None:
    for name in FILES:
        check(name, json.loads((folder / "run" / name).read_text("utf-8")))
    (folder / "bare.csv").write_text("text\n" + "".join(f"What is number {n} ?\n" for n in range(12)))
    (folder / "task.toml").write_text('description = "Classify the question."\nlabels = ["Number", "Person"]\n')
    words = ["--dataset", "bare.csv", "--task-file", "task.toml", "--model", "sim/", "--rephrasings", "2"]
    check("diagnose", json.loads(psopt(folder, "diagnose", *words, "--json")))


def test_what_doctor_and_a_worker_print_is_what_their_schemas_say(folder: Path) -> None:
    with FakeServer() as server:
        asked = ["doctor", "--model", "openai/any", "--api-base", server.url]
        check("doctor", json.loads(psopt(folder, *asked, "--json")))
    study = ["--storage", f"sqlite:///{folder}/shared.db", "--study-name", "shared"]
    psopt(folder, "optimize", *TREC, "--trials", "3", "--out", "shared", *study)
    check("worker", json.loads(psopt(folder, "worker", *study, "--json")))


def test_what_the_dashboard_prints_is_what_its_schema_says_and_it_serves_the_study(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ["dashboard", "run", "--port", str(port), "--json"]
    served = Process(words, cwd=folder, env=commands.environment(folder))
    try:
        printed = json.loads(served.stdout.readline())
        with socket.create_connection(("127.0.0.1", port)) as unfinished:  # as browsers open some ahead of need
            unfinished.sendall(b"GET / HTTP/1.1\r\n")
            studies = wait_until(lambda: summaries(f"{printed['url']}api/studies"), process=served)
            served.send_signal(signal.SIGTERM)
            _, said = served.communicate(timeout=60)
    finally:
        served.kill()
    assert (served.returncode, said) == (0, "")
    check("dashboard", printed)
    assert printed["url"] == f"http://127.0.0.1:{port}/"
    assert [study["study_name"] for study in studies] == ["run"]


def summaries(url: str) -> Any:
    """The studies that a dashboard shows, once it answers."""
    with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=60) as answer:
        return json.load(answer)["study_summaries"]
    return None


def test_every_command_has_a_schema_and_every_key_is_explained_and_no_other_allowed() -> None:
    commands = {name for name in command_line().commands if name not in {"schema", "data", "models"}}
    *outputs, config = psopt(Path.cwd(), "schema").split()
    assert config == "config"
    assert commands <= set(outputs)
    assert set(PRINTED) | ELSEWHERE | set(FILES) == set(outputs)
    for name in outputs:
        schema = schema_of(name)
        keys = schema.get("items", schema)["properties"].values()
        assert all(key["description"] and key.keys() - {"description"} for key in keys)
    with pytest.raises(AssertionError, match="surprise"):
        check("skill", {"schema_version": 1, "file": None, "text": "", "surprise": 1})
