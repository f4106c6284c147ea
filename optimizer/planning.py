"""What a run would take, before anything is sent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from psopt.models.chat import ChatModel, Price, price_of
from psopt.optimization import N_HELDOUT, make_evaluator
from psopt.parts import KINDS
from psopt.prompts import render, seed_prompt
from psopt.proposals.written import MOST_GROUPS, N_DRAFTS
from psopt.search_spaces import SHOWN

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.evaluator import Evaluator, Split
    from psopt.prompts import Prompt
    from psopt.runs import RunSettings
    from psopt.tasks import Task

_CHARACTERS_A_TOKEN = 4
_TOKENS_OF_AN_ANSWER = 8
_TOKENS_OF_A_DRAFT = 1500


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a run.

    Attributes
    ----------
    what : str
    calls : int
        Requests, exactly; those whose answers are in the cache among them.
    cached : int
        How many of them need not be sent, as far as their prompts are known already.
    tokens : int
        About how many tokens they read and write, at four characters each and with the seed prompt's length.
    times : str
        Why the phase may come several times, or not at all; empty if it comes once.
    """

    what: str
    calls: int
    cached: int
    tokens: int
    times: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would take at most; the phases' sum, but for the front, whose size nobody knows before."""

    phases: tuple[Phase, ...]
    price: Price | None

    @property
    def calls(self) -> int:
        """Requests in all, with the baseline and one more prompt scored on test."""
        return sum(phase.calls for phase in self.phases)

    @property
    def tokens(self) -> int:
        """Tokens in all, about."""
        return sum(phase.tokens for phase in self.phases)

    @property
    def cost(self) -> float | None:
        """US dollars, about; None without a price."""
        written = self.calls * _TOKENS_OF_AN_ANSWER
        return self.price.of(self.tokens - written, written) if self.price else None


def plan_run(task: Task, settings: RunSettings, cache_dir: str | Path | None = None) -> Plan:
    """Count the calls of a run, phase by phase; nothing is sent."""
    prompt = seed_prompt(task, settings.strategy, seed=settings.seed)
    unwritten = replace(settings, rephraser=None, judge=None, proposer=None)
    evaluator = make_evaluator(task, prompt, unwritten, cache_dir)

    def phase(what: str, split: Split, times: int = 1, why: str = "") -> Phase:
        calls, cached, tokens = _grid(evaluator, prompt, split)
        return Phase(what, calls * times, cached if times == 1 or split == "train" else 0, tokens * times, why)

    left_out = settings.leave_one_out or 0
    phases = (
        *_writing(task, prompt, settings),
        phase("seed prompt on val", "val"),
        phase(
            "diagnoses on train",
            "train",
            min(settings.rounds, settings.trials - 1),
            "one a round, none where the best prompt stays the same",
        ),
        phase("candidates on val", "val", settings.trials - 1, "one a trial"),
        phase("seed prompt on test", "test"),
        phase("front on test", "test", 1, "once for each prompt of the front: 1 is counted here"),
        *([phase("edits left out, on val", "val", left_out + len(KINDS), "at most")] if left_out else []),
    )
    return Plan(phases, price_of(evaluator.model.name))


def _writing(task: Task, prompt: Prompt, settings: RunSettings) -> list[Phase]:
    """What models that write are asked; each text that is refused is asked for again."""
    phases = []
    length = len(prompt.description) // _CHARACTERS_A_TOKEN
    if settings.rephraser not in {None, "rules"} and settings.rephrasings_file is None:
        n_texts = settings.rephrasings - 1 + N_HELDOUT
        why = "more where texts are refused"
        phases.append(Phase("rephrasings, written", n_texts, 0, n_texts * length * (SHOWN + 3), why))
        if settings.judge is not None:
            phases.append(Phase("rephrasings, judged", n_texts, 0, n_texts * length * 3, why))
    if settings.proposer not in {None, "rules"}:
        rounds = min(settings.rounds, settings.trials - 1)
        n_drafts = rounds * N_DRAFTS * (MOST_GROUPS + min(MOST_GROUPS, len(task.labels)))
        phases.append(
            Phase("drafts of edits", n_drafts, 0, n_drafts * _TOKENS_OF_A_DRAFT, "fewer where fewer groups shake")
        )
    return phases


def _grid(evaluator: Evaluator, prompt: Prompt, split: Split) -> tuple[int, int, int]:
    """Calls, cached ones and tokens of one prompt on a split."""
    worded = evaluator.rephrasings.worded("heldout" if split == "test" else "search")
    prompts = [prompt.described_as(text, form) for text, form in worded]
    texts = [sample.text for sample in evaluator.samples[split]]
    messages = [render(one, text) for one in prompts for text in texts]
    calls = len({str(one) for one in messages})
    characters = sum(len(part["content"]) for one in messages for part in one)
    tokens = characters // _CHARACTERS_A_TOKEN + calls * _TOKENS_OF_AN_ANSWER
    model = evaluator.model
    cached = calls - model.engine.n_missing(model.queries(prompts, texts)) if isinstance(model, ChatModel) else 0
    return calls, cached, tokens
