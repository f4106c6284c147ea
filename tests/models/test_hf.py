"""Local language models: scores equal those of reading prompt and label one by one, whatever else is read beside."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.errors import InputError, MissingExtraError, ModelError
from psopt.models import AnswerCache, load_model, predict_cells, predict_proba_cells
from psopt.models.chat import LMConfig
from psopt.search_spaces import Definition, Example, Prompt, render
from psopt.templates import ExampleForm, Field, Message, Part, Template

pytest.importorskip("torch", reason="psopt[local] is not installed")
pytest.importorskip("transformers", reason="psopt[local] is not installed")

import torch
from psopt.models.hf import HFModel
from psopt.models.scoring import find_format

from tests.commands import run_command
from tests.models.hub_server import COMMIT, GATED, REPO, serving
from tests.models.tiny_lm import CHAT_ML, make_network, make_tokenizer, save_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from psopt.tasks import Task

SPLITS = ("train", "val", "test")
LABEL_SETS = {
    "words": ("Number", "Person", "Location", "Entity", "Description", "Abbreviation"),
    "beginnings of each other": ("Number", "Numbers", "Number of people", "Number of"),
    "two letters": ("a", "b"),
    "signs": ("C++", "C", "C#", "n/a", "contradiction/neutral"),
    "not ASCII": ("Größe", "Großstadt", "数字", "数", "🙂"),
    "spaces around": (" yes ", "no"),
}
TEXTS = [
    "who wrote the book ?",
    "?",
    "",
    "when did the war end and how many people " * 8,
    "Wie groß ist 東京 🙂 ?",
    "who wrote the book of numbers ?",
    "a {brace} and a\nline\n\n",
]


def make_prompts(labels: tuple[str, ...]) -> list[Prompt]:
    """A bare prompt, another wording, and one with all its parts."""
    bare = Prompt("Classify the question by what it asks for.", labels, "question")
    full = Prompt(
        "Sort the question, naïvely: “what does it ask for” ?",
        labels,
        "question",
        (Definition(labels[0], "a count or a date"),),
        ("Questions that begin with “when” ask for a number.",),
        (Example("when did it end ?", labels[0]), Example("who was she ?", labels[1])),
    )
    return [bare, bare.described_as("What is asked for ?"), full]


PROMPTS = make_prompts(LABEL_SETS["words"])


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU computes in bfloat16, whose digits are others."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other make tiny networks slower, many times so where other tests run beside."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(n_threads)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("model"))


def chat_ml(prompt: Prompt, text: str) -> str:
    said = "".join(f"<|im_start|>{role}\n{content}<|im_end|>\n" for role, content in asked_in_answers(prompt, text))
    return f"{said}<|im_start|>assistant\nLabel:"


def asked_in_answers(prompt: Prompt, text: str) -> list[tuple[str, str]]:
    """Who says what where answers begin with ``Label:``, and no turn ends with it."""
    turns = []
    for turn in render(prompt, text):
        content = turn["content"].removesuffix("\nLabel:")
        turns.append((turn["role"], f"Label: {content}" if turn["role"] == "assistant" else content))
    return turns


def one_by_one(
    network: Any,
    tokenizer: Any,
    prompts: Sequence[Prompt],
    texts: Sequence[str],
    write: Any = chat_ml,
    space: str = " ",
    likelihood: Any = np.mean,
) -> np.ndarray:
    """p of each label, by a plain forward pass over each string, a space and label: (n_texts, n_prompts, n_labels)."""

    def scores_of(text: str, labels: Sequence[str]) -> list[float]:
        strings = [text + space, *(text + space + label.strip() for label in labels)]
        open_end, *sequences = [tokenizer(string, add_special_tokens=False)["input_ids"] for string in strings]
        begin = common_start([open_end, *sequences])  # a space is the label's unless all labels part from it
        scores = []
        for sequence in sequences:
            with torch.inference_mode():
                log_p = network(torch.tensor([sequence])).logits[0].double().log_softmax(-1)
            places = range(len(begin), len(sequence))
            scores.append(float(likelihood([log_p[place - 1, sequence[place]] for place in places])))
        return scores

    scores = np.array([[scores_of(write(prompt, text), prompt.labels) for prompt in prompts] for text in texts])
    likelihoods = np.exp(scores)
    return likelihoods / likelihoods.sum(axis=2, keepdims=True)


def common_start(sequences: list[list[int]]) -> list[int]:
    steps = itertools.takewhile(lambda tokens: len(set(tokens)) == 1, zip(*sequences, strict=False))
    return [tokens[0] for tokens in steps]


def assert_equal(probabilities: np.ndarray, expected: np.ndarray) -> None:
    assert (probabilities[..., -1] == 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=2), 1)
    np.testing.assert_allclose(np.log(probabilities[..., :-1]), np.log(expected), atol=1e-4)


@pytest.mark.parametrize("likelihood", ["mean", "sum"])
@pytest.mark.parametrize("labels", LABEL_SETS.values(), ids=LABEL_SETS)
def test_scores_equal_reading_prompt_and_label_one_by_one(folder: Path, labels: Any, likelihood: str) -> None:
    prompts = make_prompts(labels)
    expected = one_by_one(make_network(), make_tokenizer(), prompts, TEXTS, likelihood=getattr(np, likelihood))
    probabilities = HFModel(str(folder), likelihood=likelihood).predict_proba(prompts, TEXTS)
    assert probabilities.shape == (len(TEXTS), len(prompts), len(labels) + 1)
    assert probabilities.dtype == np.float64
    assert_equal(probabilities, expected)
    assert np.log(expected).std(axis=0).max() > 0.1  # the weights do distinguish


@pytest.mark.parametrize("batch_tokens", [1, 7, 60, 4096])
def test_scores_do_not_depend_on_how_many_tokens_are_read_at_once(folder: Path, batch_tokens: int) -> None:
    """One token at a time, texts longer than a batch, several batches, all in one."""
    prompts = make_prompts(LABEL_SETS["not ASCII"])
    expected = HFModel(str(folder)).predict_proba(prompts, TEXTS)
    probabilities = HFModel(str(folder), batch_tokens=batch_tokens).predict_proba(prompts, TEXTS)
    np.testing.assert_allclose(probabilities, expected, atol=1e-5)


def test_scores_do_not_depend_on_the_texts_beside(folder: Path) -> None:
    model = HFModel(str(folder))
    together = model.predict_proba(PROMPTS, TEXTS)
    backwards = HFModel(str(folder)).predict_proba(PROMPTS[::-1], TEXTS[::-1])
    alone = [HFModel(str(folder)).predict_proba(PROMPTS[:1], [text]) for text in TEXTS]
    np.testing.assert_allclose(backwards[::-1, ::-1], together, atol=1e-5)
    np.testing.assert_allclose(np.concatenate(alone), together[:, :1], atol=1e-5)


def test_parts_of_a_grid_are_answered_as_the_whole_is(folder: Path) -> None:
    prompts = make_prompts(("Number", "Person"))
    cells = np.add.outer(np.arange(len(TEXTS)), np.arange(len(prompts))) % 3 != 0
    whole = HFModel(str(folder)).predict(prompts, TEXTS)
    np.testing.assert_array_equal(predict_cells(HFModel(str(folder)), prompts, TEXTS, cells)[cells], whole[cells])
    model: Any = HFModel(str(folder))
    part: Any = predict_proba_cells(model, prompts, TEXTS, cells)
    whole_proba = HFModel(str(folder)).predict_proba(prompts, TEXTS)
    np.testing.assert_allclose(part[cells], whole_proba[cells], atol=1e-4)
    assert np.isnan(part[~cells]).all()


def test_the_prediction_is_the_likeliest_label(folder: Path) -> None:
    model = HFModel(str(folder))
    predictions = model.predict(PROMPTS, TEXTS)
    assert predictions.dtype == np.int64
    np.testing.assert_array_equal(predictions, model.predict_proba(PROMPTS, TEXTS).argmax(axis=2))
    assert len(np.unique(predictions)) > 1


def test_mean_and_sum_pick_other_labels_and_share_no_answers(folder: Path, task: Task, tmp_path: Path) -> None:
    """Labels of one and of many tokens: the sum favours short ones."""
    prompts = make_prompts(LABEL_SETS["beginnings of each other"])
    mean, whole, mean_again = (
        load_model(f"hf/{folder}", task, cache_dir=tmp_path, options=LMConfig(hf_likelihood=likelihood))
        for likelihood in ("mean", "sum", "mean")
    )
    by_mean, by_sum = (model.predict(prompts, TEXTS) for model in (mean, whole))
    assert (by_mean != by_sum).any()
    np.testing.assert_array_equal(mean_again.predict(prompts, TEXTS), by_mean)
    np.testing.assert_array_equal(load_model(f"hf/{folder}", task).predict(prompts, TEXTS), by_mean)  # the default
    for model, likelihood in ((by_mean, np.mean), (by_sum, np.sum)):
        plain = one_by_one(make_network(), make_tokenizer(), prompts, TEXTS, likelihood=likelihood)
        np.testing.assert_array_equal(model, plain.argmax(axis=2))


def test_another_likelihood_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="mean or sum, not 'median'"):
        HFModel(str(folder), likelihood="median")
    with pytest.raises(InputError, match="unknown hf_likelihood 'median'"):
        LMConfig(hf_likelihood="median")  # type: ignore[arg-type]


def test_labels_that_tie_give_the_first(tmp_path: Path) -> None:
    network = make_network(tie_word_embeddings=False)
    torch.nn.init.zeros_(network.lm_head.weight)  # every token as likely as every other
    model = HFModel(str(save_model(tmp_path, network=network)))
    prompts = make_prompts(LABEL_SETS["beginnings of each other"])
    assert (model.predict(prompts, TEXTS) == 0).all()
    np.testing.assert_array_equal(model.predict_proba(prompts, TEXTS)[..., :-1], 0.25)


def test_no_texts_no_answers(folder: Path) -> None:
    model = HFModel(str(folder))
    assert model.predict(PROMPTS, []).shape == (0, 3)
    assert model.predict_proba(PROMPTS, []).shape == (0, 3, 7)


# --- architectures -----------------------------------------------------------------------------------------------

ARCHITECTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "learnt positions": ("gpt2", {"n_embd": 32, "n_head": 4, "n_layer": 3, "n_positions": 2048}),
    "two windows": ("gemma2", {"head_dim": 8, "sliding_window": 8}),
    "one window": ("mistral", {"sliding_window": 8}),
    "experts": ("mixtral", {"num_local_experts": 4}),
    "turning frequencies": (
        "phi3",
        {
            "pad_token_id": 0,
            "original_max_position_embeddings": 128,
            "rope_parameters": {
                "rope_type": "longrope",
                "rope_theta": 1e4,
                "short_factor": [1.0] * 4,
                "long_factor": [3.0] * 4,
                "original_max_position_embeddings": 128,
            },
        },
    ),
    "no positions": ("mpt", {"d_model": 32, "n_heads": 4, "n_layers": 3, "max_seq_len": 2048}),
    "no attention": ("mamba", {}),
}
SHARING = set(ARCHITECTURES) - {"turning frequencies", "no attention"}


@pytest.mark.parametrize("what", ARCHITECTURES)
def test_scores_are_right_whatever_the_architecture(tmp_path: Path, what: Any) -> None:
    """A kept prefix where the architecture goes on behind one, prompts in full where it does not."""
    kind, settings = ARCHITECTURES[what]
    network, tokenizer = make_network(kind, **settings), make_tokenizer()
    model = HFModel(str(save_model(tmp_path, tokenizer, network)), batch_tokens=300)
    prompts, texts = make_prompts(LABEL_SETS["beginnings of each other"])[:2], TEXTS[:4]
    assert_equal(model.predict_proba(prompts, texts), one_by_one(network, tokenizer, prompts, texts))
    assert (model.scorer._can_share and model.scorer._network.turns_at > 400) == (what in SHARING)


def test_instructions_are_read_once_for_all_texts_and_labels(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens_read = []
    model = HFModel(str(folder), batch_tokens=4096)
    model.predict(PROMPTS[:1], ["warm"])
    watch_forward(monkeypatch, lambda ids: tokens_read.append(ids.numel()))
    texts = [f"{text} {number}" for text in TEXTS for number in range(5)]
    model.predict(PROMPTS[:1], texts)
    in_full = [len(make_tokenizer()(chat_ml(PROMPTS[0], text))["input_ids"]) for text in texts]
    assert sum(tokens_read) < 0.6 * sum(in_full)  # labels of several tokens among them


def watch_forward(monkeypatch: pytest.MonkeyPatch, watch: Any) -> None:
    """Have the tokens of each forward pass looked at before it is made."""
    from transformers import LlamaForCausalLM

    forward = LlamaForCausalLM.forward

    def watched(self: Any, input_ids: Any = None, logits_to_keep: int = 0, **inputs: Any) -> Any:
        watch(input_ids)
        return forward(self, input_ids, logits_to_keep=logits_to_keep, **inputs)

    monkeypatch.setattr(LlamaForCausalLM, "forward", watched)


# --- templates ---------------------------------------------------------------------------------------------------

TURNS = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
REFUSING = "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + TURNS
DROPPING = TURNS.replace("messages %}", "messages if message.role != 'system' %}")
SPACED = (
    "{% for message in messages %}{% if message.role == 'assistant' %} {{ message.content }} {% else %}"
    "[INST] {{ message.content }} [/INST]{% endif %}{% endfor %}"
)
REASONING = CHAT_ML.replace("assistant\n{% endif %}", "assistant\n<think>\n{% endif %}")
DATED = "{{ strftime_now('%d %b %Y') }}|{{ strftime_now('%Y-%m-%d') }}\n" + CHAT_ML


def as_one_text(prompt: Prompt, text: str) -> str:
    joints = {"system": "", "user": "\n\n", "assistant": " "}
    return "".join(joints[turn["role"]] + turn["content"] for turn in render(prompt, text))


def folded(prompt: Prompt, text: str) -> str:
    (_, system), (_, first), *others = asked_in_answers(prompt, text)
    turns = [("user", f"{system}\n\n{first}"), *others]
    return "".join(f"{role}: {content}\n" for role, content in turns) + "assistant: Label:"


def spaced(prompt: Prompt, text: str) -> str:
    turns = asked_in_answers(prompt, text)
    said = [f" {content} " if role == "assistant" else f"[INST] {content} [/INST]" for role, content in turns]
    return "".join(said) + " Label:"


FORMATS = {
    "none": (None, as_one_text),
    "refuses a system message": (REFUSING, folded),
    "drops a system message": (DROPPING, folded),
    "a space before the answer": (SPACED, spaced),
    "opens reasoning": (REASONING, chat_ml),
    "writes the date": (DATED, lambda prompt, text: "01 Jan 2025|2025-01-01\n" + chat_ml(prompt, text)),
}


@pytest.mark.parametrize("what", FORMATS)
def test_the_answer_begins_where_the_template_begins_answers(tmp_path: Path, what: Any) -> None:
    """The label is tokenized with the space before it: " Number" is one token, where a template has that space."""
    template, write = FORMATS[what]
    tokenizer = make_tokenizer(template)
    model = HFModel(str(save_model(tmp_path, tokenizer)))
    prompts = make_prompts(("Number", "Person", "Person of note"))[1:]
    expected = one_by_one(make_network(), tokenizer, prompts, TEXTS, write)
    assert_equal(model.predict_proba(prompts, TEXTS), expected)


def test_a_prompt_of_the_users_own_is_read_turn_by_turn(folder: Path, tmp_path: Path) -> None:
    """Its label is scored where its answer has it, behind what its own last turn says already."""
    text = Field("text", "{text}")
    turns = [Message("user", ("who was she ?",)), Message("assistant", ("Person",)), Message("system", (Part(0),))]
    labels = ("Number", "Person", "Person of note")
    beginning = "".join(f"<|im_start|>{role}\n{said}<|im_end|>\n" for role, said in
                        (("user", "who was she ?"), ("assistant", "Person"), ("system", "Sort it.")))  # fmt: skip

    def ending(begun: str) -> Any:
        return lambda _, text: f"{beginning}<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n{begun}"

    model = HFModel(str(folder), cache=AnswerCache(tmp_path / "cache"))
    own = Template((*turns, Message("user", (text,))))
    begun_json = (*own.messages, Message("assistant", ('Person: {"te',)))
    prompts = {
        "": own,
        '{"result": {"team": "': replace(own, answer="json:result.team"),
        "<team>": replace(own, answer="xml:team"),
        "Answer:": replace(own, answer="last-line", example=ExampleForm(output="Answer: {label}")),
        "Team:": replace(own, messages=(*turns, Message("user", (text, "\n\nTeam: ")))),
        'Person: {"team": "': replace(own, answer="json:team", messages=begun_json),
    }
    for begun, template in prompts.items():
        prompt = Prompt("Sort it.", labels, template=template)
        expected = one_by_one(
            make_network(), make_tokenizer(), [prompt], TEXTS, ending(begun), " " * (begun[-1:] == ":")
        )
        assert_equal(model.predict_proba([prompt], TEXTS), expected)


@pytest.mark.parametrize(
    "last", [("{text}", "\n\nAnswer with one of these labels:"), ("{text}", "\nIts team"), ("Team:",)]
)
def test_no_answer_begins_with_other_last_words(folder: Path, last: Any) -> None:
    pieces = tuple(Field("text", piece) if "{" in piece else piece for piece in last)
    turns = (Message("user", (Field("text", "{text}"),)), Message("user", pieces))
    prompt = Prompt("", ("Number", "Person"), template=Template(turns))

    def write(prompt: Prompt, text: str) -> str:
        said = "".join(f"<|im_start|>user\n{one['content']}<|im_end|>\n" for one in render(prompt, text))
        return f"{said}<|im_start|>assistant\n"

    expected = one_by_one(make_network(), make_tokenizer(), [prompt], TEXTS, write, "")
    assert_equal(HFModel(str(folder)).predict_proba([prompt], TEXTS), expected)


def test_turns_that_a_chat_template_refuses_are_joined(tmp_path: Path) -> None:
    strict = (
        "{% for message in messages %}{% if (message.role == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('roles must alternate') }}{% endif %}[{{ message.role }}] {{ message.content }}{% endfor %}"
    )
    turns = (Message("user", ("a",)), Message("user", ("b",)), Message("system", (Part(0),)))
    prompt = Prompt("Sort it.", ("Number", "Person"), template=Template((*turns, Message("user", ("?",)))))
    tokenizer = make_tokenizer(strict)
    assert find_format(tokenizer).write([render(prompt, "")]) == ["[user] Sort it.\n\na\n\nb\n\n?[assistant] "]
    only_system = Template((Message("system", (Part(0),)),))
    assert find_format(tokenizer).write([render(replace(prompt, template=only_system), "")]) == [
        "[user] Sort it.[assistant] "
    ]
    model = HFModel(str(save_model(tmp_path, tokenizer)))
    assert model.predict([prompt], TEXTS[:2]).shape == (2, 1)


def test_a_text_begins_with_the_token_that_the_tokenizer_puts_there(tmp_path: Path) -> None:
    tokenizer = make_tokenizer(None, begins_with="<|begin|>")
    model = HFModel(str(save_model(tmp_path, tokenizer)))
    write = lambda prompt, text: "<|begin|>" + as_one_text(prompt, text)  # noqa: E731
    expected = one_by_one(make_network(), tokenizer, PROMPTS, TEXTS, write, " ")
    assert_equal(model.predict_proba(PROMPTS, TEXTS), expected)


def test_a_broken_template_is_named(tmp_path: Path) -> None:
    tokenizer = make_tokenizer("{{ raise_exception('no, thank you') }}")
    model = HFModel(str(save_model(tmp_path, tokenizer)))
    with pytest.raises(ModelError, match=r"chat template can't be used: no, thank you$"):
        model.predict(PROMPTS, TEXTS)


def test_reasoning_is_switched_off_where_a_template_has_a_switch() -> None:
    template = CHAT_ML.replace("assistant\n{% endif", "assistant\n{% if enable_thinking %}<think>{% endif %}{% endif")
    assert find_format(make_tokenizer(template)).cut == ""


# --- the cache ---------------------------------------------------------------------------------------------------


def test_what_is_in_the_cache_is_not_computed_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = HFModel(str(folder), cache=AnswerCache(tmp_path)).predict_proba(PROMPTS, TEXTS)

    def refuse(ids: Any) -> None:
        raise AssertionError("the network was asked")

    watch_forward(monkeypatch, refuse)
    again = HFModel(str(folder), cache=AnswerCache(tmp_path))
    np.testing.assert_array_equal(again.predict_proba(PROMPTS, TEXTS), first)
    np.testing.assert_array_equal(again.predict(PROMPTS[1:], TEXTS[2:]), first[2:, 1:].argmax(axis=2))
    with pytest.raises(AssertionError, match="was asked"):
        again.predict(PROMPTS, ["something new"])


def test_a_kill_loses_one_batch_at_most(folder: Path, tmp_path: Path) -> None:
    texts, seen = [f"question number {number} ?" for number in range(20)], []

    def stop_early(done: Any, total: Any) -> None:
        seen.append(done)
        if done >= 8:
            raise KeyboardInterrupt

    model = HFModel(str(folder), cache=AnswerCache(tmp_path), batch_tokens=60)
    with pytest.raises(KeyboardInterrupt):
        model.predict(PROMPTS[:1], texts, stop_early)
    resumed = []
    again = HFModel(str(folder), cache=AnswerCache(tmp_path), batch_tokens=60)
    again.predict(PROMPTS[:1], texts, lambda done, total: resumed.append(done))
    assert seen[-1] < len(texts)
    assert resumed[0] == seen[-1]  # all that was told as done is there
    assert resumed[-1] == len(texts)


def test_other_weights_other_answers(folder: Path, tmp_path: Path) -> None:
    """The weights are part of the key: a folder that is trained on is not answered for by its past."""
    changing, cache = tmp_path / "model", AnswerCache(tmp_path)
    shutil.copytree(folder, changing)
    before = HFModel(str(changing), cache=cache).predict_proba(PROMPTS, TEXTS)
    network = make_network()
    torch.nn.init.normal_(network.model.embed_tokens.weight)
    network.save_pretrained(changing)
    after = HFModel(str(changing), cache=cache).predict_proba(PROMPTS, TEXTS)
    assert np.abs(after - before).max() > 0.01


def test_progress_counts_every_answer(folder: Path) -> None:
    """Texts that stand twice are scored once and count twice."""
    texts, seen = [*TEXTS, TEXTS[0], TEXTS[0]], []
    model = HFModel(str(folder), batch_tokens=100)
    predictions = model.predict(PROMPTS, texts, lambda done, total: seen.append((done, total)))
    assert seen == sorted(set(seen))
    assert len(seen) > len(PROMPTS)
    assert seen[-1] == (len(texts) * len(PROMPTS),) * 2
    np.testing.assert_array_equal(predictions[-2:], predictions[[0, 0]])


# --- faults ------------------------------------------------------------------------------------------------------


def test_an_exhausted_memory_makes_batches_smaller(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stands in for a GPU: more than 40 tokens at once exhaust its memory."""
    expected = HFModel(str(folder)).predict_proba(PROMPTS, TEXTS)
    model, sizes = HFModel(str(folder), batch_tokens=1024), []
    model.predict(PROMPTS[:1], ["warm"])

    def exhaust(ids: Any) -> None:
        sizes.append(ids.numel())
        if ids.numel() > 40:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    watch_forward(monkeypatch, exhaust)
    np.testing.assert_allclose(model.predict_proba(PROMPTS, TEXTS), expected, atol=1e-5)
    assert sum(size > 40 for size in sizes) < 6  # the size that works is kept


