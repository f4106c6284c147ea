"""The views of a diagnosis: how much each sample is in need, by sensitivity, by consistency, by plain error.

The first two are the paper's (Appendix B and C). The third sees what they can't: samples that are wrong under every
rephrasing have S = 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.metrics import sample_consistency, sample_sensitivity

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.search_spaces import View


def need(predictions: Predictions, view: View) -> NDArray[np.float64]:
    """How much each sample is in need, seen by one view: (N,) in [0, 1], 0 where it is not.

    ``sensitivity``: S of the sample. ``consistency``: one minus its mean consistency with its class, where S > 0.
    ``accuracy``: the share of wrong answers. All but the first need labels.
    """
    counts = predictions.p_tau
    unstable = sample_sensitivity(counts)
    if view == "sensitivity":
        return unstable
    if view == "consistency":
        return np.where(unstable > 0, 1 - sample_consistency(counts, predictions.truth), 0.0)
    return predictions.share_wrong
