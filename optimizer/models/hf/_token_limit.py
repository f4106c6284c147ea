"""How many tokens the network reads at once: fewer, where memory runs out."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from psopt.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable

    Result = TypeVar("Result")

_FEWEST = 8  # tokens: where these don't fit, the network's own weights fill the memory


class TokenLimit:
    """The most tokens of one forward pass; it stays where an exhausted memory has brought it."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    def retrying(self, run: Callable[[int], Result]) -> Result:
        """Return ``run(tokens)``, with half as many tokens each time that the GPU's memory is exhausted.

        Raises ModelError if the memory does not do for a few tokens.
        """
        import torch

        while True:
            try:
                return run(self.tokens)
            except torch.cuda.OutOfMemoryError as error:
                if self.tokens <= _FEWEST:
                    raise ModelError(
                        "the GPU's memory does not do for a single text: give a smaller model or shorter prompts, or "
                        "end what else uses the GPU"
                    ) from error
            self.tokens //= 2
            torch.cuda.empty_cache()  # not within the except block, whose error holds on to the tensors
