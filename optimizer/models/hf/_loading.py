"""Loading by transformers: without its progress bars and advice, and what it raises in one line that helps."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, ModelError, first_line, import_extra

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psopt.errors import PsoptError

# Of huggingface_hub and the HTTP clients that it has used; by name, since which is installed depends on its version.
_NOT_FETCHED = {"LocalEntryNotFoundError", "OfflineModeIsEnabled", "ConnectError", "ConnectTimeout", "ReadTimeout"}


def import_transformers(name: str) -> Any:
    """Import transformers for the model of this name.

    Raises MissingExtraError if transformers or torch is not installed.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import_extra("torch", f"the model {name}", "local")
    return import_extra("transformers", f"the model {name}", "local")


@contextlib.contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Let transformers report errors only, and leave its settings as they were."""
    logging = transformers.utils.logging
    verbosity = logging.get_verbosity()
    shows_bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if shows_bars:
            logging.enable_progress_bar()


def explain_repository(name: str, repo: str, revision: str | None, error: BaseException) -> PsoptError:
    """What the hub says of a repository that it does not give."""
    kinds = _kinds(error)
    prefix = name.removesuffix(repo)
    if "GatedRepoError" in kinds:
        return ModelError(f"{name} is gated: accept its terms at https://huggingface.co/{repo}, then run hf auth login")
    if "RevisionNotFoundError" in kinds:
        return InputError(f"{name} has no revision {revision!r} on the hub")
    if "HFValidationError" in kinds:
        return InputError(
            f"{name}: {repo!r} is neither a folder nor a name on the hub: {prefix}PATH or {prefix}ORG/NAME"
        )
    return InputError(
        f"{name}: there is no folder {repo!r}, and no such model on the hub, or a private one (run hf auth login)"
    )


def explain_loading(name: str, place: str, error: BaseException) -> PsoptError:
    """Why a model that was found can't be loaded."""
    kinds = _kinds(error)
    if "GatedRepoError" in kinds:
        return explain_repository(name, place, None, error)
    if kinds & _NOT_FETCHED:
        return unreachable(name, place)
    if "trust_remote_code" in str(error):
        return ModelError(f"{name} brings code of its own, which is never run: give a model that transformers knows")
    if "model type" in str(error) and "does not recognize" in str(error):
        return ModelError(f"{name} is of a kind that the installed transformers does not know: update transformers")
    return ModelError(f"{name} can't be loaded: {first_line(error)}")


def unreachable(name: str, repo: str) -> ModelError:
    """Neither here nor to be fetched."""
    return ModelError(
        f"{name}: there is no folder {repo!r}, and the hub can't be reached: where there is a network, run "
        f"hf download {repo}"
    )


def _kinds(error: BaseException | None) -> set[str]:
    return {kind.__name__ for cause in _chain(error) for kind in type(cause).__mro__}


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
