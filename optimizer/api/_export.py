"""`psopt.export`: a prompt of a run, handed back in the format it came in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.api._verify import verify_written
from psopt.errors import InputError
from psopt.runs import (
    MANIFEST,
    CallPrice,
    RunDirectory,
    asked_about,
    difference,
    pick_note,
    price_line,
    read_baseline,
    read_entry,
    write_prompt,
)
from psopt.search_spaces import Edit, Prompt, apply_edits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.api._verify import Verification
    from psopt.runs import WrittenForm, WrittenPrompt
    from psopt.tasks import Task


@dataclass(frozen=True, eq=False)
class Exported:
    """A prompt of a run as it is handed back.

    Attributes
    ----------
    id : str
    prompt : Prompt
    text : str
        What a file of it holds, to the last byte; `suffix` is how such a file's name ends.
    suffix : str
    diff : str
        What changed against the prompt that the run started from, as a unified diff; empty where nothing did.
    notes : tuple of str
        What is to be said of the format.
    before, after : CallPrice
        What a call takes with the original, and with this prompt.
    edits : tuple of Edit
        What it adds to the prompt that the run started from, and what each was drawn from.
    verification : Verification or None
        How answers compare, where that was asked for.
    """

    id: str
    prompt: Prompt
    text: str
    suffix: str
    diff: str
    notes: tuple[str, ...]
    before: CallPrice
    after: CallPrice
    edits: tuple[Edit, ...] = ()
    verification: Verification | None = None

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
    task: Task | None = None,
    cache_dir: str | Path | None = None,
    **lm_changes: Any,
) -> Exported:
    """Hand a prompt of a run back in the format it came in, with fields unfilled; by default the recommended one.

    Parameters
    ----------
    run : path
        The run directory.
    pick : str
        ``recommended``, ``knee``, ``short``, ``f1``, ``sensitivity``, ``consistency``, an id, or ``max F1 with S <=
        .05`` and the like.
    form : str
        ``own``: as the prompt came, psopt's own form as text; ``text``: as it is shown; ``json``: to use with psopt;
        ``openai``: chat messages.
    without : sequence of str
        Ids of edits that are left out of it. What is left was not measured.
    verify : int
        Ask for so many of the run's samples through the exported text, and compare with the answers that the run had.
    task : Task, optional
        To verify: the run's data, by default loaded as the run did.
    cache_dir : path, optional
    **lm_changes
        Fields of `LMConfig` that differ from the run's, such as ``api_base`` or ``max_cost``; to verify.

    Raises
    ------
    InputError
        If there is no such prompt, it has no such edit, it is to be verified without some of its edits, or the run's
        data are not at hand to verify it.
    BudgetReachedError
        If verifying would pass a limit.
    """
    directory = RunDirectory.open(Path(run))
    entry = read_entry(directory.path, pick)
    prompt = Prompt.from_dict(entry["prompt"])
    baseline = read_baseline(directory, prompt)
    edits = tuple(map(Edit.from_dict, entry.get("edits", ())))
    if without:
        if verify:
            raise InputError("--verify compares with the run's answers, and it has none without these edits")
        edits = _without(edits, without)
        prompt = _of_edits(baseline, prompt, edits)
    settings = directory.read_json(MANIFEST)["settings"]
    written = write_prompt(prompt, form, entry.get("measured"))
    model, around = asked_about(directory)
    return Exported(
        prompt.id if without else entry["id"],
        prompt,
        written.text,
        written.suffix,
        difference(baseline, prompt, form, settings.get("prompt_file", "")),
        (*pick_note(directory.path, pick), *_notes(prompt, written)),
        CallPrice.of(baseline, model, around),
        CallPrice.of(prompt, model, around),
        edits,
        verify_written(directory, prompt, written, verify, task, cache_dir, lm_changes) if verify else None,
    )


def _without(edits: Sequence[Edit], names: Sequence[str]) -> tuple[Edit, ...]:
    ids = {name for edit in edits for name in (edit.id, edit.parameter_name)}
    if unknown := [name for name in names if name not in ids]:
        raise InputError(f"the prompt has no edit {unknown[0]!r}: psopt export --why lists those that it has")
    return tuple(edit for edit in edits if not {edit.id, edit.parameter_name}.intersection(names))


def _of_edits(baseline: Prompt, prompt: Prompt, edits: Sequence[Edit]) -> Prompt:
    """A prompt with these of its edits alone; its examples stay in their order."""
    rebuilt = apply_edits(baseline, edits)
    examples = tuple(example for example in prompt.examples if example in rebuilt.examples)
    return replace(
        prompt,
        definitions=rebuilt.definitions,
        notes=rebuilt.notes,
        examples=examples,
        calibration=rebuilt.calibration,  # a label prior is that of one prompt: it is measured anew where it is used
    )


def _notes(prompt: Prompt, written: WrittenPrompt) -> tuple[str, ...]:
    notes = [written.note] if written.note else []
    if prompt.calibration and written.format != "psopt":
        notes.append(
            "this prompt is calibrated, which its text can't carry: psopt classify takes the label prior out of the "
            "answers, given --format json"
        )
    if prompt.template is not None and prompt.template.response_format and written.format != "psopt":
        notes.append("the response format is no part of this file: send it along, as the run did")
    return tuple(notes)
