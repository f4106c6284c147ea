"""What psopt recommends is not worse than what you had: how often does that hold, and how much of the gain is kept?

    python experiments/promise.py [--runs 1000] [--searches 20] [--jobs 2] [--results experiments/results]

Populations in which every prompt's true F1 and S are known (`_promise_population.py`): edits that do nothing, that
harm, with small and with large effects, and two where a test errs most: F1 lower by just more than the margin and S
much better, and the other way round. 40 candidates are compared on val under 10 wordings, half of them random, half
leaning towards what looks good on val. psopt's own functions pick the front and its knee, and psopt's own gate decides
on as many test samples under 10 other wordings. Then psopt itself searches on simulated models, a plain one and one
whose edits trade F1 against S; the truth comes from their probabilities on texts that no search has seen.

A prompt is worse if it is truly worse than the original prompt by more than .01 in F1 or in S. Targets: at most 5 % of
runs recommend a worse prompt, in every cell, and at least 90 % of the true gain is kept where val and test have 500
samples.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from _promise_cells import KINDS, Q, run_cell
from _promise_searches import MODELS, SIZE, run_searches
from _setting import HERE, rounded

SIZES = (50, 100, 200, 500)


def content_of(cells: list[Any], searches: list[Any], runs: int) -> dict[str, Any]:
    """What the JSON holds."""
    n_searches = f"; {searches[0]['runs']} searches a model at {SIZE} samples" if searches else ""
    return {
        "setting": {"words": f"Q = {Q}; {runs} runs a cell, one seed each{n_searches}."},
        "cells": cells,
        "searches": searches,
    }


def _cell(kind: str, n: int, runs: int) -> dict[str, Any]:
    begun = time.monotonic()
    cell = run_cell(kind, n, runs).to_dict()
    print(f"{kind}, {n}: {time.monotonic() - begun:.0f} s", flush=True)
    return cell


def main() -> None:
    """Run all cells, and save the counts as they come."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1000, help="of a cell")
    parser.add_argument("--searches", type=int, default=20, help="of psopt itself, for each model")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="samples of val, and of test")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes; each takes a cell at a time")
    parser.add_argument("--results", type=Path, default=HERE / "results")
    words = parser.parse_args()
    with ProcessPoolExecutor(words.jobs) as pool:
        waiting = [pool.submit(_cell, kind, n, words.runs) for kind in KINDS for n in words.sizes]
        searching = [pool.submit(run_searches, model, words.searches) for model in MODELS if words.searches]
        cells = [cell.result() for cell in waiting]
        searches = [cell.result().to_dict() for cell in searching]
    content = content_of(cells, searches, words.runs)
    words.results.mkdir(parents=True, exist_ok=True)
    (words.results / "promise.json").write_text(json.dumps(rounded(content), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
