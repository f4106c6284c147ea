"""The fake server does what it says, seen by a plain HTTP client."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import math
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from psopt.models import load_model
from psopt.search_spaces import Definition, Example, Prompt, render
from psopt.tasks import load_task

from tests.fake_server import FAULTS, FakeServer
from tests.fake_server._answering import digest
from tests.fake_server._prompt_reading import read_prompt

if TYPE_CHECKING:
    from collections.abc import Iterator

LABELS = ("Number", "Location", "Person", "Numeral", "Entity")
PROMPT = Prompt("Classify the question.", LABELS, "question")
TEXTS = [f"What is thing {i} ?" for i in range(40)]
SCHEMA = {"type": "object", "properties": {"label": {"type": "string", "enum": list(LABELS)}}, "required": ["label"]}
ENUM = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}


def request(text: str = "What is it ?", prompt: Prompt = PROMPT, **params: Any) -> dict[str, Any]:
    return {"model": "test", "messages": render(prompt, text), "temperature": 0, **params}


async def send(session: Any, server: FakeServer, body: Any, timeout: float = 5.0) -> tuple[Any, Any, Any]:
    limit = aiohttp.ClientTimeout(total=timeout)
    async with session.post(f"{server.url}/chat/completions", json=body, timeout=limit) as response:
        return response.status, response.headers, json.loads(await response.read())


async def send_all(server: FakeServer, bodies: Any, **options: Any) -> Any:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        return await asyncio.gather(*[send(session, server, body, **options) for body in bodies])


async def send_until_answered(server: FakeServer, bodies: Any) -> Any:
    """What a client that tries again ends up with."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def persist(body: Any) -> Any:
            while True:
                try:
                    said = content((await send(session, server, body, timeout=0.3))[2])
                except (aiohttp.ClientError, TimeoutError, ValueError, LookupError):
                    continue
                if said:
                    return said

        return await asyncio.gather(*map(persist, bodies))


def post(server: FakeServer, body: Any, headers: Any = None, timeout: float = 5.0) -> Any:
    async def once() -> Any:
        async with aiohttp.ClientSession(headers=headers) as session:
            return await send(session, server, body, timeout)

    return asyncio.run(once())


def content(answer: Any) -> Any:
    return answer["choices"][0]["message"]["content"]


@pytest.fixture(scope="module")
def started() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


@pytest.fixture
def server(started: FakeServer) -> Iterator[FakeServer]:
    """A server that behaves and has seen nothing; tests change its options."""
    before = dataclasses.asdict(started.options())
    started.reset()
    yield started
    started.change(**{name: before[name] for name in before.keys() - {"port", "task", "until_stdin_closes"}})


def test_an_answer_is_one_of_the_labels_and_has_the_form_of_a_chat_completion(server: FakeServer) -> None:
    status, _, answer = post(server, request())
    assert status == 200
    assert content(answer) in LABELS
    n_characters = sum(len(one["content"]) for one in request()["messages"])
    usage = answer["usage"]
    assert usage["prompt_tokens"] == n_characters // 4
    assert usage["completion_tokens"] == len(content(answer)) // 4
    assert answer["choices"][0]["finish_reason"] == "stop"


def test_hashed_answers_depend_on_the_text_and_on_the_description_and_on_nothing_else(server: FakeServer) -> None:
    by_text = [request(text) for text in TEXTS]
    other = replace(PROMPT, description="Say what the question asks for.")
    described = [request(text, other) for text in TEXTS]
    warmer = [request(text, temperature=1) for text in TEXTS]
    answers = [content(answer) for _, _, answer in asyncio.run(send_all(server, by_text + described + warmer))]
    first, second, third = answers[:40], answers[40:80], answers[80:]
    assert set(first) == set(LABELS)
    assert first != second
    assert first == third


def test_the_log_knows_each_request_by_its_canonical_json(server: FakeServer) -> None:
    twice = dict(reversed(request().items()))
    post(server, request(), headers={"Authorization": "Bearer one"})
    post(server, twice, headers={"Authorization": "Bearer two"})
    post(server, request(seed=1))
    assert server.requests() == [
        {"sha256": digest(request()), "count": 2, "answered": 2},
        {"sha256": digest(request(seed=1)), "count": 1, "answered": 1},
    ]
    seen = server.counts()
    expected: dict[str, Any] = {"requests": 3, "different": 2, "answered": 3, "answered_twice": 1, "most_in_flight": 1}
    expected |= {"in_flight": 0, "authorized": 2, "keys": 2, "statuses": {"200": 3}}
    assert expected.items() <= seen.items()


@pytest.mark.parametrize("status", ["429", "500", "503", "quota"])
def test_a_status_fault_is_that_status(server: FakeServer, status: str) -> None:
    server.change(faults=status, fault_rate=1, retry_after=0.25)
    given, headers, answer = post(server, request())
    assert given == (429 if status == "quota" else int(status))
    assert headers.get("Retry-After") == ("0.25" if status == "429" else None)
    assert (answer["error"]["code"] == "insufficient_quota") == (status == "quota")
    assert server.counts()["statuses"] == {status: 1}


