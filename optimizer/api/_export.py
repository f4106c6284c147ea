"""`psopt.export`: a run's prompt, returned in the format it came in."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.evaluation import Predictions, evaluate
from psopt.models import ModelProvider, capabilities_of, evenly_spread
from psopt.models.chat import asks_in_chat
from psopt.runs import (
    MANIFEST,
    REPHRASINGS,
    CallPrice,
    RunDirectory,
    RunSettings,
    WrittenForm,
    WrittenPrompt,
    asked_about,
    asks_the_same,
    configuration_of,
    difference,
    keeps_instructions,
    pick_note,
    price_line,
    read_back,
    read_baseline,
    read_entry,
    read_predictions,
    write_prompt,
)
from psopt.search_spaces import Edit, Prompt, apply_edits
from psopt.settings import LMConfig, check_keywords
from psopt.tasks import LABEL, Task, fields_of
from psopt.templates import with_prompt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.models.chat import Usage


@dataclass(frozen=True, eq=False)
class Exported:
    """A run's prompt as it is exported."""

    id: str
    prompt: Prompt
    text: str
    """The exact content of its file; `suffix` is how the file's name ends."""
    suffix: str
    diff: str
    """What changed against the prompt that the run started from, as a unified diff; empty if nothing did."""
    notes: tuple[str, ...]
    """What to tell the user about it."""
    before: CallPrice
    """What a call takes with the original; `after` is what it takes with this prompt."""
    after: CallPrice
    edits: tuple[Edit, ...] = ()
    """What it adds to the prompt that the run started from, and what each edit was based on."""
    verification: Verification | None = None
    """How answers compare, if that was asked for."""

    @property
    def length(self) -> str:
        """What calls take before and after, in words."""
        return price_line(self.before, self.after)


def export(
    run: str | Path,
    pick: str = "recommended",
    *,
    form: WrittenForm = "own",
    without: Sequence[str] = (),
    verify: int = 0,
    into: str | Path | None = None,
    task: Task | None = None,
    cache_dir: str | Path | None = None,
    **lm_changes: Any,
) -> Exported:
    """Return a run's prompt in the format it came in, with fields unfilled; by default the recommended one.

    Raises InputError if there is no such prompt, it has no such edit, it is to be verified without some of its edits,
    or the run's data are not available to verify it; BudgetReachedError if verifying would exceed a limit.

    Parameters
    ----------
    run : path
        The run directory.
    pick : str
        ``recommended``, ``knee``, ``short``, ``original``, ``f1``, ``sensitivity``, ``consistency``, the id of a
        prompt, or a query such as ``max F1 with S <= .05``.
    form : str
        ``own``: as the prompt came, with psopt's own form as text; ``text``: as it is shown; ``json``: to use with
        psopt; ``openai``: chat messages; ``promptfoo``: the configuration of the run, with this prompt added.
    without : sequence of str
        Ids of edits that are left out of it. The resulting prompt was not measured.
    verify : int
        Ask about this many of the run's samples through the exported text, and compare with the run's answers.
    into : path, optional
        Another promptfoo configuration: the text is that one with this prompt added. Nothing is written.
    task : Task, optional
        To verify: the run's data, by default loaded as the run did.
    cache_dir : path, optional
    **lm_changes
        Fields of `LMConfig` that differ from the run's, such as ``api_base`` or ``max_cost``; to verify.
    """
    check_keywords(lm_changes, LMConfig)
    if not isinstance(verify, int) or verify < 0:
        raise InputError(f"--verify must be a whole number of 0 or more, not {verify!r}")
    directory = RunDirectory.open(run)
    entry = read_entry(directory.path, pick)
    prompt_id = entry["id"]
    prompt = Prompt.from_dict(entry["prompt"])
    baseline = read_baseline(directory)
    edits = tuple(map(Edit.from_dict, entry.get("edits", ())))
    measured = entry.get("measured")
    notes = pick_note(directory.path, pick)
    if without:
        if verify:
            raise InputError("--verify compares with the run's answers, and it has none without these edits")
        edits = _without(edits, without)
        fewer = apply_edits(baseline, edits)
        examples = tuple(example for example in prompt.examples if example in fewer.examples)  # in their order
        # The label map stays. The prior says which prompt it belongs to, and is measured again where this one is used.
        calibration = fewer.calibration and prompt.calibration
        prompt = replace(
            prompt, definitions=fewer.definitions, notes=fewer.notes, examples=examples, calibration=calibration
        )
        prompt_id = prompt.id
        measured = measured and {**measured, "val": None, "test": None}
        notes = ["without these edits it was not measured"]
    settings = directory.read_json(MANIFEST)["settings"]
    if into is not None:
        form = "promptfoo"
    written = write_prompt(prompt, form, measured)
    if measured and written.format == "psopt" and (directory.path / REPHRASINGS).exists():
        written = write_prompt(prompt, form, _with_wordings(measured, directory))
    text, suffix = written.text, written.suffix
    if form == "promptfoo":
        file = Path(into) if into is not None else configuration_of(settings)
        if prompt.id == baseline.id:
            raise InputError(f"{file}: the run keeps the prompt that it began with, so there is nothing to add")
        text, suffix = with_prompt(file, text, f"psopt-{prompt.id}"), file.suffix
    model, around = asked_about(directory)
    verification = None
    if verify:
        verification = _verified(directory, prompt, written, verify, task, cache_dir, lm_changes)
    return Exported(
        prompt_id,
        prompt,
        text,
        suffix,
        difference(baseline, prompt, form, settings.get("prompt_file", "")),
        (*notes, *_notes(prompt, written, form, has_prior=not without)),
        CallPrice.of(baseline, model, around),
        CallPrice.of(prompt, model, around),
        edits,
        verification,
    )


