"""What is put around a description: one set of frames to search with and another, disjoint, to hold out.

``{d}`` is the description as it goes on after other words, ``{D}`` as a sentence of its own, ``{it}`` what one sample
is called ("the question"). ``{c}`` is what the description's closing clause names ("by ..", "based on .."), and ``{d}``
is then what stands before that clause.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from psopt.rephrasings._swap import holds

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Frames:
    """Frames by what they suit.

    Attributes
    ----------
    commands : tuple of str
        For a description that begins with an imperative; ``{D}`` alone takes the frame off that it has.
    orders : tuple of str
        Announce such a description.
    questions : tuple of str
        For a description that asks.
    neutral : tuple of str
        For every description.
    clauses : tuple of str
        Bring the closing clause to the front.
    tails : tuple of str
        Sentences added to any description.
    """

    commands: tuple[str, ...]
    orders: tuple[str, ...]
    questions: tuple[str, ...]
    neutral: tuple[str, ...]
    clauses: tuple[str, ...]
    tails: tuple[str, ...]

    def without(self, words: Sequence[str]) -> Frames:
        """The frames in which none of these words stands."""

        def allowed(frames: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(frame for frame in frames if not any(holds(frame, word) for word in words))

        return Frames(*(allowed(getattr(self, kind.name)) for kind in fields(self)))


NO_FRAMES = Frames((), (), (), (), (), ())

SEARCH_FRAMES = Frames(
    commands=(
        "{D}",
        "Please {d}",
        "Kindly {d}",
        "Now {d}",
        "Carefully {d}",
        "Your task is to {d}",
        "Your job is to {d}",
        "I need you to {d}",
        "I would like you to {d}",
        "We want you to {d}",
        "You should {d}",
        "You need to {d}",
        "In this task, you {d}",
        "As a careful annotator, {d}",
        "Be precise and {d}",
        "Could you {d}?",
        "Can you please {d}?",
        "{D}, please.",
    ),
    orders=(
        "Here is what to do: {D}",
        "Instructions: {D}",
        "Follow this instruction: {D}",
        "Here is what to do with {it}: {D}",
    ),
    questions=(
        "Please answer this: {D}",
        "Answer the following: {D}",
        "Tell me: {D}",
        "Here is what I want to know: {D}",
        "What I need to know is this: {D}",
    ),
    neutral=(
        "Task: {D}",
        "Your task: {D}",
        "Here is your task: {D}",
        "This is the task. {D}",
        "You are an expert annotator. {D}",
        "You work with care. {D}",
        "Please read this. {D}",
        "This is a classification task. {D}",
        "Somebody relies on your answer. {D}",
        "Let us begin. {D}",
        "Have a look at {it} below. {D}",
    ),
    clauses=("Going by {c}, {d}",),
    tails=(
        "Be careful.",
        "Take your time.",
        "Accuracy matters.",
        "Read {it} closely first.",
        "Take all of {it} into account.",
        "This is important to us.",
        "Precision is what counts.",
        "Please do not rush.",
    ),
)

HELDOUT_FRAMES = Frames(
    commands=(
        "You are asked to {d}",
        "You are expected to {d}",
        "What you have to do is {d}",
        "Your assignment is to {d}",
        "Your role is to {d}",
        "The goal is to {d}",
        "Go ahead and {d}",
        "Make sure to {d}",
        "Do your best to {d}",
        "It is up to you to {d}",
        "Let me ask you to {d}",
        "As a specialist in this field, {d}",
        "If you would, {d}",
        "Would you {d}?",
        "Would you be so kind as to {d}?",
        "{D}, if you don't mind.",
    ),
    orders=(
        "Work as follows: {D}",
        "Guideline: {D}",
        "What we ask of you: {D}",
        "Your brief: {D}",
    ),
    questions=(
        "Let us know: {D}",
        "Reply to this: {D}",
        "This has to be settled: {D}",
        "Work this out: {D}",
        "Something to find out: {D}",
    ),
    neutral=(
        "Assignment: {D}",
        "The assignment: {D}",
        "This is the job at hand. {D}",
        "Here is a job for you. {D}",
        "You are a specialist in work of this kind. {D}",
        "You have long experience with such work. {D}",
        "Imagine that you do this for a living. {D}",
        "Others will build on what you say. {D}",
        "On to the work itself. {D}",
        "Turn to {it} below. {D}",
    ),
    clauses=("Judging by {c}, {d}",),
    tails=(
        "Think before you answer.",
        "Do it with care.",
        "Thank you.",
        "Weigh it well.",
        "Go through {it} from beginning to end.",
        "Give it some thought.",
        "Mistakes are costly.",
        "A good answer is worth a lot.",
    ),
)
