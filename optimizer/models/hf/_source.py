"""Where a model comes from, a folder or a repository on the hub, and loading it with transformers."""

from __future__ import annotations

import contextlib
import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, ModelError, causes, first_line, import_extra

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from psopt.errors import PsoptError

_WEIGHTS = (".safetensors", ".bin")
_DECIDING = (".json", ".jinja", ".model", ".txt")  # settings, vocabulary, chat template


@dataclass(frozen=True, slots=True)
class Source:
    """One version of an available model."""

    name: str  # the model's name in psopt: ``hf/..``
    place: str  # the folder, or the repository's id
    version: str  # distinguishes its answers from other versions': the commit, or a digest of the folder
    options: dict[str, Any]  # arguments with which `from_pretrained` loads exactly this version
    config: Any


def find_source(repo_or_path: str) -> Source:
    """Find a model by its folder or, where there is no such folder, its repository on the hub.

    The hub is asked for the current commit; without a network it is the version that was fetched last. Raises
    InputError if there is no such folder or repository. Raises ModelError if the hub can't be reached.
    """
    name = f"hf/{repo_or_path}"
    folder = Path(repo_or_path).expanduser()
    if folder.suffix == ".gguf" and folder.is_file():
        # transformers turns it into single precision: that needs the packages gguf and accelerate
        stat = folder.stat()
        version = f"{stat.st_size} {stat.st_mtime_ns}"
        return _source(name, str(folder.parent), version, gguf_file=folder.name, local_files_only=True)
    if folder.exists():
        return _in_folder(name, folder)
    if repo_or_path.startswith((".", "/", "~")) or "\\" in repo_or_path or repo_or_path.count("/") > 1:
        raise InputError(f"{name}: there is no folder {folder}; give a folder that holds a model, or hf/ORG/NAME")
    return _on_the_hub(name, repo_or_path)


def _in_folder(name: str, folder: Path) -> Source:
    if not folder.is_dir():
        raise InputError(f"{name} is a file: give the folder that holds config.json and the weights")
    files = sorted(path for path in folder.iterdir() if path.is_file())
    if not (folder / "config.json").is_file():
        raise InputError(f"{name} holds no model: {folder} has no config.json")
    if not any(path.suffix in _WEIGHTS for path in files):
        raise ModelError(f"{name} has no weights: there is no *.safetensors or *.bin in {folder}")
    return _source(name, str(folder), _digest(files), local_files_only=True)


def _on_the_hub(name: str, repo: str) -> Source:
    from huggingface_hub import HfApi, errors, try_to_load_from_cache

    is_reached = True
    try:
        HfApi().model_info(repo, timeout=10)
    except (errors.RepositoryNotFoundError, errors.HFValidationError) as error:
        raise _explained(name, repo, error) from error
    except (errors.HTTPError, OSError):  # type: ignore[attr-defined]  # the base of its HTTP client's errors
        is_reached = False
    # Requested by its branch, so that the commit is known later when the hub can't be reached: it names the folder.
    source = _source(name, repo, "", local_files_only=not is_reached, revision="main")
    commit = Path(str(try_to_load_from_cache(repo, "config.json", revision="main"))).parent.name
    return replace(source, version=commit, options={**source.options, "revision": commit})


def _source(name: str, place: str, version: str, **options: Any) -> Source:
    options["trust_remote_code"] = False
    with loading(name, place) as transformers:
        return Source(name, place, version, options, transformers.AutoConfig.from_pretrained(place, **options))


