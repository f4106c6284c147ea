"""`psopt.classify`: texts or rows in, labels out, optionally by a vote of a prompt's rephrasings."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from psopt.answers import AnswerType, NoLabel
from psopt.api._progress import reading
from psopt.errors import DataError, InputError
from psopt.evaluation import NA, Predictions, Split, evaluate_prompts, votes
from psopt.models import ModelProvider, OnProgress, calibrates
from psopt.models.chat import LMConfig, asks_in_chat
from psopt.rephrasings import RephrasingOptions, freeze_rephrasings
from psopt.runs import PromptSource, TaskPrompt, as_measured, lm_as_in_run, read_source, set_in
from psopt.search_spaces import Prompt
from psopt.settings import AnsweringOptions, DataOptions, PromptOptions, built, check_keywords, group_given
from psopt.tasks import (
    LABEL,
    ORDINAL,
    AnswerSpec,
    DatasetInfo,
    InputColumns,
    Row,
    Sample,
    Task,
    fields_of,
    in_order,
    texts_of_records,
)

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.runs import Measured

_AS_THEY_COME = AnsweringOptions()


@dataclass(frozen=True, slots=True)
class Classified:
    """A text's label, None if the answers name none, and the share of rephrasings that gave it, in (0, 1].

    The text of a row is a `psopt.tasks.Row`, which knows its columns. If there is no label, `na_kind` is the kind of
    the answers (see `NoLabel`), and `said` is one of them. `sensitivity` is the text's S, in [0, 1]: 0 under a single
    wording. `steadiness` decides which answers are left to a person (see `asking_rule`).
    """

    text: str
    label: str | None
    agreement: float
    na_kind: str | None = None
    said: str | None = None
    sensitivity: float = 0.0
    steadiness: float = 1.0


def classify(
    texts: Iterable[str | Mapping[str, Any]],
    prompt: Prompt | PromptSource | str | Path,
    *,
    prompt_options: PromptOptions | None = None,
    model: Any = None,
    vote: bool = False,
    rephrasings: int = 10,
    lm: LMConfig | None = None,
    on_progress: OnProgress | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> list[Classified]:
    """Classify texts or rows with a prompt, under its own description alone or by a vote of its rephrasings.

    The vote asks `rephrasings` times as much; ties go to the first label in the prompt's order. Raises PsoptError if
    there is no such prompt, it is not known which model it is for, or the model fails.

    Parameters
    ----------
    texts : iterable of str or mapping
        Texts; if the prompt names several fields, mappings of column to value.
    prompt : Prompt or path
        A prompt, its file, or a run directory, which stands for its recommended prompt; a run's prompt is used with the
        run's model, data and rephrasings.
    prompt_options : PromptOptions, optional
        How a user's own text or messages are read.
    model : str, callable, dspy.LM or Model, optional
        By default the one that the file says it is for. It is asked as the file says, except for what `lm` sets.
    vote : bool
    rephrasings : int
        For the vote: how many.
    lm, on_progress, progress : optional
        See `measure`.
    **settings
        Of `AnsweringOptions` by name: ``inputs``, the columns that a row's text is made of, by default those of the run
        or that the prompt names; ``labels``, for a prompt that does not know them; ``seed``, of the rephrasings that
        rules write for a vote; and ``cache_dir``. Of `LMConfig` by name, such as ``max_calls``.
    """
    if isinstance(texts, str):
        raise InputError("texts is a single text, and its letters would be classified: give a list, [text]")
    if isinstance(texts, Mapping) or hasattr(texts, "columns"):
        kind = type(texts).__name__
        raise InputError(f"texts is a {kind}, and its columns' names would be classified: give a list of rows")
    if not isinstance(texts, Iterable):
        raise InputError(f"texts is a {type(texts).__name__}: give a list of texts or rows")
    texts = list(texts)
    check_keywords(settings, AnsweringOptions, LMConfig)
    options = built(AnsweringOptions, settings)
    lm = built(LMConfig, settings, group_given("lm", lm, LMConfig))
    source = read_source(prompt, prompt_options)
    named = dict.fromkeys(name for text in texts if isinstance(text, Mapping) for name in text)
    columns = input_columns(source, options.inputs, tuple(named))
    rows = texts_of_records(texts, columns)
    if not rows:
        return []
    if vote:
        options = replace(options, wordings=rephrasings)
    keywords = {*settings, *set_in(lm)}
    if model is None:
        model = as_measured([source], keywords).model
    lm = lm_as_in_run([source], model, lm, keywords)
    classifier = Classifier(source, columns, options, model=model, lm=lm, sample_texts=rows)
    with reading(on_progress, progress) as on_reading:
        return classifier(rows, on_reading)


class Classifier:
    """A prompt and its model, prepared once, to classify texts as they come; several threads may use it at once.

    If the options ask for several wordings, each text is asked under as many, for a vote. With `split` val these are
    those of the run's search, with test the held-out ones. `sample_texts` are texts of the kind that will come, for a
    model that reads texts relative to others. For the rest see `input_columns` and `classify`.

    Raises PsoptError if the prompt can't be used.
    """

    def __init__(
        self,
        source: PromptSource,
        columns: InputColumns,
        options: AnsweringOptions = _AS_THEY_COME,
        *,
        model: Any,
        lm: LMConfig | None = None,
        sample_texts: Sequence[str] = (),
        split: Split = "val",
    ) -> None:
        self._columns = columns
        self.prompt = prompt_to_classify_with(source, options.labels, sample_texts).prompt
        self._task = source.task or _bare_task(self.prompt, sample_texts, source.measured)
        self.model = ModelProvider(options.cache_dir, lm).answering(model, self._task)
        self._prompts = [self.prompt]  # unchanged, with the label prior that it brings
        if options.wordings > 1:
            self._prompts = _rephrased(source, self.prompt, self._task, options, split)
        if calibrates(self.model):
            self.model.check_priors(self._prompts)
        if asks_in_chat(self.model):
            self.model.few_may_fail = True
        self._from_probabilities = lm is not None and lm.logprobs and self.prompt.asks == LABEL

    def __call__(self, texts: Sequence[str], on_progress: OnProgress | None = None) -> list[Classified]:
        """Classify texts, or rows; in their order. Raises PsoptError if the model fails."""
        answered = self.answered(texts, on_progress)
        unread: dict[int, list[NoLabel]] = defaultdict(list)
        for answer in answered.no_labels:
            unread[answer.sample].append(answer)
        of_texts = zip(texts, *votes(answered), strict=True)
        return [_classified(unread[place], *of_text) for place, of_text in enumerate(of_texts)]

    def answered(self, texts: Sequence[str], on_progress: OnProgress | None = None) -> Predictions:
        """Return the answers to each text under each wording; raises as the classifier does."""
        samples = [Sample(str(place), text) for place, text in enumerate(texts)]
        return evaluate_prompts(
            self.model,
            self._prompts,
            samples,
            on_progress,
            from_probabilities=self._from_probabilities,
            answer_type=AnswerType.of(self._task),
        )

    def text_of(self, content: str) -> str:
        """Read one text, or one row as a JSON object; raises DataError if a column is missing or can't be used."""
        columns = self._columns
        try:
            row = json.loads(content)
        except (ValueError, RecursionError):
            row = content
        if not isinstance(row, dict) or not (columns.needs_rows or row.keys() & set(columns.names)):
            row = content  # a text that is JSON
        (text,) = texts_of_records([row], columns, source="text")
        _check_fields(self.prompt, [text])
        return text


