"""Groups that a slice could be found in, known before anything is asked: samples of a class that share a sign of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.diagnosis._phrase_index import PhraseIndex
from psopt.diagnosis._slices import LEAST_MEMBERS, LEAST_PURITY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.tasks import Sample


@dataclass(frozen=True, eq=False)
class NameableGroups:
    """Samples of one class that share a phrase which, among labelled texts, is a sign of that class.

    Texts and labels alone say which ones there are; slices and notes can be of nothing else.

    Attributes
    ----------
    members : (N, G) bool
        Who belongs to each group.
    others : (N, G) bool
        Samples of other classes that show its phrase: a note might harm them.
    """

    members: NDArray[np.bool_]
    others: NDArray[np.bool_]

    @classmethod
    def of(cls, samples: Sequence[Sample], labels: Sequence[str], labelled: Sequence[Sample] = ()) -> NameableGroups:
        """Find the groups of labelled samples.

        Parameters
        ----------
        samples : sequence of Sample
        labels : sequence of str
            The classes.
        labelled : sequence of Sample, optional
            More labelled samples (all of train) from which to tell how surely a phrase means a class.
        """
        index = PhraseIndex.of([sample.text for sample in samples], min_texts=LEAST_MEMBERS)
        if not index.phrases:
            nobody = np.zeros((len(samples), 0), dtype=np.bool_)
            return cls(nobody, nobody)
        labelled = labelled or samples
        place = {label: number for number, label in enumerate(labels)}
        truth = np.array([place[str(sample.label)] for sample in samples])
        classes = np.array([place[str(sample.label)] for sample in labelled])
        purity = index.purity([sample.text for sample in labelled], classes, len(labels))
        n_members = np.asarray(index.shown.T @ np.eye(len(labels))[truth])
        phrases, of_class = np.nonzero((purity >= LEAST_PURITY) & (n_members >= LEAST_MEMBERS))
        shown = index.shown[:, phrases].toarray() > 0
        own = truth[:, None] == of_class
        return cls(shown & own, shown & ~own)
