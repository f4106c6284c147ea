"""Servers that nobody here wrote, through every verb, as a user meets them: `make test-servers`.

Behind llama.cpp's is SmolLM2, behind the others `label_lm`'s model, which is trained in some seconds.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="psopt[local] is not installed")

from tests import commands
from tests.fake_server import FakeServer
from tests.servers import serving
from tests.servers.label_lm import DESCRIPTION, LABELS, NOUN, make_label_lm, question
from tests.servers.serving import KEY, NotInstalledError, Server

N_SAMPLES = 12
FAKE = "LiteLLM before a fake"
SERVERS = ["transformers serve", "llama.cpp", "LiteLLM before transformers", FAKE]
SMALL = ["--rephrasings", "2", "--samples", "6"]
DATA = ["--dataset", "questions.toml", *SMALL]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where servers write what they have to say."""
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="session")
def transformers(folder: Path) -> Iterator[Server]:
    """`transformers serve`, which takes long to start: alone and behind LiteLLM it is the same one."""
    with serving.serve_transformers(make_label_lm(folder / "label"), folder / "transformers-serve.log") as server:
        yield server


@pytest.fixture(scope="session", params=SERVERS)
def server(request: pytest.FixtureRequest, folder: Path) -> Iterator[Server]:
    log = folder / f"{request.param.replace(' ', '-')}.log"
    with ExitStack() as stack:
        enter = stack.enter_context
        try:
            serving.program("transformers")
            match request.param:
                case "transformers serve":
                    yield request.getfixturevalue("transformers")
                case "llama.cpp":
                    yield enter(serving.serve_llama_cpp(request.getfixturevalue("smollm2"), log))
                case "LiteLLM before transformers":
                    yield enter(serving.serve_litellm(request.getfixturevalue("transformers"), log))
                case _:
                    fake = enter(FakeServer(answer="hash"))
                    yield enter(serving.serve_litellm(Server(fake.url, "fake", log), log))
        except NotInstalledError as error:
            pytest.skip(str(error))


class Asked:
    """Questions of two classes, and one cache for all verbs that ask the same server."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server = server
        self.folder = folder
        self.at = ["--api-base", server.url]
        self.model = ["--model", f"openai/{server.model}", *self.at]
        rows = ["id,text,label,split"]
        for first, split in enumerate(("train", "val", "test")):
            labels = [LABELS[i % len(LABELS)] for i in range(N_SAMPLES)]
            rows += [f"{split}{i},{question(one, 50 * first + i // 2)},{one},{split}" for i, one in enumerate(labels)]
        (folder / "questions.csv").write_text("\n".join(rows) + "\n")
        told = {"name": "questions", "noun": NOUN, "description": DESCRIPTION, "data": "questions.csv"}
        lines = [f"{key} = {json.dumps(value)}" for key, value in {**told, "labels": list(LABELS)}.items()]
        (folder / "questions.toml").write_text("\n".join(lines))

    def psopt(self, *words: str, code: int | None = 0, texts: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command; no traceback, and the key is not told, whatever happens."""
        done = commands.psopt(self.folder, *words, code=code, texts=texts, OPENAI_API_KEY=KEY)
        assert "Traceback" not in done.stderr, done.stderr
        assert KEY not in done.stdout + done.stderr
        return done


@pytest.fixture(scope="session")
def asked(tmp_path_factory: pytest.TempPathFactory, server: Server) -> Asked:
    return Asked(server, tmp_path_factory.mktemp("data"))


@pytest.mark.parametrize("mode", ["--structured", "--plain"])
def test_diagnose(asked: Asked, mode: str) -> None:
    report = json.loads(asked.psopt("diagnose", *DATA, *asked.model, "--split", "val", "--json", mode).stdout)
    assert report["f1"] > 0.1  # some servers answer by the hash of what they are asked
    assert 0 <= report["sensitivity"] <= 1
    # Held to any JSON, so small models go astray at times; SmolLM2 without a form names no label to most texts.
    is_free = "llama" in asked.server.log.stem and mode == "--plain"
    assert report["na_rate"] < (1 if is_free else 0.5)


