"""What a search is counted from: what the original prompt takes on each split, and by how much edits lengthen it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from psopt.evaluation import Grid
from psopt.models import PRIOR_TEXTS, calibrates
from psopt.models.chat import TokenRange, asks_in_chat, grid_price, price_of
from psopt.runs._cost_estimate import Pace
from psopt.search import tokens_of_mean_text
from psopt.search.racing import races

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.evaluation import Evaluator, Split
    from psopt.models.chat import LMConfig, Price
    from psopt.runs._settings import RunSettings
    from psopt.runs.planning._sizes import Sizes
    from psopt.search_spaces import Prompt

_SPLITS: tuple[Split, ...] = ("val", "train", "test")
# Of a note or a definition: from what rules write of a short phrase to a sentence of a model's.
_EDIT = TokenRange(10, 25)
_FEWER = 4  # in so small a part of as many edits as there may be a round may end
_EXAMPLES = 8


@dataclass(frozen=True, slots=True)
class SearchBasis:
    """What a search is counted from.

    Attributes
    ----------
    grids : mapping of split to Grid
        The original prompt's.
    shapes : mapping of split to (int, int)
        Samples and wordings.
    growth : TokenRange
        By how much all edits of a first round lengthen the prompt; of no account where nobody counts tokens.
    price, single_price : Price or None
        Of the model that answers; where it is asked by batches, and where call by call.
    races : bool
        Whether candidates race.
    pace : Pace or None
        How fast the model that is asked most will answer; nobody knows of batches.
    prior_texts : int
        On how many texts the label prior of a prompt is measured under each wording; 0 where nothing is calibrated.
    labelled_texts : int
        From how many labelled texts a label map is learnt, once.
    """

    grids: Mapping[Split, Grid]
    shapes: Mapping[Split, tuple[int, int]]
    growth: TokenRange
    price: Price | None
    single_price: Price | None
    races: bool
    pace: Pace | None = None
    prior_texts: int = 0
    labelled_texts: int = 0

    @classmethod
    def of(
        cls,
        settings: RunSettings,
        baseline: Prompt,
        evaluator: Evaluator,
        *,
        ignoring_cache: bool = False,
    ) -> SearchBasis:
        """Count it on what prompts are compared on; nothing is sent."""
        model = evaluator.model

        def grid(split: Split) -> Grid:
            prompts, texts = evaluator.rephrased(baseline, split), evaluator.texts(split)
            return Grid.of(model, prompts, texts, ignoring_cache=ignoring_cache)

        return cls(
            {split: grid(split) for split in _SPLITS},
            {split: (len(evaluator.samples[split]), len(evaluator.rephrasings.on(split)[0])) for split in _SPLITS},
            _growth(settings, evaluator),
            grid_price(model.name, in_batches=settings.lm.batch),
            price_of(model.name),
            races(settings.search.race, evaluator),
            _pace(evaluator, settings.lm),
            PRIOR_TEXTS if calibrates(model) and model.can_measure else 0,
            model.n_labelled if calibrates(model) else 0,
        )

    def sized(self, sizes: Sizes) -> SearchBasis:
        """The same for other numbers of samples and wordings, with nothing in the cache."""
        shapes: dict[Split, tuple[int, int]] = {
            "train": (sizes.train, sizes.rephrasings),
            "val": (sizes.val, sizes.rephrasings),
            "test": (sizes.test, sizes.heldout),
        }
        grids = {split: self.grids[split].sized(samples * wordings) for split, (samples, wordings) in shapes.items()}
        return replace(self, grids=grids, shapes=shapes)


def _pace(evaluator: Evaluator, lm: LMConfig) -> Pace | None:
    if lm.batch or not asks_in_chat(evaluator.model):
        return None
    return Pace.of(evaluator.model.engine.rate, lm)


def _growth(settings: RunSettings, evaluator: Evaluator) -> TokenRange:
    """By how much all edits of a first round lengthen the prompt: a few short ones, to as many as there may be."""
    if not asks_in_chat(evaluator.model):
        return TokenRange()
    edits = _EDIT.times(settings.search.most_edits)
    examples = tokens_of_mean_text(evaluator.texts("train")).times(_EXAMPLES)
    return TokenRange(edits.low / _FEWER, edits.high) + examples
