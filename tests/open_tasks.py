"""Tasks whose answers are no single label, sixty rows each, and a server on a socket that answers them by rule.

The server knows what is right. How often it errs on a text depends on the text and on the wording, and less so with
examples and with notes that forbid its way of erring: what psopt is for can be seen against it.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TURN = "\n\x1e\n"  # between what the user says in turns: only examples make several of them

_PEOPLE = ("Ada Novak", "Ben Okafor", "Chloe Marsh", "Dilan Aydin", "Elsa Lind", "Femi Bello")
_GOODS = ("desk lamps", "garden chairs", "printer drums", "coffee filters", "bike tyres")
_TOWNS = ("Lund", "Porto", "Graz", "Leeds", "Turin", "Ghent")
_TROUBLES = {
    "billing": "I was charged twice for order {n}",
    "delivery": "parcel {n} has not arrived",
    "account": "I can't sign in as user {n}",
    "quality": "item {n} came with a crack",
}


def bills() -> list[dict[str, Any]]:
    """Amounts to be read: several numbers a text."""
    rows = []
    for n in range(60):
        amount = round(17.5 + n * 13.37, 2)
        person, goods = _PEOPLE[n % 6], _GOODS[n % 5]
        text = (
            f"Invoice {4100 + n} for {person}: {2 + n % 7} {goods}, due in {14 + n % 9} days, total {amount:,.2f} EUR."
        )
        rows.append({"text": text, "answer": f"{amount:,.2f} EUR" if n % 3 else amount})
    return rows


def notices() -> list[dict[str, Any]]:
    """Places to be taken out of a text; some have two names."""
    rows: list[dict[str, Any]] = []
    for n in range(60):
        town, person = _TOWNS[n % 6], _PEOPLE[(n // 6) % 6]
        text = f"Notice {n}: {person} will open the {_GOODS[n % 5]} fair in the Old Market of {town} on day {n + 1}."
        rows.append({"text": text, "answer": [town, f"Old Market of {town}"] if n % 4 == 0 else town})
    return rows


def orders() -> list[dict[str, Any]]:
    """Objects to be written as JSON."""
    rows: list[dict[str, Any]] = []
    for n in range(60):
        person, goods, count = _PEOPLE[n % 6], _GOODS[n % 5], 1 + n % 8
        text = f"Order {n}: please send {count} {goods} to {person} in {_TOWNS[n % 6]}."
        rows.append({"text": text, "answer": {"who": person, "what": goods, "count": count}})
    return rows


def complaints() -> list[dict[str, Any]]:
    """Mails about up to three troubles, and some about none."""
    names = list(_TROUBLES)
    rows: list[dict[str, Any]] = []
    for n in range(60):
        chosen = [names[(n + step) % 4] for step in range(n % 4)]
        said = ", and ".join(_TROUBLES[name].format(n=100 + n) for name in chosen)
        text = f"Hello, {said or 'thank you for the kind call'}. Regards, {_PEOPLE[n % 6]} ({n})"
        rows.append({"text": text, "answer": sorted(chosen)})
    return rows


_QUESTIONS = {
    "change my password": "Open the settings, choose security, and enter a new password twice.",
    "return a parcel": "Print the return label from your account and bring the parcel to any post office.",
    "cancel my order": "Orders can be cancelled on the order page until they are packed.",
    "get an invoice": "We send the invoice by mail as soon as the goods have left our store.",
    "track a shipment": "Use the tracking number from the confirmation mail on the carrier's website.",
    "delete my account": "Write to our support team from the address that your account was opened with.",
}


def questions() -> list[dict[str, Any]]:
    """Questions to a help desk, to be answered in a sentence."""
    rows: list[dict[str, Any]] = []
    asked = list(_QUESTIONS)
    for n in range(60):
        what = asked[n % 6]
        text = f"Hi, {_PEOPLE[(n // 6) % 6]} here ({n}): how do I {what}?"
        rows.append({"text": text, "answer": _QUESTIONS[what]})
    return rows


def desk_questions() -> list[dict[str, Any]]:
    """Questions to be answered by a number, of five kinds; twenty-four of each."""
    rows: list[dict[str, Any]] = []
    for n in range(120):
        person, goods, town = _PEOPLE[n % 6], _GOODS[n // 5 % 5], _TOWNS[n // 3 % 6]
        few, more = 2 + n % 7, 11 + n * 3 % 50
        asked = (
            (f"{person} sends {more} {goods} to {town}, and {few} come back. How many stay there?", more - few),
            (f"{person} pays {few * more} EUR for {few} {goods}. What do {few + 1} of them cost?", more * (few + 1)),
            (f"{person} drives {more} km to {town}, {few} times a week. How far is that?", more * few),
            (f"{person} of {town} is {more}, and her son is {few}. How old is she when he is ten?", more + 10 - few),
            (f"{person} pays {few} EUR for {more} {goods}. What do {few} of them bring, at 2 EUR?", 2 * few),
        )[n % 5]
        rows.append({"text": asked[0], "answer": asked[1]})
    return rows


class _QuietServer(ThreadingHTTPServer):
    """Says nothing of callers that have gone: a call may be given up on a busy machine."""

    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@dataclass
class RuleServer:
    """Answers chat requests about the rows of a task.

    Parameters
    ----------
    rows : list of dict
        With ``text`` and ``answer``.
    right, wrong : callables
        From an answer as the data have it to what is said if all goes well, and to what may be said else.
    cures : dict of str to float
        By how much a word in the prompt takes away from the rate of errors.
    shake : callable
        How often it errs on a text, in [0, 1], if nothing forbids it.
    token_probabilities : callable or None
        From what is said to the probability of each of its tokens, told to whoever asks for log-probabilities; None for
        a server that knows none.
    """

    rows: list[dict[str, Any]]
    right: Callable[[Any], str]
    wrong: Callable[[Any], list[str]]
    cures: Mapping[str, float] = field(default_factory=dict)
    judge: Callable[[str], str] = field(default=lambda _: "5")
    compares: Callable[[str], str] = field(default=lambda _: "no")
    shake: Callable[[str], float] = field(default=lambda text: _draw("text", text) * 0.8)
    token_probabilities: Callable[[str], list[float]] | None = None
    n_asked: int = 0
    n_asked_for_probabilities: int = 0
    n_compared: int = 0
    n_drafted: int = 0
    n_rated: int = 0

    def answer(self, message: str) -> str:
        """Say what a message is answered; whoever asks for a sentence to add gets the first cure."""
        if "Rate <answer>" in message:
            self.n_rated += 1
            return self.judge(message)
        if "Are <first> and <second> the same" in message:
            self.n_compared += 1
            return self.compares(message)
        if "Write one general sentence to add" in message:
            self.n_drafted += 1
            return json.dumps({"note": f"Read the text to its end, and remember: {next(iter(self.cures))}, ever."})
        known = {row["text"]: row["answer"] for row in self.rows}
        place, text = max((message.rfind(text), text) for text in known)
        if place < 0:
            return "I see no text."
        instructions = message[:place]
        shake = self.shake(text)
        shake *= 0.5 if TURN in instructions else 1.0
        for word, share in self.cures.items():
            shake *= 1 - share if word in instructions else 1.0
        if _draw("wording", instructions.split("\n", 1)[0], text) >= shake:
            return self.right(known[text])
        wrong = self.wrong(known[text])
        return wrong[int(_draw("which", instructions.split("\n", 1)[0], text) * len(wrong))]

    def logprobs(self, said: str) -> dict[str, Any] | None:
        """Say how probable each token of an answer was, as OpenAI does where no alternatives are wanted."""
        if self.token_probabilities is None:
            return None
        probabilities = self.token_probabilities(said)
        length = max(1, -(-len(said) // len(probabilities)))
        tokens = [said[place * length : (place + 1) * length] for place in range(len(probabilities))]
        places = [
            {"token": token, "logprob": math.log(probability), "bytes": list(token.encode()), "top_logprobs": []}
            for token, probability in zip(tokens, probabilities, strict=True)
        ]
        return {"content": places, "refusal": None}

    def __enter__(self) -> Self:
        """Listen on a free port."""
        responder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                responder.n_asked += 1
                asked = [turn["content"] for turn in body["messages"] if turn["role"] == "user"]
                said = responder.answer(TURN.join(asked))
                choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
                if body.get("logprobs"):
                    responder.n_asked_for_probabilities += 1
                    choice["logprobs"] = responder.logprobs(said)
                usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
                answer = {"id": "x", "object": "chat.completion", "created": 0, "model": "rule"}
                content = json.dumps({**answer, "choices": [choice], "usage": usage}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = _QuietServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def base(self) -> str:
        """The address that clients take."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"


