"""Servers as strangers meet them: headers, extra fields, Azure; mistakes in one line; `psopt doctor` looks at one.

How models are asked, and what they may cost, arrives at each model that a command asks.
"""

from __future__ import annotations

import http.server
import json
import os
import re
import ssl
import subprocess
import sys
import threading
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from psopt.cli import command_line
from psopt.models.chat import Engine, LMConfig
from psopt.testing import FakeServer as InProcess

from tests.cli.limited_runs import KEY, write_questions
from tests.cli.telling import check_refused
from tests.commands import psopt as psopt_in
from tests.commands import run_command
from tests.fake_server import FakeServer
from tests.loopback import Answer, answering
from tests.sweeps import each

SECRET = "a1b2c3d4e5f6a7b8c9d0"
MEASURED = ["--samples", "20", "--rephrasings", "3", "--concurrency", "32"]
SMALL = ["--trials", "2", "--samples", "20", "--rephrasings", "2", "--rounds", "1", "--concurrency", "32"]
NAMES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION")
NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_questions(tmp_path, 20)


def psopt(
    folder: Path, verb: str, *arguments: str, code: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in NAMES}
    env = {**kept, "PSOPT_CACHE_DIR": str(folder / "cache"), "COLUMNS": "80", **environment}
    data = [] if verb == "resume" else ["--dataset", "data.csv"]
    return run_command(verb, *data, *arguments, cwd=folder, env=env, code=code)


