"""Which free answers are the same, by an entailment model: each must follow from the other."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, ModelError, first_line
from psopt.models._answer_cache import AnswerCache, answer_key
from psopt.models._assessment import Matcher
from psopt.models.hf._source import find_device, find_source, load_tokenizer, load_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.models._assessment import Pair

_PREFIX = "nli:"
_ENTAILMENT = "entail"  # how models name the class: entailment, ENTAILMENT, entailed
_BATCH = 32  # pairs at once
_LONGEST = 512  # tokens of both answers; what BERT and similar models were trained for


class EntailmentMatcher(Matcher):
    """Says that two answers are the same if each follows from the other.

    Bidirectional entailment: Kuhn, Gal and Farquhar, "Semantic uncertainty", 2023. Both answers together are cut to 512
    tokens, or fewer if the model takes no more; the text of the sample is not read.

    Raises InputError if there is no such model of entailment. Raises ModelError if the hub can't be reached.
    """

    def __init__(self, repo_or_path: str, cache: AnswerCache | None = None) -> None:
        self._source = find_source(repo_or_path, prefix=_PREFIX)
        self._cache = cache or AnswerCache(None)
        self._entailment = _entailment_class(self._source.name, self._source.config)

    def same(self, pairs: Sequence[Pair]) -> list[bool]:
        """Return for each pair whether its answers follow from each other; raises ModelError if the model fails."""
        directions: dict[tuple[str, str], None] = {}  # in order, each once
        for _, first, second in pairs:
            directions |= dict.fromkeys([(first, second), (second, first)])
        entailed = self._entailed(list(directions))
        return [entailed[first, second] and entailed[second, first] for _, first, second in pairs]

    def _entailed(self, directions: list[tuple[str, str]]) -> dict[tuple[str, str], bool]:
        keys = {pair: answer_key(kind="nli", version=self._source.version, pair=list(pair)) for pair in directions}
        by_key = self._cache.get_many(keys.values())
        # Texts of similar length make batches without much padding.
        unknown = sorted((pair for pair in directions if keys[pair] not in by_key), key=lambda pair: len("".join(pair)))
        for start in range(0, len(unknown), _BATCH):
            batch = unknown[start : start + _BATCH]
            new_verdicts = dict(zip((keys[pair] for pair in batch), self._read(batch), strict=True))
            self._cache.put_many(new_verdicts)
            by_key.update(new_verdicts)
        return {pair: bool(by_key[key]) for pair, key in keys.items()}

    def _read(self, batch: list[tuple[str, str]]) -> list[bool]:
        import torch

        tokenizer, network = self._loaded
        firsts = [_clean(first) for first, _ in batch]
        seconds = [_clean(second) for _, second in batch]
        places = getattr(network.config, "max_position_embeddings", _LONGEST)
        most = min(_LONGEST, tokenizer.model_max_length, places)
        try:
            inputs = tokenizer(firsts, seconds, truncation=True, max_length=most, padding=True, return_tensors="pt")
            with torch.inference_mode():
                logits = network(**inputs.to(network.device)).logits
        except (RuntimeError, ValueError, IndexError) as error:
            raise ModelError(f"{self._source.name} failed on a pair of answers: {first_line(error)}") from error
        return [int(best) == self._entailment for best in logits.argmax(dim=1)]

    @functools.cached_property
    def _loaded(self) -> tuple[Any, Any]:
        import torch

        tokenizer = load_tokenizer(self._source)
        kind = "AutoModelForSequenceClassification"
        return tokenizer, load_weights(self._source, kind, find_device(), torch.float32)


def _clean(text: str) -> str:
    """A text without halves of surrogate pairs, which no tokenizer takes."""
    return text.encode("utf-8", "replace").decode()


def _entailment_class(name: str, config: Any) -> int:
    classes = {int(number): str(label) for number, label in config.id2label.items()}
    meant = [number for number, label in classes.items() if label.casefold().startswith(_ENTAILMENT)]
    if len(meant) != 1:
        names = json.dumps(list(classes.values())[:5])
        raise InputError(f"{name} is no model of entailment: one of its classes must be called entailment, not {names}")
    return meant[0]
