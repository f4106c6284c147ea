"""A search in a run directory, from start to finish: all that search call this."""

from __future__ import annotations

import contextlib
import uuid
from typing import TYPE_CHECKING, Any

import optuna
from psopt._version import __version__
from psopt.api._finishing import finish
from psopt.api._test_size import most_tested
from psopt.errors import BudgetReachedError, DamagedStudyError, InputError, NoLabelsError, say_how_to_go_on
from psopt.models.chat import asks_in_chat
from psopt.rephrasings import to_file
from psopt.runs import (
    CONTRIBUTIONS,
    PROGRAM,
    REPORT,
    STUDY,
    Found,
    Run,
    RunDirectory,
    RunRecorder,
    RunSettings,
    discard,
    recommendation_lines,
    study_name,
)
from psopt.search import Reserve, Search, SearchProblem, open_study, show_note
from psopt.search.distributed import OF_RUN, StoredStudy, StudyMetadata, check_is_there
from psopt.search.gating import check_pinned
from psopt.search.racing import races
from psopt.text import counted, escaped_markdown, shell_line

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.evaluation import Evaluator
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample


def search_in(
    directory: RunDirectory,
    problem: SearchProblem,
    settings: RunSettings,
    *,
    plan: dict[str, Any] | None = None,
    probes: tuple[Sample, ...] = (),
    program: dict[str, str] | None = None,
    resume: bool = False,
    force: bool = False,
) -> Run:
    """Search, and write the run directory, which is locked; record how the run ended, even if by an error.

    `plan` is the run's plan, as run.json keeps it, if one was made now; `probes` are samples that the user wants both
    prompts to be asked about at the end; `program` is what identifies a DSPy program.

    Raises InputError if the run to resume was about something else, unless `force`, or a pinned sample is not in test.
    Raises BudgetReachedError if a limit ends it. What was found is scored on test first, as far as the limit allows,
    and is in the error's `run`.
    """
    evaluator, observer = problem.evaluator, problem.observer
    check_pinned(settings.pinned, evaluator.samples["test"])
    # Both refuse what can't be kept, before anything is written.
    _ = problem.limits
    races(problem.options.race, evaluator)
    evaluator.show_progress(observer.answers)
    observer.budget = evaluator.budget
    recorder = RunRecorder(directory, problem.task, settings, evaluator, plan=plan)
    if resume and not force:
        recorder.check_same()
        _check_answers_kept(recorder, evaluator)
    if resume and settings.storage and recorder.before.get("baseline"):
        check_is_there(settings.storage)  # it would be made anew, and the run begin again
    search: Search | None = None
    try:
        study = _begin(recorder, problem, program, resume=resume)
        reserve = Reserve(
            evaluator, settings.leave_one_out or 0, len(settings.heldout_from), len(probes), most_tested(recorder)
        )
        worker = f"{OF_RUN}{uuid.uuid4().hex[:6]}" if settings.storage else ""
        search = Search(study, problem, worker=worker)
        stopped = _run(search, reserve)
        result, limit = finish(recorder, search, stopped, probes)
        _note_result(study, recorder, result)
    except BaseException as error:
        is_unread = isinstance(error, (NoLabelsError, InputError)) and problem.baseline_prompt.template is not None
        if is_unread and not (settings.storage or recorder.before or (search and search.candidates)):
            discard(directory.path)  # the answers to the user's own prompt can't be read, which nobody resumes
        elif directory.has_begun:
            recorder.save_broken_off(search, error)
            if not isinstance(error, DamagedStudyError):
                limit = str(error) if isinstance(error, BudgetReachedError) else ""
                say_how_to_go_on(error, _how_to_resume(recorder, limit))
        raise
    finally:
        for each in evaluator.each:
            if asks_in_chat(each.model):
                each.model.engine.keep_rate()
    if not limit:
        return result
    ending = f"{limit}; {_how_to_resume(recorder, limit)}"
    if settings.limited_by == "user":
        raise BudgetReachedError(ending, result) from stopped
    observer.phase(ending)  # it ends as planned
    return result


def _check_answers_kept(recorder: RunRecorder, evaluator: Evaluator) -> None:
    """Refuse to ask all again where a limit would end that before the test: the earlier test would be lost."""
    is_tested = (recorder.before.get("baseline") or {}).get("test") is not None
    spent = evaluator.budget.spent
    for each in evaluator.each:
        keeps_none = asks_in_chat(each.model) and not each.model.engine.keeps_answers
        if is_tested and keeps_none and not (spent + spent).fits(evaluator.budget):
            folder = str(recorder.directory.path)
            raise InputError(
                f"{folder} has been tested, and answers of {each.model.name} are kept on no disk: all would be asked "
                f"again, and the limit does not pay for that. Load it with psopt.load_run({folder!r}), or give a new "
                "out= and the function a `cache_key`, which keeps its answers"
            )