def diagnose(
    folder: Path, url: str, *arguments: str, model: str = "openai/test", code: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    given = ["--model", model, "--api-base", url, "--json", *MEASURED, *arguments]
    return psopt(folder, "diagnose", *given, code=code, **environment)


def test_extra_fields_go_with_every_request_and_tell_answers_apart(data: Path, server: FakeServer) -> None:
    server.reset()
    diagnose(data, server.url)
    n_first = server.counts()["requests"]
    extra = '{"reasoning_effort": "low", "seed": null}'
    diagnose(data, server.url, "--extra-body", extra)
    body = server.last_request()["body"]
    assert (body["reasoning_effort"], "seed" in body) == ("low", False)
    assert server.counts()["requests"] == 2 * n_first
    diagnose(data, server.url, "--extra-body", extra)
    assert server.counts()["requests"] == 2 * n_first
    diagnose(data, f"{server.url}/?api-version=7&code={SECRET}")
    assert server.last_request()["query"] == {"api-version": "7", "code": SECRET}  # of an address it is kept


@each(
    "given, said",
    [
        (["--extra-body", "{'a': 1}"], "no JSON"),
        (["--extra-body", "[1]"], "a JSON object is expected"),
        (["--extra-body", '{"model": "x"}'], "must not hold 'model'"),
        (["--header", SECRET], "number 1 has no sign =: NAME=VALUE"),
        (["--header", f"bad name={SECRET}"], "no header that can be sent"),
    ],
)
def test_fields_and_headers_that_are_none_are_said(data: Path, given: list[str], said: str) -> None:
    done = diagnose(data, NOWHERE, *given, code=2)
    check_refused(done, said)
    assert SECRET not in done.stderr


def test_headers_are_sent_and_their_values_kept_nowhere(data: Path, server: FakeServer) -> None:
    given = ["--model", "openai/test", "--api-base", server.url, "--out", "run", *SMALL]
    headers = ["--header", f"X-Gateway-Key={SECRET}", "--header", "X-Team=blue"]
    started = psopt(data, "optimize", *given, *headers, OPENAI_API_KEY=KEY)
    sent = server.last_request()["headers"]
    assert (sent["x-gateway-key"], sent["x-team"]) == (SECRET, "blue")
    forgotten = psopt(data, "resume", "run", "--trials", "3", code=2)
    assert "give it again with --header X-Gateway-Key=VALUE" in forgotten.stderr
    done = psopt(data, "resume", "run", *headers, "--trials", "3")
    assert server.last_request()["headers"]["x-team"] == "blue"
    kept = json.loads((data / "run" / "run.json").read_text())["settings"]
    assert kept["lm"]["headers"] == {"X-Gateway-Key": None, "X-Team": None}
    assert "X-Gateway-Key=***" in kept["command"] or "resume" in kept["command"]
    said = started.stdout + started.stderr + forgotten.stderr + done.stdout + done.stderr
    kept_bytes = b"".join(path.read_bytes() for path in data.rglob("*") if path.is_file())
    for secret in (SECRET, KEY):
        assert secret not in said
        assert secret.encode() not in kept_bytes


def test_a_refusal_repeats_no_secret_and_a_header_of_ones_own_goes_before_the_key(data: Path) -> None:
    with FakeServer(key="from-the-header-0123") as server:
        done = diagnose(data, server.url, "--header", f"Authorization=Bearer {SECRET}", code=2)
        assert "Incorrect API key provided: ***" in done.stderr
        done = diagnose(data, f"{server.url}?code={SECRET}", OPENAI_API_KEY="token", code=2)
        assert SECRET not in done.stderr
        right = ["--header", "authorization=Bearer from-the-header-0123"]
        diagnose(data, server.url, *right, OPENAI_CUSTOM_HEADERS="X-Team: a")


def test_azure_is_asked_by_deployment_version_and_key(data: Path) -> None:
    with FakeServer(provider="azure") as server:
        base = server.url.removesuffix("/v1")
        diagnose(data, base, model="azure/tickets", AZURE_OPENAI_API_KEY=SECRET)
        last = server.last_request()
        assert last["path"] == "/openai/deployments/tickets/chat/completions"
        assert (last["headers"]["api-key"], last["query"]) == (SECRET, {"api-version": "2024-10-21"})
        diagnose(data, base, "--api-version", "2025-01-01", model="azure/tickets", AZURE_OPENAI_API_KEY=SECRET)
        assert server.last_request()["query"] == {"api-version": "2025-01-01"}
    assert "set AZURE_OPENAI_API_KEY" in diagnose(data, "http://127.0.0.1:9", model="azure/tickets", code=2).stderr
    done = psopt(data, "diagnose", "--model", "azure/tickets", code=2)
    assert "--api-base https://NAME.openai.azure.com" in done.stderr


def test_a_certificate_that_nobody_signed_is_said(data: Path) -> None:
    key, certificate = (str(data / name) for name in ("key.pem", "cert.pem"))
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate]
    try:
        subprocess.run([*made, "-days", "1", "-subj", "/CN=localhost"], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl, which makes the certificate, is not installed")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        done = diagnose(data, f"https://127.0.0.1:{server.server_port}/v1", OPENAI_API_KEY="token", code=2)
    finally:
        server.shutdown()
        server.server_close()
    check_refused(done, "is not trusted", "SSL_CERT_FILE")


def test_a_server_that_sends_requests_on_to_another_is_not_followed(data: Path, server: FakeServer) -> None:
    server.reset()
    other = f"{server.url}/chat/completions"
    with answering(lambda _: Answer(307, headers={"Location": other})) as address:
        done = diagnose(data, f"{address}/v1", code=2)
    check_refused(done, f"it sends requests on to {other}", "--api-base")
    assert server.counts()["requests"] == 0


def doctor(folder: Path, url: str, *more: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    words = ["doctor", "--model", "openai/test", "--api-base", url, *more]
    return psopt_in(folder, *words, OPENAI_API_KEY="token", code=code)


def test_doctor_keeps_to_limits(tmp_path: Path, server: FakeServer) -> None:
    before = server.counts()["requests"]
    assert "--max-calls 2 is reached" in doctor(tmp_path, server.url, "--max-calls", "2", code=3).stderr
    assert server.counts()["requests"] == before + 2


def findings(folder: Path, url: str) -> Any:
    return {one["what"]: one for one in json.loads(doctor(folder, url, "--json").stdout)["findings"]}


def test_it_says_what_works_and_what_will_be_used(tmp_path: Path) -> None:
    with FakeServer(provider="vllm", structured="yes") as server:
        done = doctor(tmp_path, server.url)
        assert done.stderr == ""
        assert server.counts()["statuses"] == {"200": 5, "400": 2}
    lines = {line[:18].strip(): " ".join(line[19:].split()) for line in done.stdout.splitlines()}
    assert lines["chat"] == "yes temperature 0, max_tokens 256, system message"
    assert lines["structured output"] == "yes json_schema"
    assert lines["seed"] == "yes seed; the same answer twice"
    assert lines["log-probabilities"] == "yes --logprobs, structured answers, top_logprobs 5"
    assert lines["long prompts"].startswith("no ")  # this server answers with labels alone
    assert "tokens counted" in lines["long prompts"]
    assert lines["batches"].startswith("yes ")
    assert "5 calls" in lines["speed"]
    assert max(map(len, done.stdout.splitlines())) <= 80


@each("context, works", [(100_000, "yes"), (8_000, "no")])
def test_a_mark_at_the_front_of_a_long_prompt_tells_whether_that_is_read(
    tmp_path: Path, context: int, works: str
) -> None:
    def answer(messages: Any) -> str:
        found = re.search(r"The password is (\S+)\.", messages[-1]["content"][-context:])
        return found[1] if found else "animal"

    with InProcess(answer) as server:
        assert findings(tmp_path, server.url)["long prompts"]["works"] == works


def test_what_it_learns_is_remembered(tmp_path: Path) -> None:
    write_questions(tmp_path, 20)
    with FakeServer(lacks="seed,temperature", batches="no") as server:
        found = findings(tmp_path, server.url)
        assert (found["seed"]["works"], found["structured output"]["works"]) == ("no", "ignored")
        assert found["batches"] == {"what": "batches", "works": "no", "used": "leave --batch out"}
        server.reset()
        given = ["--dataset", "data.csv", "--model", "openai/test", "--api-base", server.url, "--quiet"]
        psopt_in(tmp_path, "diagnose", *given, OPENAI_API_KEY="token", code=0)
        assert set(server.counts()["statuses"]) == {"200"}


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


MEASURING = ["--dataset", "data.csv", "--rephrasings", "3", "--model", "openai/model", *WRITES]
SEARCH = ["--dataset", "data.csv", *RUN, "--model", "openai/model", *WRITES, "--proposer", "openai/writer"]
SEARCH += ["--out", "run"]
VERBS: dict[str, list[str]] = {
    "optimize": SEARCH,
    "diagnose": MEASURING,
    "compare": [*MEASURING, "--prompt", "bare.json", "--prompt", "bare2.json"],
    "check": [*MEASURING, "--max-sensitivity", "1"],
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
        psopt_in(folder, verb, *given, code=0)
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
        done = psopt_in(folder, "optimize", *given, *option.split(), "--out", "run")
        check_refused(done, f"{option.split()[0]} means nothing for a --program", alone=False)
    assert not (folder / "run").exists()
