"""Where a model comes from: a folder or a repository on the hub, and which version of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, ModelError
from psopt.models.hf._loading import explain_loading, explain_repository, import_transformers, quiet, unreachable

if TYPE_CHECKING:
    from collections.abc import Iterable

HF = "hf/"
_WEIGHTS = (".safetensors", ".bin")
_DECIDING = (".json", ".jinja", ".model", ".txt")  # settings, vocabulary, chat template


@dataclass(frozen=True, slots=True)
class Source:
    """A version of a model that is there."""

    name: str  # the model's name in psopt: ``hf/..``
    place: str  # the folder, or the repository's id
    version: str  # what tells this version's answers from another's: the commit, or a digest of the folder
    options: dict[str, Any]  # what `from_pretrained` takes to load this version and no other
    config: Any


def find_source(repo_or_path: str, revision: str | None = None, prefix: str = HF) -> Source:
    """Find a model by its folder or, where there is no such folder, its repository on the hub.

    The hub is asked for the current commit; without a network the version that was fetched last is taken. What the
    model can do is for the caller to check.

    Raises InputError if there is no such folder, repository or revision. Raises ModelError if the hub can't be reached.

    Parameters
    ----------
    prefix : str
        What stands before folder or repository in the model's name in psopt.
    """
    name = f"{prefix}{repo_or_path}"
    folder = Path(repo_or_path).expanduser()
    if folder.suffix == ".gguf" and folder.is_file():
        return _in_gguf_file(name, folder)
    if folder.exists():
        source = _in_folder(name, folder, revision)
    elif repo_or_path.startswith((".", "/", "~")) or "\\" in repo_or_path or repo_or_path.count("/") > 1:
        raise InputError(f"{name}: there is no folder {folder}; give a folder that holds a model, or {prefix}ORG/NAME")
    else:
        source = _on_the_hub(name, repo_or_path, revision)
    return source


def _in_folder(name: str, folder: Path, revision: str | None) -> Source:
    if revision is not None:
        raise InputError(f"{name} is a folder, which has no revision {revision!r}: leave the revision out")
    if not folder.is_dir():
        raise InputError(f"{name} is a file: give the folder that holds config.json and the weights")
    files = sorted(path for path in folder.iterdir() if path.is_file())
    if not (folder / "config.json").is_file():
        raise InputError(f"{name} holds no model: {folder} has no config.json")
    if not any(path.suffix in _WEIGHTS for path in files):
        raise ModelError(f"{name} has no weights: there is no *.safetensors or *.bin in {folder}")
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    return Source(name, str(folder), _digest(files), options, _config(name, str(folder), options))


def _in_gguf_file(name: str, file: Path) -> Source:
    """A GGUF file, which transformers turns into single precision: that takes the packages gguf and accelerate."""
    place = str(file.parent)
    options: dict[str, Any] = {"gguf_file": file.name, "local_files_only": True, "trust_remote_code": False}
    stat = file.stat()
    return Source(name, place, f"{stat.st_size} {stat.st_mtime_ns}", options, _config(name, place, options))


def _on_the_hub(name: str, repo: str, revision: str | None) -> Source:
    branch = revision or "main"
    commit = _current_commit(name, repo, revision)
    is_reached = commit is not None
    commit = commit or _fetched_commit(name, repo, branch)
    options: dict[str, Any] = {"local_files_only": not is_reached, "trust_remote_code": False}
    # Asked for under the name given, so that the name is known when the hub can't be reached.
    config = _config(name, repo, {**options, "revision": branch if is_reached else commit})
    return Source(name, repo, commit, {**options, "revision": commit}, config)


def _current_commit(name: str, repo: str, revision: str | None) -> str | None:
    """The commit that a revision is now; None where the hub can't be asked."""
    from huggingface_hub import HfApi, errors

    try:
        return HfApi().model_info(repo, revision=revision, timeout=10).sha
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError, errors.HFValidationError) as error:
        raise explain_repository(name, repo, revision, error) from error
    except (errors.HTTPError, OSError):  # type: ignore[attr-defined]  # the base of what its http client raises
        return None


def _fetched_commit(name: str, repo: str, revision: str) -> str:
    """The commit that a revision was when it was fetched last."""
    from huggingface_hub import try_to_load_from_cache

    path = try_to_load_from_cache(repo, "config.json", revision=revision)
    if not isinstance(path, str):
        raise unreachable(name, repo)
    return Path(path).parent.name


def _config(name: str, place: str, options: dict[str, Any]) -> Any:
    transformers = import_transformers(name)
    try:
        with quiet(transformers):
            return transformers.AutoConfig.from_pretrained(place, **options)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise explain_loading(name, place, error) from error


def check_is_causal(source: Source) -> None:
    """Refuse what would load with an untrained head, or reads its text from both sides.

    Raises ModelError.
    """
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as CAUSAL

    config = source.config
    kinds = config.architectures or [CAUSAL.get(config.model_type, "")]
    heads = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
    is_causal = config.model_type in CAUSAL and any(kind.endswith(heads) for kind in kinds)
    if not is_causal or getattr(config, "is_encoder_decoder", False):
        kind = config.architectures[0] if config.architectures else config.model_type
        raise ModelError(f"{source.name} is no causal language model but a {kind}: give one that generates text")


def _digest(files: Iterable[Path]) -> str:
    """A digest of what decides a folder's answers: small files by content, weights by name, size and time."""
    digest = hashlib.sha256()
    for path in files:
        if path.suffix in _DECIDING:
            digest.update(f"{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
        elif path.suffix in _WEIGHTS:
            stat = path.stat()
            digest.update(f"{path.name}\0{stat.st_size}\0{stat.st_mtime_ns}".encode())
    return digest.hexdigest()
