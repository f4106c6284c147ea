"""Every option that more than one command has, written once: its name, its panel, what it means."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from psopt.cli._notices import hush

MODELS = "minilm, smollm2, gguf/PATH, openai/NAME, hf/PATH, dspy/NAME or sim/OPTIONS"


def option(panel: str, flags: str, meaning: str, metavar: str | None = None, **more: Any) -> Any:
    """An option in a panel of the help."""
    return typer.Option(flags, help=meaning, metavar=metavar, rich_help_panel=panel, **more)


def positive(value: float | None) -> float | None:
    """Refuse zero and less; Typer's own bounds include their end."""
    if value is not None and not value > 0:
        raise typer.BadParameter(f"a number above 0 is expected, not {value:g}")
    return value


def json_object(text: str) -> dict[str, Any]:
    """Read --extra-body."""
    try:
        body = json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"no JSON: {error}") from None
    if not isinstance(body, dict):
        raise typer.BadParameter('a JSON object is expected, such as \'{"reasoning_effort": "low"}\'')
    return body


def check_headers(headers: list[str] | None) -> list[str] | None:
    """Refuse a --header without a value; what is refused is named by its number, for it may be a secret."""
    for number, header in enumerate(headers or [], 1):
        name, sign, _ = header.partition("=")
        if not (name.strip() and sign):
            raise typer.BadParameter(f"number {number} has no '=': NAME=VALUE is expected")
    return headers


# Data
DATASET = (
    "A built-in name (psopt data list), a set of the hub (hf:ORG/NAME, with :CONFIG and @REV), "
    "or a .csv .tsv .jsonl .parquet or task .toml file."
)
Dataset = Annotated[str, option("Data", "--dataset", DATASET, "D")]
TextColumn = Annotated[str | None, option("Data", "--text-column", "Column that holds the texts.", "NAME")]
Inputs = Annotated[
    list[str] | None,
    option(
        "Data",
        "--input",
        "Column that a sample is made of; may be repeated",
        "COLUMN",
        show_default="the fields that --prompt names, or the text column",
    ),
]
LabelColumn = Annotated[str | None, option("Data", "--label-column", "Column that holds the labels.", "NAME")]
Answers = Annotated[
    str | None,
    option(
        "Data",
        "--answers",
        "What an answer is: label, ordinal (labels that stand in an order), labels[:SEPARATOR] (several), "
        "number[:TOLERANCE], text[:token-f1|json] or free[:HOW]",
        "TYPE",
        show_default="label",
    ),
]
Order = Annotated[
    str | None,
    option(
        "Data", "--order", "The labels from the least to the most; numbers need none", "A,B,C", show_default="by value"
    ),
]
TaskFile = Annotated[Path | None, option("Data", "--task-file", "Task file: description, labels, definitions.", "TOML")]
TestFile = Annotated[Path | None, option("Data", "--test-file", "Test samples in a file of their own.", "FILE")]
StrictData = Annotated[bool, option("Data", "--strict-data", "Fail rather than use the bundled sample.")]
SkipEmpty = Annotated[
    bool, option("Data", "--skip-empty", "Leave rows without a text or a label out; how many is said.")
]
PinnedColumn = Annotated[
    str | None,
    option(
        "Data",
        "--pinned-column",
        "Column that says (true, 1, yes) which samples must stay right",
        "NAME",
        show_default="pinned, where there is one",
    ),
]
Samples = Annotated[
    int, option("Data", "--samples", "At most so many samples a split; test is used whole.", "N", min=2)
]
Seed = Annotated[int, option("Data", "--seed", "Seeds everything that is drawn.", "N", min=0)]
SplitName = Literal["train", "val", "test", "all"]
HeldoutSplit = Annotated[
    SplitName, option("Data", "--split", "Which samples; on test the rephrasings are held-out ones.")
]