def test_a_memory_too_small_for_anything_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = HFModel(str(folder))
    model.predict(PROMPTS[:1], ["warm"])

    def exhaust(ids: Any) -> None:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    watch_forward(monkeypatch, exhaust)
    with pytest.raises(ModelError, match="memory is too small for a single text"):
        model.predict(PROMPTS, TEXTS)


def test_a_network_that_breaks_down_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = HFModel(str(folder))
    model.predict(PROMPTS[:1], ["warm"])

    def break_down(ids: Any) -> None:
        raise RuntimeError("CUDA error: device-side assert\nand much more")

    watch_forward(monkeypatch, break_down)
    with pytest.raises(ModelError, match=r"^hf/.* can't answer: CUDA error: device-side assert$"):
        model.predict(PROMPTS, TEXTS)


def test_a_prompt_longer_than_the_model_reads_is_told(tmp_path: Path) -> None:
    model = HFModel(str(save_model(tmp_path, network=make_network(max_position_embeddings=256))))
    message = r"a prompt of \d+ tokens and a label of \d+ exceed the 256 tokens that hf/.* reads: shorten"
    with pytest.raises(ModelError, match=message):
        model.predict(PROMPTS[:1], ["who ? " * 300])
    assert model.predict(PROMPTS[:1], ["who ?"]).shape == (1, 1)


