"""How do DSPy's optimizers compare when they may call the language model equally often?

    PSOPT_DATA_DIR=... python experiments/dspy_peers.py [--seeds 0 1 2] [--only presets] [--out experiments/results]

TREC, minilm as the language model (it is none: the table says how optimizers differ on it, not how language models do),
100 questions of train and 100 of val. `SensitivityOptimizer` goes first; the others may make as many calls as it made,
the scoring of its front included. Every program is then put to the same 500 test questions under the same ten
wordings of the instructions, which no optimizer has seen. MIPROv2 needs a language model that writes: here rules write
its instructions, frames around the given ones; "demonstrations only" leaves the instructions as they are.
Then the other way round: MIPROv2 light and medium and GEPA light at their own presets, and beside each the largest
search of SensitivityOptimizer that asked no more than it did. GEPA reflects on failures with a language model; here
rules stand in for that too. And everybody at the presets that users name, on the same 100 and 100 questions
(``--only budgets``): there the test wordings are written by hand.
Expected: SensitivityOptimizer ahead on S and C, with F1 at least equal.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import dspy
import numpy as np
from _dspy_presets import TESTED, Size, ours, presets, sizes_from
from _rule_writer import RuleWriter
from psopt import SensitivityOptimizer
from psopt.evaluation import Predictions, score
from psopt.models import minilm_lm
from psopt.rephrasings import rephrasings_for
from psopt.tasks import Task, load_task, subset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

INSTRUCTIONS = "Classify the question by the kind of answer that it asks for."
MEASURES = ("f1", "sensitivity", "consistency")


def right(example: Any, prediction: Any, trace: Any = None) -> bool:  # noqa: ARG001  # DSPy calls it with three
    """DSPy's metric: one example at a time."""
    return bool(example.label == prediction.label)


class Bench:
    """One task, one language model and its count of calls, one test: what every optimizer of a seed is put to."""

    def __init__(self, task: Task, seed: int, n_test: int, wordings: list[str] | None = None) -> None:
        self.task = task
        self.seed = seed
        self.test = task.test[:n_test]
        self.wordings = wordings or rephrasings_for(task, 10, 10, description=INSTRUCTIONS, seed=seed).heldout
        self.lm = minilm_lm([sample.text for sample in task.train], cache=False)
        self._engine = self.lm._engine_spec  # the engine that it was made with, for its count of calls
        self.signature = dspy.Signature(
            {"question": (str, dspy.InputField()), "label": (Literal[task.labels], dspy.OutputField())}, INSTRUCTIONS
        )

    def row(self, name: str, optimize: Callable[[Any], Any]) -> dict[str, Any]:
        """Let somebody optimize the program, and measure what comes back."""
        n_before = self._engine.n_calls
        with dspy.context(lm=self.lm, num_threads=2):
            program = optimize(dspy.Predict(self.signature))
            n_calls = self._engine.n_calls - n_before
            row = {**_measured(program, self.test, self.task, self.wordings), "calls": n_calls}
        print(f"seed {self.seed}, {name}: {row}", flush=True)
        return row


def one_seed(task: Task, seed: int, sizes: dict[str, int]) -> dict[str, dict[str, float]]:
    """Optimize with each optimizer at equal calls, and measure the programs."""
    train, val = (_examples(subset(part, sizes["samples"], seed=seed)) for part in (task.train, task.val))
    bench = Bench(task, seed, sizes["test"])
    rows: dict[str, dict[str, Any]] = {}
    for name, compile_with in OPTIMIZERS.items():
        limit = next(iter(rows.values()))["calls"] if rows else 0
        rows[name] = bench.row(name, partial(_compiled, compile_with, train, val, seed, limit, sizes))
    return rows


def _compiled(
    compile_with: Any, train: list, val: list, seed: int, limit: int, sizes: dict[str, int], program: Any
) -> Any:
    return compile_with(program, train, val, seed, limit, sizes)


def presets_of_seed(task: Task, seed: int, sizes: dict[str, int]) -> dict[str, dict[str, float]]:
    """Let each peer optimize at its preset, and ours with as many calls; measure the programs."""
    train = _examples(subset(task.train, sizes["preset_train"], seed=seed))
    val = _examples(subset(task.val, sizes["preset_val"], seed=seed))
    bench = Bench(task, seed, sizes["test"])
    writer = dspy.LM("rules/writer", engine=RuleWriter(INSTRUCTIONS, vary=True), cache=False)
    rows = {"unoptimised": bench.row("unoptimised", lambda program: program)}
    for name, peer in presets(writer, right).items():
        rows[name] = bench.row(name, partial(_by_peer, peer, train, val, seed))
        beside = f"SensitivityOptimizer, calls of {name}"
        rows[beside] = _ours_within(bench, beside, train, val, rows[name]["calls"])
    return rows


