"""The attributes by which a study says how far its search has come.

They are persisted: nothing may be renamed here. The names of parameters stand in `psopt.search_spaces`.
"""

# Of the study
METADATA = "psopt:shared"  # all that a worker elsewhere needs, as JSON
BASELINE = "psopt:baseline"  # hidden; the original prompt's data
EDITS = "psopt:edits"  # ":ROUND" or ":ROUND:WORKER" follows; the new edits of that round, as JSON
ANSWERED_LATER = "psopt:further"  # ":PROMPT_ID" follows, hidden; answers on val that came after its trial was finished
TRAIN = (
    "psopt:train"  # ":ROUND" or ":ROUND:WORKER" follows; [prompt id, answers on train] of a part of its cells, as JSON
)
ROUND_LEASE = "psopt:round"  # ":ROUND" follows; [worker, beat] of who proposes its edits
CHOSEN = "psopt:chosen"  # hidden; the number of the trial to use: the best so far, at the end what is recommended

# Of a trial, among the system attributes, which the dashboard does not show
BEAT = "psopt:beat"  # [worker, beat] of who has the trial
ANSWERS = "psopt:answers"  # what was answered on val

# Of a trial, for everyone to see
PROMPT_ID = "prompt_id"
CLAIMED = "psopt:claimed"  # the worker that evaluates the prompt
DROPPED = "dropped"  # why its prompt was not evaluated
FAILED = "failed"  # why it could not be evaluated
INFEASIBLE = "infeasible"  # by how much its F1 is too low
RACED = "raced"  # how far it came, and why it went no further: "80 x 2, dominated by ID"
AUDIT = "audit"  # of one that would have stopped and was evaluated in whole: whether the stop was right or wrong