def check_is_causal(source: Source) -> None:
    """Refuse a model that would load with an untrained head, or reads text in both directions; raises ModelError."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as CAUSAL

    config = source.config
    kinds = config.architectures or [CAUSAL.get(config.model_type, "")]
    heads = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
    is_causal = config.model_type in CAUSAL and any(kind.endswith(heads) for kind in kinds)
    if not is_causal or getattr(config, "is_encoder_decoder", False):
        kind = (config.architectures or [config.model_type])[0]
        raise ModelError(f"{source.name} is no causal language model but a {kind}: give one that generates text")


def _digest(files: Iterable[Path]) -> str:
    """A digest of what determines a folder's answers: small files by content, weights by name, size and time."""
    digest = hashlib.sha256()
    for path in files:
        if path.suffix in _DECIDING:
            digest.update(f"{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
        elif path.suffix in _WEIGHTS:
            stat = path.stat()
            digest.update(f"{path.name}\0{stat.st_size}\0{stat.st_mtime_ns}".encode())
    return digest.hexdigest()


# Of huggingface_hub and the HTTP clients that it has used; by name, since its version decides which is installed.
_NOT_FETCHED = {"LocalEntryNotFoundError", "OfflineModeIsEnabled", "ConnectError", "ConnectTimeout", "ReadTimeout"}


def import_transformers(name: str) -> Any:
    """Import transformers for the model of this name; raises MissingExtraError if it or torch is not installed."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import_extra("torch", f"the model {name}", "local")
    return import_extra("transformers", f"the model {name}", "local")


@contextlib.contextmanager
def loading(name: str, place: str) -> Iterator[Any]:
    """Yield transformers, without its progress bars and advice; its errors become one helpful line."""
    from safetensors import SafetensorError

    transformers = import_transformers(name)
    logging = transformers.utils.logging
    verbosity, shows_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield transformers
    except (OSError, ValueError, KeyError, TypeError, ImportError, RuntimeError, SafetensorError) as error:
        raise _explained(name, place, error) from error
    finally:
        logging.set_verbosity(verbosity)
        if shows_bars:
            logging.enable_progress_bar()


def _explained(name: str, place: str, error: BaseException) -> PsoptError:
    """Why the hub does not give a model, or it can't be loaded."""
    if type(error).__name__ == "HFValidationError":
        return InputError(f"{name}: {place!r} is neither a folder nor a name on the hub: hf/PATH or hf/ORG/NAME")
    if type(error).__name__ == "RepositoryNotFoundError":
        return InputError(
            f"{name}: there is no folder {place!r}, and no such model on the hub, or a private one (run hf auth login)"
        )
    kinds = {kind.__name__ for cause in causes(error) for kind in type(cause).__mro__}
    reason = f" can't be loaded: {first_line(error)}"
    if "GatedRepoError" in kinds:
        reason = f" is gated: accept its terms at https://huggingface.co/{place}, then run hf auth login"
    elif "OutOfMemoryError" in kinds:
        reason = " does not fit into the GPU's memory: give a smaller model"
    elif kinds & _NOT_FETCHED:
        hint = f"where there is a network, run hf download {place}"
        reason = f": there is no folder {place!r}, and the hub can't be reached: {hint}"
    elif "trust_remote_code" in str(error):
        reason = " brings code of its own, which is never run: give a model that transformers knows"
    elif "model type" in str(error) and "does not recognize" in str(error):
        reason = " is of a kind that the installed transformers does not know: update transformers"
    return ModelError(f"{name}{reason}")


def load_weights(source: Source, device: Any, dtype: Any) -> Any:
    with loading(source.name, source.place) as transformers:
        model, info = transformers.AutoModelForCausalLM.from_pretrained(
            source.place, dtype=dtype, output_loading_info=True, **source.options
        )
        mismatched = {key for key, *_ in info["mismatched_keys"]}
        if missing := sorted(mismatched.union(info["missing_keys"])):
            raise ModelError(f"{source.name} lacks weights: {len(missing)} are missing, such as {missing[0]}")
        return model.eval().to(device)


def load_tokenizer(source: Source) -> Any:
    with loading(f"the tokenizer of {source.name}", source.place) as transformers:
        return transformers.AutoTokenizer.from_pretrained(source.place, **source.options)
