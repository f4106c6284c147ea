"""A server on a socket, for models and a judge, whose answers vary in known ways, so scores are known in advance."""

from __future__ import annotations

import json
import math
import re
import threading
from collections import Counter
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

from _prosa_sets import FREE, LABEL, LETTERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from _prosa_sets import Question, QuestionSet

JUDGE = "scripted-judge"
_TURN = "\n\x1e\n"  # between what the user says in turns: only examples make several of them
_THIRDS = 3  # of the wordings: 12 and 3 both have them
_BAD = ("I am afraid that this is nothing I know about.", "Bananas are yellow, and ships sail on water.")
_RATED_GOOD, _RATED_BAD_LAST, _RATED_BAD_FIRST = 10, 5, 3  # 1, and (4 - 1) / 9 on average over both orders
_WORTH_OF_BAD = 1 / 3
_SURE, _UNSURE = 0.9, 0.6
_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
_REFERENCE = re.compile(r"<reference>(.*?)</reference>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Script:
    """How a scripted model answers.

    Attributes
    ----------
    thirds : tuple of four int
        Under how many thirds of the wordings, counted from the first, a question is answered correctly: the first
        number is for the first, fifth, ninth .. question, the second for the second, sixth .., and so on.
    n_wrong : int
        How many different wrong answers it gives to one question, in turn: 1 or 2.
    more_with_examples : int
        How many more thirds are right where the prompt shows examples, if any are right without.
    """

    thirds: tuple[int, int, int, int]
    n_wrong: int = 1
    more_with_examples: int = 0

    def n_right(self, place: int, n_wordings: int, *, with_examples: bool = False) -> int:
        """Under how many wordings the question at a place, from 0, is answered correctly."""
        thirds = self.thirds[place % len(self.thirds)]
        if with_examples and thirds:
            thirds = min(_THIRDS, thirds + self.more_with_examples)
        return n_wordings * thirds // _THIRDS

    def known_pss(self, n_samples: int, n_wordings: int, answers: str, *, with_examples: bool = False) -> float:
        """PSS as it follows from the script: r right answers among Q differ from the others in r (Q - r) pairs."""
        gap = 1 - _WORTH_OF_BAD if answers == FREE else 1.0
        rights = [self.n_right(place, n_wordings, with_examples=with_examples) for place in range(n_samples)]
        pairs = n_wordings * (n_wordings - 1) / 2
        return sum(gap * right * (n_wordings - right) / pairs for right in rights) / n_samples

    def known_sensitivity(self, n_samples: int, n_wordings: int, answers: str, *, with_examples: bool = False) -> float:
        """S as it follows from the script: each question's entropy over ln of the number of answers."""
        n_classes = len(LETTERS) + 1 if answers == LABEL else n_wordings
        total = 0.0
        for place in range(n_samples):
            right = self.n_right(place, n_wordings, with_examples=with_examples)
            wrong = Counter(column % self.n_wrong for column in range(right, n_wordings))
            shares = [count / n_wordings for count in (right, *wrong.values()) if count]
            total -= sum(share * math.log(share) for share in shares) / math.log(n_classes)
        return total / n_samples


SCRIPTS = {
    "steady": Script((3, 3, 3, 0)),
    "wavering": Script((3, 2, 3, 0), more_with_examples=1),
    "scattered": Script((1, 2, 2, 1), n_wrong=2),
}
"""By the models' names. Steady always says the same; scattered errs in two ways, which S sees and PSS does not."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question in one of its versions: either wordings vary or versions do, and the other stays fixed."""

    of: QuestionSet
    place: int
    question: Question
    version: int
    n_versions: int
    wordings: Sequence[str]

    @property
    def n_columns(self) -> int:
        """Q."""
        return self.n_versions * len(self.wordings)

    def column(self, message: str) -> int:
        """Which of the Q ways of asking a message is."""
        return self.version + next(n for n, words in enumerate(self.wordings) if message.startswith(f"{words}\n"))


class ScriptedServer:
    """Answers chat requests about the questions of some sets, by the script of the model's name; and rates them.

    Parameters
    ----------
    asked : sequence of (set, questions, wordings)
        What may be asked, in the order that scripts count by; each question in its versions.

    Attributes
    ----------
    n_asked : Counter
        Number of requests by model name.
    """

    def __init__(self, asked: Sequence[tuple[QuestionSet, Sequence[tuple[Question, ...]], Sequence[str]]]) -> None:
        self._asked: dict[str, _Asked] = {}
        for of, questions, wordings in asked:
            for place, versions in enumerate(questions):
                for version, question in enumerate(versions):
                    entry = _Asked(of, place, question, version, len(versions), wordings)
                    self._asked.setdefault(question.text, entry)  # a first version is the request itself
        self.n_asked: Counter[str] = Counter()

    def answer(self, model: str, message: str) -> tuple[str, float]:
        """Return a model's answer to the user's turns, and the probability that it gives the answer."""
        if model == JUDGE:
            return str(_rating(message)), 1.0
        asked = self._asked[max(self._asked, key=lambda text: (message.rfind(text), len(text)))]
        script = SCRIPTS[model]
        column = asked.column(message)
        n_right = script.n_right(asked.place, asked.n_columns, with_examples=_TURN in message)
        sure = _SURE if n_right in (0, asked.n_columns) else _UNSURE
        return _said(asked.of, asked.question, None if column < n_right else column % script.n_wrong), sure

    def __enter__(self) -> Self:
        """Listen on a free port."""
        self._server = _Listener(self)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """The address for clients."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"


def _said(of: QuestionSet, question: Question, wrong: int | None) -> str:
    """The right answer to a question, or one of two wrong ones."""
    if of.answers == LABEL:
        place = LETTERS.index(question.right)
        return LETTERS[(place + (0 if wrong is None else wrong + 1)) % len(LETTERS)]
    if of.answers == FREE:
        return question.right if wrong is None else _BAD[wrong]
    result = json.loads(question.right) if wrong is None else -(1000 + wrong)
    return f"Let us go step by step.\nSo the result is $\\boxed{{{result}}}$."


def _rating(message: str) -> int:
    """What the judge says: full marks for the reference itself; otherwise it depends on the order too."""
    answer, reference = _ANSWER.search(message), _REFERENCE.search(message)
    if answer is None or reference is None:
        raise ValueError("the judge is asked for a rating only")
    if answer[1] == reference[1]:
        return _RATED_GOOD
    return _RATED_BAD_FIRST if answer.start() < reference.start() else _RATED_BAD_LAST


class _Listener(ThreadingHTTPServer):
    """The socket."""

    request_queue_size = 128
    daemon_threads = True

    def __init__(self, responder: ScriptedServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.responder = responder


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def do_POST(self) -> None:
        """Answer a chat request."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.responder.n_asked[body["model"]] += 1
        content = json.dumps(_completion(self.server.responder, body)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def _completion(responder: ScriptedServer, body: dict[str, Any]) -> dict[str, Any]:
    asked = [turn["content"] for turn in body["messages"] if turn["role"] == "user"]
    said, share = responder.answer(body["model"], _TURN.join(asked))
    message = {"role": "assistant", "content": said, "refusal": None}
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": "stop"}
    if body.get("logprobs"):
        choice["logprobs"] = {"content": [_logprobs(said, share)]}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    about = {"id": "scripted", "object": "chat.completion", "created": 0, "model": body["model"]}
    return {**about, "choices": [choice], "usage": usage}


def _logprobs(said: str, share: float) -> dict[str, Any]:
    """One token, a letter, and the next letter with the rest of the probability."""
    other = LETTERS[(LETTERS.index(said) + 1) % len(LETTERS)]
    top = [_token(said, share), _token(other, 1 - share)]
    return {**top[0], "top_logprobs": top}


def _token(text: str, share: float) -> dict[str, Any]:
    return {"token": text, "logprob": math.log(share), "bytes": list(text.encode())}