def _classified(
    unread: Sequence[NoLabel], text: str, label: str, share: float, spread: float, steady: float
) -> Classified:
    """A text with its label; one without a label has the most frequent kind of its answers, and one of them."""
    answer = Classified(text, label, float(share), sensitivity=float(spread), steadiness=float(steady))
    if label != NA:
        return answer
    if not unread:
        return replace(answer, label=None)
    kind = Counter(reply.kind for reply in unread).most_common(1)[0][0]
    return replace(answer, label=None, na_kind=kind, said=next(reply.said for reply in unread if reply.kind == kind))


def _rephrased(
    source: PromptSource, prompt: Prompt, task: Task, options: AnsweringOptions, split: Split
) -> list[Prompt]:
    """The prompt under as many wordings as are asked for: those of its run, otherwise those of rules."""
    rephrasings, n = source.rephrasings, options.wordings
    own = prompt.description
    if rephrasings is None or rephrasings.original.split() != own.split() or len(rephrasings.on(split)[0]) < n:
        rephrasings = freeze_rephrasings(task, prompt, n, 1, options.seed, RephrasingOptions())
    variants = rephrasings.variants("heldout" if split == "test" else "search")[:n]
    return [prompt.described_as(text, form) for text, form in variants]


def input_columns(source: PromptSource, inputs: Sequence[str] = (), columns: Sequence[str] = ()) -> InputColumns:
    """The columns that rows are shown by: those given, otherwise those of the prompt's run, otherwise the prompt's.

    `columns` are those of the rows, as far as they are known: names in a prompt count only if they are among them.
    """
    is_own_form = source.prompt is not None and source.prompt.template is None
    return replace(_columns(source, inputs, columns), texts_alone=is_own_form)