def _begin(
    recorder: RunRecorder, problem: SearchProblem, program: dict[str, str] | None, *, resume: bool
) -> StoredStudy:
    """Record what the run is about, and open its study; nothing is left behind if that can't be opened."""
    directory, settings, observer = recorder.directory, recorder.settings, problem.observer
    name = settings.study_name or directory.path.resolve().name
    if resume and not settings.storage:
        name = study_name(directory.path / STUDY) or name
    recorder.save(Found(), "running")
    if program is not None:
        directory.write_json(PROGRAM, program)
    recorder.save_rephrasings()
    try:
        study = open_study(
            settings.storage or directory.storage_url,
            name,
            settings.search.sampler,
            settings.seed,
            answers=problem.evaluator.answer_type,
            resume=resume,
            tell=observer.phase,
        )
    except InputError:
        if not recorder.before:
            discard(directory.path)
        raise
    observer.study = study
    observer.started(recorder.task, directory.path)
    _describe(study, recorder, problem.baseline_prompt)
    lines = ["What is recommended is decided at the end, on test samples. If the run was broken off:"]
    _show_note(study, recorder, "Not finished", [*lines, f"    {_what_resumes(recorder)}"])
    return study


def _describe(study: StoredStudy, recorder: RunRecorder, baseline: Prompt) -> None:
    settings, sha256 = recorder.settings, recorder.task.info.sha256
    rephrasings = recorder.evaluator.rephrasings
    asked_about = {"dataset_sha256": sha256, "model": settings.model, "rephrasings_sha256": rephrasings.sha256}
    asked_about["original_prompt"] = baseline.id
    before = study.user_attrs
    if any(before.get(key, now) != now for key, now in asked_about.items()):
        (recorder.directory.path / CONTRIBUTIONS).unlink(missing_ok=True)
        study.outdate_answers()
    versions = {"psopt_version": __version__, "optuna_version": optuna.__version__}
    for key, value in {"task": recorder.task.name, **asked_about, **versions}.items():
        study.set_user_attr(key, value)
    study.keep_baseline(baseline)
    if settings.storage:
        of_study = {**settings.to_dict(), "storage": None, "command": "", "cache_dir": ""}
        metadata = StudyMetadata(of_study, sha256, baseline.to_dict(), to_file(rephrasings), __version__)
        study.write_metadata(metadata)


def _run(search: Search, reserve: Reserve) -> BudgetReachedError | None:
    """Search until nothing is left to do, or a limit is reached, of which what the end takes is held back."""
    stopped = None
    reserve.watch(search)
    try:
        search.run()
    except BudgetReachedError as error:
        if not search.candidates:
            raise
        with contextlib.suppress(BudgetReachedError):  # as far as its reserve allows
            search.complete_front()
        has_none_complete = len(search.candidates) == 1 and search.state.waiting()
        if search.state.n_done < search.problem.options.trials or has_none_complete:
            stopped = error
    reserve.end()
    return stopped


def _how_to_resume(recorder: RunRecorder, limit: str) -> str:
    """Say where the work so far is, and how to resume it: if a limit is reached, with a higher one."""
    higher = " a higher limit" if limit else ""
    return f"what was found is in {recorder.directory.path}; resume with{higher}: {_what_resumes(recorder, limit)}"


def _what_resumes(recorder: RunRecorder, limit: str = "") -> str:
    """The command that resumes a run, or the call in Python; with the limit that is reached, or all if none is said."""
    folder, settings = recorder.directory.path, recorder.settings
    if settings.program == "python":
        return f"compile again with log_dir={str(folder)!r}"
    if settings.own_model or settings.has_own_task(recorder.task.info.source):
        return call_that_resumes(folder)
    limits = zip(("--max-calls", "--max-tokens-total", "--max-cost"), recorder.evaluator.budget.limits, strict=True)
    reached = [name for name, most in limits if limit and most is not None and (name in limit or "--" not in limit)]
    return " ".join([f"psopt resume {shell_line([folder])}", *(f"{name} N" for name in reached)])


def call_that_resumes(folder: str | Path) -> str:
    """The call that resumes a run whose model or task is an object in Python."""
    return f"psopt.optimize(task, model=.., out={str(folder)!r}, resume=True)"


_MEANING = (
    "S (sensitivity) is how far answers change with the wording, C (consistency) how alike the samples of a class are "
    "answered, both on val. Each trial is the original prompt with some edits; its parameters say which."
)


def _note_result(study: StoredStudy, recorder: RunRecorder, run: Run) -> None:
    recommended = run.recommended
    head = f"Recommended: trial {recommended.trial}"
    take = f"    psopt export {shell_line([run.path])}"
    ways = [take, f"{take} --format json"]
    if recommended.id == run.baseline.id:
        head += ", the original prompt"
        ways.append(f"{take} --pick {run.shown.id} --diff   # what was found, to look at")
    lines = [f"Prompt `{recommended.id}`, {counted(len(recommended.edits), 'edit')}."]
    if run.recommendation:
        sentence = recommendation_lines(run.recommendation.to_dict(), run.baseline.val.quality_name)[0]
        lines.append(escaped_markdown(sentence))
    _show_note(study, recorder, head, [*lines, "\n".join(ways), f"Report: `{run.path / REPORT}`"])


def _show_note(study: StoredStudy, recorder: RunRecorder, head: str, lines: list[str]) -> None:
    task = recorder.task
    about = escaped_markdown(f"{task.name} ({task.info.source}), {recorder.settings.model}")
    show_note(study, "\n\n".join([f"# {about}", _MEANING, f"## {head}", *lines]) + "\n")
