"""Servers as strangers meet them: headers, extra fields, Azure; mistakes in one line; `psopt doctor` looks at one."""

from __future__ import annotations

import http.server
import json
import os
import re
import ssl
import subprocess
import threading
from typing import TYPE_CHECKING, Any

import pytest
from psopt.testing import FakeServer as InProcess

from tests.cli.limited_runs import KEY, write_questions
from tests.cli.telling import check_refused
from tests.commands import psopt as psopt_in
from tests.commands import run_command
from tests.fake_server import FakeServer
from tests.loopback import Answer, answering
from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path


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
        (["--header", SECRET], "number 1 has no '='"),
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


@each(
    "model, said",
    [
        ("gpt-4o-mini", "did you mean openai/gpt-4o-mini"),
        ("meta-llama/Llama-3.1-8B", "did you mean openai/meta-llama/Llama-3.1-8B (a server, see --api-base), or hf/"),
        ("claude-3-5-haiku-latest", "did you mean dspy/anthropic/claude-3-5-haiku-latest?"),
        ("anthropic/claude-3-5-haiku-latest", "did you mean dspy/anthropic/claude-3-5-haiku-latest?"),
        ("gemini-2.0-flash", "did you mean dspy/gemini/gemini-2.0-flash?"),
        ("qwen2.5:7b", "did you mean openai/qwen2.5:7b with --api-base http://localhost:11434/v1 (Ollama)"),
    ],
)
def test_a_name_without_a_kind_gets_a_hint(data: Path, model: str, said: str) -> None:
    check_refused(psopt(data, "diagnose", "--model", model, code=2), said, alone=False)


@each("option", ["--rephraser", "--proposer"])
def test_every_option_that_takes_a_model_hints_at_its_kind(data: Path, option: str) -> None:
    done = psopt(data, "optimize", option, "gpt-4o-mini", "--trials", "2", "--out", "hinted", code=2)
    check_refused(done, "did you mean openai/gpt-4o-mini?")


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


def doctor(folder: Path, url: str, *more: str) -> subprocess.CompletedProcess[str]:
    words = ["doctor", "--model", "openai/test", "--api-base", url, *more]
    return psopt_in(folder, *words, OPENAI_API_KEY="token", code=0)


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
