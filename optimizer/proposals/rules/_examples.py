"""Few-shot examples, chosen from train in layers of one for each label, so that labels stay in balance.

A layer is switched on or off as a whole: how many layers are on is how many examples a label has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.diagnosis import severity
from psopt.search_spaces import Edit, Provenance
from psopt.text import words_of

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.tasks import Sample

    Vector = NDArray[np.float64]

EXAMPLE_LAYERS = ("typical", "typical", "borderline", "weak spot")
_LONGEST_EXAMPLE = 400
_DIVERSITY = 0.5


def examples_from_train(
    predictions: Predictions, kinds: Sequence[str] = EXAMPLE_LAYERS, *, taken: Set[str] = frozenset()
) -> list[Edit]:
    """Choose one sample of each label for every layer, unlike those already chosen for the label.

    Chosen among the diagnosed train samples; long texts (over 400 characters) are passed over, so that prompts stay
    short. A label without a fitting sample is left out of a layer.

    Parameters
    ----------
    predictions : Predictions
        Of train samples.
    kinds : sequence of str
        One for each layer: ``typical`` samples are nearest to the centre of their class, ``borderline`` ones are right
        by the smallest majority of rephrasings, ``weak spot`` ones shake most.
    taken : set of str
        Texts that the prompt or the pool holds already.
    """
    samples = predictions.samples
    vectors = _vectors(samples)
    merits = _merits(predictions, vectors)
    chosen: dict[str, list[int]] = {label: [] for label in predictions.labels}
    held = [index for index, sample in enumerate(samples) if sample.text in taken]
    for index in held:
        chosen[str(samples[index].label)].append(index)
    edits = []
    for number, kind in enumerate(kinds, 1):
        layer = []
        for index, label in enumerate(predictions.labels):
            own = predictions.truth == index
            best = _next(merits[kind], own, chosen[label], vectors, samples)
            if best is not None:
                chosen[label].append(best)
                layer.append((label, samples[best]))
        bundle = f"examples {number}: {kind} ({'+'.join(sample.id for _, sample in layer)})"
        edits += [_example(sample, label, kind, bundle) for label, sample in layer]
    return edits


def _next(
    merit: Vector, own: NDArray[np.bool_], chosen: list[int], vectors: Vector, samples: Sequence[Sample]
) -> int | None:
    """The sample of most merit, less its likeness to what is chosen; None where none has any merit."""
    fits = own & (merit > 0) & np.array([len(sample.text) <= _LONGEST_EXAMPLE for sample in samples])
    fits[chosen] = False
    if not fits.any():
        return None
    alike = (vectors @ vectors[chosen].T).max(axis=1) if chosen else np.zeros(len(merit))
    return int(np.where(fits, merit - _DIVERSITY * alike, -np.inf).argmax())


def _merits(predictions: Predictions, vectors: Vector) -> dict[str, Vector]:
    """How well each sample serves as each kind of example, in [0, 1]; 0 is not at all."""
    right = predictions.share_right
    centres = np.stack([vectors[predictions.truth == index].sum(axis=0) for index in range(len(predictions.labels))])
    centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
    return {
        "typical": (vectors * centres[predictions.truth]).sum(axis=1),
        "borderline": np.where((right > 0.5) & (right < 1), 1 - right, 0),
        "weak spot": severity(predictions, "sensitivity"),
    }


def _example(sample: Sample, label: str, kind: str, bundle: str) -> Edit:
    return Edit("example", label, sample.text, Provenance("rules", "sensitivity", kind, (sample.id,)), bundle=bundle)


def _vectors(samples: Sequence[Sample]) -> Vector:
    """Unit vectors of the texts' words (TF-IDF), zeros for a text without any."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        weights = TfidfVectorizer(tokenizer=words_of, token_pattern=None).fit_transform([one.text for one in samples])
    except ValueError:  # not a word in any text
        return np.zeros((len(samples), 1))
    return np.asarray(weights.toarray())
