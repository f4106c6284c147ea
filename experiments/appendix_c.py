"""Fixing a prompt from consistency: appendix C of Errica et al., by hand and by psopt.

    PSOPT_DATA_DIR=... python experiments/appendix_c.py [--model minilm openai/gpt-4o ..]

As in appendix B, for the ten questions of a topic that agree least with their class and have S > 0. Also the topic's
share of the ten weakest of the class, against its share of those that one wording gets wrong (Q = 1). Expected: the
sentences turn answers right; at least half of the questions end at S = 0; the share is higher than at Q = 1.
"""

from __future__ import annotations

from _fixes import Fix, study
from _setting import Setting
from psopt.text import shows

WHAT_IS = 'Questions that begin with "What is" or "What does" and ask what something means belong to Description.'


def _asks_what_it_is(sample: object) -> bool:
    text, label = sample.text, sample.label  # type: ignore[attr-defined]
    means = shows(text, "^what does") and shows(text, "mean")
    return label == "Description" and (means or any(shows(text, start) for start in ("^what is", "^what are")))


FIXES = (
    Fix("colours", "Entity", "Questions about colors belong to Entity.", lambda sample: sample.subclass == "color"),
    Fix("what is", "Description", WHAT_IS, _asks_what_it_is),
)

if __name__ == "__main__":
    study(Setting.read(__doc__), "consistency", FIXES, "appendix_c")