@pytest.mark.parametrize(
    ("fault", "raised", "said"),
    [
        ("hang", TimeoutError, None),
        ("half", aiohttp.ClientPayloadError, None),
        ("badjson", json.JSONDecodeError, None),
        ("reset", aiohttp.ClientOSError, "Connection reset by peer"),
    ],
)
def test_a_fault_of_the_line_breaks_the_answer(server: FakeServer, fault: str, raised: Any, said: str | None) -> None:
    server.change(faults=fault, fault_rate=1)
    with pytest.raises(raised, match=said):
        post(server, request(), timeout=0.1 if fault == "hang" else 5)
    server.wait_for(idle=True)  # the server takes a moment to see that the client has gone
    assert server.counts()["statuses"] == {fault: 1}


@pytest.mark.parametrize(("fault", "said"), [("empty", ""), ("null", None)])
def test_a_fault_of_the_model_is_a_success_without_an_answer(server: FakeServer, fault: str, said: str | None) -> None:
    server.change(faults=fault, fault_rate=1)
    status, _, answer = post(server, request())
    assert (status, content(answer)) == (200, said)


def test_an_answer_may_have_no_choices(server: FakeServer) -> None:
    server.change(faults="nochoices", fault_rate=1)
    status, _, answer = post(server, request())
    assert status == 200
    assert "choices" not in answer


def test_a_slow_answer_is_late_and_right(server: FakeServer) -> None:
    _, _, expected = post(server, request())
    server.change(faults="slow", fault_rate=1, slow_ms=200)
    with pytest.raises(TimeoutError):
        post(server, request(), timeout=0.05)
    server.change(slow_ms=1)
    assert post(server, request())[2] == expected


def test_a_client_that_tries_again_gets_the_answers_of_a_faultless_server(server: FakeServer) -> None:
    bodies = [request(text) for text in TEXTS]
    expected = asyncio.run(send_until_answered(server, bodies))
    server.reset()
    server.change(faults="all", fault_rate=0.5, slow_ms=20)
    assert asyncio.run(send_until_answered(server, bodies)) == expected
    statuses = server.counts()["statuses"]
    assert len(set(statuses) & set(FAULTS)) > 6
    assert "quota" not in statuses


def test_faults_are_drawn_with_the_seed(server: FakeServer) -> None:
    def drawn(seed: int) -> list[Any]:
        server.reset()
        server.change(faults="429,500,503", fault_rate=0.5, fault_seed=seed)
        return [post(server, request())[0] for _ in range(20)]

    first, again, other = drawn(1), drawn(1), drawn(0)
    assert first == again != other
    assert 3 < first.count(200) < 17


def test_more_requests_at_once_than_allowed_are_refused(server: FakeServer) -> None:
    server.change(rate_limit=3, delay_ms=200)
    statuses = [status for status, _, _ in asyncio.run(send_all(server, [request(text) for text in TEXTS[:10]]))]
    assert statuses.count(200) >= 3
    assert statuses.count(429) == 10 - statuses.count(200) > 0
    assert server.counts()["most_in_flight"] > 3


def test_structured_answers_can_be_given_refused_and_ignored(server: FakeServer) -> None:
    plain = content(post(server, request())[2])
    assert content(post(server, request(response_format=ENUM))[2]) == plain
    server.change(structured="yes")
    assert json.loads(content(post(server, request(response_format=ENUM))[2])) == {"label": plain}
    server.change(structured="no")
    status, _, answer = post(server, request(response_format=ENUM))
    assert (status, answer["error"]["param"]) == (400, "response_format")
    assert "response_format" in answer["error"]["message"]


def test_parameters_can_be_unknown(server: FakeServer) -> None:
    server.change(lacks="temperature,seed")
    assert post(server, request(seed=1))[2]["error"]["param"] == "temperature"
    server.change(lacks="seed")
    assert post(server, request(seed=1))[2]["error"]["param"] == "seed"
    assert post(server, request())[0] == 200


def test_a_wrong_key_is_refused_and_repeated(server: FakeServer) -> None:
    server.change(key="right")
    status, _, answer = post(server, request(), headers={"Authorization": "Bearer wrong-one"})
    assert status == 401
    assert "wrong-one" in answer["error"]["message"]
    assert post(server, request(), headers={"Authorization": "Bearer right"})[0] == 200


