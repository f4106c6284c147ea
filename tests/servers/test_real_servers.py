"""Servers that nobody here wrote, through every verb, as a user meets them: `make test-servers`.

The model behind them is `label_lm`'s, trained in some seconds; so all of them give the same answers, but for rounding.
"""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch", reason="psopt[local] is not installed")

from tests.commands import run_command
from tests.fake_server import FakeServer
from tests.servers.label_lm import DESCRIPTION, LABELS, NOUN, make_label_lm, question
from tests.servers.serving import (
    KEY,
    NotInstalledError,
    Server,
    python,
    serve_litellm,
    serve_llama_cpp,
    serve_transformers,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

SPLITS = ("train", "val", "test")
N_SAMPLES = 12
SERVERS = ["transformers serve", "llama.cpp", "LiteLLM before transformers", "LiteLLM before a fake"]
SMALL = ["--rephrasings", "3", "--samples", "12"]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The model, as safetensors and as GGUF, and where servers write what they have to say."""
    folder = tmp_path_factory.mktemp("served")
    try:
        python()
    except NotInstalledError as error:
        pytest.skip(str(error))
    make_label_lm(folder / "label")
    program = Path(__file__).with_name("gguf_file.py")
    subprocess.run([python(), str(program), str(folder / "label"), str(folder / "label.gguf")], check=True)
    return folder


@pytest.fixture(scope="session")
def transformers(folder: Path) -> Iterator[Server]:
    """`transformers serve`, which takes long to start: alone and behind LiteLLM it is the same one."""
    with serve_transformers(folder / "label", folder / "transformers-serve.log") as server:
        yield server


@pytest.fixture(scope="session", params=SERVERS)
def server(request: pytest.FixtureRequest, folder: Path) -> Iterator[Server]:
    log = folder / f"{request.param.replace(' ', '-')}.log"
    with ExitStack() as stack:
        enter = stack.enter_context
        try:
            match request.param:
                case "transformers serve":
                    yield request.getfixturevalue("transformers")
                case "llama.cpp":
                    yield enter(serve_llama_cpp(folder / "label.gguf", log))
                case "LiteLLM before transformers":
                    yield enter(serve_litellm(request.getfixturevalue("transformers"), log))
                case "LiteLLM before a fake":
                    fake = enter(FakeServer(answer="hash"))
                    yield enter(serve_litellm(Server(fake.url, "fake", log), log))
        except NotInstalledError as error:
            pytest.skip(str(error))


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory, server: Server) -> Any:
    """Questions of two classes, and one cache for all verbs that ask the same server."""
    folder = tmp_path_factory.mktemp("data")
    rows = ["id,text,label,split"]
    for first, split in enumerate(SPLITS):
        labels = [LABELS[i % len(LABELS)] for i in range(N_SAMPLES)]
        rows += [f"{split}{i},{question(one, 50 * first + i // 2)},{one},{split}" for i, one in enumerate(labels)]
    (folder / "questions.csv").write_text("\n".join(rows) + "\n")
    told: dict[str, Any] = {"name": "questions", "noun": NOUN, "description": DESCRIPTION, "labels": list(LABELS)}
    told["data"] = "questions.csv"
    (folder / "questions.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in told.items()))
    return folder


def psopt(folder: Path, *arguments: str, texts: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command with a screen of 80 columns; no traceback, whatever happens."""
    environment = {**os.environ, "OPENAI_API_KEY": KEY, "PSOPT_CACHE_DIR": str(folder / "cache"), "COLUMNS": "80"}
    done = run_command(*arguments, cwd=folder, env=environment, texts=texts)
    assert "Traceback" not in done.stderr, done.stderr
    assert KEY not in done.stdout + done.stderr
    return done


def lm(server: Server) -> list[str]:
    return ["--model", f"openai/{server.model}", "--api-base", server.url]


def succeeds(done: Any) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if done.stdout.startswith("{") else done.stdout


@pytest.mark.parametrize("mode", ["--structured", "--plain"])
def test_diagnose(server: Server, data: Any, mode: str) -> None:
    report = succeeds(
        psopt(data, "diagnose", "--dataset", "questions.toml", *lm(server), *SMALL, "--split", "val", "--json", mode)
    )
    assert report["f1"] > 0.1  # some servers answer by the hash of what they are asked
    assert 0 <= report["sensitivity"] <= 1
    assert report["na_rate"] < 0.5  # held to any JSON, so small a model goes astray at times


def test_texts_in_the_place_of_labels(server: Server, data: Any) -> None:
    """What the model writes is taken as a text: nothing holds it to the labels."""
    asking = f"{DESCRIPTION}\nAnswer with exactly one of these labels and nothing else: {', '.join(LABELS)}"
    (data / "free.md").write_text(f"{asking}\n\n{NOUN.capitalize()}: {{text}}\nLabel:\n")
    given = ["--dataset", "questions.csv", "--label-column", "label", "--answers", "text", "--prompt", "free.md"]
    report = succeeds(psopt(data, "diagnose", *given, *lm(server), *SMALL, "--split", "val", "--json"))
    assert report["consistency"] is None
    assert report["open"]["quality_name"] == "exact match"
    assert 0 <= report["sensitivity"] <= 1
    assert report["na_rate"] < 1


def test_check(server: Server, data: Any) -> None:
    done = psopt(data, "check", "--dataset", "questions.toml", *lm(server), *SMALL, "--min-f1", "0.2")
    assert done.returncode == 0, done.stderr
    assert "ok: " in done.stdout
    missed = psopt(data, "check", "--dataset", "questions.toml", *lm(server), *SMALL, "--min-f1", "1.01")
    assert missed.returncode in {1, 2}


def test_compare(server: Server, data: Any) -> None:
    (data / "one.txt").write_text(DESCRIPTION)
    (data / "other.txt").write_text("Please say what kind of answer the question wants.")
    given = ["--prompt", "one.txt", "--prompt", "other.txt"]
    done = psopt(data, "compare", "--dataset", "questions.toml", *lm(server), *SMALL, *given)
    assert done.returncode == 0, done.stderr


def test_a_rephraser_that_writes_labels_is_refused_in_one_line(server: Server, data: Any) -> None:
    """The small model knows nothing but its labels; the fake one writes."""
    done = psopt(
        data,
        *["rephrase", "--dataset", "questions.toml", "--rephraser", f"openai/{server.model}"],
        *["--api-base", server.url, "--rephrasings", "2", "--heldout", "1", "--out", "rephrasings.json"],
    )
    if server.log.stem == "LiteLLM-before-a-fake":
        assert done.returncode == 0, done.stderr
        assert len(json.loads((data / "rephrasings.json").read_text())["search"]) == 2
    else:
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1].startswith("psopt: ")


