"""The tables of the rule-based rephraser: frames and synonyms, one set to search with and another, disjoint, to hold
out.

``{d}`` is the description as it goes on after other words (its first word in lower case), ``{D}`` as a sentence of
its own.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wordings:
    """Ways to say a description differently.

    Attributes
    ----------
    commands : tuple of str
        Frames for a description that begins with a verb in the imperative.
    leads : tuple of str
        Frames before any description.
    tails : tuple of str
        Sentences after any description.
    synonyms : dict of str to str
        Words or phrases, lower case, that mean the same in a task description.
    """

    commands: tuple[str, ...]
    leads: tuple[str, ...]
    tails: tuple[str, ...]
    synonyms: dict[str, str]


SEARCH = Wordings(
    commands=(
        "Please {d}",
        "Your task is to {d}",
        "I would like you to {d}",
        "You need to {d}",
        "As a careful annotator, {d}",
        "Kindly {d}",
        "Now {d}",
        "We want you to {d}",
        "You should {d}",
        "Be precise and {d}",
        "I need you to {d}",
        "In this task you {d}",
    ),
    leads=(
        "Your task: {D}",
        "Here is what to do: {D}",
        "Instructions: {D}",
        "Follow this instruction: {D}",
        "What has to be done is described here. {D}",
        "You are an expert annotator. {D}",
        "You work with care. {D}",
        "This is your task. {D}",
        "Here comes the instruction. {D}",
        "Somebody relies on your answer. {D}",
    ),
    tails=("Be careful.", "Read it closely first.", "Take your time.", "Please be accurate."),
    synonyms={
        "classify": "categorize",
        "categorize": "classify",
        "decide": "determine",
        "determine": "decide",
        "identify": "recognize",
        "choose": "select",
        "select": "choose",
        "question": "query",
        "text": "passage",
        "category": "class",
        "categories": "classes",
        "class": "category",
        "classes": "categories",
        "the given": "the following",
        "kind of": "type of",
        "type of": "kind of",
        "correct": "right",
        "whether": "if",
        "based on": "according to",
    },
)

HELDOUT = Wordings(
    commands=(
        "You are asked to {d}",
        "What you have to do is {d}",
        "Your assignment is to {d}",
        "The goal is to {d}",
        "Go ahead and {d}",
        "You are expected to {d}",
        "Make sure to {d}",
        "Your role is to {d}",
        "It is up to you to {d}",
        "Let me ask you to {d}",
    ),
    leads=(
        "The assignment: {D}",
        "This is the job at hand. {D}",
        "Work as follows: {D}",
        "Guideline: {D}",
        "You are a specialist for such work. {D}",
        "Imagine that you do this for a living. {D}",
        "The rule to go by: {D}",
        "What we want from you: {D}",
        "There is one thing to do. {D}",
        "Others will build on what you say. {D}",
    ),
    tails=("Think before you answer.", "Do it with care.", "Thank you.", "Weigh it well."),
    synonyms={
        "classify": "sort",
        "categorize": "sort",
        "decide": "establish",
        "determine": "establish",
        "identify": "find",
        "choose": "pick",
        "select": "pick",
        "question": "inquiry",
        "text": "excerpt",
        "category": "group",
        "categories": "groups",
        "class": "group",
        "classes": "groups",
        "the given": "the provided",
        "kind of": "sort of",
        "type of": "sort of",
        "correct": "proper",
        "based on": "judging by",
    },
)

IMPERATIVES = frozenset(
    [
        "analyze",
        "answer",
        "assess",
        "assign",
        "categorize",
        "check",
        "choose",
        "classify",
        "compare",
        "consider",
        "decide",
        "detect",
        "determine",
        "discern",
        "distinguish",
        "estimate",
        "evaluate",
        "examine",
        "figure",
        "find",
        "flag",
        "give",
        "group",
        "guess",
        "identify",
        "indicate",
        "infer",
        "inspect",
        "judge",
        "label",
        "look",
        "mark",
        "match",
        "name",
        "pick",
        "place",
        "predict",
        "put",
        "rate",
        "read",
        "recognize",
        "return",
        "route",
        "say",
        "select",
        "separate",
        "sort",
        "specify",
        "state",
        "tag",
        "tell",
        "use",
        "work",
    ]
)
