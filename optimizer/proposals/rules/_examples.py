"""Few-shot examples, chosen from train in layers with one per label, so that labels stay balanced.

A layer is used completely or not at all: the number of layers is the number of examples per label.

The constants were examined with ``experiments/proposal_constants.py``: minilm on TREC, 500 train questions to choose
from and 500 val questions to score all layers at once (F1 / S; .518 / .122 without any). This model hardly uses
examples, so its figures do not carry over to language models.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from psopt.diagnosis import severity, suspect_labels
from psopt.search_spaces import WEAK_SPOT, Edit, Provenance
from psopt.tasks import columns_of_row, shown_words
from psopt.text import words_of

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.proposals._checks import ProposalChecks
    from psopt.tasks import Sample

    Vector = NDArray[np.float64]

# All four give .549 / .104; four typical ones .539 / .108, four weak spots .541 / .118, one typical .524 / .114, one
# borderline .540 / .110, one weak spot .542 / .120.
EXAMPLE_LAYERS = ("typical", "typical", "borderline", WEAK_SPOT)
# Examples are paid with every call. DBpedia's four layers, 10,400 characters, are worth it (SmolLM2, 60 texts: F1 .70
# with one layer, .75 with four); four of WoS would be 24,000, some 6,000 tokens.
MOST_EXAMPLE_CHARACTERS = 12_000
# More layers of the same, for models that read examples as turns of a conversation, as long as all have about 1,000
# tokens (chosen, not measured): docs/decisions.md, "Examples are turns of a conversation".
MOST_FURTHER_CHARACTERS = 4000
N_OPEN_EXAMPLES = 6
"""For open answers two per kind; chosen, not measured."""
# Prompts are paid by length: if most texts are short, long ones are skipped; if most are long, they must be used.
# TREC's questions have at most 196 characters, so they could not be used to measure this.
_SHORT = 400
_SHARE_SHOWN = 0.75  # this share of the texts, the shortest, may always be shown
# Weight of the similarity to an already chosen example. 0, .25, .5, .75 and 1 give .542 to .550: no trend.
_DIVERSITY = 0.5


def examples_from_train(
    predictions: Predictions,
    layers: Sequence[str] = EXAMPLE_LAYERS,
    *,
    taken: Set[str] = frozenset(),
    checks: ProposalChecks | None = None,
    more_layers: Sequence[str] = (),
    most_characters: float = math.inf,
) -> list[Edit]:
    """Choose one sample per label for every layer, unlike those already chosen for the label.

    They are chosen from the diagnosed train samples that `predictions` are of, without those whose texts the prompt or
    the pool holds (`taken`) and, with `checks`, those with an objection or a suspect label. Texts in the longest
    quarter with over 400 characters are skipped. A label without a suitable sample is left out of a layer.

    The `layers` are kinds: ``typical`` samples are closest to the centre of their class, ``borderline`` ones are right
    by the smallest majority of rephrasings, ``weak spot`` ones are the most unstable. Beyond the first, a layer is
    offered as long as all examples, `taken` ones too, have at most `most_characters`; for `more_layers` it is 4,000.
    Open answers have no classes: there are a few of each kind, each switched on separately.
    """
    is_open = predictions.answers.open is not None
    if is_open:
        classes = [np.array([sample.label is not None for sample in predictions.samples], dtype=np.bool_)]
        layers = tuple(dict.fromkeys(layers))
    else:
        classes = [predictions.truth == index for index in range(len(predictions.labels))]
    n_each = N_OPEN_EXAMPLES // len(layers) if is_open else 1
    vectors = _vectors(predictions.samples)
    may_be_shown = _may_be_shown(predictions, checks)
    fitness = _fitness(predictions, vectors, classes)
    names_a_case = [checks is not None and checks.names_a_case(sample) for sample in predictions.samples]
    is_taken = np.array([sample.text in taken for sample in predictions.samples], dtype=np.bool_)
    chosen: list[list[int]] = [np.flatnonzero(own & is_taken).tolist() for own in classes]
    edits: list[Edit] = []
    n_characters = sum(map(len, taken))
    for number, kind in enumerate((*layers, *more_layers), 1):
        layer: list[int] = []
        for own, before in zip(classes, chosen, strict=True):
            fitting = np.where(own & may_be_shown, fitness[kind], 0.0)
            layer += _choose(n_each, fitting, vectors, before, names_a_case)
        samples = [predictions.samples[index] for index in layer]
        n_characters += sum(len(sample.text) for sample in samples)
        most = most_characters if number <= len(layers) else MOST_FURTHER_CHARACTERS
        if n_characters > most and (edits or taken):
            break
        if is_open:
            edits += [_example(sample, kind, f"example: {kind} ({sample.id})") for sample in samples]
        else:
            bundle = f"examples {number}: {kind} ({'+'.join(sample.id for sample in samples)})"
            edits += [_example(sample, kind, bundle) for sample in samples]
    return edits


def _choose(n: int, fitness: Vector, vectors: Vector, chosen: list[int], names_a_case: Sequence[bool]) -> list[int]:
    """Up to `n` of the samples that fit, the fittest and least similar to those `chosen`, which they join."""
    n_before = len(chosen)
    for _ in range(n):
        fits = fitness > 0
        fits[chosen] = False
        alike = (vectors @ vectors[chosen].T).max(axis=1) if chosen else np.zeros(len(fitness))
        merit = np.where(fits, fitness - _DIVERSITY * alike, -np.inf)
        fittest_first = np.argsort(-merit, kind="stable")[: int(fits.sum())].tolist()
        if not fittest_first:
            break
        chosen.append(next((index for index in fittest_first if not names_a_case[index]), fittest_first[0]))
    return chosen[n_before:]


def _may_be_shown(predictions: Predictions, checks: ProposalChecks | None) -> NDArray[np.bool_]:
    """Which samples are short enough and have no objection: (N,)."""
    lengths = np.array([len(sample.text) for sample in predictions.samples], dtype=np.int64)
    longest = max(_SHORT, float(np.quantile(lengths, _SHARE_SHOWN))) if len(lengths) else _SHORT
    may_be = lengths <= longest
    if checks is None:
        return may_be
    if predictions.answers.open is None:
        may_be &= ~suspect_labels(predictions, labelled=checks.task.train)
    for index in np.flatnonzero(may_be).tolist():
        may_be[index] = checks.against_example(predictions.samples[index]) is None
    return may_be


def _fitness(predictions: Predictions, vectors: Vector, classes: Sequence[NDArray[np.bool_]]) -> dict[str, Vector]:
    """How suitable each sample is as each kind of example, in [0, 1]; 0 means not at all."""
    right = predictions.share_right
    typical = np.zeros(len(right))
    for own in classes:
        centre = vectors[own].sum(axis=0)  # zeros if no text has a word
        typical[own] = vectors[own] @ centre / max(float(np.linalg.norm(centre)), 1e-12)
    borderline = np.where((right > 0.5) & (right < 1), 1 - right, 0)
    if predictions.answers.open is not None:
        borderline = np.where((right > 0) & (right < 1), 1 - np.abs(2 * right - 1), 0)
    return {"typical": typical, "borderline": borderline, WEAK_SPOT: severity(predictions, "sensitivity")}


def _example(sample: Sample, kind: str, bundle: str) -> Edit:
    origin = Provenance("rules", "sensitivity", kind, (sample.id,))
    fields = columns_of_row(sample.text)
    return Edit("example", str(sample.label), str(sample.text), origin, bundle=bundle, fields=fields)


def _vectors(samples: Sequence[Sample]) -> Vector:
    """Unit vectors of the texts' words (TF-IDF), zeros for a text without any."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [shown_words(sample.text) for sample in samples]
    try:
        weights = TfidfVectorizer(tokenizer=words_of, token_pattern=None).fit_transform(texts)
    except ValueError:  # no word in any text
        return np.zeros((len(samples), 1))
    return np.asarray(weights.toarray())
