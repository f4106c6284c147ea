"""minilm: a prompt-reading classifier on sentence embeddings, free, offline and deterministic."""

from __future__ import annotations

import logging
from itertools import chain, product, starmap
from operator import ne
from typing import TYPE_CHECKING

import numpy as np
from psopt.errors import InputError
from psopt.models._base import NOT_ASKED, Capabilities, evenly_spread
from psopt.models.minilm._encoder import MAX_TOKENS, Encoder
from psopt.search_spaces import with_statements
from psopt.tasks import sample_shows_any
from psopt.text import label_mentions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from psopt.models._base import Cells, Ints, Progress, Prompts, Texts
    from psopt.search_spaces import Prompt

    Vectors = NDArray[np.float32]

# Chosen on TREC's train questions only (experiments/minilm_constants.py repeats the choice).
CENTRED_SHARE = 0.5  # of the two ways to compare a text with the bare labels: each alone is as accurate but less stable
DESCRIPTION_SHARE = 0.75  # how far the description moves a label's own vector
DEFINITION_SHARE = 0.5  # how much a definition counts compared with the bare label
QUOTE_BONUS = 0.2  # for a text that shows a phrase quoted in a note
TOPIC_FLOOR = 0.15  # a note is ignored if its topic is less similar to a text than this
EXAMPLE_WEIGHT = 0.2  # of the mean of a label's examples
REFERENCE_TEXTS = 40  # unlabelled texts that define the centre; 20 to 50 are enough
_LOGGER = logging.getLogger("psopt.waiting")  # the command line shows its messages
_MAX_DESCRIPTION_WORDS = 120  # leaves room for the text within the encoder's 256 tokens


