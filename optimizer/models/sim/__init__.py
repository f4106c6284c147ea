"""A simulated classifier whose sensitivity, consistency and F1 are known exactly: for tests and to study the search.

How it is made
--------------
Every text has hidden traits, drawn once by hashing it with the seed: its true label (the task's own where it has one),
one label it is confused with, a *default answer* (the class it is usually given) and an *instability* w in [0, 1].
Answers other than the default follow q: `accuracy` on the true label; of the rest a share `na` on N/A and the remainder
on the label it is confused with. The default answer is itself one draw from q, and w has mean `wobble`. Under
any wording of the prompt's description, a text is answered with class c with probability

    p(c | text) = (1 - w) [c is the default answer] + w q(c),

drawn by hashing text and description: independent between texts and between descriptions, the same in any process and
order. So p is p_tau in the limit of many rephrasings, and S, C_y and F1 follow from `SimulatedModel.profiles`:
experiments/_expected_scores.py computes them, and their means at finite Q.

What a prompt says moves p (`_cues` defines how much): a cue that concerns a text pulls it to a label with a rate r.
Rates add up to r_L for label L, and to R in total. Then exp(-R) of q remains, and a share (1 - exp(-R)) r_L / R of it
moves to L. The default answer becomes L with the same probability, by one draw per text: a text that complies does so
under every wording. Averaged over texts, one edit alone moves the share 1 - exp(-r) of the mass of the texts that it
concerns.
"""

from psopt.models.sim._model import SimOptions, SimulatedModel