def _with_wordings(measured: Mapping[str, Any], directory: RunDirectory) -> dict[str, Any]:
    """How a prompt was measured, and under which wordings: a check of the exported file repeats the run's figures."""
    content = directory.read_json(REPHRASINGS)
    wordings = {name: content[name] for name in ("original", "search", "heldout", "n_parts") if name in content}
    return {**measured, "rephrasings": {**measured["rephrasings"], **wordings}}


def _without(edits: Sequence[Edit], names: Sequence[str]) -> tuple[Edit, ...]:
    ids = {name for edit in edits for name in (edit.id, edit.parameter_name)}
    if unknown := [name for name in names if name not in ids]:
        raise InputError(f"the prompt has no edit {unknown[0]!r}: psopt export --why lists those that it has")
    return tuple(edit for edit in edits if not {edit.id, edit.parameter_name}.intersection(names))


def _notes(prompt: Prompt, written: WrittenPrompt, form: str, *, has_prior: bool) -> tuple[str, ...]:
    notes = [written.note]
    if prompt.template is not None and form in ("own", "openai") and not keeps_instructions(prompt, written):
        notes.append("read from this file, other sentences would be rephrased, or none: give --format json to psopt")
    if prompt.calibration and written.format != "psopt":
        notes.append(
            "this prompt is calibrated, which its text can't carry: psopt classify takes the label prior out of the "
            "answers, given --format json"
        )
    elif prompt.calibration and not has_prior:
        notes.append("its label prior will be measured again where it is used, since edits were left out")
    response_format = prompt.template.response_format if prompt.template else ""
    if response_format and written.format != "psopt" and not _holds(written, response_format):
        notes.append("the response format is no part of this file: send it along, as the run did")
    return tuple(filter(None, notes))


def _holds(written: WrittenPrompt, response_format: str) -> bool:
    """Whether a file is a whole request with this response format."""
    if written.suffix != ".json":
        return False
    content = json.loads(written.text)
    return isinstance(content, dict) and content.get("response_format") == json.loads(response_format)


@dataclass(frozen=True, slots=True)
class OtherAnswer:
    """A sample that is answered differently through the exported text: its id, the run's answer, and the one now."""

    sample: str
    before: str
    now: str


@dataclass(frozen=True, eq=False)
class Verification:
    """How answers through an exported text compare with those of the run."""

    n: int
    """How many were compared."""
    others: tuple[OtherAnswer, ...]
    """Those that differ."""
    usage: Usage
    """What this took."""

    @property
    def holds(self) -> bool:
        """Whether all answers are the same as the run's."""
        return not self.others

    @property
    def line(self) -> str:
        """The result, and what it cost."""
        calls = f"{self.usage.made:,} asked for, {self.usage.cached:,} known already"
        if self.usage.cost:
            calls += f", {self.usage.cost:.2g} USD"
        return f"reproduces {self.n - len(self.others)} of {self.n} answers ({calls})"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        others = [{"id": answer.sample, "before": answer.before, "now": answer.now} for answer in self.others]
        calls = {"made": self.usage.made, "cached": self.usage.cached, "cost_usd": round(self.usage.cost, 6)}
        return {"asked": self.n, "reproduced": self.n - len(others), "others": others, "calls": calls}


def _verified(
    directory: RunDirectory,
    prompt: Prompt,
    written: WrittenPrompt,
    n: int,
    task: Task | None,
    cache_dir: str | Path | None,
    lm_changes: Mapping[str, Any],
) -> Verification:
    """Ask about some of a run's val samples through the text of an exported prompt, and compare with the run's answers.

    The text is read as by somebody who has only the file. A model that reads a prompt's parts is asked with the run's
    own prompt, if the text asks the same; a server never is, since what it gets beside psopt's own form (a schema for
    the answer, examples in that form) is in no file.
    """
    settings = RunSettings.from_dict(directory.read_json(MANIFEST)["settings"])
    if settings.program:
        raise InputError("--verify can't ask a DSPy program through a text: load its state and evaluate it with dspy")
    if settings.own_model:
        raise InputError(
            f"--verify can't ask the run's model, an object in Python ({settings.model}): no name loads it"
        )
    expected = _first_answers(read_predictions(directory, prompt.id, "val"))
    try:
        task = task or settings.load_task()
    except InputError as error:
        raise InputError(f"--verify needs the data of the run, which are not at hand: {error}") from error
    samples = evenly_spread([sample for sample in task.val if sample.id in expected], n)
    if not samples:
        raise InputError(f"--verify: none of the samples that {directory.path} was measured on is in its data any more")
    texts = [sample.text for sample in samples]
    reread = read_back(prompt, written, list(fields_of(texts[0])))
    models = ModelProvider(cache_dir, settings.lm.changed(**lm_changes))
    model = models.answering(settings.models[0], task)
    asked_prompt = reread if asks_in_chat(model) or not asks_the_same(prompt, reread, texts) else prompt
    soft = settings.lm.logprobs and asked_prompt.asks == LABEL
    predictions = evaluate(model, asked_prompt, (asked_prompt.description,), samples, from_probabilities=soft)
    usage = models.budget.usage
    if not capabilities_of(model).counts_calls:
        usage.made += len(samples)
    answers = _first_answers(predictions)
    others = [OtherAnswer(name, expected[name], answer) for name, answer in answers.items() if answer != expected[name]]
    return Verification(len(samples), tuple(others), usage)


def _first_answers(predictions: Predictions) -> dict[str, str]:
    """The answers under the first wording, which is the prompt's own, by sample."""
    first = zip(predictions.samples, predictions.array[:, 0].tolist(), strict=True)
    return {sample.id: predictions.name_of(answer) for sample, answer in first}