class MiniLM:
    """Classify by comparing each text, read together with the description, with what the prompt says about labels.

    The mean of the vectors of `reference_texts`, unlabelled texts of the task, is the centre, which is subtracted from
    texts' vectors: other reference texts give other answers. Embeddings are kept in `cache_dir` between runs.
    """

    name = "minilm"
    # it takes the mean of a label's examples, so their order does not matter
    capabilities = Capabilities(is_free=True, reads_order=False, has_cells=True, reads_in_part=True)

    def __init__(self, reference_texts: Texts, *, cache_dir: Path | None = None) -> None:
        if not reference_texts:
            raise InputError("minilm needs some unlabelled texts of the task to compare with, and got none")
        self._reference = tuple(evenly_spread(reference_texts, REFERENCE_TEXTS))
        self.encoder = Encoder(cache_dir)
        self._has_said = False
        self._looked_at: set[str] = set()

    def predict(self, prompts: Prompts, texts: Texts, on_progress: Progress = None) -> Ints:
        """Classify every text under every prompt (see `Model.predict`). An empty text is N/A."""
        self._say_what_is_cut(prompts[0], texts)
        if on_progress:
            self.encoder.encode(list(starmap(_joint, product(prompts, texts))), on_progress)
        columns = [self.scores(prompt, texts).argmax(axis=1) for prompt in prompts]
        predictions = np.stack(columns, axis=1).astype(np.int64)
        predictions[[not text.strip() for text in texts]] = len(prompts[0].labels)
        return predictions

    def parts_read(self, texts: Texts) -> list[str]:
        return self.encoder.parts_read(texts)

    def _say_what_is_cut(self, prompt: Prompt, texts: Texts) -> None:
        """Warn once how many texts are longer than the part that is read."""
        new = set(texts) - self._looked_at
        self._looked_at |= new
        joint = [_joint(prompt, text) for text in texts if text in new]
        n_longer = sum(map(ne, joint, self.encoder.parts_read(joint)))
        if n_longer and not self._has_said:
            self._has_said = True
            _LOGGER.warning(
                f"minilm reads the first {MAX_TOKENS} tokens, instructions included: {n_longer:,} of {len(texts):,} "
                "texts are longer, and no figure says anything of the rest; other models read more"
            )

    def predict_cells(self, prompts: Prompts, texts: Texts, cells: Cells, on_progress: Progress = None) -> Ints:
        # The last digit of an embedding depends on its batch, so parts of a grid might decide a near tie differently.
        # The whole grid costs little more: all candidates need the same embeddings, and these are kept.
        return np.where(cells, self.predict(prompts, texts, on_progress), NOT_ASKED)

    def scores(self, prompt: Prompt, texts: Texts) -> Vectors:
        """Return how well each label fits each text under a prompt: (n_texts, n_labels), no fixed range."""
        prompt = with_statements(prompt)
        encode = self.encoder.encode
        alone = encode(texts)
        reference = encode(self._reference)
        joint = encode([_joint(prompt, text) for text in texts])
        joint = _centred(joint, encode([_joint(prompt, text) for text in self._reference]))
        centred_alone = _centred(alone, reference)
        scores = CENTRED_SHARE * joint @ self._answers(prompt, prompt.labels).T
        scores += (1 - CENTRED_SHARE) * alone @ self._moved_labels(prompt).T
        if prompt.definitions:
            defined = {definition.label: f"{definition.label}: {definition.text}" for definition in prompt.definitions}
            meanings = [defined.get(label, label) for label in prompt.labels]
            by_definition = joint @ self._answers(prompt, meanings).T / 2
            by_definition += centred_alone @ _centred(encode(meanings)).T / 2
            scores = (1 - DEFINITION_SHARE) * scores + DEFINITION_SHARE * by_definition
        scores += self._from_notes(prompt, texts, alone)
        scores += self._from_examples(prompt, centred_alone, reference)
        return np.asarray(scores, dtype=np.float32)

    def _answers(self, prompt: Prompt, meanings: Sequence[str]) -> Vectors:
        """The labels as answers to the description, relative to their mean."""
        description = _shortened(prompt.description)
        return _centred(self.encoder.encode([f"{description} Answer: {meaning}" for meaning in meanings]))

    def _moved_labels(self, prompt: Prompt) -> Vectors:
        """The labels' own vectors, moved towards their meaning under the description."""
        description = _shortened(prompt.description)
        bare = self.encoder.encode(prompt.labels)
        described = self.encoder.encode([f"{description} {label}" for label in prompt.labels])
        moved = described - self.encoder.encode([description])
        return _unit((1 - DESCRIPTION_SHARE) * bare + DESCRIPTION_SHARE * moved)

    def _from_notes(self, prompt: Prompt, texts: Texts, alone: Vectors) -> Vectors:
        """What the notes add: for each label, the relevance of the note that concerns the text most."""
        added = np.zeros((len(texts), len(prompt.labels)), dtype=np.float32)
        mentions = list(chain.from_iterable(label_mentions(note, prompt.labels) for note in prompt.notes))
        if not mentions:
            return added
        similarity = alone @ self.encoder.encode([mention.topic for mention in mentions]).T
        relevance = np.maximum(0, similarity - TOPIC_FLOOR)
        for column, mention in enumerate(mentions):
            relevance[:, column] += QUOTE_BONUS * np.array([sample_shows_any(text, mention.cues) for text in texts])
            added[:, mention.label] = np.maximum(added[:, mention.label], relevance[:, column])
        return added

    def _from_examples(self, prompt: Prompt, centred_alone: Vectors, reference: Vectors) -> Vectors:
        """What the few-shot examples add: nearness to the mean of a label's examples."""
        added = np.zeros((len(centred_alone), len(prompt.labels)), dtype=np.float32)
        for index, label in enumerate(prompt.labels):
            texts = [example.text for example in prompt.examples if example.label == label]
            if texts:
                mean = _centred(self.encoder.encode(texts), reference).mean(axis=0, keepdims=True)
                added[:, index] = EXAMPLE_WEIGHT * (centred_alone @ _unit(mean).T)[:, 0]
        return added


def _joint(prompt: Prompt, text: str) -> str:
    return f"{_shortened(prompt.description)} {prompt.noun.capitalize()}: {text}"


def _shortened(description: str) -> str:
    return " ".join(description.split()[:_MAX_DESCRIPTION_WORDS])


def _centred(vectors: Vectors, around: Vectors | None = None) -> Vectors:
    """Directions from a centre: the mean of `around`, by default of the vectors themselves."""
    around = vectors if around is None else around
    return _unit(vectors - around.mean(axis=0))


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)
