"""Language models of a few thousand random weights, made on the spot, that behave like large ones.

Their weights are large, so that every token seen, its place, and what is masked changes the answer visibly.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

CHAT_ML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = ["<|im_start|>", "<|im_end|>", "<|begin|>", "[INST]", "[/INST]"]
CORPUS = [
    "You are a text classifier. Answer with exactly one of these labels and nothing else:",
    "Classify the question by what it asks for. Question: who wrote the book ? Label: Person",
    "Question: when did the war end ? Label: Number\nQuestion: how many people live in Rome ?",
    "positive negative neutral Number Numbers Number of people Person Location Entity Description Abbreviation",
    "system user assistant What the labels mean: Note: Examples:",
]
SIZES = {
    "vocab_size": 600,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 2048,
    "initializer_range": 0.3,
}


def make_tokenizer(chat_template: str | None = CHAT_ML, *, begins_with: str | None = None) -> Any:
    """A byte-level BPE tokenizer; `begins_with` is a token that it puts before texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=500, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS * 3, trainer)
    if begins_with:
        ids = [(begins_with, tokenizer.token_to_id(begins_with))]
        tokenizer.post_processor = processors.TemplateProcessing(single=f"{begins_with} $A", special_tokens=ids)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, chat_template=chat_template)


def make_network(kind: str = "llama", **settings: Any) -> Any:
    """A causal language model with random weights of some architecture, the same ones each time."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.manual_seed(0)
    config = AutoConfig.for_model(kind, **{**SIZES, **settings})
    return AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()


def save_model(folder: Path, tokenizer: Any = None, network: Any = None) -> Path:
    """Save a model as a folder that `hf/FOLDER` names."""
    (tokenizer or make_tokenizer()).save_pretrained(folder)
    (network or make_network()).save_pretrained(folder)
    return folder


def told_of(repo: str) -> list[Any]:
    """The version of a model and what it says of a text, or its error; for processes of their own."""
    from psopt.errors import PsoptError
    from psopt.models.hf import HFModel
    from psopt.search_spaces import Prompt

    try:
        model = HFModel(repo)
        return [model._source.version, model.predict_proba([Prompt("Sort.", ("a", "b c"))], ["who ?"]).tolist()]
    except PsoptError as error:
        return [type(error).__name__, str(error)]
