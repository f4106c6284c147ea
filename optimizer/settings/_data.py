"""How a task's data and the user's own prompt are read."""

from dataclasses import dataclass
from pathlib import Path

from psopt.settings._option import DATA, PROMPT, listed, told


@told
@dataclass(frozen=True, slots=True)
class DataOptions:
    """The arguments of `psopt.load_task`; file names are relative to `folder`, where a run was started."""

    dataset: str = DATA.first(
        "A built-in name (psopt data list), a set of the hub (hf:ORG/NAME, with :CONFIG and @REV), "
        "a .csv .tsv .jsonl .parquet or task .toml file, or a promptfooconfig.yaml.",
        "D",
        default=...,
    )
    text_column: str | None = DATA.first("Column that holds the texts.", "NAME")
    label_column: str | None = DATA.first("Column that holds the labels.", "NAME")
    task_file: str | None = DATA.option("Task file: description, labels, definitions.", "TOML")
    test_file: str | None = DATA.rare("Test samples in a file of their own.", "FILE")
    strict_data: bool = DATA.rare("Fail rather than use the bundled sample.", default=False)
    folder: str = ""
    inputs: tuple[str, ...] = DATA.option(
        "Column that a sample is made of; may be repeated",
        "COLUMN",
        default=(),
        flags="--input",
        repeats=True,
        shown_default="the fields that --prompt names, or the text column",
    )
    answers: str | None = DATA.option(
        "What an answer is: label, ordinal (labels that stand in an order), labels[:SEPARATOR] (several), "
        "number[:TOLERANCE], text[:token-f1|json] or free[:HOW]",
        "TYPE",
        shown_default="label",
    )
    order: tuple[str, ...] = DATA.option(
        "The labels from the least to the most; numbers need none",
        "A,B,C",
        default=(),
        read=listed,
        shown_default="by value",
    )
    skip_empty: bool = DATA.rare("Leave rows without a text or a label out; how many is said.", default=False)
    skip_unread: bool = DATA.rare(
        "Leave assertions of a promptfooconfig.yaml out that name no answer; which is said.", default=False
    )
    pinned_column: str | None = DATA.rare(
        "Column that says (true, 1, yes) which samples must stay right",
        "NAME",
        shown_default="pinned, where there is one",
    )


@told
@dataclass(frozen=True, slots=True)
class PromptOptions:
    """How the user's own prompt is read, where it does not specify that itself."""

    format: str | None = PROMPT.rare(
        "text, openai, promptfoo, python, psopt or description", "F", key="prompt_format", shown_default="detected"
    )
    answer: str | None = PROMPT.rare(
        "How answers to your prompt are read: label, json:FIELD, xml:TAG, regex:PATTERN, last-line or MODULE:NAME",
        "SPEC",
        shown_default="as the prompt asks for them",
    )
    response_format: str | Path | None = PROMPT.rare(
        "A JSON schema that is sent with each request of your prompt.", "FILE"
    )
