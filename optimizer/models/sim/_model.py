"""The simulated model: the options in its name, hidden traits, reading prompts, and drawing answers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from psopt.errors import InputError
from psopt.models._base import Capabilities
from psopt.models.sim._cues import pulls
from psopt.search_spaces import with_statements
from psopt.text import words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.models._base import Floats, Ints, Progress, Prompts, Texts
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task

    Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class SimOptions:
    accuracy: float = 0.7  # expected share of right answers under a bare prompt
    # Mean share of a text's answers that depend on the wording. 0: S = 0; 1: all texts alike, S at its highest.
    wobble: float = 0.3
    na: float = 0.1  # share of N/A in the wrong answers
    # Share of the texts that have the same traits as others with their label and first word, so that a phrase can name
    # weak spots. 0: each text has its own traits.
    grouped: float = 0.5
    obey: float = 1.0  # how strongly edits pull; 0: the prompt is not read
    seed: int = 42  # which of many such models

    @classmethod
    def parse(cls, text: str) -> SimOptions:
        """Read options such as ``accuracy=0.6,wobble=0.3``, also after ``sim/``; raises InputError if one can't be."""
        pairs = [part.partition("=")[::2] for part in text.removeprefix("sim/").split(",") if part.strip()]
        values = dict(_option(name.strip(), value.strip()) for name, value in pairs)
        if len(values) < len(pairs):
            raise InputError(f"model sim/{text}: an option stands twice")
        return cls(**values)  # type: ignore[arg-type]  # _option gives the seed as int


def _option(name: str, text: str) -> tuple[str, float | int]:
    names = [option.name for option in fields(SimOptions)]
    if name not in names:
        raise InputError(f"model sim has no option {name!r}; its options are {', '.join(names)}, as in sim/wobble=0.3")
    highest = float("inf") if name in {"obey", "seed"} else 1.0
    try:
        value = int(text) if name == "seed" else float(text)
    except ValueError:
        value = float("nan")
    if not 0 <= value <= highest or value == float("inf"):
        wanted = {"seed": "a whole number, 0 or more", "obey": "0 or more"}.get(name, "from 0 to 1")
        raise InputError(f"model sim: {name}={text or '(nothing)'} can't be; it must be {wanted}")
    return name, value


def key(*parts: str | int) -> int:
    """Return a 64-bit hash of these parts."""
    joined = "\x00".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(joined, digest_size=8).digest(), "little")


def keys(values: list[int]) -> Keys:
    return np.array(values, dtype=np.uint64)


def uniform(first: Keys, second: Keys) -> Floats:
    """Return a uniform number in [0, 1) for every pair of keys, by NumPy's broadcasting rules.

    Steele, Lea & Flood (2014), *Fast splittable pseudorandom number generators*: SplitMix64's finaliser, used twice.
    """
    bits = _mixed(_mixed(first) ^ second)
    return np.asarray((bits >> np.uint64(11)) * 2.0**-53)


def _mixed(bits: Keys) -> Keys:
    bits = bits + np.array(0x9E3779B97F4A7C15, dtype=np.uint64)
    bits = (bits ^ (bits >> np.uint64(30))) * np.array(0xBF58476D1CE4E5B9, dtype=np.uint64)
    bits = (bits ^ (bits >> np.uint64(27))) * np.array(0x94D049BB133111EB, dtype=np.uint64)
    return bits ^ (bits >> np.uint64(31))


@dataclass(frozen=True, slots=True)
class _TextKeys:
    """What is kept about a text: the keys of its own draws and of its group's, and its true label."""

    own: int
    group: int
    truth: int