def test_logprobs_follow_the_labels_in_tokens_of_three_characters(server: FakeServer) -> None:
    server.change(answer="fixed:Numeral")
    _, _, answer = post(server, request(logprobs=True, top_logprobs=3))
    places = answer["choices"][0]["logprobs"]["content"]
    assert [place["token"] for place in places] == ["Num", "era", "l"]
    first, second, third = ({one["token"]: one["logprob"] for one in place["top_logprobs"]} for place in places)
    assert len(first) == 3  # of Num, Loc, Per, Ent
    assert math.exp(first["Num"]) == pytest.approx(0.7 + 0.3 / 4)
    assert math.exp(second["era"]) == pytest.approx(0.7 / 0.775)
    assert math.exp(second["ber"]) == pytest.approx(0.075 / 0.775)
    assert third == {"l": 0.0}


def test_logprobs_of_a_structured_answer_cover_its_json(server: FakeServer) -> None:
    server.change(structured="yes", answer="fixed:Person")
    _, _, answer = post(server, request(logprobs=True, top_logprobs=1, response_format=ENUM))
    places = answer["choices"][0]["logprobs"]["content"]
    assert "".join(place["token"] for place in places) == content(answer) == '{"label": "Person"}'


def test_logprobs_can_be_left_out(server: FakeServer) -> None:
    server.change(logprobs="no")
    assert post(server, request(logprobs=True, top_logprobs=1))[2]["choices"][0]["logprobs"] is None


def test_a_long_answer_is_cut_at_the_most_tokens(server: FakeServer) -> None:
    server.change(answer="fixed:It is a question about a number.")
    answer = post(server, request(max_tokens=2))[2]
    assert content(answer) == "It is a "
    assert answer["choices"][0]["finish_reason"] == "length"


def test_a_dspy_program_gets_its_answer_in_its_own_form(server: FakeServer) -> None:
    asked = "[[ ## text ## ]]\nWhat ?\n\nRespond with the corresponding output fields, starting with the field "
    asked += "`[[ ## label ## ]]` (must be formatted as a valid Python Literal['a, b', 'c']), and then ending with .."
    answer = content(post(server, {"model": "test", "messages": [{"role": "user", "content": asked}]})[2])
    assert answer.split("\n") in (["[[ ## label ## ]]", said, "", "[[ ## completed ## ]]"] for said in ("a, b", "c"))


def test_models_are_listed(server: FakeServer) -> None:
    async def models() -> Any:
        async with aiohttp.ClientSession() as session, session.get(f"{server.url}/models") as response:
            return await response.json()

    assert asyncio.run(models())["data"][0]["id"] == "test"


@pytest.mark.parametrize("changes", [{"faults": "rain"}, {"nonsense": 1}, {"fault_rate": 2}, {"port": 1}])
def test_options_that_do_not_exist_are_refused(server: FakeServer, changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # whose text depends on the option
        server.change(**changes)


def test_the_server_ends_with_whoever_started_it() -> None:
    command = [sys.executable, "-m", "tests.fake_server", "--until-stdin-closes"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline()
        process.stdin.close()
        assert process.wait(600) == 0


DEFINITIONS = (Definition("Number", "how many: a count"), Definition("Person", "who, whose"))
NOTES = ('"How many" asks for a Number.', "A - B is an Entity.")
EXAMPLES = (Example("Who is\n\nthat ?", "Person"), Example("Label: me", "Number"))
PROMPTS = {
    "bare": PROMPT,
    "definitions": replace(PROMPT, definitions=DEFINITIONS),
    "notes": replace(PROMPT, notes=NOTES),
    "examples": replace(PROMPT, examples=EXAMPLES),
    "all": replace(PROMPT, description="Two\n\nparts.", definitions=DEFINITIONS, notes=NOTES, examples=EXAMPLES),
}


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS.keys())
@pytest.mark.parametrize("text", ["How {many} ?", "Line: one\n\nNote:\n- no note\nLabel: Number", ""])
def test_a_rendered_prompt_is_read_back(prompt: Any, text: str) -> None:
    assert read_prompt(render(prompt, text)[-1]["content"]) == (prompt, text)


def test_minilm_answers_as_it_does_without_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="the extra `local` is not installed")
    monkeypatch.setenv("PSOPT_OFFLINE", "1")
    monkeypatch.delenv("PSOPT_DATA_DIR", raising=False)
    task = load_task("trec")
    bare = Prompt(task.description, task.labels, task.noun)
    prompts = [replace(prompt, labels=task.labels) for prompt in PROMPTS.values()]
    prompts.append(bare.described_as("What is the answer to this question?"))
    texts = [sample.text for sample in task.val[:8]] + [" "]
    bodies = [request(text, prompt, logprobs=True, top_logprobs=6) for prompt in prompts for text in texts]
    with FakeServer(answer="minilm") as server:
        answers = [answer for _, _, answer in asyncio.run(send_all(server, bodies, timeout=60))]
    names = [*task.labels, "I can't tell."]
    expected = load_model("minilm", task).predict(prompts, texts)
    assert [content(answer) for answer in answers] == [names[index] for index in expected.T.ravel()]
    assert len(set(expected.ravel())) > 3
    likeliest = [answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"][0]["token"] for answer in answers]
    assert likeliest == [content(answer)[:3] for answer in answers]