def test_optimize_then_resume_then_classify(server: Server, data: Any) -> None:
    run = ["optimize", "--dataset", "questions.toml", *lm(server), *SMALL, "--trials", "3", "--rounds", "1"]
    done = psopt(data, *run, "--out", "run")
    assert done.returncode == 0, done.stderr
    done = psopt(data, "resume", "run", "--trials", "4")
    assert done.returncode == 0, done.stderr
    told = json.loads((data / "run" / "run.json").read_text())
    assert told["finish_reason"] == "trials"
    front = json.loads((data / "run" / "front.json").read_text())
    assert front
    prompt = sorted((data / "run" / "prompts").glob("*.json"))[0]
    texts = "when did it end ?\nwho built it ?\n"
    done = psopt(data, "classify", "--prompt", str(prompt), "--api-base", server.url, "-", texts=texts)
    assert done.returncode == 0, done.stderr
    answers = done.stdout.splitlines()
    assert len(answers) == 2
    assert {answer.split("\t")[0] for answer in answers} <= {*LABELS, "N/A"}


def test_a_text_longer_than_the_model_reads_costs_only_itself(server: Server, data: Any) -> None:
    """One text of the test split that no server of 2,048 tokens can read."""
    if server.log.stem == "LiteLLM-before-a-fake":
        pytest.skip("the fake server reads everything")
    rows = (data / "questions.csv").read_text().replace("thing 100", "thing " + "and another thing " * 900)
    (data / "long.csv").write_text(rows)
    (data / "long.toml").write_text((data / "questions.toml").read_text().replace("questions.csv", "long.csv"))
    given = ["--dataset", "long.toml", *lm(server), *SMALL]
    done = psopt(data, "diagnose", *given, "--json", "--max-tokens", "32", "--retries", "2")
    if server.log.stem.endswith("transformers-serve"):
        assert done.returncode in {0, 2, 3}, done.stderr  # reads on past its context, or breaks down
    else:
        report = succeeds(done)
        assert report["f1"] > 0.2


def test_a_wrong_model_name_is_told_in_one_line(server: Server, data: Any) -> None:
    """llama.cpp's server answers whatever name it is asked by: there is nothing to tell."""
    done = psopt(
        data, "diagnose", "--dataset", "questions.toml", "--model", "openai/nobody", "--api-base", server.url, *SMALL
    )
    if "llama" not in server.log.stem:
        assert done.returncode == 2
        assert "nobody" in done.stderr.splitlines()[-1]
