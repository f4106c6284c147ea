"""How close in meaning must a rephrasing be? Cosines of rephrasings and of other tasks' descriptions to an original.

    python experiments/meaning_threshold.py

Not in the paper: `psopt.rephrasings.LEAST_CLOSENESS` comes from here. Expected: nearly all rephrasings are above it,
most texts that ask for something else are below it; those that ask for almost the same can't be separated this way.
"""

from __future__ import annotations

import numpy as np
from psopt.models import ModelProvider
from psopt.rephrasings import LEAST_CLOSENESS, closeness, rephrase_by_rules, rephrasings_for
from psopt.tasks import load_task

DESCRIPTIONS = {
    "Decide whether the review is positive.": "review",
    "Decide which team has to answer the ticket.": "ticket",
    "Determine whether the premise entails the hypothesis, contradicts it, or neither.": "pair",
    "Classify the abstract by scientific domain.": "abstract",
}
OTHERS = [
    "Translate the question into French.",
    "Answer the question.",
    "Say who wrote the text.",
    "Classify the news article by topic.",
    "Summarise the question in one sentence.",
    "Decide whether the question is polite.",
    "Rate the difficulty of the question.",
    "Count the words in the question.",
    "Classify the question by its language.",
    "Detect spam in the message.",
]


def main() -> None:
    """Print a table in Markdown."""
    likeness = closeness(ModelProvider())
    if likeness is None:
        raise SystemExit("this experiment needs the extra local: pip install 'psopt[local]'")
    task = load_task("trec")
    own = rephrasings_for(task, 35, 14)
    sets = {task.description: (*own.search[1:], *own.heldout)}
    for description, noun in DESCRIPTIONS.items():
        rules = rephrase_by_rules(description, noun, 20, 10)
        sets[description] = (*rules.search[1:], *rules.heldout)
    print(f"| original | rephrasings | lowest | median | below {LEAST_CLOSENESS} | others below |")
    print("|---|--:|--:|--:|--:|--:|")
    for original, texts in sets.items():
        close = np.array([likeness(original, text) for text in texts])
        far = np.array([likeness(original, text) for text in [*OTHERS, *(text for text in sets if text != original)]])
        low, far_low = (close < LEAST_CLOSENESS).sum(), (far < LEAST_CLOSENESS).sum()
        cells = [original, len(close), f"{close.min():.2f}", f"{np.median(close):.2f}", low, f"{far_low} of {len(far)}"]
        print(f"| {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main()
