"""How models are asked, and what they may cost, arrives at each model that a command asks."""

from __future__ import annotations

import json
import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest
from psopt.cli import command_line
from psopt.models.chat import Engine, LMConfig

from tests.cli.limited_runs import write_questions
from tests.cli.telling import check_refused
from tests.commands import psopt
from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from pathlib import Path


LM = {field.name for field in fields(LMConfig)}
# How `LMConfig` are told apart from their defaults; a server of the test's own is the address.
OPTIONS = """
--concurrency 3 | --timeout 44 | --retries 5 | --max-tokens 99 | --plain | --requests-per-minute 1e6 |
--max-unanswered 0.5 | --max-calls 100000 | --max-tokens-total 100000000 | --max-cost 1000 | --hf-likelihood sum |
--calibration off | --extra-body {"top_k":5} | --header X-Test=yes | --api-version 2024-10-21 | --renegotiate |
--batch | --batch-size 1000 | --batch-tick 0.01 | --max-batches 7 | --batch-keep-files
"""
RUN = ["--trials", "2", "--rounds", "1", "--samples", "12", "--rephrasings", "3"]
ROLES = ("openai/model", "openai/writer", "openai/judge")
WRITES = ["--rephraser", "openai/writer", "--judge", "openai/judge"]


def lm_arguments(verb: str, server: FakeServer, kind: str = "", *, program: bool = False) -> list[Any]:
    """Every option of `LMConfig` that the verb has, other than by default; dspy/ refuses headers and batches."""
    known = {flag for one in command_line().load(verb).params for flag in (*one.opts, *one.secondary_opts)}
    known -= {"--header"} if kind else set()
    known -= {"--batch"} if kind or program else set()
    options = [option.split() for option in OPTIONS.split("|")]
    return ["--api-base", server.url, *(word for option in options if option[0] in known for word in option)]


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every engine that is made: by whose name, with which options and budget, and where it keeps answers."""
    made = []
    make = Engine.__init__

    def watched(self: Any, client: Any, cache: Any, budget: Any, options: Any) -> None:
        make(self, client, cache, budget, options)
        (_, _, file) = cache._connection.execute("PRAGMA database_list").fetchone()
        made.append((client, options, budget, file))

    monkeypatch.setattr(Engine, "__init__", watched)
    return made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-no-use-0123456789")
    names = [*ROLES, *(f"dspy/{name}" for name in ROLES)]
    (tmp_path / "prices.toml").write_text("\n".join(f'"{name}" = {{ in = 0.1, out = 0.1 }}' for name in names))
    monkeypatch.setenv("PSOPT_PRICES", str(tmp_path / "prices.toml"))
    for name, verb in (("bare", "Sort"), ("bare2", "Order")):
        prompt = {"description": f"{verb} the question by what it asks for.", "labels": ["aaa", "bbb"]}
        (tmp_path / f"{name}.json").write_text(json.dumps({**prompt, "noun": "question"}))
    (tmp_path / "texts.txt").write_text("what is this ?\n")
    (tmp_path / "mine.py").write_text(
        "import dspy\nfrom typing import Literal\n"
        'FIELDS = {"question": (str, dspy.InputField()), "kind": (Literal["aaa", "bbb"], dspy.OutputField())}\n'
        'program = dspy.Predict(dspy.Signature(FIELDS, "Sort the question by what it asks for."))\n'
    )
    return write_questions(tmp_path, 12)


MEASURED = ["--dataset", "data.csv", "--rephrasings", "3", "--model", "openai/model", *WRITES]
SEARCH = ["--dataset", "data.csv", *RUN, "--model", "openai/model", *WRITES, "--proposer", "openai/writer"]
SEARCH += ["--out", "run"]
VERBS: dict[str, list[str]] = {
    "optimize": SEARCH,
    "diagnose": MEASURED,
    "compare": [*MEASURED, "--prompt", "bare.json", "--prompt", "bare2.json"],
    "check": [*MEASURED, "--max-sensitivity", "1"],
    "classify": ["texts.txt", "--prompt", "bare.json", "--model", "openai/model"],
    "rephrase": ["--dataset", "data.csv", "--out", "words.json", "--rephrasings", "2", "--heldout", "2", *WRITES],
}


def check_all_options(engines: list[Any], folder: Path, kind: str, verb: str, words: list[str]) -> None:
    """Run a verb on models of a kind: all engines got everything, and those that asked share one budget."""
    program = "--program" in words
    if kind or program:
        pytest.importorskip("dspy", reason="the extra `dspy` is not installed")
    given = [kind + word if word in ROLES else word for word in words]
    with FakeServer() as server:
        given += [*lm_arguments(verb, server, kind, program=program), "--cache-dir", str(folder / "kept")]
        psopt(folder, verb, *given, code=0)
        assert server.counts()["requests"] > 0
    default = LMConfig()
    for client, options, budget, file in engines:
        same = {name for name in LM if getattr(options, name) == getattr(default, name)}
        by_design = {"headers", "batch"} if kind else {"batch"} if program else set()
        assert same <= {"temperature", "request_seed", "logprobs", *by_design}, client.name
        assert (budget.max_calls, budget.max_tokens, budget.max_cost) == (100000, 100000000, 1000)
        assert file.startswith(str(folder / "kept"))
    spent = [(client.name, budget) for client, _, budget, _ in engines if budget.usage.made]
    assert {name for name, _ in spent} == {kind + word for word in words if word in ROLES}
    assert len({id(budget) for _, budget in spent}) == 1


@pytest.mark.parametrize(("verb", "kind"), [*((verb, "") for verb in VERBS), ("optimize", "dspy/")])
def test_options_arrive_at_every_model_of_a_verb(verb: str, kind: str, folder: Path, engines: list[Any]) -> None:
    check_all_options(engines, folder, kind, verb, VERBS[verb])


def test_options_arrive_at_every_model_of_a_program(folder: Path, engines: list[Any]) -> None:
    check_all_options(engines, folder, "", "optimize", [*SEARCH, "--program", "mine:program"])
    run = json.loads((folder / "run" / "run.json").read_text())
    assert run["calls"]["made"] > 0
    assert run["calls"]["cost_usd"] > 0


def test_what_means_nothing_for_a_program_is_refused(folder: Path) -> None:
    pytest.importorskip("dspy", reason="the extra `dspy` is not installed")
    given = ["--dataset", "data.csv", "--program", "mine:program", "--model", "openai/model"]
    own = ("--prompt bare.json", "--rephrasings-file bare.json", "--vary format", "--strategy detail")
    for option in (*own, "--logprobs", "--batch"):
        done = psopt(folder, "optimize", *given, *option.split(), "--out", "run")
        check_refused(done, f"{option.split()[0]} means nothing for a --program", alone=False)
    assert not (folder / "run").exists()
