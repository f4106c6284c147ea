"""llama.cpp's own HTTP server with a real language model behind it, through `openai/`."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from psopt.models import AnswerCache
from psopt.models.chat import LMConfig, chat_model
from psopt.search_spaces import Prompt

from tests.servers.serving import NotInstalledError, Server, serve_llama_cpp

LABELS = ("Number", "Location", "Person")
PROMPT = Prompt("Classify the question by what it asks for.", LABELS, "question")
TEXTS = ["How many people live in Chile ?", "Where is the Keck telescope ?", "Who wrote Dubliners ?"]


@pytest.fixture(scope="module")
def server(smollm2: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    try:
        with serve_llama_cpp(smollm2, tmp_path_factory.mktemp("served") / "llama.cpp.log") as server:
            yield server
    except NotInstalledError as error:
        pytest.skip(str(error))


def model_at(server: Server, folder: Path, **options: Any) -> Any:
    chosen = LMConfig(api_base=server.url, logprobs=True, max_tokens=64, **options)
    return chat_model("openai", server.model, AnswerCache(folder), chosen)


def test_every_structured_answer_has_probabilities_of_labels_alone(server: Server, tmp_path: Path) -> None:
    model = model_at(server, tmp_path)
    found = model.predict_proba([PROMPT], TEXTS)[:, 0]
    written = model.predict([PROMPT], TEXTS)[:, 0]
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert (found[:, -1] == 0).all()
    assert (found[np.arange(len(TEXTS)), written] > 0).all()
    assert (found[:, :-1].max(axis=1) < 1).all()  # more than the written label is listed


def test_it_is_asked_for_structure_and_many_alternatives_and_tells_those_before_the_grammar(
    server: Server, tmp_path: Path
) -> None:
    """What `label_probabilities` says of it: else the tokens of a schema's lead would be certain."""
    model = model_at(server, tmp_path)
    model.predict_proba([PROMPT], TEXTS[:1])
    body = model.engine.client.request(model.queries([PROMPT], TEXTS[:1])[0])
    assert body["response_format"]["type"] == "json_schema"
    assert body["top_logprobs"] == 128
    sent = urllib.request.Request(
        f"{server.url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(sent) as response:
        places = json.loads(response.read())["choices"][0]["logprobs"]["content"]
    assert all(len(place["top_logprobs"]) == 128 for place in places)
    assert min(place["logprob"] for place in places) < -1


def test_without_structure_what_is_no_label_keeps_its_probability(server: Server, tmp_path: Path) -> None:
    model = model_at(server, tmp_path, structured=False)
    model.few_may_fail = True
    found = model.predict_proba([PROMPT], TEXTS)[:, 0]
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert (found[:, -1] > 0.1).all()