def budgets_of_seed(task: Task, seed: int, sizes: dict[str, int]) -> dict[str, dict[str, float]]:
    """Let everybody optimize at the presets that users name, on the same examples; hand-written wordings test."""
    train, val = (_examples(subset(part, sizes["samples"], seed=seed)) for part in (task.train, task.val))
    bench = Bench(task, seed, sizes["test"], wordings=_by_hand())
    writer = dspy.LM("rules/writer", engine=RuleWriter(INSTRUCTIONS, vary=True), cache=False)
    rows = {"unoptimised": bench.row("unoptimised", lambda program: program)}
    for auto in ("light", "medium"):
        name = f"SensitivityOptimizer, {auto}"
        rows[name] = bench.row(name, partial(_by_our_preset, train, val, seed, auto))
    for name, peer in presets(writer, right).items():
        rows[name] = bench.row(name, partial(_by_peer, peer, train, val, seed))
    return rows


def _by_our_preset(train: list, val: list, seed: int, auto: Any, program: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        better = SensitivityOptimizer(auto=auto, seed=seed, log_dir=Path(folder) / "run").compile(
            program, trainset=train, valset=val
        )
        plain = dspy.Predict(better.signature)
        plain.demos = better.demos
        return plain


def _by_hand() -> list[str]:
    """Ten ways of saying the task that no rule has made."""
    path = Path(__file__).parent / "wordings" / "trec_people.json"
    texts: list[str] = json.loads(path.read_text("utf-8"))["texts"]
    return texts


def _ours_within(bench: Bench, name: str, train: list, val: list, limit: int) -> dict[str, Any]:
    """The largest search of ours that has asked no more than a peer: how large that is shows when it is over."""
    best: dict[str, Any] | None = None
    for size in sizes_from(limit):
        row = bench.row(name, partial(_by_us, train, val, bench.seed, size))
        if best is not None and row["calls"] > limit:
            break
        best = row
    assert best is not None  # noqa: S101  # there is a largest size
    return best


def _by_peer(peer: Any, train: list, val: list, seed: int, program: Any) -> Any:
    return peer(program, train, val, seed)


def _by_us(train: list, val: list, seed: int, size: Size, program: Any) -> Any:
    return ours(program, train, val, seed, size)


def _sensitivity(program: Any, train: list, val: list, seed: int, _: int, sizes: dict[str, int]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        optimizer = SensitivityOptimizer(
            num_trials=sizes["trials"],
            num_rephrasings=sizes["rephrasings"],
            seed=seed,
            log_dir=Path(folder) / "run",
            gate="off",
        )
        better = optimizer.compile(program, trainset=train[:-TESTED], valset=val, testset=train[-TESTED:])
        plain = dspy.Predict(better.signature)
        plain.demos = better.demos
        return plain


def _random_search(program: Any, train: list, val: list, _: int, limit: int, __: dict[str, int]) -> Any:
    from dspy.teleprompt import BootstrapFewShotWithRandomSearch

    n_candidates = max(1, limit // len(val) - 4)  # three programs come before the candidates, and bootstrapping
    optimizer = BootstrapFewShotWithRandomSearch(right, num_candidate_programs=n_candidates, num_threads=2)
    return optimizer.compile(program, trainset=train, valset=val)


def _mipro(program: Any, train: list, val: list, seed: int, limit: int, _: dict[str, int], *, vary: bool) -> Any:
    from dspy.teleprompt import MIPROv2

    writer = dspy.LM("rules/writer", engine=RuleWriter(INSTRUCTIONS, vary=vary), cache=False)
    optimizer = MIPROv2(right, prompt_model=writer, auto=None, num_candidates=10, num_threads=2, seed=seed + 1)
    n_trials = max(1, limit // len(val) - 2)
    return optimizer.compile(program, trainset=train, valset=val, num_trials=n_trials, minibatch=False)


OPTIMIZERS = {
    "SensitivityOptimizer": _sensitivity,
    "unoptimised": lambda program, *_: program,
    "BootstrapFewShotWithRandomSearch": _random_search,
    "MIPROv2, demonstrations only": lambda *arguments: _mipro(*arguments, vary=False),
    "MIPROv2, instructions by rule": lambda *arguments: _mipro(*arguments, vary=True),
}


def _examples(samples: Any) -> list:
    return [dspy.Example(question=sample.text, label=sample.label).with_inputs("question") for sample in samples]


def _measured(program: Any, test: Any, task: Task, wordings: Sequence[str]) -> dict[str, float]:
    """F1, S and C on test under wordings that no optimizer has seen; what was added to the instructions stays."""
    columns = []
    for wording in wordings:
        program.signature = program.signature.with_instructions(
            program.signature.instructions.replace(INSTRUCTIONS, wording)
        )
        answers = program.batch(_examples(test), num_threads=2, disable_progress_bar=True)
        columns.append([task.labels.index(answer.label) for answer in answers])
        program.signature = program.signature.with_instructions(
            program.signature.instructions.replace(wording, INSTRUCTIONS)
        )
    scores = score(Predictions(np.array(columns).T, tuple(test), task.labels))
    return {name: round(float(getattr(scores, name)), 4) for name in MEASURES}


@contextlib.contextmanager
def warnings_off() -> Iterator[None]:
    """Let nobody warn for the block: DSPy's optimizers do so by the hundred."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(level)


def main(seeds: list[int], out: Path, sizes: dict[str, int], parts: list[str]) -> None:
    """Run every seed; write all numbers as JSON and their means as a page in Markdown, after each seed anew."""
    path = out / "dspy_peers.json"
    result = json.loads(path.read_text("utf-8")) if path.exists() else {}
    out.mkdir(parents=True, exist_ok=True)
    for part in parts:
        runs = []
        for seed in seeds:
            task = load_task("trec", seed=seed)
            with contextlib.ExitStack() as quiet:
                quiet.enter_context(warnings_off())
                if sizes["hush"]:
                    quiet.enter_context(contextlib.redirect_stdout(io.StringIO()))
                runs.append(PARTS[part](task, seed, sizes))
            result |= {"source": task.info.source, "sizes": sizes, part: runs}
            result["seeds" if part == "runs" else f"{part}_seeds"] = seeds[: len(runs)]
            path.write_text(json.dumps(result, indent=2) + "\n", "utf-8")
            (out / "dspy_peers.md").write_text(_page(result), "utf-8")
    print(_page(result))


PARTS = {"runs": one_seed, "presets": presets_of_seed, "budgets": budgets_of_seed}


def _page(result: dict) -> str:
    lines = ["# DSPy's optimizers with equally many calls", ""]
    if "runs" in result:
        lines += [_setting(result, result["seeds"]), "", *_table(result["runs"])]
    if "presets" in result:
        lines += ["", "## At the peers' own presets", "", _setting(result, result["presets_seeds"]), ""]
        lines += _table(result["presets"])
    if "budgets" in result:
        about = _setting(result, result["budgets_seeds"])
        lines += ["", "## Everybody at presets, 100 and 100 questions", "", f"{about} They are written by hand."]
        lines += ["", *_table(result["budgets"])]
    return "\n".join(lines) + "\n"


def _setting(result: dict, seeds: list[int]) -> str:
    return (
        f"TREC ({result['source']}), minilm as the language model, seeds {', '.join(map(str, seeds))}; means "
        "over seeds, lowest and highest in brackets. Test questions under ten wordings that no optimizer has seen."
    )


def _table(runs: list[dict]) -> list[str]:
    lines = ["| optimizer | F1 | S | C | calls |", "|---|--:|--:|--:|--:|"]
    for name in runs[0]:
        rows = [run[name] for run in runs]
        cells = []
        for measure in MEASURES:
            values = [row[measure] for row in rows]
            cells.append(f"{np.mean(values):.3f} ({min(values):.3f}–{max(values):.3f})")
        cells.append(f"{np.mean([row['calls'] for row in rows]):,.0f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


FULL = {"samples": 100, "test": 500, "trials": 20, "rephrasings": 5, "preset_train": 200, "preset_val": 300, "hush": 0}
SMALL = {"samples": 12, "test": 12, "trials": 3, "rephrasings": 3, "preset_train": 12, "preset_val": 12, "hush": 1}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="Equal calls, or the presets.")
    parser.add_argument("--out", type=Path, default=Path("experiments/results"))
    parser.add_argument("--small", action="store_true", help="A few samples only, to see that it runs.")
    words = parser.parse_args()
    main(words.seeds, words.out, SMALL if words.small else FULL, words.only)