def test_an_empty_label_is_told(folder: Path) -> None:
    with pytest.raises(InputError, match=r"label ' ' has no tokens"):
        HFModel(str(folder)).predict([Prompt("Classify.", ("a", " "))], ["who ?"])


def without(*names: str) -> Callable[[Path], None]:
    """A change of a folder: these files are gone."""

    def spoil(folder: Path) -> None:
        for name in names:
            (folder / name).unlink()

    return spoil


def with_config(**changes: Any) -> Callable[[Path], None]:
    """A change of a folder: its configuration says something else."""

    def spoil(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    return spoil


def of_kind(kind: str, network: str) -> tuple[Callable[[Path], None], str]:
    """A model that is none of language alone, and what is said of it."""
    said = f"is no causal language model but a {network}: give"
    return with_config(model_type=kind, architectures=[network]), said


def cut_weights(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:2000])


def make_it_bring_code(folder: Path) -> None:
    of_its_own = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.LM"}
    with_config(model_type="own", auto_map=of_its_own)(folder)
    (folder / "own.py").write_text("raise SystemExit('code of the model was run')")


def spoil_weights(folder: Path) -> None:
    network = make_network()
    network.model.norm.weight.data.fill_(float("nan"))
    network.save_pretrained(folder)


FAULTS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "no configuration": (without("config.json"), "holds no model: .* has no config.json"),
    "no weights": (without("model.safetensors"), r"has no weights: there is no \*.safetensors or \*.bin in "),
    "weights cut": (cut_weights, "can't be loaded: "),
    "a layer lacks": (with_config(num_hidden_layers=4), "lacks weights: 9 are missing, such as model.layers.3."),
    "wider layers": (with_config(intermediate_size=64), "can't be loaded: |lacks weights"),
    "no tokenizer": (without("tokenizer.json", "tokenizer_config.json"), "the tokenizer of hf/.* can't be loaded: "),
    "BERT": of_kind("bert", "BertForMaskedLM"),
    "T5": of_kind("t5", "T5ForConditionalGeneration"),
    "a classifier": of_kind("llama", "LlamaForSequenceClassification"),
    "unheard of": (with_config(model_type="unheard-of"), "is of a kind that the installed transformers does not know"),
    "code": (make_it_bring_code, "brings code of its own, which is never run"),
    "few vectors": (
        lambda folder: make_network(vocab_size=100).save_pretrained(folder),
        "a tokenizer that does not belong to it: it gives token \\d+, and the network knows 100",
    ),
    "no JSON": (lambda folder: (folder / "config.json").write_text("{"), "can't be loaded: "),
    "weights that are no numbers": (spoil_weights, "gives NaN for a probability"),
}


