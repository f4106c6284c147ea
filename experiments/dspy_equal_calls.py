"""Which optimizer makes a program robust with the same number of calls, on data that nobody has tuned for?

    python experiments/dspy_equal_calls.py [--seeds 0 1 2] [--sets news posts] [--calls 1500 5500]
        [--optimizers GEPA COPRO] [--folder FOLDER] [--out experiments/results]
        [--model smollm2|gguf/PATH --writer gguf/PATH]

Five data sets that are not TREC (`_public_sets.py`; four are fetched from PyPI), 100 train and 60 val examples, and a
limit of calls. minilm takes the language model's place: the table compares optimizers on it, not language models. Where
an optimizer needs a model that writes, a rule stands in (`_rule_writer.py`). Every program then answers the same 300
test examples under the same ten hand-written wordings, which no optimizer sees. Intervals are of differences from the
unoptimised program, over examples and wordings.

With `--model` a real language model answers, restricted to the labels (`_label_lm.py`), and `--writer` writes: 120 test
examples under six wordings, on a separate page. DSPy gives no label probabilities; what psopt makes of them is shown by
three more arms, which ask the same model without DSPy (`_direct_arms.py`). With SmolLM2 and a writer of 1.5 billion
parameters a draw takes three hours on one core, half of them for GEPA.

Expected: SensitivityOptimizer is first in mean S and C, not behind the best in mean F1, and in no run surely worse
than the program that it was given.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from _direct_arms import ARMS
from _dspy_rivals import OPTIMIZERS
from _equal_calls_bench import MINILM, one_draw
from _equal_calls_page import page
from _public_sets import SETS
from psopt.models import cache_folder

REAL = {"train": 100, "val": 60, "test": 120, "wordings": 6}
FULL = {"train": 100, "val": 60, "test": 300, "wordings": 10}
SMALL = {"train": 40, "val": 24, "test": 12, "wordings": 3}  # SIMBA wants a batch of 32


def main(options: argparse.Namespace) -> None:
    """Run what is missing; write all numbers as JSON and their means as a Markdown page."""
    of_model = "" if options.model == MINILM else f"_{Path(options.model).stem}"
    path = options.out / f"dspy_equal_calls{of_model}.json"
    options.out.mkdir(parents=True, exist_ok=True)
    sizes = SMALL if options.small else REAL if of_model else FULL
    result = json.loads(path.read_text("utf-8")) if path.exists() else {}
    result |= {"model": Path(options.model).stem, "writer": options.writer and Path(options.writer).stem}
    runs = result.setdefault("runs", {})
    result["sizes"] = sizes
    optimizers = options.optimizers or [*OPTIMIZERS, *(ARMS if of_model else ())]
    keys = [(optimizer, calls) for calls in options.calls for optimizer in optimizers]
    # Each process has its own language model; two processes use two cores better than threads do.
    with ProcessPoolExecutor(options.jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        tasks = {}
        for seed in options.seeds:
            for name in options.sets:
                rows = runs.get(f"{name} / {seed}", {})
                wanted = [key for key in keys if options.again or "{} / {}".format(*key) not in rows]
                # with a real model each result is saved when it is done: it takes long
                for part in [[key] for key in wanted] if of_model else [wanted] if wanted else []:
                    task = pool.submit(one_draw, name, seed, part, options.folder, sizes, options.model, options.writer)
                    tasks[task] = f"{name} / {seed}"
        for task in as_completed(tasks):
            runs.setdefault(tasks[task], {}).update(task.result())
            path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
            print(f"{tasks[task]}: {len(runs[tasks[task]])} rows", flush=True)
    text = page(result)
    path.with_suffix(".md").write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--calls", type=int, nargs="+", default=[1_500, 5_500])
    parser.add_argument("--optimizers", nargs="+", choices=[*OPTIMIZERS, *ARMS], help="By default all.")
    parser.add_argument("--again", action="store_true", help="Also what is in the results already.")
    parser.add_argument("--folder", type=Path, default=cache_folder() / "experiments", help="For packages from PyPI.")
    parser.add_argument("--model", default=MINILM, help="The language model that answers.")
    parser.add_argument("--writer", help="The GGUF file that writes; by rule without one.")
    parser.add_argument("--jobs", type=int, default=2, help="Data sets at a time.")
    parser.add_argument("--out", type=Path, default=Path("experiments/results"))
    parser.add_argument("--small", action="store_true", help="A few samples only, to see that it runs.")
    main(parser.parse_args())
