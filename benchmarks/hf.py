"""Prompts per second of a local language model, with the instructions read once for all texts and without.

    python benchmarks/hf.py [--size 20m|1b|3b|8b] [--device cpu|cuda] [--texts N] [--full-texts N] [--batch-tokens N]

A Llama architecture with random weights, so that nothing is downloaded: float32 on the CPU, bfloat16 on CUDA. A prompt
is 300 tokens of instructions, equal for all, and a text of 8 to 40 tokens; seven labels of one to three tokens. Three
ways, which must give the same log-probabilities:

- every label in full: prompt + label, seven rows per text, padded batches of equal rows, as evaluation harnesses do;
- prompt in full: rows of one length, labels of one token together (what psopt does where a network can't
  continue from a cache);
- shared prefix: the instructions once, each text once for all its labels (what psopt does otherwise).

The ways that read in full are timed on fewer texts, `--full-texts`, since each text takes the same time.
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.models.hf._model import TokenLimit, score
from psopt.models.scoring import LabelTree, label_tree

if TYPE_CHECKING:
    from collections.abc import Callable

    Way = Callable[[list[list[int]]], np.ndarray]

N_INSTRUCTIONS, TEXT_LENGTHS = 300, (8, 40)
LABEL_LENGTHS = (1, 1, 2, 1, 3, 1, 2)
N_RUNS = 3
ROWS = {"cpu": 16, "cuda": 128}
BATCH_TOKENS = {"cpu": 512, "cuda": 2048}
SHAPES = {  # hidden, inner, layers, heads, key-value heads, vocabulary
    "20m": (384, 1024, 8, 6, 6, 8192),
    "1b": (2048, 8192, 16, 32, 8, 128_256),
    "3b": (3072, 8192, 28, 24, 8, 128_256),
    "8b": (4096, 14_336, 32, 32, 8, 128_256),
}


def make_network(size: str, device: str) -> Any:
    """A network with random weights, created on the device where it computes."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    hidden, inner, layers, heads, kv_heads, vocabulary = SHAPES[size]
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        max_position_embeddings=4096,
        tie_word_embeddings=size in {"1b", "3b"},
        dtype="bfloat16" if device == "cuda" else "float32",
    )
    torch.manual_seed(0)
    with torch.device(device):
        return LlamaForCausalLM._from_config(config, dtype=config.dtype).eval()


def make_prompts(n_texts: int, vocabulary: int) -> tuple[list[list[int]], list[list[int]]]:
    """Prompts and labels, as tokens."""
    rng = np.random.default_rng(0)
    instructions = rng.integers(vocabulary, size=N_INSTRUCTIONS).tolist()
    lengths = rng.integers(*TEXT_LENGTHS, size=n_texts)
    texts = [rng.integers(vocabulary, size=length).tolist() for length in lengths]
    labels = [rng.integers(vocabulary, size=length).tolist() for length in LABEL_LENGTHS]
    return [instructions + text for text in texts], labels


def every_label_in_full(network: Any, prompts: list[list[int]], labels: list[list[int]], n_rows: int) -> np.ndarray:
    """Mean log-probabilities from padded rows of prompt and label: (n_texts, n_labels)."""
    import torch

    scores = np.empty((len(prompts), len(labels)))
    order = sorted(range(len(prompts)), key=lambda index: len(prompts[index]))
    rows = [(text, label) for text in order for label in range(len(labels))]
    for start in range(0, len(rows), n_rows):
        part = rows[start : start + n_rows]
        tokens = [prompts[text] + labels[label] for text, label in part]
        ids = torch.zeros((len(part), max(map(len, tokens))), dtype=torch.long)
        for row, sequence in enumerate(tokens):
            ids[row, : len(sequence)] = torch.tensor(sequence)
        mask = torch.arange(ids.shape[1]) < torch.tensor([len(sequence) for sequence in tokens])[:, None]
        keep = range(min(len(prompts[text]) for text, _ in part) - 1, ids.shape[1])  # where labels are
        columns = torch.tensor(keep, device=network.device)
        with torch.inference_mode():
            logits = network(
                ids.to(network.device), attention_mask=mask.to(network.device), logits_to_keep=columns, use_cache=False
            ).logits
            for row, (text, label) in enumerate(part):
                first = len(prompts[text]) - 1 - keep[0]
                log_p = logits[row, first : first + len(labels[label])].float().log_softmax(-1)
                target = torch.tensor(labels[label], device=network.device)[:, None]
                scores[text, label] = log_p.gather(1, target).mean().item()
    return scores


def collected(network: Any, prompts: list[list[int]], tree: LabelTree, batch_tokens: int, *, shares: bool):
    """Mean log-probabilities from one of psopt's own ways: (n_texts, n_labels)."""
    scores = np.empty((len(prompts), len(LABEL_LENGTHS)))
    for indices, steps in score(network, prompts, tree, TokenLimit(batch_tokens), shares=shares):
        scores[indices] = tree.log_likelihoods(steps, per_token=True)
    return scores


def timed(way: Way, prompts: list[list[int]], device: str) -> tuple[float, np.ndarray]:
    """Prompts per second, the best of several runs after a warm-up run, and the scores."""
    import torch

    way(prompts[: max(8, len(prompts) // 8)])
    best = np.inf
    for _ in range(N_RUNS):
        start = perf_counter()
        scores = way(prompts)
        if device == "cuda":
            torch.cuda.synchronize()
        best = min(best, perf_counter() - start)
    return len(prompts) / best, scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SHAPES, default="20m")
    parser.add_argument("--device", choices=ROWS, default="cpu")
    parser.add_argument("--texts", type=int, default=200)
    parser.add_argument("--full-texts", type=int, help="by default 16 on the CPU, all on CUDA")
    parser.add_argument("--batch-tokens", type=int, help="by default 512 on the CPU, 2048 on CUDA")
    options = parser.parse_args()
    device, batch_tokens = options.device, options.batch_tokens or BATCH_TOKENS[options.device]
    n_full = options.full_texts or (16 if device == "cpu" else options.texts)

    network = make_network(options.size, device)
    prompts, labels = make_prompts(options.texts, network.config.vocab_size)
    tree = label_tree(labels)
    ways: dict[str, tuple[int, Way]] = {
        "every label in full": (n_full, lambda part: every_label_in_full(network, part, labels, ROWS[device])),
        "prompt in full": (n_full, lambda part: collected(network, part, tree, batch_tokens, shares=False)),
        "shared prefix": (len(prompts), lambda part: collected(network, part, tree, batch_tokens, shares=True)),
    }
    rates, scores = {}, {}
    for name, (n_texts, way) in ways.items():
        rates[name], scores[name] = timed(way, prompts[:n_texts], device)

    n_parameters = sum(parameter.numel() for parameter in network.parameters())
    print(f"{n_parameters / 1e6:,.0f} M parameters, {network.dtype}, {device}, {batch_tokens} tokens a batch\n")
    print("| way | texts | prompts/s | ratio | largest difference |")
    print("|---|--:|--:|--:|--:|")
    base, expected = rates["every label in full"], scores["every label in full"]
    for name, rate in rates.items():
        difference = np.abs(scores[name][:n_full] - expected).max()
        print(f"| {name} | {ways[name][0]} | {rate:,.1f} | {rate / base:.1f} | {difference:.0e} |")


if __name__ == "__main__":
    main()
