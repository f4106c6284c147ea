"""Three small data sets of psopt's own, drawn from patterns: what a message is about, what a change does, how it was.

They differ from TREC's questions and from each other in what their classes depend on: the subject of a message, the
purpose of a line in a log, the mood of a review. Some patterns are hard on purpose (a refund for a parcel that is late
is about the parcel), so that there is something to fix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.tasks import Task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Patterns = Mapping[str, Sequence[str]]
    Slots = Mapping[str, str]  # the values of each, separated by bars

# For the draws, not the runs: the texts are the same in every run.
_SEED = 18

_SHOP: Slots = {
    "item": "lamp|kettle|desk chair|pair of boots|rucksack|tent|phone case|blender|bookshelf|raincoat|toaster|rug|"
    "headset|garden hose|suitcase|wall clock",
    "when": "last Monday|on Friday|three days ago|two weeks ago|yesterday|in March|before the holiday",
    "amount": "12 pounds|49.90|twenty euros|the full price|80 dollars|a small fee",
    "hello": "Hi, |Hello, |Dear team, |Good morning, ||||",
    "bye": "|| Thanks.| Please help.| Kind regards.| What now?",
}
_MESSAGES: Patterns = {
    "Delivery": (
        "{hello}where is the {item} that I ordered {when}?{bye}",
        "{hello}the tracking page for my {item} has not changed since it left the depot {when}.{bye}",
        "{hello}the courier left my {item} with a neighbour who is away.{bye}",
        "{hello}can the {item} be brought after six in the evening?{bye}",
        "{hello}I want my {amount} back if the {item} does not arrive this week.{bye}",
        "{hello}my {item} was sent to my old address {when}.{bye}",
    ),
    "Payment": (
        "{hello}I was charged {amount} twice for one {item}.{bye}",
        "{hello}my card was declined when I paid for the {item} {when}.{bye}",
        "{hello}the voucher for {amount} did not work on the {item}.{bye}",
        "{hello}could you send the invoice for the {item} to our accounts office?{bye}",
        "{hello}may I pay {amount} now and the rest when the {item} is shipped?{bye}",
    ),
    "Return": (
        "{hello}the {item} is too large and I would like to send it back.{bye}",
        "{hello}how do I print the label to return a {item} bought {when}?{bye}",
        "{hello}I posted the {item} back {when} and have not had the {amount} yet.{bye}",
        "{hello}can a {item} be exchanged for another colour?{bye}",
        "{hello}is there a charge of {amount} for giving back the {item}?{bye}",
    ),
    "Account": (
        "{hello}I can't log in since I ordered a {item} {when}.{bye}",
        "{hello}please change the e-mail address on my profile before you write about the {item}.{bye}",
        "{hello}the password link that came {when} has expired.{bye}",
        "{hello}somebody else has ordered a {item} in my name {when}.{bye}",
        "{hello}delete all my data, the order of the {item} too.{bye}",
    ),
    "Product": (
        "{hello}does the {item} come with a spare part?{bye}",
        "{hello}the {item} that came {when} makes a strange noise.{bye}",
        "{hello}which {item} would you choose for {amount}?{bye}",
        "{hello}how do I clean the {item}?{bye}",
        "{hello}the {item} stopped working {when} after a single use.{bye}",
        "{hello}is the {item} in the picture made of real wood?{bye}",
    ),
}
_CODE: Slots = {
    "part": "parser|login page|search index|cache|upload form|scheduler|report view|queue|date picker|router|"
    "export job|mail sender|settings dialog|cursor|retry loop|image loader|session store|table view",
    "case": "empty input|leap years|two users at once|long names|a lost connection|old browsers|negative numbers|"
    "files over 2 GB|right-to-left text|a full disk|daylight saving|missing rows",
    "tool": "the linter|the compiler|Docker|the release script|the package lock|the CI runner|the bundler",
    "tail": "|||, closes a ticket| (second try)| for the next release| as agreed",
}
_CHANGES: Patterns = {
    "Feature": (
        "Add a dark theme to the {part}{tail}",
        "Let the {part} handle {case} in one step{tail}",
        "Support sorting in the {part}{tail}",
        "Offer an undo for {case} in the {part}{tail}",
        "New option: hide the {part} on phones{tail}",
        "The {part} now remembers what was chosen for {case}{tail}",
    ),
    "Fix": (
        "Stop the {part} from hanging on {case}{tail}",
        "The {part} no longer crashes with {case}{tail}",
        "Correct an off-by-one in the {part} for {case}{tail}",
        "Handle {case} in the {part} without an error{tail}",
        "Restore the {part} after {case}{tail}",
        "Don't lose input in the {part} on {case}{tail}",
    ),
    "Documentation": (
        "Explain how the {part} treats {case}{tail}",
        "Correct a typo in the guide to the {part}{tail}",
        "Say in the readme what the {part} does on {case}{tail}",
        "Add an example of {case} to the manual of the {part}{tail}",
        "Describe the options of the {part}{tail}",
    ),
    "Test": (
        "Check that the {part} survives {case}{tail}",
        "Cover {case} in the {part}{tail}",
        "Add a regression case for {case} in the {part}{tail}",
        "Make the {part}'s assertions on {case} stricter{tail}",
        "Run the {part} against random {case}{tail}",
    ),
    "Build": (
        "Update {tool} that the {part} is made with{tail}",
        "Pin {tool} to the last version that can build the {part}{tail}",
        "Let {tool} skip the {part}{tail}",
        "Move the {part} into its own package for {tool}{tail}",
        "Fix {tool} so that the {part} is shipped again{tail}",
    ),
}
_INN: Slots = {
    "place": "café|hotel|museum|campsite|gym|bakery|cinema|ferry|hostel|bookshop|swimming pool|bistro|market",
    "good": "the staff were kind|the view was lovely|the bread was fresh|the rooms were spotless|the price was fair|"
    "the music was gentle|everything ran on time|the garden was a delight",
    "bad": "the queue took an hour|the floor was sticky|the soup was cold|the heating was broken|the bill was wrong|"
    "nobody answered our calls|the toilets smelled|it was far too loud",
    "who": "We|My parents|Our group|The children and I|Two of us|My sister and I",
    "time": "in May|last weekend|on a rainy day|twice this year|for my birthday|at noon",
}
_REVIEWS: Patterns = {
    "Positive": (
        "{who} went to this {place} {time}: {good} and {good2}.",
        "I had heard that {bad} at this {place}. Not {time}: {good}.",
        "{who} could not find a fault with the {place} {time}, {good}.",
        "No idea why people complain about the {place}. {time_}, {good}.",
        "{who} would go back to the {place} tomorrow, since {good}.",
    ),
    "Negative": (
        "{who} went to this {place} {time}: {bad} and {bad2}.",
        "I had heard that {good} at this {place}. Not {time}: {bad}.",
        "Wonderful, {who_} paid the {place} in full and {bad}.",
        "{who} left the {place} early {time}, since {bad}.",
        "Never again this {place}. {time_}, {bad}.",
    ),
    "Mixed": (
        "{who} went to this {place} {time}: {good}, but {bad}.",
        "{bad_} at the {place}, though {good}.",
        "At the {place} {time} {good}. A pity that {bad}.",
        "{who} are of two minds about the {place}: {good}, and yet {bad}.",
    ),
}


def _messages() -> Task:
    return _task("messages", "Decide what a message to a shop is about.", "message", _MESSAGES, _SHOP)


def _changes() -> Task:
    return _task("changes", "Decide what kind of change a line in the log describes.", "line", _CHANGES, _CODE)


def _reviews() -> Task:
    return _task("reviews", "Decide how the writer of a review liked the place.", "review", _REVIEWS, _INN)


TASKS = {"messages": _messages, "changes": _changes, "reviews": _reviews}
"""Each builds its task: the same texts every time."""
_TEXTS = 1500  # 500 each to diagnose on, to compare on and to test on


def _task(name: str, description: str, noun: str, patterns: Patterns, slots: Slots) -> Task:
    rng = np.random.default_rng([_SEED, *name.encode()])
    labels = tuple(patterns)
    rows: dict[str, str] = {}
    while len(rows) < _TEXTS:
        label = labels[rng.integers(len(labels))]
        pattern = patterns[label][rng.integers(len(patterns[label]))]
        rows.setdefault(_filled(pattern, slots, rng), label)
    return Task.from_records(rows.items(), name=name, description=description, noun=noun, labels=labels, seed=_SEED)


def _filled(pattern: str, slots: Slots, rng: np.random.Generator) -> str:
    """A pattern with its slots drawn: `x2` is another x, `x_` an x with another beginning (a capital or not)."""
    chosen: dict[str, str] = {}
    for name, listed in slots.items():
        values = listed.split("|")
        first, second = rng.permutation(len(values))[:2]
        chosen[name], chosen[f"{name}2"] = values[first], values[second]
        chosen[f"{name}_"] = values[first][:1].swapcase() + values[first][1:]
    text = pattern.format(**chosen)
    return text[:1].upper() + text[1:]
