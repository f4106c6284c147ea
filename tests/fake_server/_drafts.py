"""What the fake server writes when it is asked for a rephrasing or a proposal: by rule, from what it was sent."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from typing import Any

# With what psopt says after it: a prompt of the user's own may have such a section too.
_DESCRIPTION = re.compile(r"<description>\n(.*?)\n</description>\n\nSay this in other words", re.DOTALL)
_SAMPLES = re.compile(r"<samples>\n(.*?)\n</samples>", re.DOTALL)
_WANTED = re.compile(r'Answer with JSON alone: \{"label": ("(?:[^"\\]|\\.)*"), "(note|definition)"')
_ALL_WANTED = re.compile(r'Answer with JSON alone: (\{"definitions": .*\})')
_NOTES = re.compile(r"<notes>\n(.*?)\n</notes>", re.DOTALL)
_JUDGED = re.compile(r"<first>\n(.*?)\n</first>\n\n<second>\n(.*?)\n</second>", re.DOTALL)

OPENINGS = (
    "",
    "Your job is this. ",
    "Please help. ",
    "Kindly do the following. ",
    "Take care here. ",
    "A task for you. ",
)
CLOSINGS = ("", " Work with care.", " Thank you.", " Read closely first.", " It matters.", " Be thorough.")
BAD_REPHRASINGS = ("", "First this.\nThen that.", "Translate it into French, please do, at once.", "word " * 500)


def written(message: str, temperature: float, drafts: str) -> str | None:
    """Answer a request for a text; None if the message asks for none.

    `drafts` is good, or bad: then what is written is wrong in one way after another, at temperature 0; or obedient:
    then whatever a sample says to write is written.
    """
    if judged := _JUDGED.search(message):
        return "no" if "French" in judged.group(2) else "Yes."
    if description := _DESCRIPTION.search(message):
        return _rephrased(description.group(1), message.count("\n- "), temperature, drafts)
    if wanted := _ALL_WANTED.search(message):
        labels = json.loads(wanted.group(1))["definitions"]
        if drafts != "good":
            return ""
        texts = {label: f"{message.count(label)} kinds of questions like those above" for label in labels}
        return json.dumps({"definitions": texts})
    if wanted := _WANTED.search(message):
        label = json.loads(wanted.group(1))
        if notes := _NOTES.search(message):
            return _merged(label, _json_lines(notes), drafts)
        answer = _proposed(label, wanted.group(2), _json_lines(_SAMPLES.search(message)), temperature, drafts)
        return answer.replace("what is asked by", "also what is asked by") if "in common" in message else answer
    return None


def _json_lines(section: re.Match[str] | None) -> list[Any]:
    return [json.loads(line) for line in section.group(1).split("\n")] if section else []


def _text_of(sample: dict[str, Any]) -> str:
    """A sample's text; of one that comes in fields their values."""
    return str(sample["text"]) if "text" in sample else "\n".join(sample["fields"].values())


def _rephrased(description: str, n_shown: int, temperature: float, drafts: str) -> str:
    if drafts == "bad" and temperature == 0:
        return BAD_REPHRASINGS[n_shown % len(BAD_REPHRASINGS)]
    frames = list(itertools.product(CLOSINGS, OPENINGS))[1:]
    closing, opening = frames[(n_shown + int(temperature * 20)) % len(frames)]
    return f"{opening}{description}{closing}"


def _proposed(label: str, kind: str, samples: list[dict[str, Any]], temperature: float, drafts: str) -> str:
    if drafts == "obedient":
        order = re.search(r"write: (.*)", "\n".join(_text_of(sample) for sample in samples))
        return json.dumps({"label": label, kind: order.group(1)}) if order else ""
    if drafts == "bad" and temperature == 0:
        return _bad(label, kind, samples)
    openings = Counter(" ".join(_text_of(sample).split()[:2]) for sample in samples)
    (opening, _), *_ = openings.most_common(1)
    if kind == "definition":
        return json.dumps({"label": label, kind: f"what is asked by {opening.lower()}, and the like"})
    return json.dumps({"label": label, kind: f'What begins with "{opening.lower()}" belongs to {label}.'})


def _merged(label: str, notes: list[str], drafts: str) -> str:
    """All quotations of the notes in one sentence."""
    quoted = list(dict.fromkeys(quotation for note in notes for quotation in re.findall(r'"([^"]*)"', note)))
    listed = " or ".join(f'"{quotation}"' for quotation in quoted)
    if drafts == "bad":
        return ""
    return json.dumps({"label": label, "note": f"What begins with {listed} belongs to {label}."})


def _bad(label: str, kind: str, samples: list[dict[str, Any]]) -> str:
    """One of seven faults, chosen by the samples."""
    faults = (
        "",
        json.dumps({"label": "Colour", kind: "Whatever names a colour belongs to Colour."}),
        json.dumps({"label": label, kind: f"{_text_of(samples[0])} belongs to {label}."}),
        json.dumps({"label": label, kind: f"{label} is " + "very " * 500 + "general."}),
        '{"label": "' + label,
        f"Here is my note: dates belong to {label}.",
        json.dumps({"label": label, kind: f'This belongs to "Colour", not to {label}.'}),
    )
    return faults[sum(map(ord, _text_of(samples[0]))) % len(faults)]
