"""How models are asked, and what they may cost, arrives at each model that a command asks."""

from __future__ import annotations

import json
import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import psopt
import pytest
from psopt import RephrasingOptions
from psopt.cli import command_line
from psopt.models.chat import Engine, LMConfig

from tests.cli.limited_runs import write_questions
from tests.commands import exit_code
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
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-no-use-0123456789")
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(tmp_path / "not-here"))
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


def check_all(engines: Any, names: set[str], cache: Any, *, program: bool = False) -> None:
    """All engines got everything, and those that asked share one budget; a plan asks nothing."""
    for client, options, budget, file in engines:
        default = LMConfig()
        same = [name for name in LM if getattr(options, name) == getattr(default, name)]
        by_design = {"headers", "batch"} if client.name.startswith("dspy/") else set()
        by_design |= {"batch"} if program else set()
        assert set(same) <= {"temperature", "request_seed", "logprobs", *by_design}, client.name
        assert (budget.max_calls, budget.max_tokens, budget.max_cost) == (100000, 100000000, 1000)
        assert file.startswith(str(cache))
    spent = [(client.name, budget) for client, _, budget, _ in engines if budget.usage.made]
    assert {name for name, _ in spent} == names
    assert len({id(budget) for _, budget in spent}) == 1


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


def run_with_all_options(folder: Path, kind: str, verb: str, words: list[str], *, program: bool = False) -> set[str]:
    """Run a verb on models of a kind; returns the names of those that it is to ask."""
    if kind or program:
        pytest.importorskip("dspy", reason="the extra `dspy` is not installed")
    given = [kind + word if word in ROLES else word for word in words]
    with FakeServer() as server:
        given += [*lm_arguments(verb, server, kind, program=program), "--cache-dir", str(folder / "kept")]
        assert exit_code(verb, *given) == 0
        assert server.counts()["requests"] > 0
    return {kind + word for word in words if word in ROLES}


@pytest.mark.parametrize(("verb", "kind"), [*((verb, "") for verb in VERBS), ("optimize", "dspy/")])
def test_options_arrive_at_every_model_of_a_verb(verb: str, kind: str, folder: Path, engines: list[Any]) -> None:
    names = run_with_all_options(folder, kind, verb, VERBS[verb])
    check_all(engines, names, folder / "kept")


@pytest.mark.parametrize("kind", ["", "dspy/"])
def test_options_arrive_at_every_model_of_a_program(
    kind: str, folder: Path, engines: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    names = run_with_all_options(folder, kind, "optimize", [*SEARCH, "--program", "mine:program"], program=True)
    check_all(engines, names, folder / "kept", program=True)
    run = json.loads((folder / "run" / "run.json").read_text())
    assert run["calls"]["made"] > 0
    assert run["calls"]["cost_usd"] > 0


def test_what_means_nothing_for_a_program_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("dspy", reason="the extra `dspy` is not installed")
    monkeypatch.syspath_prepend(str(folder))
    given = ["--dataset", "data.csv", "--program", "mine:program", "--model", "openai/model"]
    own = ("--prompt bare.json", "--rephrasings-file bare.json", "--vary format", "--strategy detail")
    for option in (*own, "--logprobs", "--batch"):
        assert exit_code("optimize", *given, *option.split(), "--out", "run") == 2
        assert f"{option.split()[0]} means nothing for a --program" in capsys.readouterr().err
    assert not (folder / "run").exists()


def test_options_arrive_at_every_model_in_python(folder: Path, engines: list[Any]) -> None:
    task = psopt.load_task("data.csv")
    rephrasing = RephrasingOptions("openai/writer", judge="openai/judge", keep_labels=False)
    asked: dict[str, Any] = {"model": "openai/model", "rephrasings": 3, "rephrasing": rephrasing}
    asked["cache_dir"] = folder / "kept"
    with FakeServer() as server:
        lm = LMConfig(api_base=server.url, timeout=44, extra_body={"top_k": 5}, max_calls=100_000, max_cost=1000)
        small: dict[str, Any] = {"trials": 2, "rounds": 1, "samples": 8, "test_samples": 4, "heldout": 2}
        run = psopt.optimize(task, lm=lm, **asked, **small, proposer="openai/writer", out="run")
    settings = json.loads((run.path / "run.json").read_text())["settings"]
    told = (settings["rephraser"], settings["judge"], settings["keep_labels"])
    assert told == ("openai/writer", "openai/judge", False)
    for _, options, budget, file in engines:
        assert (options.timeout, options.extra_body) == (44, {"top_k": 5})
        assert (budget.max_calls, budget.max_cost) == (100_000, 1000)
        assert file.startswith(str(folder / "kept"))
    spent = {client.name: id(budget) for client, _, budget, _ in engines if budget.usage.made}
    assert set(spent) == {"openai/model", "openai/writer", "openai/judge"}
    assert len(set(spent.values())) == 1
