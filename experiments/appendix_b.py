"""Fixing a prompt from sensitivity: appendix B of Errica et al., by hand and by psopt.

    PSOPT_DATA_DIR=... python experiments/appendix_b.py [--model minilm openai/gpt-4o ..]

TREC's test questions under 30 held-out wordings. The ten questions of each topic with the highest S: how many of 30
answers are right, and S, before, with the paper's sentence, with a sentence of the same form about something else, and
with the knee of a search that has seen neither questions nor wordings: in full, with its notes alone, and with its
definitions alone (the data set's own are written by hand). Expected: the sentence turns answers right and lowers S, the
placebo does not, and psopt finds edits as good. Also: how many of the ten with the highest S are on the topic.
"""

from __future__ import annotations

from _fixes import Fix, study
from _setting import Setting

FIXES = (
    Fix("dates", "Number", "Questions about dates belong to Number.", lambda sample: sample.subclass == "date"),
    Fix("colours", "Entity", "Questions about colors belong to Entity.", lambda sample: sample.subclass == "color"),
)

if __name__ == "__main__":
    study(Setting.read(__doc__), "sensitivity", FIXES, "appendix_b")
