"""A task model that is asked in chat messages; its answers are watched, so that a hopeless grid stops early."""

from __future__ import annotations

import logging
import random
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from psopt.answers import ANSWER_FORMS, CUT_OFF, EMPTY, NO_LABEL_CURES, NoLabel, reader_for, shown
from psopt.errors import InputError, ModelError, NoLabelsError, UnansweredError
from psopt.models._base import NOT_ASKED, Capabilities, WholeGrids, all_cells, capabilities_of
from psopt.models.chat._address import public_address
from psopt.models.chat._client import Query
from psopt.models.chat._dialect import read_response_format
from psopt.models.chat._label_probabilities import label_probabilities
from psopt.models.chat._token_counts import tokens_of_answer, tokens_of_query, unread_line
from psopt.search_spaces import render
from psopt.tasks import LABEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from psopt.answers import AnswerReader
    from psopt.models._assessment import Assessment, Assessor
    from psopt.models._base import Cells, Floats, Ints, Model, Progress, Prompts, Texts
    from psopt.models.chat._client import Answer
    from psopt.models.chat._engine import Engine
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample
    from typing_extensions import TypeIs

_LOGGER = logging.getLogger("psopt.waiting")  # the command line shows its messages
# At least one of this many answers must name a label before the rest is asked for. If one answer in five names a
# label, the chance that twenty answers name none is about 1 %.
FIRST = 20
_EXAMPLES = 3  # answers that a message quotes
# How reasoning begins: <think> and similar tags, Mistral's [THINK], gpt-oss's channel.
_THINKS = re.compile(r"\s*(?:<(?:think|thinking|thought|reasoning)>|\[THINK\]|<\|channel\|>analysis)", re.IGNORECASE)
T = TypeVar("T")
_BEGINNING = 40  # characters, and tokens: more than the longest of these openings has