class SimulatedModel:
    """A classifier that draws its answers from distributions known in advance (see `psopt.models.sim`).

    The labels of the task's samples are the truth, for one text the first in train, val and test; other texts get one
    by hash. Raises InputError if one of the `SimOptions` is unknown or has an invalid value.
    """

    capabilities = Capabilities(is_free=True, reads_order=False, has_probabilities=True)

    def __init__(self, options: str, task: Task) -> None:
        self.options = SimOptions.parse(options)
        self.name = f"sim/{options.removeprefix('sim/')}"
        self.labels = task.labels
        self._truth: dict[str, int] = {}
        for sample in task.samples:
            if sample.label is not None:
                self._truth.setdefault(sample.text, task.labels.index(sample.label))
        self._texts: dict[str, _TextKeys] = {}

    def predict(self, prompts: Prompts, texts: Texts, on_progress: Progress = None) -> Ints:
        """Draw an answer for every text under every prompt, by text and description: luck tells no prompts apart."""
        own = keys([self._read(text).own for text in texts])
        descriptions = keys([key(prompt.description) for prompt in prompts])
        draws = uniform(own[:, None], descriptions)
        answers = np.zeros(draws.shape, dtype=np.int64)
        for prompt, columns in self._by_content(prompts):
            cumulative = np.cumsum(self.profiles(prompt, texts), axis=1)
            cumulative /= cumulative[:, -1:]
            for bound in cumulative.T[:-1]:
                answers[:, columns] += draws[:, columns] >= bound[:, None]
        if on_progress:
            on_progress(answers.size, answers.size)
        return answers

    def predict_proba(self, prompts: Prompts, texts: Texts, on_progress: Progress = None) -> Floats:
        """Return the distribution that each answer of `predict` is drawn from: (n_texts, n_prompts, C)."""
        probabilities = np.empty((len(texts), len(prompts), len(self.labels) + 1))
        for prompt, columns in self._by_content(prompts):
            probabilities[:, columns] = self.profiles(prompt, texts)[:, None]
        if on_progress:
            on_progress(len(texts) * len(prompts), len(texts) * len(prompts))
        return probabilities

    def profiles(self, prompt: Prompt, texts: Texts) -> Floats:
        """Return p(c | text) under a prompt, whatever its description: (n_texts, C), rows sum to 1, N/A last."""
        if sorted(prompt.labels) != sorted(self.labels):
            raise InputError(f"model {self.name} knows the labels {', '.join(self.labels)} and no others")
        positions = [self.labels.index(label) for label in prompt.labels]
        read = [self._read(text) for text in texts]
        truth = np.array([text.truth for text in read], dtype=np.int64)
        own = keys([text.own for text in read])
        group = keys([text.group for text in read])
        rates = pulls(with_statements(prompt), self.labels, texts)
        return _profiles(own, group, truth, self.options, self.options.obey * rates)[:, [*positions, -1]]

    def true_labels(self, texts: Texts) -> tuple[str, ...]:
        """Return the hidden true labels: the task's own, or by hash."""
        return tuple(self.labels[self._read(text).truth] for text in texts)

    def _read(self, text: str) -> _TextKeys:
        if text not in self._texts:
            seed = self.options.seed
            truth = self._truth.get(text, key(seed, "truth", text) % len(self.labels))
            group = key(seed, "group", truth, *words_of(text)[:1])
            self._texts[text] = _TextKeys(key(seed, "text", text), group, truth)
        return self._texts[text]

    def _by_content(self, prompts: Prompts) -> list[tuple[Prompt, list[int]]]:
        """Group prompts that differ only in their description, with their columns."""
        columns: dict[Prompt, list[int]] = {}
        for column, prompt in enumerate(prompts):
            columns.setdefault(prompt.described_as(""), []).append(column)
        return list(columns.items())


def _profiles(own: Keys, group: Keys, truth: Ints, options: SimOptions, pulls: Floats) -> Floats:
    """Return the answer distribution of N texts under a prompt that pulls with these (N, C - 1) rates: (N, C).

    `own` and `group`, (N,), are the keys of each text's own traits and of those it shares with its group.
    """
    # Do not rename traits: their names go into the hash, so answers under the same model name would change.
    n_labels = pulls.shape[1]
    shared = np.where(_drawn(own, "grouped") < options.grouped, group, own)
    rows = np.arange(len(own))
    right = options.accuracy
    wrong = 1 - options.accuracy
    confused = (truth + 1 + (_drawn(shared, "confused") * (n_labels - 1)).astype(np.int64)) % n_labels
    anew = np.zeros((len(own), n_labels + 1))  # q, which answers are drawn from that depend on the wording
    anew[rows, truth] = right
    anew[rows, confused] = wrong * (1 - options.na)
    anew[:, n_labels] = wrong * options.na
    usual = _drawn(shared, "habit")
    default_answer = np.select([usual < right, usual < 1 - wrong * options.na], [truth, confused], n_labels)
    # Beta(a, 1) with this mean: where it is low, most texts are stable and a few are very unstable.
    exponent = (1 - options.wobble) / options.wobble if options.wobble else np.inf
    unstable = np.asarray(_drawn(shared, "shakiness") ** exponent)[:, None]

    total = pulls.sum(axis=1, keepdims=True)
    unmoved_share = np.exp(-total)
    anew *= unmoved_share
    anew[:, :-1] += pulls * ((1 - unmoved_share) / np.where(total > 0, total, 1))
    # One exponential clock of mean 1 per label, (N, C - 1). A pull of rate r changes the default answer to its label if
    # the clock, divided by r, is below 1; the lowest one wins.
    clocks = -np.log1p(-uniform(own[:, None], keys([key("obedience", label) for label in range(n_labels)])))
    rings = np.divide(clocks, pulls, out=np.full_like(pulls, np.inf), where=pulls > 0)
    default_answer = np.where(rings.min(axis=1) < 1, rings.argmin(axis=1), default_answer)
    return np.asarray(unstable * anew + (1 - unstable) * np.eye(n_labels + 1)[default_answer])


def _drawn(of: Keys, trait: str) -> Floats:
    return uniform(of, keys([key(trait)]))
