"""Tickets as they come, the answers of a model that shakes on them, and what is proposed by rule."""

from __future__ import annotations

import pytest
from psopt.diagnosis import diagnose_predictions
from psopt.evaluation import Predictions, evaluate
from psopt.models.sim import SimulatedModel
from psopt.proposals import propose_edits
from psopt.search_spaces import Edit, seed_prompt
from psopt.tasks import Task

from tests.messy_tickets import messy_tickets


@pytest.fixture(scope="session")
def tickets() -> Task:
    return Task.from_records(messy_tickets(), inputs=("subject", "body"), label_column="team", noun="mail")


@pytest.fixture(scope="session")
def ticket_answers(tickets: Task) -> Predictions:
    model = SimulatedModel("accuracy=0.6,wobble=0.4", tickets)
    return evaluate(model, seed_prompt(tickets), [f"wording {number}" for number in range(6)], tickets.train)


@pytest.fixture(scope="session")
def ticket_edits(tickets: Task, ticket_answers: Predictions) -> list[Edit]:
    diagnosis = diagnose_predictions(ticket_answers, labelled=tickets.train)
    proposed = propose_edits(tickets, seed_prompt(tickets), ticket_answers, diagnosis)
    assert {edit.kind for edit in proposed} == {"note", "example"}
    return proposed