# Prompt
Strategy = Annotated[str, option("Prompt", "--strategy", "Seed prompt: simple, detail or 1-shot.", "S")]
Prompt = Annotated[
    str | None,
    option(
        "Prompt",
        "--prompt",
        "Your prompt: a text or chat messages with {fields}, a run, its prompts/ID.json, or MODULE:NAME",
        "P",
        show_default="the strategy's",
    ),
]
PromptFormat = Annotated[
    str | None,
    option(
        "Prompt",
        "--prompt-format",
        "text, openai, promptfoo, python, psopt or description",
        "F",
        show_default="detected",
    ),
]
Answer = Annotated[
    str | None,
    option(
        "Prompt",
        "--answer",
        "How answers to your prompt are read: label, json:FIELD, xml:TAG, regex:PATTERN, last-line or MODULE:NAME",
        "SPEC",
        show_default="as the prompt asks for them",
    ),
]
ResponseFormat = Annotated[
    Path | None,
    option("Prompt", "--response-format", "A JSON schema that is sent with each request of your prompt.", "FILE"),
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.")]

# Model
Model = Annotated[str, option("Model", "--model", f"{MODELS}.", "M")]
PromptModel = Annotated[
    str | None,
    option(
        "Model",
        "--model",
        f"{MODELS}.",
        "M",
        show_default="the one that --prompt is for; minilm without --prompt",
    ),
]
CacheDir = Annotated[
    Path | None,
    option(
        "Model",
        "--cache-dir",
        "Where answers are kept",
        "DIR",
        file_okay=False,
        show_default="$PSOPT_CACHE_DIR or the user's cache",
    ),
]
ApiBase = Annotated[
    str | None,
    option(
        "Model",
        "--api-base",
        "An OpenAI-compatible server, such as http://localhost:8000/v1",
        "URL",
        show_default="$OPENAI_BASE_URL or OpenAI",
    ),
]
Concurrency = Annotated[int, option("Model", "--concurrency", "Most requests in flight.", "N", min=1)]
Timeout = Annotated[
    float,
    option(
        "Model",
        "--timeout",
        "Seconds to wait for an answer at first; then what answers take decides.",
        "S",
        callback=positive,
    ),
]
Retries = Annotated[
    int,
    option(
        "Model",
        "--retries",
        "How often a failed call is sent again, or a server that is away looked for.",
        "N",
        min=0,
    ),
]
MaxTokens = Annotated[int, option("Model", "--max-tokens", "Most tokens of one answer.", "N", min=1)]
Structured = Annotated[
    bool,
    option(
        "Model",
        "--structured/--plain",
        "Hold the model to the labels where the server can, or let it answer freely.",
    ),
]
Logprobs = Annotated[
    bool,
    option("Model", "--logprobs", "Measure with the labels' probabilities; of open answers, how sure of them it was."),
]
HfLikelihood = Annotated[
    Literal["mean", "sum"],
    option(
        "Model",
        "--hf-likelihood",
        "What local models score a label by: its tokens' mean log-likelihood, or their sum.",
    ),
]
Calibration = Annotated[
    Literal["auto", "off", "batch"],
    option(
        "Model",
        "--calibration",
        "Take the model's preference for some labels out, by unlabelled texts: where that helps, never, or always.",
    ),
]
Batch = Annotated[
    bool,
    option("Model", "--batch", "Ask by the server's batch API: at half the price, within a day; Ctrl-C and resume."),
]
BatchSize = Annotated[int, option("Model", "--batch-size", "Most requests in a batch.", "N", min=1)]
BatchTick = Annotated[
    float,
    option("Model", "--batch-tick", "Seconds between two looks at open batches.", "S", callback=positive),
]
MaxBatches = Annotated[int, option("Model", "--max-batches", "Most batches open at once.", "N", min=1)]
BatchKeepFiles = Annotated[
    bool, option("Model", "--batch-keep-files", "Leave the files of batches at the server once their answers are kept.")
]
ExtraBody = Annotated[
    dict[str, Any] | None,
    option(
        "Model",
        "--extra-body",
        "Merged into every request; a null leaves a field out.",
        "JSON",
        parser=json_object,
    ),
]
Headers = Annotated[
    list[str] | None,
    option(
        "Model",
        "--header",
        "Sent with every request; may be repeated. Values are kept nowhere: give them again to resume.",
        "K=V",
        callback=check_headers,
    ),
]
ApiVersion = Annotated[
    str | None,
    option("Model", "--api-version", "Azure's api-version", "V", show_default="$OPENAI_API_VERSION"),
]
Renegotiate = Annotated[bool, option("Model", "--renegotiate", "Find out anew what the server takes.")]

Pick = Annotated[
    str,
    option(
        "Prompt",
        "--pick",
        "recommended, knee, short, f1, sensitivity, consistency, a prompt's id, or 'max F1 with S <= .05' and such.",
        "WHICH",
    ),
]

# Search
RaceName = Literal["auto", "on", "strict", "off"]
GateName = Literal["sure", "likely", "off"]
Gate = Annotated[
    GateName,
    option(
        "Search",
        "--gate",
        "What a prompt must show on test to be recommended in place of yours: sure, by tests at 5 %; likely, by "
        "estimates alone; off takes the best by val as it is.",
    ),
]
GateMargin = Annotated[
    float,
    option("Search", "--gate-margin", "By how much its F1 may be lower than yours, as a share.", "X", min=0, max=0.99),
]
Pin = Annotated[
    list[str] | None,
    option("Search", "--pin", "Id of a test sample that must stay right; may be repeated.", "ID"),
]
_BY_EFFORT = "by --effort"
EffortName = Literal["light", "medium", "heavy", "full"]
EffortOption = Annotated[
    EffortName | None,
    option(
        "Search",
        "--effort",
        "How much to ask, as far as sizes are not given: about 5,000, 20,000 or 60,000 calls at most, or all",
        show_default="as --max-calls, --max-cost or --max-tokens-total allow, else light; full with minilm and sim",
    ),
]
Trials = Annotated[
    int | None, option("Search", "--trials", "Prompts to evaluate in total", "N", min=1, show_default=_BY_EFFORT)
]
Rounds = Annotated[
    int | None,
    option("Search", "--rounds", "How often to diagnose and propose", "N", min=1, show_default=_BY_EFFORT),
]
MaxPromptTokens = Annotated[
    int | None,
    option(
        "Search",
        "--max-prompt-tokens",
        "Most tokens a call of a prompt that is handed back",
        "N",
        min=1,
        show_default="any number, of at most 25 edits",
    ),
]
PlannedSamples = Annotated[
    int | None,
    option("Data", "--samples", "At most so many samples of val, and of train", "N", min=2, show_default=_BY_EFFORT),
]
TrainSamples = Annotated[
    int | None,
    option("Data", "--train-samples", "At most so many samples of train", "N", min=2, show_default="by --samples"),
]
TestSamples = Annotated[
    int | None,
    option("Data", "--test-samples", "At most so many samples of test", "N", min=2, show_default=_BY_EFFORT),
]
PlannedRephrasings = Annotated[
    int | None,
    option(
        "Rephrasings",
        "--rephrasings",
        "How many wordings of the description, the original among them",
        "Q",
        min=1,
        show_default=_BY_EFFORT,
    ),
]
PlannedHeldout = Annotated[
    int | None,
    option("Rephrasings", "--heldout", "How many held-out wordings, for test", "Q", min=1, show_default=_BY_EFFORT),
]

# Rephrasings
RephrasingCount = Annotated[
    int,
    option(
        "Rephrasings",
        "--rephrasings",
        "How many wordings of the description, the original among them.",
        "Q",
        min=1,
    ),
]
Rephraser = Annotated[
    str | None,
    option(
        "Rephrasings",
        "--rephraser",
        "A model that writes the rephrasings",
        "M",
        show_default="psopt's own, or rules",
    ),
]
Judge = Annotated[
    str | None,
    option("Rephrasings", "--judge", "A model that checks whether a rephrasing asks for the same.", "M"),
]
RephrasingsFile = Annotated[
    Path | None,
    option(
        "Rephrasings",
        "--rephrasings-file",
        "A rephrasings.json, of `psopt rephrase` or of another run.",
        "FILE",
    ),
]
Vary = Annotated[
    str,
    option(
        "Rephrasings",
        "--vary",
        "What rephrasings change, in equal parts, with commas between: "
        "paraphrase, wording, format, label-order, example-order.",
        "F,F",
    ),
]
KeepLabels = Annotated[
    bool,
    option(
        "Rephrasings",
        "--keep-labels/--drop-labels",
        "Whether a rephrasing must name the labels that the description enumerates.",
    ),
]

# Limits
RequestsPerMinute = Annotated[
    float | None, option("Limits", "--requests-per-minute", "Start no more.", "N", callback=positive)
]
MaxUnanswered = Annotated[
    float,
    option(
        "Limits",
        "--max-unanswered",
        "Stop, resumable, if the server refuses a larger share of the texts for good.",
        "X",
        min=0,
        max=1,
    ),
]
MaxCalls = Annotated[int | None, option("Limits", "--max-calls", "Stop, resumable, before more calls.", "N", min=0)]
MaxTokensTotal = Annotated[
    int | None, option("Limits", "--max-tokens-total", "Stop before more tokens in all.", "N", min=0)
]
MaxCost = Annotated[float | None, option("Limits", "--max-cost", "Stop before a higher cost.", "USD", min=0)]
DryRun = Annotated[
    bool,
    option(
        "Limits",
        "--dry-run",
        "Say how many calls and tokens this would take, and what they cost; send nothing.",
    ),
]

# Output
Log = Annotated[
    list[str] | None,
    option(
        "Output",
        "--log",
        "Record the run with mlflow[:EXPERIMENT], wandb[:PROJECT] or otel, several with commas between.",
        "TRACKER",
    ),
]
Json = Annotated[bool, option("Output", "--json", "Print the result as JSON, and nothing else.")]
Quiet = Annotated[bool, option("Output", "--quiet", "Print nothing but errors.", callback=hush)]