@pytest.mark.parametrize(("spoil", "said"), FAULTS.values(), ids=FAULTS)
def test_a_faulty_folder_is_told_in_one_line(folder: Path, tmp_path: Path, spoil: Any, said: str) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    spoil(tmp_path)
    with pytest.raises((ModelError, InputError), match=said) as caught:
        HFModel(str(tmp_path)).predict(PROMPTS, TEXTS)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_what_is_no_folder_is_told(folder: Path) -> None:
    with pytest.raises(InputError, match="there is no folder nowhere/at/all"):
        HFModel("./nowhere/at/all")
    with pytest.raises(InputError, match="is a file: give the folder"):
        HFModel(str(folder / "config.json"))


@pytest.mark.parametrize("missing", ["torch", "transformers"])
def test_a_missing_extra_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtraError, match=rf"needs {missing}, which is not installed: pip install 'psopt\[loc"):
        HFModel(str(folder))


# --- the hub -----------------------------------------------------------------------------------------------------

ASK = """
import json, sys
from psopt.errors import PsoptError
from psopt.models.hf import HFModel
from psopt.search_spaces import Prompt

for repo in json.loads(sys.argv[1]):
    try:
        model = HFModel(repo)
        said = [model._source.version, model.predict_proba([Prompt("Sort.", ("a", "b c"))], ["who ?"]).tolist()]
    except PsoptError as error:
        said = [type(error).__name__, str(error)]
    print(json.dumps(said))
"""