class ChatModel(WholeGrids):
    """Classifies by asking a chat model, prompt by prompt, the text last, so that servers can cache common beginnings.

    The first answers are checked before the rest is asked for: if none of them names a label, that is an error, not a
    prompt with S = 0.
    """

    capabilities = Capabilities(
        counts_calls=True,
        has_probabilities=True,
        has_explanations=True,
        asks_in_chat=True,
        has_cells=True,
        writes=True,
        has_confidences=True,
    )

    def __init__(self, engine: Engine, assessor: Assessor | None = None) -> None:
        self.engine = engine
        self._assessor = assessor
        self.capabilities = replace(self.capabilities, is_assessed=assessor is not None)
        # Whether fewer than twenty answers may all name no label: so where a prompt is used and not measured
        self.few_may_fail = False
        self.answered_by: Counter[str] = Counter()  # number of answers by the model that responses name, if any
        self._is_read_in_whole = True
        self._readable: set[str] = set()  # forms of answers in which a label was found
        self.name = engine.client.name
        self.server = public_address(engine.client.endpoint)  # without secrets; None where DSPy decides it

    def predict_cells(self, prompts: Prompts, texts: Texts, cells: Cells, on_progress: Progress = None) -> Ints:
        """Classify some texts under some prompts, all in flight at once; see `AbleModel.predict_cells`."""
        answers = self._ask(prompts, texts, cells, on_progress)
        readers = _readers(prompts)
        array = np.full(cells.shape, NOT_ASKED, dtype=np.int64)
        for (column, row), answer in zip(np.argwhere(cells.T), answers, strict=True):
            array[row, column] = readers[column].read(answer.text, is_cut=answer.truncated)
        return array

    def predict_proba_cells(self, prompts: Prompts, texts: Texts, cells: Cells, on_progress: Progress = None) -> Floats:
        """Return the probability of each label, and of naming none; raises ModelError if the server sends none."""
        answers = self._ask(prompts, texts, cells, on_progress)
        labels = prompts[0].labels
        probabilities = np.full((len(prompts), len(texts), len(labels) + 1), np.nan)
        rows = np.array([self._probabilities(answer, labels) for answer in answers])
        probabilities[cells.T] = rows.reshape(len(answers), len(labels) + 1)
        return probabilities.swapaxes(0, 1)

    def queries(self, prompts: Prompts, texts: Texts, cells: Cells | None = None) -> list[Query]:
        """The queries, in the order in which they are sent: all, or where `cells`, (n_texts, n_prompts), is True.

        Prompt by prompt, so that requests with a common beginning go out next to each other.
        """
        if prompts and prompts[0].template is not None:
            self.engine.meter.expect(tokens_of_answer(prompts[0]))
        if cells is None:
            cells = all_cells(prompts, texts)
        return [self._query(prompts[column], texts[row]) for column, row in np.argwhere(cells.T)]

    def _query(self, prompt: Prompt, text: str) -> Query:
        """One request; with a user's template it is the user's own, and psopt adds nothing."""
        options, own = self.engine.options, prompt.template
        is_open = prompt.asks != LABEL
        is_label = prompt.answer == "label" and not is_open
        if options.logprobs and not is_label and not is_open:
            raise InputError(
                f"--logprobs needs answers that are a label alone, and this prompt's are read as {prompt.answer}:"
                " leave --logprobs out"
            )
        form = own.response_format if own else ""
        return Query(
            render(prompt, text),
            labels=prompt.labels if is_label and (options.logprobs or not own) else (),
            response_format=form and read_response_format(form),
            max_tokens=options.most_tokens(prompt.answer if own else prompt.asks) if own or not is_label else None,
            has_confidence=options.logprobs and is_open,
            is_own=own is not None,
            asking=prompt.asking,
        )

    def no_labels(self, prompts: Prompts, texts: Texts, array: Ints) -> tuple[NoLabel, ...]:
        places = [(int(row), int(column)) for row, column in np.argwhere(array == len(prompts[0].labels))]
        queries = [self._query(prompts[column], texts[row]) for row, column in places]
        readers = _readers(prompts)
        return tuple(
            NoLabel(row, column, kind_of(answer, readers[column]), shown(answer.text or answer.reason))
            for (row, column), answer in zip(places, self.engine.kept(queries), strict=True)
            if answer is not None
        )

    def confidences(self, prompts: Prompts, texts: Texts, array: Ints) -> Floats | None:
        if not self.engine.options.logprobs or prompts[0].asks == LABEL:
            return None
        is_asked = array != NOT_ASKED
        cached_answers = self.engine.kept(self.queries(prompts, texts, is_asked))
        told = [answer and answer.confidence for answer in cached_answers]
        by_prompt = np.full((len(prompts), len(texts)), np.nan)  # as queries are: prompt by prompt
        by_prompt[is_asked.T] = np.array(told, dtype=np.float64)
        return by_prompt.T

    def assess(self, array: Ints, samples: Sequence[Sample]) -> Assessment:
        assert self._assessor is not None  # noqa: S101  # `capabilities` says so
        return self._assessor.assess(array, samples)

    def _ask(self, prompts: Prompts, texts: Texts, cells: Cells, on_progress: Progress) -> list[Answer]:
        form = prompts[0].answer
        is_trusted = form in self._readable
        monitor = AnswerMonitor(self, prompts[0], is_trusted=is_trusted, n_left_out=int((~cells).sum()))
        queries = self.queries(prompts, texts, cells)
        answers = self.engine.answers(queries, on_progress, monitor)
        self._note_models(answers)
        self._note_unread(queries, answers)
        if monitor.is_trusted:
            self._readable.add(form)
        return answers

    def _note_models(self, answers: Sequence[Answer]) -> None:
        """Count which models have answered, and warn about a second one: proxies fall back to others."""
        n_before = len(self.answered_by)
        self.answered_by.update(answer.model for answer in answers if answer.model)
        if len(self.answered_by) > max(1, n_before):
            shares = [f"{model} {n}" for model, n in self.answered_by.most_common()]
            _LOGGER.warning(
                f"{self.name}: several models have answered ({', '.join(shares)} answers): S counts their differences "
                "too; switch the server's fall-back off, or name one of them by --model"
            )

    def _note_unread(self, queries: Sequence[Query], answers: Sequence[Answer]) -> None:
        """Warn once if the server's token counts show that it does not read prompts completely."""
        if not self._is_read_in_whole:
            return
        warning = unread_line(
            (tokens_of_query(query).low, answer.tokens_in) for query, answer in zip(queries, answers, strict=True)
        )
        if warning:
            self._is_read_in_whole = False
            _LOGGER.warning(f"{self.name}: {warning}")

    def _probabilities(self, answer: Answer, labels: Sequence[str]) -> list[float]:
        if not answer.text:
            return [*(0.0 for _ in labels), 1.0]
        check_probabilities(self.name, answer)
        return label_probabilities(answer.logprobs or [], labels)


def _readers(prompts: Prompts) -> list[AnswerReader]:
    return [reader_for(prompt.answer, prompt.labels, prompt.asks) for prompt in prompts]


def asks_in_chat(model: Model) -> TypeIs[ChatModel]:
    """Whether the model has `queries` and an `engine` that knows which of them are answered."""
    return capabilities_of(model).asks_in_chat


