"""Local language models: scores equal those of reading prompt and label one by one, whatever else is read beside."""

from __future__ import annotations

import functools
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from psopt.errors import InputError, MissingExtraError, ModelError
from psopt.models import AnswerCache, load_model
from psopt.models.chat import LMConfig
from psopt.search_spaces import Definition, Example, Prompt, render
from psopt.tasks import Task
from psopt.templates import ExampleForm, Field, Message, Part, Template

from tests.loopback import Answer, Request

pytest.importorskip("torch", reason="psopt[local] is not installed")
pytest.importorskip("transformers", reason="psopt[local] is not installed")

import torch
from psopt.models.hf import HFModel
from psopt.models.hf._model import turns_at

from tests.cli.limited_runs import write_questions
from tests.commands import psopt
from tests.hub import Clerk, HubStandIn
from tests.loopback import answering
from tests.models.tiny_lm import CHAT_ML, make_network, make_tokenizer, save_model
from tests.sweeps import each

LABEL_SETS = {
    "beginnings of each other": ("Number", "Numbers", "Number of people", "Number of"),
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


PROMPTS = make_prompts(("Number", "Person", "Location", "Entity", "Description", "Abbreviation"))
BEGINNINGS = make_prompts(LABEL_SETS["beginnings of each other"])
usual_network, usual_tokenizer = functools.cache(make_network), functools.cache(make_tokenizer)


@pytest.fixture(scope="module", autouse=True)
def one_thread_of_the_cpu() -> Iterator[None]:
    """A GPU computes in bfloat16, whose digits are others; threads that wait for each other make tiny networks slow."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.cuda, "is_available", lambda: False)
        yield
    torch.set_num_threads(n_threads)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("model"), usual_tokenizer(), usual_network())


@pytest.fixture(scope="module")
def model(folder: Path) -> HFModel:
    """The usual model, which remembers what it was asked."""
    return HFModel(str(folder))


@pytest.fixture
def new_model(folder: Path) -> HFModel:
    """The usual model in memory, where it was not asked anything yet."""
    new = HFModel(str(folder), batch_tokens=1024)
    assert new.longest
    return new


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
    prompts: Sequence[Prompt],
    texts: Sequence[str],
    write: Any = chat_ml,
    space: str = " ",
    likelihood: Any = np.mean,
    network: Any = None,
    tokenizer: Any = None,
) -> np.ndarray:
    """p of each label, by a plain forward pass over each string, a space and label: (n_texts, n_prompts, n_labels)."""
    tokenize = tokenizer or usual_tokenizer()

    def scores_of(text: str, labels: Sequence[str]) -> list[float]:
        strings = [text + space, *(text + space + label.strip() for label in labels)]
        sequences = [tuple(tokenize(string, add_special_tokens=False)["input_ids"]) for string in strings]
        n_begun = len(os.path.commonprefix(sequences))  # noqa: RUF071  # of tokens; a space is the label's unless all labels part from it
        read = [log_likelihoods(network or usual_network(), sequence) for sequence in sequences[1:]]
        return [float(likelihood(steps[n_begun - 1 :])) for steps in read]

    scores = np.array([[scores_of(write(prompt, text), prompt.labels) for prompt in prompts] for text in texts])
    likelihoods = np.exp(scores)
    return likelihoods / likelihoods.sum(axis=2, keepdims=True)


@functools.cache
def log_likelihoods(network: Any, tokens: tuple[int, ...]) -> Any:
    """The log-likelihood of each token but the first behind those before it."""
    with torch.inference_mode():
        log_p = network(torch.tensor([tokens])).logits[0].double().log_softmax(-1).numpy()
    return log_p[np.arange(len(tokens) - 1), tokens[1:]]


def assert_equal(probabilities: np.ndarray, expected: np.ndarray) -> None:
    assert (probabilities[..., -1] == 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=2), 1)
    np.testing.assert_allclose(np.log(probabilities[..., :-1]), np.log(expected), atol=1e-4)


@each("labels", [*LABEL_SETS.values()])
def test_scores_equal_reading_prompt_and_label_one_by_one(labels: Any, folder: Path) -> None:
    prompts = make_prompts(labels)
    for likelihood in ("mean", "sum"):
        expected = one_by_one(prompts, TEXTS, likelihood=getattr(np, likelihood))
        model = HFModel(str(folder), likelihood=likelihood)
        probabilities, predictions = model.predict_proba(prompts, TEXTS), model.predict(prompts, TEXTS)
        assert probabilities.shape == (len(TEXTS), len(prompts), len(labels) + 1)
        assert_equal(probabilities, expected)
        np.testing.assert_array_equal(predictions, expected.argmax(axis=2))
        assert np.log(expected).std(axis=0).max() > 0.1  # the weights do distinguish
        assert model.predict_proba(prompts, []).shape == (0, len(prompts), len(labels) + 1)


def test_mean_and_sum_pick_other_labels_and_share_no_answers(folder: Path, task: Task, tmp_path: Path) -> None:
    """Labels of one and of many tokens: the sum favours short ones."""
    by_mean, by_sum, by_default = (
        load_model(f"hf/{folder}", task, cache_dir=tmp_path, options=options).predict(BEGINNINGS, TEXTS)
        for options in (LMConfig(), LMConfig(hf_likelihood="sum"), None)
    )
    assert (by_mean != by_sum).any()
    np.testing.assert_array_equal(by_default, by_mean)
    with pytest.raises(InputError, match="mean or sum, not 'median'"):
        HFModel(str(folder), likelihood="median")


LONG_ROPE = {"rope_type": "longrope", "rope_theta": 1e4, "short_factor": [1.0] * 4, "long_factor": [3.0] * 4}
TURNS_AT = {"original_max_position_embeddings": 128}
ARCHITECTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "learnt positions": ("gpt2", {"n_embd": 32, "n_head": 4, "n_layer": 3, "n_positions": 2048}),
    "two windows": ("gemma2", {"head_dim": 8, "sliding_window": 8}),
    "experts": ("mixtral", {"num_local_experts": 4}),
    "turning frequencies": ("phi3", {"pad_token_id": 0, **TURNS_AT, "rope_parameters": {**LONG_ROPE, **TURNS_AT}}),
    "no attention": ("mamba", {}),
}
SHARING = set(ARCHITECTURES) - {"turning frequencies", "no attention"}


@each("what", ARCHITECTURES)
def test_scores_are_right_whatever_the_architecture(what: Any, tmp_path: Path) -> None:
    """A kept prefix where the architecture goes on behind one, prompts in full where it does not."""
    kind, settings = ARCHITECTURES[what]
    network = make_network(kind, **settings)
    other = HFModel(str(save_model(tmp_path / what, usual_tokenizer(), network)), batch_tokens=300)
    texts = [TEXTS[0], TEXTS[3]]
    assert_equal(other.predict_proba(BEGINNINGS[:2], texts), one_by_one(BEGINNINGS[:2], texts, network=network))
    assert (other._can_share and turns_at(other.network) > 400) == (what in SHARING)


def test_instructions_are_read_once_for_all_texts_and_labels(
    new_model: HFModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens_read: list[int] = []
    watch_forward(monkeypatch, lambda ids: tokens_read.append(ids.numel()))
    texts = [f"{text} {number}" for text in TEXTS for number in range(5)]
    new_model.predict(PROMPTS[:1], texts)
    in_full = [len(usual_tokenizer()(chat_ml(PROMPTS[0], text))["input_ids"]) for text in texts]
    assert 0 < sum(tokens_read) < 0.6 * sum(in_full)  # labels of several tokens among them


def watch_forward(monkeypatch: pytest.MonkeyPatch, watch: Any) -> None:
    """Have the tokens of each forward pass looked at before it is made."""
    from transformers import LlamaForCausalLM

    forward = LlamaForCausalLM.forward

    def watched(self: Any, input_ids: Any = None, logits_to_keep: int = 0, **inputs: Any) -> Any:
        watch(input_ids)
        return forward(self, input_ids, logits_to_keep=logits_to_keep, **inputs)

    monkeypatch.setattr(LlamaForCausalLM, "forward", watched)


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


FORMATS: dict[str, tuple[str | None, str, Any]] = {
    "none": (None, "", as_one_text),
    "a token of the tokenizer's own": (None, "<|begin|>", lambda *asked: "<|begin|>" + as_one_text(*asked)),
    "refuses a system message": (REFUSING, "", folded),
    "drops a system message": (DROPPING, "", folded),
    "a space before the answer": (SPACED, "", spaced),
    "opens reasoning": (REASONING, "", chat_ml),
    "writes the date": (DATED, "", lambda *asked: "01 Jan 2025|2025-01-01\n" + chat_ml(*asked)),
}


@each("what", FORMATS)
def test_the_answer_begins_where_the_template_begins_answers(what: Any, tmp_path: Path) -> None:
    """The label is tokenized with the space before it: " Number" is one token, where a template has that space."""
    template, begins_with, write = FORMATS[what]
    tokenizer = make_tokenizer(template, begins_with=begins_with)
    other = HFModel(str(save_model(tmp_path / what, tokenizer, usual_network())))
    prompts = make_prompts(("Number", "Person", "Person of note"))[1:]
    assert_equal(other.predict_proba(prompts, TEXTS[:3]), one_by_one(prompts, TEXTS[:3], write, tokenizer=tokenizer))


def test_a_prompt_of_the_users_own_is_read_turn_by_turn(model: HFModel) -> None:
    """Its label is scored where its answer has it, behind what its own last turn says already."""
    text = Field("text", "{text}")
    turns = [Message("user", ("who was she ?",)), Message("assistant", ("Person",)), Message("system", (Part(0),))]
    shown = (("user", "who was she ?"), ("assistant", "Person"), ("system", "Sort it."))
    beginning = "".join(f"<|im_start|>{role}\n{said}<|im_end|>\n" for role, said in shown)
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
        asked = f"{beginning}<|im_start|>user\n%s<|im_end|>\n<|im_start|>assistant\n{begun}"
        prompt = Prompt("Sort it.", ("Number", "Person", "Person of note"), template=template)
        space = " " * begun.endswith(":")
        expected = one_by_one([prompt], TEXTS[:3], lambda _, text, asked=asked: asked % text, space)
        assert_equal(model.predict_proba([prompt], TEXTS[:3]), expected)


def test_what_is_in_the_cache_is_not_computed_again_and_a_kill_loses_one_batch_at_most(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def model() -> HFModel:
        return HFModel(str(folder), cache=AnswerCache(tmp_path), batch_tokens=60)

    texts, seen = [f"question number {number} ?" for number in range(20)], []

    def stop_early(done: Any, total: Any) -> None:
        seen.append(done)
        if done >= 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model().predict(PROMPTS[:1], texts, stop_early)
    resumed: list[int] = []
    first = model().predict(PROMPTS[:1], texts, lambda done, total: resumed.append(done))
    assert resumed[0] == seen[-1] < resumed[-1] == len(texts)  # all that was told as done is there
    watch_forward(monkeypatch, lambda _: pytest.fail("the network was asked"))
    np.testing.assert_array_equal(model().predict(PROMPTS[:1], texts), first)
    assert (model().predict_proba(PROMPTS[:1], texts[2:]).argmax(axis=2) == first[2:]).all()
    with pytest.raises(pytest.fail.Exception, match="was asked"):
        model().predict(PROMPTS, ["something new"])


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


def test_an_exhausted_memory_makes_batches_smaller(
    model: HFModel, new_model: HFModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stands in for a GPU: more than 40 tokens at once exhaust its memory."""
    expected, sizes = model.predict_proba(PROMPTS, TEXTS), []

    def exhaust(ids: Any) -> None:
        sizes.append(ids.numel())
        if ids.numel() > 40:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    watch_forward(monkeypatch, exhaust)
    np.testing.assert_allclose(new_model.predict_proba(PROMPTS, TEXTS), expected, atol=1e-5)
    assert 0 < sum(size > 40 for size in sizes) < 6  # the size that works is kept


def test_a_prompt_longer_than_the_model_reads_and_an_empty_label_are_told(tmp_path: Path, model: HFModel) -> None:
    short = HFModel(str(save_model(tmp_path, usual_tokenizer(), make_network(max_position_embeddings=256))))
    message = r"a prompt of \d+ tokens and a label of \d+ exceed the 256 tokens that hf/.* reads: shorten"
    with pytest.raises(ModelError, match=message):
        short.predict(PROMPTS[:1], ["who ? " * 300])
    assert short.predict(PROMPTS[:1], ["who ?"]).shape == (1, 1)
    with pytest.raises(InputError, match=r"label ' ' has no tokens"):
        model.predict([Prompt("Classify.", ("a", " "))], ["who ?"])


OWN_CODE = {"model_type": "own", "auto_map": {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.LM"}}
# What is said, files that are missing, what config.json has instead, and what else is done to the folder
FAULTS: list[tuple[str, str, dict[str, Any], Any]] = [
    ("holds no model: .* has no config.json", "config.json", {}, None),
    (r"has no weights: there is no \*.safetensors or \*.bin", "model.safetensors", {}, None),
    ("can't be loaded: ", "", {}, lambda folder: os.truncate(folder / "model.safetensors", 2000)),
    ("lacks weights: 9 .*, such as model.layers.3.", "", {"num_hidden_layers": 4}, None),
    ("the tokenizer of hf/.* can't be loaded: ", "tokenizer.json tokenizer_config.json", {}, None),
    ("no causal language model but a LlamaForX: give", "", {"architectures": ["LlamaForX"]}, None),
    ("that the installed transformers does not know", "", {"model_type": "unheard-of"}, None),
    (
        "brings code of its own, which is never run",
        "",
        OWN_CODE,
        lambda folder: (folder / "own.py").write_text("1 / 0"),
    ),
    (r"knows 100", "", {}, lambda folder: make_network(vocab_size=100).save_pretrained(folder)),
]


@each("said, missing, config, spoil", FAULTS)
def test_a_faulty_folder_is_told_in_one_line(
    said: str, missing: str, config: Any, spoil: Any, folder: Path, tmp_path: Path
) -> None:
    faulty = tmp_path / str(len(list(tmp_path.iterdir())))
    shutil.copytree(folder, faulty)
    settings = faulty / "config.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), **config}))
    for name in missing.split():
        (faulty / name).unlink()
    if spoil:
        spoil(faulty)
    with pytest.raises((ModelError, InputError), match=said) as caught:
        HFModel(str(faulty)).predict(PROMPTS, TEXTS)
    assert "\n" not in str(caught.value)
    assert str(faulty) in str(caught.value)


def test_what_is_no_folder_and_a_missing_extra_are_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="there is no folder nowhere/at/all"):
        HFModel("./nowhere/at/all")
    with pytest.raises(InputError, match="is a file: give the folder"):
        HFModel(str(folder / "config.json"))
    for missing in ("transformers", "torch"):
        monkeypatch.setitem(sys.modules, missing, None)
        with pytest.raises(MissingExtraError, match=rf"needs {missing}, which is not installed: pip install 'psopt\[l"):
            HFModel(str(folder))


def test_a_repository_is_fetched_once_and_then_needs_no_network(model: HFModel, folder: Path, tmp_path: Path) -> None:
    expected = model.predict_proba([Prompt("Sort.", ("a", "b c"))], ["who ?"]).tolist()
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    hub = HubStandIn()
    commit = hub.add("org/tiny", files)
    hub.add("org/gated", files, access="gated")

    def answer(request: Request) -> Answer:
        given = hub.answer(request)
        return replace(given, headers={**given.headers, "Connection": "close"})  # later nobody is there

    with answering(answer) as hub.url:
        own = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", **hub.environment(tmp_path / "home")}
        clerk = Clerk("tests.models.tiny_lm:told_of", own, tmp_path)
        assert clerk.ask(repo="org/tiny") == [commit, expected]
        said = [clerk.ask(repo=repo) for repo in ("org/unknown", "org/gated", "no name!")]
    assert [kind for kind, _ in said] == ["InputError", "ModelError", "InputError"]
    assert "no such model on the hub" in said[0][1]
    assert "is gated: accept its terms at https://huggingface.co/org/gated" in said[1][1]
    assert "'no name!' is neither a folder nor a name on the hub" in said[2][1]
    assert clerk.ask(repo="org/tiny") == [commit, expected]
    kind, message = clerk.ask(repo="org/unknown")
    assert kind == "ModelError"
    assert "the hub can't be reached: where there is a network, run hf download org/unknown" in message
    clerk.close()


def test_commands_say_which_likelihood(folder: Path, tmp_path: Path) -> None:
    write_questions(tmp_path, 6)
    asked = ["--dataset", "data.csv", "--rephrasings", "2", "--model", f"hf/{folder}", "--hf-likelihood", "sum"]
    said = psopt(tmp_path, "diagnose", *asked, code=0, columns=300, OMP_NUM_THREADS="1").stderr
    assert "(labels scored by whole log-likelihood)" in said