def ask_hub(url: str, home: Path, *wanted: str) -> tuple[list[list[Any]], str]:
    """What a process that talks to this hub answers, and what else it writes."""
    own = {"HF_ENDPOINT": url, "HF_HOME": str(home), "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    environment = {**os.environ, **own}
    command = [sys.executable, "-c", ASK, json.dumps(wanted)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_a_repository_is_fetched_once_and_then_needs_no_network(folder: Path, tmp_path: Path) -> None:
    prompts = [Prompt("Sort.", ("a", "b c"))]
    expected = HFModel(str(folder)).predict_proba(prompts, ["who ?"]).tolist()
    with serving(folder) as url:
        said, noise = ask_hub(url, tmp_path, REPO, "org/unknown", GATED, "no name!")
    assert said[0] == [COMMIT, expected]
    assert [kind for kind, _ in said[1:]] == ["InputError", "ModelError", "InputError"]
    assert "no such model on the hub" in said[1][1]
    assert "is gated: accept its terms at https://huggingface.co/org/gated" in said[2][1]
    assert "'no name!' is neither a folder nor a name on the hub" in said[3][1]
    assert noise == ""
    said, noise = ask_hub(url, tmp_path, REPO, "org/unknown")
    assert said[0] == [COMMIT, expected]
    assert said[1][0] == "ModelError"
    assert "the hub can't be reached: where there is a network, run hf download org/unknown" in said[1][1]
    assert noise == ""


def test_the_model_is_imported_without_its_libraries() -> None:
    code = "import psopt.models.hf, sys; sys.exit(any(name in sys.modules for name in ('torch', 'transformers')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_commands_say_which_likelihood_and_a_run_keeps_it(folder: Path, tmp_path: Path) -> None:
    words = ("how many", "who")
    samples = [
        (f"{split}{i}", f"{words[i % 2]} {split} {i} ?", "ab"[i % 2], split) for split in SPLITS for i in range(6)
    ]
    rows = [",".join(sample) for sample in samples]
    (tmp_path / "data.csv").write_text("\n".join(["id,text,label,split", *rows]) + "\n")
    given = ["--dataset", "data.csv", "--model", f"hf/{folder}", "--hf-likelihood", "sum", "--rephrasings", "2"]
    environment = {**os.environ, "PSOPT_CACHE_DIR": str(tmp_path / "cache"), "COLUMNS": "300", "OMP_NUM_THREADS": "1"}

    def psopt(*arguments: str) -> str:
        done = run_command(*arguments, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stderr

    assert "(labels scored by whole log-likelihood)" in psopt(
        "optimize", *given, "--trials", "2", "--rounds", "1", "--out", "run"
    )
    assert json.loads((tmp_path / "run" / "run.json").read_text())["settings"]["lm"]["hf_likelihood"] == "sum"
    prompt = next((tmp_path / "run" / "prompts").glob("*.json"))
    assert "(labels scored by whole log-likelihood)" in psopt(
        "diagnose", "--dataset", "data.csv", "--prompt", str(prompt), "--rephrasings", "2"
    )
