"""A chat model whose free answers a judge rates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from psopt.answers import reader_for, text_of
from psopt.models.chat._model import ChatModel
from psopt.models.chat._rating_judge import RatingJudge, judge_measures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from psopt.models.chat._engine import Engine
    from psopt.models.chat._rating_judge import Judged, Rating
    from psopt.search_spaces import Prompt


class RatedChatModel(ChatModel):
    """Answers as a `ChatModel`; what an answer is worth is what a judge says.

    Parameters
    ----------
    engine : Engine
    judge : RatingJudge
    references : mapping of text to str
        What is right, by the samples' texts.
    """

    capabilities = replace(ChatModel.capabilities, has_metric_scores=True, has_judge=True)

    def __init__(self, engine: Engine, judge: RatingJudge, references: Mapping[str, str]) -> None:
        super().__init__(engine)
        self._judge = judge
        self._references = references

    def metric_scores(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> NDArray[np.float64] | None:
        """What the judge says of each answer (see `MetricScoredModel.metric_scores`); N/A is worth nothing.

        Where a judge gives a single answer no rating it is worth what the others are in the mean.
        """
        if not all(text in self._references for text in texts):
            return None
        ratings = self._ratings(prompts, texts)
        means = [rating.mean for rating in ratings.values() if rating.mean is not None]
        usual = float(np.mean(means)) if means else 0.0
        scores = np.zeros((len(texts), len(prompts)))
        for (row, column), rating in ratings.items():
            scores[row, column] = usual if rating.mean is None else rating.mean
        return scores

    def judge_measures(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> dict[str, float]:
        """How far the judge agrees with itself on these answers."""
        known = all(text in self._references for text in texts)
        return judge_measures([*self._ratings(prompts, texts).values()]) if known else {}

    def _ratings(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> dict[tuple[int, int], Rating]:
        """The ratings of all answers that could be read, by their places."""
        answers = self.engine.kept(self.queries(prompts, texts))
        judged: dict[tuple[int, int], Judged] = {}
        for place, answer in enumerate(answers):
            column, row = divmod(place, len(texts))
            prompt = prompts[column]
            reader = reader_for(prompt.answer, prompt.labels, prompt.asks)
            code = reader.read(answer.text if answer else None)
            if code != len(prompt.labels):
                judged[row, column] = (texts[row], self._references[texts[row]], text_of(code))
        return dict(zip(judged, self._judge.rate([*judged.values()]), strict=True))
