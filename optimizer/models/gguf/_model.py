"""gguf/..: a GGUF file as a classifier."""

from __future__ import annotations

from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from psopt.errors import InputError, import_extra
from psopt.models.gguf._scorer import GGUFScorer
from psopt.models.gguf._weights import check_is_gguf
from psopt.models.scoring import ScoringModel

if TYPE_CHECKING:
    from psopt.models._answer_cache import AnswerCache

GGUF = "gguf/"


class GGUFModel(ScoringModel):
    """A GGUF file as a classifier, by llama.cpp in this process; see `ScoringModel`.

    The same text has the same scores to the last bit, whatever was read before it.

    Parameters
    ----------
    path : str or Path
        The file.
    name : str, optional
        The model's name in psopt; by default ``gguf/`` and the path.
    cache : AnswerCache, optional
        Where scores are kept; by default in memory.
    likelihood : {"mean", "sum"}
        Whether a label's score is the mean or the sum of its tokens' log-probabilities.

    Raises
    ------
    InputError
        If there is no such file, or it is no GGUF file.
    MissingExtraError
        If xllamacpp is not installed.
    """

    def __init__(
        self, path: str | Path, *, name: str = "", cache: AnswerCache | None = None, likelihood: str = "mean"
    ) -> None:
        self._path = Path(path).expanduser()
        name = name or f"{GGUF}{path}"
        import_extra("xllamacpp", f"the model {name}", "gguf")
        check_is_gguf(name, self._path)
        try:
            stat = self._path.stat()
        except OSError as error:
            raise InputError(f"{name} can't be read: {error.strerror}") from error
        super().__init__(name, f"{stat.st_size} {stat.st_mtime_ns}", cache=cache, likelihood=likelihood)

    @property
    def precision(self) -> str:
        """What computes with the file: other versions may round otherwise."""
        return f"llama.cpp of xllamacpp {version('xllamacpp')}"

    @cached_property
    def scorer(self) -> GGUFScorer:
        """The file in memory."""
        return GGUFScorer(self.name, self._path)