class AnswerMonitor:
    """Watches the answers to one grid; `prompt` is any of its prompts, and says how its answers are read.

    Refusals are compared with the whole grid, also with the `n_left_out` that are not asked for: a part may have more
    than its share of the texts that a server refuses.
    """

    def __init__(self, model: ChatModel, prompt: Prompt, *, is_trusted: bool, n_left_out: int) -> None:
        self.is_trusted = is_trusted  # whether the model is known to name labels
        self._name = model.name
        self._reader = reader_for(prompt.answer, prompt.labels, prompt.asks)
        self._is_own_prompt = prompt.template is not None
        self._asks_for_labels = prompt.asks == LABEL
        self._options = model.engine.options
        self._least = FIRST if model.few_may_fail else 1  # answers before it is an error that none names a label
        self._n_left_out = n_left_out
        self._total = 0
        self._n_seen = 0
        self._kinds: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._quoted: list[str] = []
        self._n_thoughts = 0

    def begin(self, total: int, kept: Iterable[Answer]) -> None:
        """Note how many different answers the grid has, and observe those that are already known."""
        self._total = total
        for answer in kept:
            self.observe(answer)

    def parts(self, keys: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
        """Yield the keys to ask for: the first few, then the rest; raises NoLabelsError if none names a label."""
        if self._n_seen >= FIRST:
            self._check()
        n_first = max(1, FIRST - self._n_seen)
        if len(keys) > n_first and not self.is_trusted:
            first = spread(keys, n_first)
            yield first
            self._check()
            keys = [key for key in keys if key not in first]
        if keys:
            yield keys
        self._check()

    def observe(self, answer: Answer) -> None:
        """Take an answer into account; raises UnansweredError or ModelError if the rest need not be asked."""
        self._n_seen += 1
        if answer.unanswered:
            self._observe_refusal(answer)
        if self.is_trusted:
            return
        if self._options.logprobs and answer.text:
            check_probabilities(self._name, answer, of_labels=self._asks_for_labels)
        if self._reader.read(answer.text, is_cut=answer.truncated) != len(self._reader.labels):
            self.is_trusted = True
            return
        self._kinds[kind_of(answer, self._reader)] += 1
        self._n_thoughts += answer.is_thought
        quoted = shown(answer.text or answer.reason)
        if quoted and quoted not in self._quoted and len(self._quoted) < _EXAMPLES:
            self._quoted.append(quoted)

    def _observe_refusal(self, answer: Answer) -> None:
        self._refused[answer.unanswered or ""] += 1
        most = self._options.max_unanswered
        n_grid = self._total + self._n_left_out
        if self._refused.total() <= most * n_grid:
            return
        raise UnansweredError(
            f"{self._name} refuses texts for good: {_listed(self._refused)}, of {self._n_seen} answers so far"
            f" ({n_grid} in all); that is more than --max-unanswered {most:g} allows;"
            f" the last was: {shown(answer.reason)!r}; leave such texts out or shorten them, or raise --max-unanswered"
        )

    def _check(self) -> None:
        if self.is_trusted or self._n_seen < self._least:
            return
        which = f"the first {self._n_seen}" if self._n_seen < self._total else f"{self._n_seen}"
        message = f"{self._name}: none of {which} answers names a label"
        if self._is_own_prompt:
            message += f" where --answer {self._reader.spec} looks for it"
        message += f" ({_listed(self._kinds)})"
        if self._quoted:
            message += f"; it said: {', '.join(map(repr, self._quoted))}"
        raise NoLabelsError(f"{message}; {self._cure()}")

    def _cure(self) -> str:
        kind, n = self._kinds.most_common(1)[0]
        if kind == CUT_OFF:
            form = self._reader.spec if self._is_own_prompt else LABEL
            limit = self._options.most_tokens(form)
            return f"all their tokens went before the label came: raise --max-tokens ({limit}), or think less"
        if self._n_thoughts > n / 2:
            return (
                "the server sends them as reasoning, without an answer: switch off its reasoning parser, "
                "or the model's thinking"
            )
        if self._is_own_prompt and kind != EMPTY:
            return (
                f"say by --answer where the label stands ({', '.join(ANSWER_FORMS)}), or look whether the labels are"
                " those that the prompt asks for"
            )
        cure = NO_LABEL_CURES.get(kind, "take another model, or texts that it answers")
        if self._options.structured and not self._is_own_prompt:
            return f"try --plain, or {cure}"
        return cure


def check_probabilities(name: str, answer: Answer, *, of_labels: bool = True) -> None:
    """Raise ModelError if the probabilities of the labels, or else of its tokens, can't be read from an answer."""
    if (answer.logprobs if of_labels else answer.confidence) is None:
        raise ModelError(f"{name} sent no log-probabilities with its answers: leave --logprobs out")
    if _THINKS.match("".join(token for token, _ in (answer.logprobs or ())[:_BEGINNING])):
        raise ModelError(
            f"{name} thinks before it answers ({shown(answer.text)!r}), so that the probabilities of its first tokens"
            " say nothing about the labels: leave --logprobs out, or switch its thinking off"
        )


def kind_of(answer: Answer, reader: AnswerReader) -> str:
    """Return the kind of an answer that names no label, as in `NoLabel`."""
    if answer.truncated and not answer.unanswered:
        return CUT_OFF
    return answer.unanswered or reader.kind(answer.text)


def _listed(kinds: Counter[str]) -> str:
    return ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())


def spread(keys: Sequence[T], n: int) -> list[T]:
    """Draw `n` from the whole grid, in its order and always the same, so that no one rephrasing or sample decides."""
    drawn = random.Random(0).sample(range(len(keys)), min(n, len(keys)))  # noqa: S311  # nothing secret
    return [keys[place] for place in sorted(drawn)]
