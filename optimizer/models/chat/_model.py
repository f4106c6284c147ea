"""A task model that is asked in chat messages."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from psopt.answers import NoLabel, reader_for, shown
from psopt.errors import InputError
from psopt.models._base import NOT_ASKED, Capabilities, WholeGrids, all_cells, capabilities_of
from psopt.models.chat._address import public_address
from psopt.models.chat._answer_monitor import FIRST, AnswerMonitor, check_probabilities, kind_of
from psopt.models.chat._client import Query
from psopt.models.chat._dialect import read_response_format
from psopt.models.chat._label_probabilities import label_probabilities
from psopt.models.chat._token_counts import tokens_of_answer, tokens_of_query, unread_line
from psopt.models.chat._wait_notices import WaitNotices
from psopt.search_spaces import render
from psopt.tasks import LABEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.answers import AnswerReader
    from psopt.models._assessment import Assessment, Assessor
    from psopt.models._base import Cells, Floats, Ints, Model, Progress, Prompts, Texts
    from psopt.models.chat._client import Answer
    from psopt.models.chat._engine import Engine
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample
    from typing_extensions import TypeIs


class ChatModel(WholeGrids):
    """Classifies by asking a chat model, prompt by prompt, the text last, so that servers can cache common beginnings.

    If none of the first answers names a label, that is an error, not a prompt with S = 0.
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
        self._notices = WaitNotices(self.name)
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
        wanted = all_cells(prompts, texts) if cells is None else cells
        return [self._query(prompts[column], texts[row]) for column, row in np.argwhere(wanted.T)]

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
        monitor = AnswerMonitor(
            self.name,
            prompts[0],
            self.engine.options,
            is_trusted=form in self._readable,
            least=FIRST if self.few_may_fail else 1,
            n_left_out=int((~cells).sum()),
        )
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
            self._notices.say(
                f"several models have answered ({', '.join(shares)} answers): S counts their differences too; switch "
                "the server's fall-back off, or name one of them by --model"
            )

    def _note_unread(self, queries: Sequence[Query], answers: Sequence[Answer]) -> None:
        """Warn once if the server's token counts show that it does not read prompts completely."""
        pairs = zip(queries, answers, strict=True)
        counted = ((tokens_of_query(query).low, answer.tokens_in) for query, answer in pairs)
        if self._is_read_in_whole and (warning := unread_line(counted)):
            self._is_read_in_whole = False
            self._notices.say(warning)

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
