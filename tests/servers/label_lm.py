"""A language model small enough to be trained while one waits, which answers with a label: what real servers serve.

It has learnt that a conversation is answered by one of two labels, bare or in JSON, and then ends, whatever stands in
the prompt, and a little of which one is right; so it answers in words, which random weights never do, and is wrong and
unsteady all the same.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from psopt.rephrasings import rephrase_by_rules
from psopt.search_spaces import Definition, Example, Prompt, render

from tests.models.tiny_lm import make_network, make_tokenizer

DESCRIPTION = "Sort the question by what it asks for."
LABELS = ("Number", "Person")
NOUN = "question"
DESCRIPTIONS = rephrase_by_rules(DESCRIPTION, NOUN, seed=0).search
WORDINGS = {
    "Number": ("when did {} end ?", "how many people saw {} ?"),
    "Person": ("who built {} ?", "whose idea was {} ?"),
}
END = "<|im_end|>"
IN_JSON = 0.5
STEPS = 120
BATCH = 8
RATE = 3e-3
SEED = 0


def question(label: str, number: int) -> str:
    """A question of a label; its number tells it from the others."""
    wordings = WORDINGS[label]
    return wordings[number % len(wordings)].format(f"thing {number}")


def make_label_lm(folder: Path) -> Path:
    """Train the model, some seconds on one core, and save it."""
    import torch

    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # threads that wait for each other make tiny networks slower, many times so
    draw = random.Random(SEED)
    tokenizer = make_tokenizer()
    tokenizer.add_special_tokens({"eos_token": END, "pad_token": "<|begin|>"})
    network = make_network(initializer_range=0.05, eos_token_id=tokenizer.eos_token_id).train()
    network.generation_config.eos_token_id = tokenizer.eos_token_id
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    for _ in range(STEPS):
        optimizer.zero_grad()
        batch = _batch(tokenizer, draw)
        network(**batch).loss.backward()
        optimizer.step()
    network.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _batch(tokenizer: Any, draw: random.Random) -> dict[str, Any]:
    """Conversations and their answers, of which the answers are learnt."""
    import torch

    rows = [_conversation(tokenizer, draw) for _ in range(BATCH)]
    longest = max(len(begin) + len(end) for begin, end in rows)
    ids = torch.full((BATCH, longest), tokenizer.pad_token_id)
    targets = torch.full((BATCH, longest), -100)  # what PyTorch's cross entropy passes over
    seen = torch.zeros((BATCH, longest), dtype=torch.long)
    for row, (begin, end) in enumerate(rows):
        n_begin, n_tokens = len(begin), len(begin) + len(end)
        ids[row, :n_tokens] = torch.tensor(begin + end)
        targets[row, n_begin:n_tokens] = torch.tensor(end)
        seen[row, :n_tokens] = 1
    return {"input_ids": ids, "labels": targets, "attention_mask": seen}


def _conversation(tokenizer: Any, draw: random.Random) -> tuple[list[int], list[int]]:
    label = draw.choice(LABELS)
    messages = render(_prompt(draw), question(label, draw.randrange(200)))
    begin = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    answer = label
    if draw.random() < IN_JSON:  # where a server has it begin with a brace, it knows how to go on
        begin, answer = begin + "{", f'"label": "{label}"}}'
    return tuple(tokenizer(text, add_special_tokens=False)["input_ids"] for text in (begin, answer + END))


def _prompt(draw: random.Random) -> Prompt:
    """A prompt such as a search makes them: reworded, with and without notes, definitions and examples."""
    definitions = tuple(Definition(label, "what the question asks for") for label in LABELS)
    examples = tuple(Example(question(label, draw.randrange(200)), label) for label in LABELS)
    return Prompt(
        draw.choice(DESCRIPTIONS),
        LABELS,
        NOUN,
        definitions if draw.random() < 0.3 else (),
        ("Questions that begin with “when” ask for a number.",) if draw.random() < 0.3 else (),
        examples if draw.random() < 0.3 else (),
    )