def _columns(source: PromptSource, inputs: Sequence[str], columns: Sequence[str]) -> InputColumns:
    data = source.settings.data if source.settings else DataOptions("")
    if inputs or data.inputs:
        return InputColumns(tuple(inputs) or data.inputs)
    if named := source.fields_named(columns):
        return InputColumns(candidates=named, text_column=data.text_column)
    task = source.task
    if task and task.info.source not in {"file", "hub", "memory"}:
        return InputColumns.of_builtin(task.name)
    if task and task.val and isinstance(task.val[0].text, Row):
        return InputColumns(task.val[0].text.inputs)
    return InputColumns()


def prompt_to_classify_with(source: PromptSource, labels: Sequence[str], texts: Sequence[str]) -> TaskPrompt:
    """Return the prompt with its own labels, or with the given ones for a text or messages that know none.

    Raises InputError if the labels or the prompt can't be used, DataError if a row lacks a field that it names.
    """
    if source.prompt is not None and labels and set(labels) != set(source.prompt.labels):
        own = ", ".join(source.prompt.labels)
        raise InputError(f"--label: prompt {source.path} has its own labels, {own}: leave --label out")
    if source.prompt is None and labels:
        read = source.read_for(_bare_task(Prompt("", tuple(labels)), texts))
    else:
        read = TaskPrompt(source.with_labels())
    _check_fields(read.prompt, texts)
    return read


def _check_fields(prompt: Prompt, texts: Sequence[str]) -> None:
    if prompt.template is None:
        return
    for number, text in enumerate(texts, start=1):
        fields = fields_of(text)
        if missing := [name for name in prompt.template.fields if name not in fields]:
            raise DataError(
                f"row {number} has no column {missing[0]!r}, which the prompt names; its columns: {', '.join(fields)}"
            )


def _bare_task(prompt: Prompt, texts: Sequence[str], measured: Measured | None = None) -> Task:
    """A task that holds only the texts to classify, unlabelled; answers are compared as the prompt was measured."""
    samples = tuple(Sample(str(index), text, None) for index, text in enumerate(texts))
    of_data = measured.dataset if measured else {}
    spec = AnswerSpec.read("the prompt's file", of_data.get("answers"))
    if spec.is_assessed or spec.form != prompt.asks:  # its judge may not be at hand
        spec = AnswerSpec.of_form(prompt.asks)
    positions: tuple[float, ...] = ()
    if spec.kind == ORDINAL:
        _, positions = in_order("the prompt's file", prompt.labels, tuple(of_data.get("order", ())))
    return Task(
        "texts",
        prompt.description,
        prompt.labels,
        samples,
        val=(),
        test=(),
        info=DatasetInfo("texts", "memory", ""),
        noun=prompt.noun,
        answers=str(spec),
        positions=positions,
    )
