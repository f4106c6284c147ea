"""What the test server writes when it is asked for a rephrasing or a proposal: by rule, from what it was sent."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter

_DESCRIPTION = re.compile(r"<description>\n(.*?)\n</description>", re.DOTALL)
_SAMPLES = re.compile(r"<samples>\n(.*?)\n</samples>", re.DOTALL)
_WANTED = re.compile(r'Answer with JSON alone: \{"label": ("(?:[^"\\]|\\.)*"), "(note|definition)"')
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
    if found := _JUDGED.search(message):
        return "no" if "French" in found.group(2) else "Yes."
    if found := _DESCRIPTION.search(message):
        return _rephrased(found.group(1), message.count("\n- "), temperature, drafts)
    if found := _WANTED.search(message):
        label, kind = json.loads(found.group(1)), found.group(2)
        if found := _NOTES.search(message):
            return _merged(label, [json.loads(line) for line in found.group(1).split("\n")], drafts)
        samples = [json.loads(line) for line in _SAMPLES.search(message).group(1).split("\n")]
        answer = _proposed(label, kind, samples, temperature, drafts)
        return answer.replace("what is asked by", "also what is asked by") if "in common" in message else answer
    return None


def _rephrased(description: str, n_shown: int, temperature: float, drafts: str) -> str:
    if drafts == "bad" and temperature == 0:
        return BAD_REPHRASINGS[n_shown % len(BAD_REPHRASINGS)]
    frames = list(itertools.product(CLOSINGS, OPENINGS))[1:]
    closing, opening = frames[(n_shown + int(temperature * 20)) % len(frames)]
    return f"{opening}{description}{closing}"


def _proposed(label: str, kind: str, samples: list[dict], temperature: float, drafts: str) -> str:
    if drafts == "obedient":
        orders = [found.group(1) for one in samples if (found := re.search(r"write: (.*)", one["text"]))]
        return json.dumps({"label": label, kind: orders[0]}) if orders else ""
    if drafts == "bad" and temperature == 0:
        return _bad(label, kind, samples)
    openings = Counter(" ".join(one["text"].split()[:2]) for one in samples)
    (opening, _), *_ = openings.most_common(1)
    if kind == "definition":
        return json.dumps({"label": label, kind: f"what is asked by {opening.lower()}, and the like"})
    return json.dumps({"label": label, kind: f'What begins with "{opening.lower()}" belongs to {label}.'})


def _merged(label: str, notes: list[str], drafts: str) -> str:
    """All quotations of the notes in one sentence."""
    quoted = list(dict.fromkeys(quotation for note in notes for quotation in re.findall(r'"([^"]*)"', note)))
    listed = " or ".join(f'"{quotation}"' for quotation in quoted)
    return (
        ""
        if drafts == "bad"
        else json.dumps({"label": label, "note": f"What begins with {listed} belongs to {label}."})
    )


def _bad(label: str, kind: str, samples: list[dict]) -> str:
    """One of seven faults, chosen by the samples."""
    faults = (
        "",
        json.dumps({"label": "Colour", kind: "Whatever names a colour belongs to Colour."}),
        json.dumps({"label": label, kind: f"{samples[0]['text']} belongs to {label}."}),
        json.dumps({"label": label, kind: f"{label} is " + "very " * 500 + "general."}),
        '{"label": "' + label,
        f"Here is my note: dates belong to {label}.",
        json.dumps({"label": label, kind: f'This belongs to "Colour", not to {label}.'}),
    )
    return faults[sum(map(ord, samples[0]["text"])) % len(faults)]
