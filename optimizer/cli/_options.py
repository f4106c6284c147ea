"""Options that only the command line has, and those of the settings that a command takes individually."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from psopt.cli._verb import flag, single
from psopt.cli._writing import hush
from psopt.settings import MODELS, OUTPUT, MeasureOptions, RunOptions

RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.")]
Strategy = single(RunOptions, "strategy")
Seed = single(MeasureOptions, "seed")
CacheDir = single(MeasureOptions, "cache_dir")
Prompt = Annotated[
    str | None,
    flag(
        "Prompt",
        "Your prompt: a text or chat messages with {fields}, a run, its prompts/ID.json, or MODULE:NAME",
        "P",
        show_default="the strategy's",
    ),
]
PromptModel = Annotated[
    str | None, flag("Model", f"{MODELS}.", "M", show_default="the one that --prompt is for; minilm without --prompt")
]
Pick = Annotated[
    str,
    flag(
        "Prompt",
        "recommended, knee, short, f1, sensitivity, consistency, a prompt's id, or 'max F1 with S <= .05' and such.",
        "WHICH",
    ),
]
DryRun = Annotated[
    bool, flag("Limits", "Say how many calls and tokens this would take, and what they cost; send nothing.")
]
Verbose = Annotated[
    bool, flag("Output", "Say all that the report says of the result: racing, sizes, calibration apart, ids.")
]
Json = Annotated[bool, flag("Output", "Print the result as JSON, and nothing else.", flags="--json")]


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """What is printed."""

    as_json: bool = OUTPUT.first("Print the result as JSON, and nothing else.", default=False, flags="--json")
    quiet: bool = OUTPUT.option("Print nothing but errors.", default=False)

    def __post_init__(self) -> None:
        """Silence notices before any appear."""
        hush(quiet=self.quiet)

    @property
    def silent(self) -> bool:
        """Whether nothing is printed besides the result."""
        return self.as_json or self.quiet
