"""How much rephrasings made by rule differ, and what S they show, next to those written for the built-in tasks.

    python benchmarks/rephrasings.py [--samples 100] [--models minilm sim]

First the diversity of sets: those for the built-in tasks, whole and in draws of ten, and those made by rule from
ten descriptions and from the prompts in examples/own_prompt. "Framed" is the family `wording`, which names no labels.
Then S of one task under ten rephrasings: those written for it, and those made by rule from descriptions of
the same task in other wordings; seeds 0 to 2, the same samples throughout. An asterisk: so similar that psopt warns
that S is underestimated.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from psopt.api import measure
from psopt.metrics import sensitivity, spread
from psopt.rephrasings import TAME, RephrasingOptions, diversity_of, diversity_of_instructions, freeze_rephrasings
from psopt.runs import read_source
from psopt.search_spaces import seed_prompt
from psopt.tasks import Task, load_task

BUILT_IN = ("trec", "cb", "rte", "dbpedia", "wos")
DESCRIPTIONS = {
    "Sort each ticket by its topic.": ("ticket", ()),
    "Decide whether the review is positive or negative.": ("review", ("positive", "negative")),
    "Which team should handle this ticket?": ("ticket", ()),
    "Assign the mail to the team that has to answer it.": ("mail", ()),
    "Label the tweet as hateful, offensive or neutral.": ("tweet", ("hateful", "offensive", "neutral")),
    "Classify the given abstract into one of the following five categories.": ("abstract", ()),
    "Determine which type of answer the question is looking for.": ("question", ()),
    "Identify the type of thing that the article describes.": ("article", ()),
    "You are a support agent of a software company. Read the customer's message and decide which department should "
    "handle it. If it concerns several, choose the one that is named first. Do not guess what the customer did not "
    "write.": ("message", ()),
    "You are given a post from a forum. Tell whether its author asks for help. Posts that only report something are no "
    "requests.": ("post", ()),
}
OWN = {
    "trec": (
        "Determine which type of answer the question is looking for.",
        "Which kind of answer does the question call for?",
    ),
    "dbpedia": (
        "Identify the type of thing that the article describes.",
        "Assign the article to the class of things that it presents.",
    ),
}
FRAMED = RephrasingOptions(families=("wording",))
RULES = RephrasingOptions()
SEEDS = (0, 1, 2)
Q = 10
N_DRAWS = 300  # of each set
OWN_PROMPTS = Path(__file__).resolve().parent.parent / "examples" / "own_prompt"


def main() -> None:
    """Print Markdown tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--models", nargs="*", default=["minilm", "sim"])
    options = parser.parse_args()
    built_in_table()
    own_table()
    for model in options.models:
        sensitivity_table(model, options.samples)


def built_in_table() -> None:
    """Sets that people wrote, whole and in draws."""
    print("| built in | search | held out | 10 of it: lowest, 5 %, median |\n|---|--:|--:|--:|")
    rng = np.random.default_rng(0)
    for name in BUILT_IN:
        task = load_task(name)
        whole = freeze_rephrasings(task, task.description, 30, 10, 0, RULES)
        draws = [
            diversity_of_instructions([whole.search[int(place)] for place in rng.permutation(30)[:Q]], task.labels)
            for _ in range(N_DRAWS)
        ]
        cells = [*diversity_of(whole, task.labels).values(), *np.quantile(np.array(draws, float), [0, 0.05, 0.5])]
        print(f"| {name} | {cells[0]:.2f} | {cells[1]:.2f} | {cells[2]:.2f}, {cells[3]:.2f}, {cells[4]:.2f} |")


def own_table() -> None:
    """Sets made by rule, the mean over seeds."""
    print("\n| description | framed: search, held out | by rule: search, held out |\n|---|--:|--:|", flush=True)
    for description, (noun, labels) in DESCRIPTIONS.items():
        records = [(f"{label} {number}", label) for label in labels or ("a1", "b2") for number in range(4)]
        task = Task.from_records(records, noun=noun)
        print(
            f"| {description} | {_means(task, description, FRAMED)} | {_means(task, description, RULES)} |", flush=True
        )
    mails = Task.from_csv(OWN_PROMPTS / "mail.csv", inputs=["subject", "body"], label_column="team")
    for file in sorted(OWN_PROMPTS.glob("*.*")):
        if file.suffix in {".txt", ".md", ".json", ".yaml"} and file.name != "README.md":
            prompt = read_source(file).for_task(mails)
            task = replace(mails, noun="mail")
            print(
                f"| examples/own_prompt/{file.name} | {_means(task, prompt, FRAMED)} | {_means(task, prompt, RULES)} |"
            )


def _means(task: Task, prompt: Any, options: RephrasingOptions) -> str:
    sets = [diversity_of(freeze_rephrasings(task, prompt, Q, Q, seed, options), task.labels) for seed in SEEDS]
    cells = [np.mean([of_seed[name] for of_seed in sets]) for name in ("search", "heldout")]
    return ", ".join(f"{cell:.2f}{'' if cell >= TAME else '*'}" for cell in cells)


def sensitivity_table(model: str, samples: int) -> None:
    """S of one task under rephrasings of several origins."""
    print(f"\n{model}, N = {samples}, Q = {Q}, seeds {SEEDS}\n")
    print(
        "| task | rephrasings of | S by seed | mean S | spread of F1 | diversity |\n|---|---|--:|--:|--:|--:|",
        flush=True,
    )
    for name, descriptions in OWN.items():
        task = load_task(name)
        _row(task, model, samples, task.description, RULES, "built in")
        for description in descriptions:
            for options, origin in ((FRAMED, "framed"), (RULES, "by rule")):
                _row(task, model, samples, description, options, f"{origin}: {description}")


def _row(task: Task, model: str, samples: int, description: str, options: RephrasingOptions, origin: str) -> None:
    prompt = replace(seed_prompt(task, "simple"), description=description)
    answers = [
        measure(task, prompt, model=model, rephrasings=Q, rephrasing=options, split="val", samples=samples, seed=seed)
        for seed in SEEDS
    ]
    values = [sensitivity(of_seed.p_tau) for of_seed in answers]
    spreads = [spread(of_seed.array, of_seed.truth) for of_seed in answers]
    differing = np.mean([of_seed.diversity for of_seed in answers])
    by_seed = " ".join(f"{value:.3f}" for value in values)
    cells = [task.name, origin, by_seed, f"{np.mean(values):.3f}", f"{np.mean(spreads):.3f}", f"{differing:.2f}"]
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
