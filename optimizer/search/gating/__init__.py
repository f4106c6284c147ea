"""The gate: test samples and held-out wordings that nothing has used before decide which prompt is recommended."""

from psopt.search.gating._gate import Verdict, check_pinned, gate, stand_ins, untested
from psopt.search.gating._nominee_test import BOTH, F1_ALONE, MARGIN_OF_S, MeasuredGain, NomineeTest
