"""Where should examples go? In the message with the text to classify, or as turns of a conversation before it.

    python experiments/example_turns.py smollm2 [gguf/PATH ..] [--sets trec ..]

The original prompt under three wordings by people, on val, without examples and with one random example per class, in
one message (*text*) or each as a user question and an assistant answer (*turns*, psopt's way): F1 (micro), S and C,
with the label prior and without. Expected: with turns, the model answers in the form of the earlier answers.

With `--served` llama.cpp's own HTTP server writes the answers, restricted to ``{"label": ..}`` by a schema; turns then
answer with a label, or in that form (*turns in JSON*, psopt's way).

Each cell is saved when it is done and not measured again.
"""

from __future__ import annotations

import itertools
import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
from _lm_cells import KeptResults, figures_of, lm_parser
from _lm_rules import scored_answers
from _lm_server import server_of
from _lm_sets import drawn_texts, lm_task, wordings_by_people
from psopt.search_spaces import Example, render, render_instructions, seed_prompt

if TYPE_CHECKING:
    from _lm_rules import Answering
    from numpy.typing import NDArray
    from psopt.search_spaces import Messages, Prompt
    from psopt.tasks import Task

_SLOTS, _CONTEXT = 4, 2048  # of the server; tokens of a slot
_N_HELD, _N_PRIOR, _N_WORDINGS = 60, 30, 3
_LONGEST = 400  # characters of an example
WAYS = ("no examples", "text", "turns")
SERVED_WAYS = (*WAYS, "turns in JSON")
DRAWS = 3  # of examples, if there are any


def main() -> None:
    """Measure the missing cells."""
    parser = lm_parser(__doc__)
    parser.add_argument("--served", action="store_true", help="ask llama.cpp's server, and have answers written")
    words = parser.parse_args()
    setting = (
        f"At most {_N_HELD} val samples, {_N_WORDINGS} wordings by people, priors on {_N_PRIOR} train texts, one "
        f"random example a class of at most {_LONGEST} characters."
    )
    kept = KeptResults(words.results, "example_turns", "cells", setting)
    for name in words.models:
        for dataset in words.sets:
            for draw, way in itertools.product(range(DRAWS), SERVED_WAYS if words.served else WAYS):
                cell = {"model": Path(name).stem, "dataset": dataset, "way": way, "draw": draw, "served": words.served}
                if not draw or way != "no examples":
                    kept.measure(cell, _measured, name, dataset, way, draw, words.data, words.served)


def _measured(name: str, dataset: str, way: str, draw: int, data: Path, served: bool) -> dict[str, Any]:
    started = time.monotonic()
    task = lm_task(dataset, data)
    held, unlabelled, truth = drawn_texts(task, _N_HELD, _N_PRIOR)
    examples = () if way == "no examples" else _one_a_class(task, {sample.id for sample in unlabelled}, draw)
    answer = _written(name, task) if served else scored_answers(name, task, len(held))
    answers: dict[str, list[NDArray[np.int64]]] = {}
    for wording in wordings_by_people(dataset, data, _N_WORDINGS):
        prompt = replace(seed_prompt(task), examples=examples).described_as(wording)
        write = {"text": _as_text, "turns in JSON": _in_json}.get(way, render)
        asked = [write(prompt, sample.text) for sample in (held if served else (*held, *unlabelled))]
        for prior, column in answer(asked).items():
            answers.setdefault(prior, []).append(column)
    figures = {prior: figures_of(np.stack(columns, axis=1), truth, task) for prior, columns in answers.items()}
    return {"n": len(held), "n_examples": len(examples), **figures, "seconds": round(time.monotonic() - started)}


def _written(name: str, task: Task) -> Answering:
    """Answers written by llama.cpp's server."""
    server, url = server_of(name.removeprefix("gguf/"), _SLOTS, _CONTEXT)
    form = {"type": "object", "properties": {"label": {"type": "string", "enum": list(task.labels)}}}
    form |= {"required": ["label"], "additionalProperties": False}
    response_format = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": form}}

    def ask(messages: Messages) -> int:
        body = {"messages": messages, "temperature": 0, "max_tokens": 40, "response_format": response_format}
        said = httpx.post(f"{url}/v1/chat/completions", json=body, timeout=600).raise_for_status().json()
        try:
            label = json.loads(said["choices"][0]["message"]["content"])["label"]
        except ValueError:
            return len(task.labels)  # cut off
        return task.labels.index(label)

    def answer(conversations: list[Messages]) -> dict[str, NDArray[np.int64]]:
        assert server is not None  # noqa: S101  # it ends with its last reference
        with ThreadPoolExecutor(_SLOTS) as threads:
            return {"none": np.array(list(threads.map(ask, conversations)))}

    return answer


def _one_a_class(task: Task, without: set[str], draw: int) -> tuple[Example, ...]:
    rng = np.random.default_rng(draw)
    pool = [sample for sample in task.train if sample.id not in without and len(sample.text) <= _LONGEST]
    drawn = []
    for label in task.labels:
        of_label = [sample for sample in pool if sample.label == label]
        if of_label:
            drawn.append(of_label[rng.integers(len(of_label))])
    rng.shuffle(drawn)
    return tuple(Example(sample.text, str(sample.label)) for sample in drawn)


def _as_text(prompt: Prompt, text: str) -> Messages:
    """The messages with the examples in the user's one."""
    system, *_, last = render(prompt, text)
    return [system, {"role": "user", "content": f"{render_instructions(prompt)}\n\n{last['content']}"}]


def _in_json(prompt: Prompt, text: str) -> Messages:
    return [
        {**turn, "content": json.dumps({"label": turn["content"]})} if turn["role"] == "assistant" else turn
        for turn in render(prompt, text)
    ]


if __name__ == "__main__":
    main()
