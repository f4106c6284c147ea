"""How badly each sample fails, by sensitivity, by consistency, by plain error.

The first two views are the paper's (Errica et al., appendices B and C). The third sees what they can't: samples that
are wrong under every rephrasing have S = 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.metrics import sample_consistency

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.search_spaces import View


def severity(predictions: Predictions, view: View) -> NDArray[np.float64]:
    """How badly each sample fails, seen by one view: (N,) in [0, 1], 0 where it does not.

    ``sensitivity``: S of the sample. ``consistency``: one minus its mean consistency with its class, where S > 0.
    ``accuracy``: the share of wrong answers. All but the first need labels.
    """
    if view == "accuracy":
        return predictions.share_wrong
    unstable = predictions.sensitivities
    if view == "sensitivity":
        return unstable
    # appendix C keeps S > 0: at S = 0 consistency only counts how many of the class are answered otherwise
    return np.where(unstable > 0, 1 - sample_consistency(predictions.p_tau, predictions.truth), 0.0)