def _draw(*parts: str) -> float:
    digest = hashlib.blake2b("\n".join(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


def amount_of(answer: Any) -> float:
    """An amount as a number."""
    return float(str(answer).replace(",", "").removesuffix(" EUR"))


def server_of_bills() -> RuleServer:
    """Mixes the amount up with other numbers, or gives two."""
    return RuleServer(
        bills(),
        right=lambda answer: f"{amount_of(answer):.2f}",
        wrong=lambda answer: [f"{amount_of(answer) + 1:.2f}", f"{amount_of(answer)} for 3 pieces", "4100"],
        cures={"no working": 0.8},
    )


def server_of_notices() -> RuleServer:
    """Says more than the place."""
    return RuleServer(
        notices(),
        right=lambda answer: answer if isinstance(answer, str) else answer[0],
        wrong=lambda answer: [f"It takes place in {answer if isinstance(answer, str) else answer[0]}.", "the fair"],
        cures={"never a sentence": 0.7},
    )


def server_of_orders() -> RuleServer:
    """Names a member otherwise, or forgets one."""
    return RuleServer(
        orders(),
        right=json.dumps,
        wrong=lambda answer: [json.dumps({**answer, "town": "?"}), json.dumps({"who": answer["who"]}), "Gladly!"],
        cures={"exactly these members": 0.8},
    )


def server_of_complaints() -> RuleServer:
    """Forgets a label, or adds one."""
    return RuleServer(
        complaints(),
        right=json.dumps,
        wrong=lambda answer: [json.dumps(answer[:-1]), ", ".join({*answer, "billing"}), "none"],
        cures={"check each label": 0.6},
    )


def server_of_questions() -> RuleServer:
    """Says the same in other words, or answers another question."""
    return RuleServer(
        questions(),
        right=lambda answer: f"{answer.rstrip('.')}, please.",
        wrong=lambda _: ["I am sorry, that is unknown to me, ask somebody else.", "The weather is fine today."],
        cures={"in about": 0.7},
    )


def server_of_desk_questions(*, errs_on_costs: bool) -> RuleServer:
    """Errs on what something costs, under some wordings; or on texts drawn at random."""

    def shake(text: str) -> float:
        errs = " cost?" in text if errs_on_costs else _draw("drawn", text) < 1 / 5
        return 0.6 if errs else 0.02

    return RuleServer(
        desk_questions(),
        right=str,
        wrong=lambda answer: [str(3 * answer), str(answer + 1)],
        cures={"of one piece": 0.8},
        shake=shake,
    )
