"""Tasks whose answers are no single label, sixty rows each, and a server on a socket that answers them by rule.

The server knows what is right. How often it errs on a text depends on the text and on the wording, and less so with
examples and with notes that forbid its way of erring: what psopt is for can be seen against it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from tests.loopback import Answer, Request, answering

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


Rows = list[dict[str, Any]]


def bills() -> Rows:
    """Amounts to be read: several numbers a text."""
    rows: Rows = []
    for n in range(60):
        amount = round(17.5 + n * 13.37, 2)
        bill = f"Invoice {4100 + n} for {_PEOPLE[n % 6]}: {2 + n % 7} {_GOODS[n % 5]}, due in {14 + n % 9} days"
        answer = f"{amount:,.2f} EUR" if n % 3 else amount
        rows.append({"text": f"{bill}, total {amount:,.2f} EUR.", "answer": answer})
    return rows


def notices() -> Rows:
    """Places to be taken out of a text; some have two names."""
    rows: Rows = []
    for n in range(60):
        town, person = _TOWNS[n % 6], _PEOPLE[(n // 6) % 6]
        text = f"Notice {n}: {person} will open the {_GOODS[n % 5]} fair in the Old Market of {town} on day {n + 1}."
        rows.append({"text": text, "answer": [town, f"Old Market of {town}"] if n % 4 == 0 else town})
    return rows


def orders() -> Rows:
    """Objects to be written as JSON."""
    rows: Rows = []
    for n in range(60):
        order = {"who": _PEOPLE[n % 6], "what": _GOODS[n % 5], "count": 1 + n % 8}
        text = "Order {n}: please send {count} {what} to {who} in {town}.".format(n=n, town=_TOWNS[n % 6], **order)
        rows.append({"text": text, "answer": order})
    return rows


def complaints() -> Rows:
    """Mails about up to three troubles, and some about none."""
    names = list(_TROUBLES)
    rows: Rows = []
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


def questions() -> Rows:
    """Questions to a help desk, to be answered in a sentence."""
    asked = [list(_QUESTIONS)[n % 6] for n in range(60)]
    texts = [f"Hi, {_PEOPLE[(n // 6) % 6]} here ({n}): how do I {what}?" for n, what in enumerate(asked)]
    return [{"text": text, "answer": _QUESTIONS[what]} for text, what in zip(texts, asked, strict=True)]


def desk_questions() -> Rows:
    """Questions to be answered by a number, of five kinds; twenty-four of each."""
    rows: Rows = []
    for n in range(120):
        person, goods, town = _PEOPLE[n % 6], _GOODS[n // 5 % 5], _TOWNS[n // 3 % 6]
        few, more = 2 + n % 7, 11 + n * 3 % 50
        text, answer = (
            (f"{person} sends {more} {goods} to {town}, and {few} come back. How many stay there?", more - few),
            (f"{person} pays {few * more} EUR for {few} {goods}. What do {few + 1} of them cost?", more * (few + 1)),
            (f"{person} drives {more} km to {town}, {few} times a week. How far is that?", more * few),
            (f"{person} of {town} is {more}, and her son is {few}. How old is she when he is ten?", more + 10 - few),
            (f"{person} pays {few} EUR for {more} {goods}. What do {few} of them bring, at 2 EUR?", 2 * few),
        )[n % 5]
        rows.append({"text": text, "answer": answer})
    return rows


@dataclass
class RuleServer:
    """Answers chat requests about the rows of a task."""

    rows: Rows
    right: Callable[[Any], str]
    """From an answer as the data have it to what is said if all goes well,"""
    wrong: Callable[[Any], list[str]]
    """and to what may be said else."""
    cures: Mapping[str, float] = field(default_factory=dict)
    """By how much a word in the prompt takes away from the rate of errors."""
    judge: Callable[[str], str] = field(default=lambda _: "5")
    compares: Callable[[str], str] = field(default=lambda _: "no")
    shake: Callable[[str], float] = field(default=lambda text: _draw("text", text) * 0.8)
    """How often it errs on a text, in [0, 1], if nothing forbids it."""
    token_probabilities: Callable[[str], list[float]] | None = None
    """From what is said to the probability of each of its tokens; None for a server that knows none."""
    n_asked: int = 0
    n_asked_for_probabilities: int = 0
    n_compared: int = 0
    n_rated: int = 0
    base: str = ""
    """The address that clients take."""

    def answer(self, message: str) -> str:
        """Say what a message is answered; whoever asks for a sentence to add gets the first cure."""
        if "Rate <answer>" in message:
            self.n_rated += 1
            return self.judge(message)
        if "Are <first> and <second> the same" in message:
            self.n_compared += 1
            return self.compares(message)
        if "Write one general sentence to add" in message:
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

    def _respond(self, request: Request) -> Answer:
        body = json.loads(request.body)
        self.n_asked += 1
        said = self.answer(TURN.join(turn["content"] for turn in body["messages"] if turn["role"] == "user"))
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        if body.get("logprobs"):
            self.n_asked_for_probabilities += 1
            choice["logprobs"] = self.logprobs(said)
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        answer = {"id": "x", "object": "chat.completion", "created": 0, "model": "rule"}
        content = json.dumps({**answer, "choices": [choice], "usage": usage}).encode()
        return Answer(200, content, {"Content-Type": "application/json"})

    def __enter__(self) -> Self:
        """Listen on a free port."""
        self._served = answering(self._respond)
        self.base = f"{self._served.__enter__()}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        self._served.__exit__(None, None, None)


def _draw(*parts: str) -> float:
    digest = hashlib.blake2b("\n".join(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


def amount_of(answer: Any) -> float:
    """An amount as a number."""
    return float(str(answer).replace(",", "").removesuffix(" EUR"))


def server_of_bills() -> RuleServer:
    """Mixes the amount up with other numbers, or gives two."""

    def wrong(answer: Any) -> list[str]:
        return [f"{amount_of(answer) + 1:.2f}", f"{amount_of(answer)} for 3 pieces", "4100"]

    return RuleServer(bills(), lambda answer: f"{amount_of(answer):.2f}", wrong, {"no working": 0.8})


def server_of_complaints() -> RuleServer:
    """Forgets a label, or adds one."""

    def wrong(answer: Any) -> list[str]:
        return [json.dumps(answer[:-1]), ", ".join({*answer, "billing"}), "none"]

    return RuleServer(complaints(), json.dumps, wrong, {"check each label": 0.6})


def server_of_questions() -> RuleServer:
    """Says the same in other words, or answers another question."""
    others = ["I am sorry, that is unknown to me, ask somebody else.", "The weather is fine today."]
    return RuleServer(questions(), lambda answer: f"{answer.rstrip('.')}, please.", lambda _: others, {"in about": 0.7})


def server_of_desk_questions() -> RuleServer:
    """Errs on what something costs, under some wordings."""
    return RuleServer(
        desk_questions(),
        right=str,
        wrong=lambda answer: [str(3 * answer), str(answer + 1)],
        cures={"of one piece": 0.8},
        shake=lambda text: 0.6 if " cost?" in text else 0.02,
    )
