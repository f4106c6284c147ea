"""A round: diagnose a prompt on train, propose edits for what is found, and name the candidates that are obvious."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.diagnosis import diagnose_predictions, without_suspects
from psopt.search_spaces import allowed_edits, first_parameters

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psopt.diagnosis import Diagnosis
    from psopt.evaluation import Predictions
    from psopt.proposals import NoVerbatim
    from psopt.search._problem import SearchProblem
    from psopt.search._train_diagnoses import TrainDiagnoses
    from psopt.search_spaces import Edit, Prompt


def new_edits(problem: SearchProblem, prompt: Prompt, pool: Sequence[Edit], diagnoses: TrainDiagnoses) -> list[Edit]:
    """Return the edits that a round adds to the pool, most to gain first."""
    restriction = problem.options.parts
    # Of a sample whose label may be wrong nothing is to be learnt.
    on_train = without_suspects(diagnoses.predictions(prompt), labelled=problem.task.train)
    diagnosis = diagnose_predictions(on_train, labelled=problem.task.train).of_views(restriction.views)
    proposed = allowed_edits(_propose(problem, prompt, on_train, diagnosis, pool), restriction)
    if problem.no_verbatim is not None:
        proposed = _without_verbatim(problem, problem.no_verbatim, proposed)
    in_pool = {edit.id for edit in pool}
    return first_parameters([edit for edit in proposed if edit.id not in in_pool], problem.options.most_edits)


def _without_verbatim(problem: SearchProblem, check: NoVerbatim, edits: Sequence[Edit]) -> list[Edit]:
    """Leave out edits that hold text of samples; of drafts it is noted down why."""
    objections = check.refused(edits)
    if problem.proposer is not None:
        problem.proposer.refuse({edit: objections[edit.id] for edit in edits if edit.id in objections})
    return [edit for edit in edits if edit.id not in objections]


def _propose(
    problem: SearchProblem, prompt: Prompt, on_train: Predictions, diagnosis: Diagnosis, pool: Sequence[Edit]
) -> list[Edit]:
    """Propose edits by rule, and by a language model where there is one."""
    by_rule = problem.propose(problem.task, prompt, on_train, diagnosis, pool)
    if problem.proposer is None:
        return by_rule
    problem.observer.phase(f"{problem.proposer.writer.name} drafts edits")
    rephrasings = problem.evaluator.rephrasings.search
    by_model = problem.proposer.propose(problem.task, prompt, on_train, diagnosis, rephrasings, [*pool, *by_rule])
    return sorted([*by_rule, *by_model], key=lambda edit: (-edit.gain, edit.id))


def obvious_choices(
    new: Sequence[Edit], labels: Iterable[str], *, with_examples_alone: bool = False
) -> list[list[Edit]]:
    """Return what is tried first of a round's edits: all of them, plain families of them, and the best few."""
    notes = [edit for edit in new if edit.kind == "note"]
    definitions = [edit for edit in new if edit.kind == "definition"]
    of_whole_labels = [edit for edit in definitions if edit.provenance.topic in set(labels)]
    gaining = [edit for edit in new if edit.gain > 0]
    better_half = gaining[: (len(gaining) + 1) // 2]
    examples = [edit for edit in new if edit.kind == "example"]
    alone = [examples] if with_examples_alone and examples else []
    return [list(new), *alone, notes + definitions, notes + of_whole_labels, notes, better_half]
