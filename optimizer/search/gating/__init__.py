"""The gate: test samples and held-out wordings that nothing has looked at decide which prompt is handed back."""

from psopt.search.gating._gate import ALPHA, Verdict, check_pinned, gate, untested
from psopt.search.gating._measured_gain import MeasuredGain
from psopt.search.gating._nominee_test import F1_ALONE, MARGIN_OF_S, NomineeTest, OneSided, compare_nominee

__all__ = [
    "ALPHA",
    "F1_ALONE",
    "MARGIN_OF_S",
    "MeasuredGain",
    "NomineeTest",
    "OneSided",
    "Verdict",
    "check_pinned",
    "compare_nominee",
    "gate",
    "untested",
]
