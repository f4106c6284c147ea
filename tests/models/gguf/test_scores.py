"""GGUF files as classifiers and writers, on the real SmolLM2: what is computed, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from psopt.errors import InputError, ModelError
from psopt.models import AnswerCache
from psopt.models.chat import LMConfig, load_writer
from psopt.models.gguf import GGUFModel, Reader, fast_copy
from psopt.models.scoring import label_tree
from psopt.search_spaces import Example, Prompt

LABELS = ("Number", "Human being", "Abbreviation")
TEXTS = ["How many moons has Mars ?", "Who wrote Faust ?", "What does NASA stand for ?", "Who was the first pope ?"]
PROMPT = Prompt("Decide what kind of answer the question asks for.", LABELS, noun="question")
SHOWN = Prompt(PROMPT.description, LABELS, noun="question", examples=(Example("Who sings ?", "Human being"),))

ONE_TOKEN = label_tree([[0]])  # so that only the token after the prompt is scored
# The answer is begun by what the prompt asks for it with.
_BEFORE = (
    "<|im_start|>system\nYou are a text classifier.<|im_end|>\n<|im_start|>user\n"
    "Decide what kind of answer the question asks for.\n"
    f"Answer with exactly one of these labels and nothing else: {', '.join(LABELS)}\n\n"
    "Question: {text}<|im_end|>\n<|im_start|>assistant\nLabel:"
)


@pytest.fixture(scope="module")
def model(smollm2: Path) -> GGUFModel:
    pytest.importorskip("xllamacpp")
    return GGUFModel(fast_copy(smollm2))  # as the name smollm2 runs it


def _read_alone(model: GGUFModel, label: str, text: str, before: str = _BEFORE) -> list[float]:
    """Each of a label's tokens' log-probability from a whole reading of all before it, nothing shared."""
    tokens = model.weights.tokens
    read = tokens(before.format(text=text), with_opening=False)
    found = []
    for token in tokens(f" {label}"):
        found.append(float(Reader(model.weights).log_probabilities([read], ONE_TOKEN)[0, 0, token]))
        read = [*read, token]
    return found


def test_scores_are_those_of_a_whole_reading_of_each_text_and_label(model: GGUFModel) -> None:
    scores = model.label_scores([SHOWN, PROMPT], TEXTS[:2])  # so that something else has been read before
    alone = [_read_alone(model, label, TEXTS[0]) for label in LABELS]
    assert [len(tokens) for tokens in alone] == [1, 2, 3]
    assert scores[0, 1] == pytest.approx([np.mean(tokens) for tokens in alone], abs=1e-5)
    whole = GGUFModel(model._path, likelihood="sum").label_scores([PROMPT], TEXTS[:1])[0, 0]
    assert whole == pytest.approx([np.sum(tokens) for tokens in alone], abs=3e-5)


def test_labels_read_side_by_side_score_as_those_read_alone_whatever_was_read_before(model: GGUFModel) -> None:
    """Three ways to go on behind a first token, one of them through a token that two labels share."""
    labels = ("Abbreviation", "Human being", "Human group of people", "Entity or thing")
    prompt = Prompt(PROMPT.description, labels, noun="question")
    scores = model.label_scores([prompt], TEXTS[:2])[:, 0]
    before = _BEFORE.replace(", ".join(LABELS), ", ".join(labels))
    alone = [np.mean(_read_alone(model, label, TEXTS[1], before)) for label in labels]
    assert scores[1] == pytest.approx(alone, abs=0.005)
    again = GGUFModel(model._path).label_scores([prompt], TEXTS[1::-1])[::-1]
    assert (again[:, 0] == scores).all()


def test_texts_read_side_by_side_score_as_those_read_alone_to_the_last_bit(model: GGUFModel) -> None:
    """Of different lengths, and of 127 to 129 tokens, after which the next reading begins."""
    texts = [*TEXTS, "Why ?", f"{'moon ' * 200}?"]
    alone = np.concatenate([model.label_scores([SHOWN], [text]) for text in texts])
    assert (GGUFModel(model._path).label_scores([SHOWN], texts) == alone).all()
    moons = model.weights.tokens("moon " * 140)
    many = Reader(model.weights, n_prompts=4)
    for lengths in ([9, 127, 128, 129], [128, 12], [300]):
        prompts = [moons[:n] for n in lengths]
        beside = many.log_probabilities(prompts, label_tree([[1, 2, 3]]))
        for prompt, read in zip(prompts, beside, strict=True):
            whole = Reader(model.weights).log_probabilities([prompt], label_tree([[1, 2, 3]]))
            assert (read == whole[0]).all()


def test_the_beginnings_read_last_are_read_once_for_all_processors_however_the_texts_come(
    model: GGUFModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search asks each candidate a few texts at a time, under one wording after the other."""
    examples = tuple(Example(f"Who sang the song number {i} ?", "Human being") for i in range(3))
    wordings = ("What is asked for?", "Which label fits?")
    prompts = [Prompt(wording, LABELS, noun="question", examples=examples) for wording in wordings]
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(3), raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    at_once = GGUFModel(model._path).label_scores(prompts, TEXTS)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")  # processors share the beginning that one of them has read
    read = []

    class Counting(Reader):
        def read_prefix(self, tokens: list[int], n_threads: int, n_room: int) -> Any:
            read.append(len(tokens))
            return super().read_prefix(tokens, n_threads, n_room)

    monkeypatch.setattr("psopt.models.gguf._model.Reader", Counting)
    by_parts = GGUFModel(model._path)
    parts = [by_parts.label_scores(prompts, TEXTS[start : start + 2]) for start in (0, 2)]
    assert (np.concatenate(parts) == at_once).all()
    assert len(read) == len(prompts)


