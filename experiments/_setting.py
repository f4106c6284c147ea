"""The command line that all experiments share, how they ask a model, and how they save their results."""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.api import optimize
from psopt.evaluation import evaluate
from psopt.models import ModelProvider
from psopt.models.chat import LMConfig
from psopt.rephrasings import RephrasingOptions, freeze_rephrasings
from psopt.tasks import load_task, subset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure
    from psopt.evaluation import Predictions
    from psopt.runs import Run
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task

HERE = Path(__file__).resolve().parent
DEFAULTS = {"model": ["minilm"], "dataset": ["trec"], "samples": 500, "rephrasings": 30, "seeds": [42], "trials": 40}


@dataclass(frozen=True)
class Setting:
    """The command line, read.

    Attributes
    ----------
    models, datasets : list of str
        As `ModelProvider` and `load_task` take them.
    samples : int
        At most this many test samples (and, in a search, train and val samples), stratified.
    rephrasings : int
        Q.
    seeds : list of int
    trials : int
        Of each search; not used where nothing is searched.
    results : Path
    lm : LMConfig
    """

    models: list[str]
    datasets: list[str]
    samples: int
    rephrasings: int
    seeds: list[int]
    trials: int
    results: Path
    lm: LMConfig

    @classmethod
    def read(cls, doc: str | None, **defaults: Any) -> Setting:
        """Read the command line; an experiment may have defaults of its own."""
        values = {**DEFAULTS, **defaults}
        parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
        models, sets = "minilm, openai/NAME, hf/REPO, sim/..", "built-in names, or files"
        parser.add_argument("--model", nargs="+", default=values["model"], dest="models", help=models)
        parser.add_argument("--dataset", nargs="+", default=values["dataset"], dest="datasets", help=sets)
        parser.add_argument("--samples", type=int, default=values["samples"])
        parser.add_argument("--rephrasings", type=int, default=values["rephrasings"])
        parser.add_argument("--seed", "--seeds", type=int, nargs="+", default=values["seeds"], dest="seeds")
        parser.add_argument("--trials", type=int, default=values["trials"])
        parser.add_argument("--results", type=Path, default=HERE / "results")
        parser.add_argument("--api-base")
        words = vars(parser.parse_args())
        return cls(lm=LMConfig(api_base=words.pop("api_base")), **words)

    def cases(self) -> Iterator[tuple[str, str, int]]:
        """Every data set with every model and every seed."""
        return itertools.product(self.datasets, self.models, self.seeds)

    def task(self, dataset: str, seed: int) -> Task:
        """Load a data set."""
        return load_task(dataset, seed=seed)

    @property
    def provider(self) -> ModelProvider:
        """Where models come from."""
        return ModelProvider(lm=self.lm)

    def predictions(
        self,
        task: Task,
        prompt: Prompt,
        model: str,
        seed: int,
        *,
        heldout: bool = False,
        families: tuple[str, ...] = ("paraphrase",),
    ) -> Predictions:
        """Let a model answer test samples under Q wordings, the original among them; or under Q held-out ones."""
        options = RephrasingOptions(families=families)  # type: ignore[arg-type]
        n_search, n_heldout = (1, self.rephrasings) if heldout else (self.rephrasings, 1)
        frozen = freeze_rephrasings(task, prompt.description, n_search, n_heldout, seed, options, models=self.provider)
        texts, forms = frozen.search, frozen.search_forms
        if heldout:
            texts, forms = frozen.heldout, frozen.heldout_forms
        answering = self.provider.answering(model, task)
        return evaluate(answering, prompt, texts, subset(task.test, self.samples, seed=seed), forms=forms)

    def search(self, dataset: str, model: str, seed: int, **options: Any) -> Run:
        """Let psopt search: edits from train, chosen on val. `options` are those of `optimize`; no files are left."""
        with tempfile.TemporaryDirectory() as folder:
            return optimize(
                self.task(dataset, seed),
                model=model,
                seed=seed,
                effort="full",
                trials=self.trials,
                samples=self.samples,
                lm=self.lm,
                out=Path(folder) / "run",
                **options,
            )

    def save(self, name: str, rows: dict[str, Any], figure: Figure) -> None:
        """Write results as JSON, with the setting, and the figure as SVG: the same results give the same bytes."""
        import matplotlib as mpl

        setting = {"models": self.models, "datasets": self.datasets, "samples": self.samples, "seeds": self.seeds}
        sources = {dataset: self.task(dataset, self.seeds[0]).info.source for dataset in self.datasets}
        setting |= {"rephrasings": self.rephrasings, "trials": self.trials, "sources": sources}
        self.results.mkdir(parents=True, exist_ok=True)
        text = json.dumps(rounded({"setting": setting, **rows}), indent=1, ensure_ascii=False)
        (self.results / f"{name}.json").write_text(text + "\n", "utf-8")
        with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
            figure.savefig(self.results / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")
        print(f"{name}: written to {self.results}", flush=True)


def rounded(value: Any) -> Any:
    """JSON data with floats of four decimals; NumPy's numbers become Python's, NaN becomes None."""
    if isinstance(value, dict):
        return {str(key): rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    if hasattr(value, "tolist"):
        return rounded(value.tolist())
    if isinstance(value, float):
        return None if value != value else round(value, 4)
    return value


def panels(n: int, width: float = 4.0, height: float = 3.4) -> tuple[Figure, list[Any]]:
    """An empty figure of n panels side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * n, height), layout="constrained")
    return figure, list(figure.subplots(1, n, squeeze=False)[0])
