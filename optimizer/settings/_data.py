"""How a task's data and the user's own prompt are read."""

from dataclasses import dataclass
from pathlib import Path

from psopt.settings._option import first, listed, option, rare, told

_PANEL = "Data"
_PROMPT = "Prompt"


@told
@dataclass(frozen=True, slots=True)
class DataOptions:
    """The arguments of `psopt.load_task`; file names are relative to `folder`, where a run was started."""

    dataset: str = first(
        ...,
        "A built-in name (psopt data list), a set of the hub (hf:ORG/NAME, with :CONFIG and @REV), "
        "a .csv .tsv .jsonl .parquet or task .toml file, or a promptfooconfig.yaml.",
        _PANEL,
        "D",
    )
    text_column: str | None = first(None, "Column that holds the texts.", _PANEL, "NAME")
    label_column: str | None = first(None, "Column that holds the labels.", _PANEL, "NAME")
    task_file: str | None = option(None, "Task file: description, labels, definitions.", _PANEL, "TOML")
    test_file: str | None = rare(None, "Test samples in a file of their own.", _PANEL, "FILE")
    strict_data: bool = rare(False, "Fail rather than use the bundled sample.", _PANEL)
    folder: str = ""
    inputs: tuple[str, ...] = option(
        (),
        "Column that a sample is made of; may be repeated",
        _PANEL,
        "COLUMN",
        flags="--input",
        repeats=True,
        shown_default="the fields that --prompt names, or the text column",
    )
    answers: str | None = option(
        None,
        "What an answer is: label, ordinal (labels that stand in an order), labels[:SEPARATOR] (several), "
        "number[:TOLERANCE], text[:token-f1|json] or free[:HOW]",
        _PANEL,
        "TYPE",
        shown_default="label",
    )
    order: tuple[str, ...] = option(
        (),
        "The labels from the least to the most; numbers need none",
        _PANEL,
        "A,B,C",
        read=listed,
        shown_default="by value",
    )
    skip_empty: bool = rare(False, "Leave rows without a text or a label out; how many is said.", _PANEL)
    skip_unread: bool = rare(
        False, "Leave assertions of a promptfooconfig.yaml out that name no answer; which is said.", _PANEL
    )
    pinned_column: str | None = rare(
        None,
        "Column that says (true, 1, yes) which samples must stay right",
        _PANEL,
        "NAME",
        shown_default="pinned, where there is one",
    )


@told
@dataclass(frozen=True, slots=True)
class PromptOptions:
    """How the user's own prompt is read, where it does not specify that itself."""

    format: str | None = rare(
        None,
        "text, openai, promptfoo, python, psopt or description",
        _PROMPT,
        "F",
        key="prompt_format",
        shown_default="detected",
    )
    answer: str | None = rare(
        None,
        "How answers to your prompt are read: label, json:FIELD, xml:TAG, regex:PATTERN, last-line or MODULE:NAME",
        _PROMPT,
        "SPEC",
        shown_default="as the prompt asks for them",
    )
    response_format: str | Path | None = rare(
        None, "A JSON schema that is sent with each request of your prompt.", _PROMPT, "FILE"
    )