def test_what_was_scored_is_read_from_the_cache_and_nothing_is_loaded(model: GGUFModel, tmp_path: Path) -> None:
    smollm2 = model._path
    first = GGUFModel(smollm2, cache=AnswerCache(tmp_path)).predict_proba([PROMPT], TEXTS)
    again = GGUFModel(smollm2, cache=AnswerCache(tmp_path))
    assert (again.predict_proba([PROMPT], TEXTS) == first).all()
    assert "weights" not in again.__dict__
    assert first[..., :-1].sum(axis=2) == pytest.approx(1)
    assert (first[..., -1] == 0).all()


def test_what_is_no_model_is_refused_in_one_line(smollm2: Path, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    text, truncated, unknown = (tmp_path / f"{name}.gguf" for name in ("text", "truncated", "unknown"))
    text.write_text("hello")
    for path, reason in {
        tmp_path / "none.gguf": "there is no file",
        tmp_path: r"is a folder: give a \.gguf file: it holds text\.gguf",
        text: "is no GGUF file: it begins with b'hell'",
    }.items():
        with pytest.raises(InputError, match=reason):
            GGUFModel(path)
    whole = smollm2.read_bytes()
    truncated.write_bytes(whole[:5_000_000])
    place = whole.index(b"llama", whole.index(b"general.architecture") + 20)
    unknown.write_bytes(whole[:place] + b"lemma" + whole[place + 5 :])
    for path, reason in ((truncated, "corrupted or incomplete|not within"), (unknown, "unknown model architecture")):
        with pytest.raises(ModelError, match=reason) as refused:  # when they are loaded
            GGUFModel(path).predict([PROMPT], TEXTS[:1])
        with pytest.raises(ModelError, match=f"named can't be loaded from {path}: .*(?:{reason})"):
            GGUFModel(path, name="named").predict([PROMPT], TEXTS[:1])
        assert "\n" not in str(refused.value)


def test_a_prompt_longer_than_the_model_reads_is_refused(model: GGUFModel) -> None:
    with pytest.raises(ModelError, match=r"exceed the 8192 tokens .* the longest begins 'moon moon"):
        model.predict([PROMPT], ["sun", "moon " * 9000])


# As a writer: what it writes is kept, and held to JSON where that is asked for

ASKED = [{"role": "user", "content": "What is the capital of France? One word."}]
AS_JSON = [{"role": "user", "content": 'Say something nice. Answer with JSON alone: {"note": ".."}'}]


def test_what_is_written_is_kept_and_json_where_that_is_asked_for(smollm2: Path, tmp_path: Path) -> None:
    name, options = f"gguf/{smollm2}", LMConfig(max_tokens=200)
    writer = load_writer(name, cache_dir=tmp_path, options=options)
    first, other = (writer.write([ASKED], temperature=0.8, sample=number)[0] for number in (0, 1))
    assert first
    assert first != other
    assert isinstance(json.loads(writer.write([AS_JSON])[0]), dict)
    again = load_writer(name, cache_dir=tmp_path, options=options)
    assert again.write([ASKED], temperature=0.8)[0] == first
    assert "_server" not in again._engine.client.__dict__  # it came from the cache, and nothing was loaded
    with pytest.raises(ModelError, match=r"can't write: request .* exceeds the available context size"):
        writer.write([[{"role": "user", "content": "moon " * 9000}]])


def test_what_is_no_model_writes_nothing(smollm2: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(smollm2.read_bytes()[:5_000_000])
    with pytest.raises(ModelError, match=r"can't be loaded: .*(corrupted or incomplete|not within)"):
        load_writer(f"gguf/{cut}").write([ASKED])