def test_texts_in_the_place_of_labels(asked: Asked) -> None:
    """What the model writes is taken as a text: nothing holds it to the labels."""
    asking = f"{DESCRIPTION}\nAnswer with exactly one of these labels and nothing else: {', '.join(LABELS)}"
    (asked.folder / "free.md").write_text(f"{asking}\n\n{NOUN.capitalize()}: {{text}}\nLabel:\n")
    given = ["--dataset", "questions.csv", "--label-column", "label", "--answers", "text", "--prompt", "free.md"]
    report = json.loads(asked.psopt("diagnose", *given, *asked.model, *SMALL, "--split", "val", "--json").stdout)
    assert report["consistency"] is None
    assert report["open"]["quality_name"] == "exact match"
    assert 0 <= report["sensitivity"] <= 1
    assert report["na_rate"] < 1


def test_check_and_compare(asked: Asked) -> None:
    assert "ok: " in asked.psopt("check", *DATA, *asked.model, "--min-f1", "0.2").stdout
    missed = asked.psopt("check", *DATA, *asked.model, "--min-f1", "1.01", code=None)
    assert missed.returncode in {1, 2}
    (asked.folder / "one.txt").write_text(DESCRIPTION)
    (asked.folder / "other.txt").write_text("Please say what kind of answer the question wants.")
    asked.psopt("compare", *DATA, *asked.model, "--prompt", "one.txt", "--prompt", "other.txt")


def test_a_rephraser_that_writes_labels_is_refused_in_one_line(asked: Asked) -> None:
    """The small model knows nothing but its labels; the fake one writes."""
    writes = asked.server.log.stem == FAKE.replace(" ", "-")
    given = ["--dataset", "questions.toml", "--rephraser", f"openai/{asked.server.model}", *asked.at]
    sizes = ["--rephrasings", "2", "--heldout", "1", "--out", "rephrasings.json"]
    done = asked.psopt("rephrase", *given, *sizes, code=0 if writes else 2)
    if writes:
        assert len(json.loads((asked.folder / "rephrasings.json").read_text())["search"]) == 2
    else:
        assert done.stderr.splitlines()[-1].startswith("psopt: ")


def test_optimize_then_resume_then_classify(asked: Asked) -> None:
    sizes = "--samples 6 --rephrasings 2 --heldout 1 --leave-one-out 0 --trials 2 --rounds 1"
    if "llama" in asked.server.log.stem:
        sizes += " --proposer rules"  # SmolLM2 writes drafts for most of a minute
    asked.psopt("optimize", "--dataset", "questions.toml", *asked.model, *sizes.split(), "--out", "run")
    asked.psopt("resume", "run", "--trials", "3")
    run = asked.folder / "run"
    assert json.loads((run / "run.json").read_text())["finish_reason"] == "trials"
    assert json.loads((run / "front.json").read_text())
    prompt = sorted((run / "prompts").glob("*.json"))[0]
    done = asked.psopt("classify", "--prompt", str(prompt), *asked.at, "-", texts="when did it end ?\nwho built it ?\n")
    answers = [line.split("\t")[0] for line in done.stdout.splitlines()]
    assert len(answers) == 2
    assert set(answers) <= {*LABELS, "N/A"}


def test_a_text_longer_than_the_model_reads_costs_only_itself(asked: Asked) -> None:
    """One text of the test split that no server of 2,048 tokens can read."""
    if asked.server.log.stem == FAKE.replace(" ", "-"):
        pytest.skip("the fake server reads everything")
    names = asked.folder / "questions.csv", asked.folder / "questions.toml"
    rows, told = (name.read_text() for name in names)
    (asked.folder / "long.csv").write_text(rows.replace("thing 100", "thing " + "and another thing " * 900))
    (asked.folder / "long.toml").write_text(told.replace("questions.csv", "long.csv"))
    given = ["--dataset", "long.toml", *asked.model, *SMALL, "--json", "--max-tokens", "32", "--retries", "2"]
    done = asked.psopt("diagnose", *given, code=None)
    if asked.server.log.stem.endswith("transformers-serve"):
        assert done.returncode in {0, 2, 3}, done.stderr  # reads on past its context, or breaks down
    else:
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["f1"] > 0.2


def test_a_wrong_model_name_is_told_in_one_line(asked: Asked) -> None:
    """llama.cpp's server answers whatever name it is asked by: there is nothing to tell."""
    done = asked.psopt("diagnose", *DATA, "--model", "openai/nobody", *asked.at, code=None)
    if "llama" not in asked.server.log.stem:
        assert done.returncode == 2
        assert "nobody" in done.stderr.splitlines()[-1]
