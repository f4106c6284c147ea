"""A model that was found, loaded: its tokenizer, and its weights on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, ModelError
from psopt.models.hf._loading import explain_loading, import_transformers, quiet

if TYPE_CHECKING:
    from psopt.models.hf._source import Source


def load_weights(source: Source, kind: str, device: Any, dtype: Any) -> Any:
    """Load a model with its head, on a device, to be evaluated.

    Raises ModelError if weights are missing, damaged or too large for the device, or need a library that is not
    installed.

    Parameters
    ----------
    kind : str
        The class of transformers that loads it, such as ``AutoModelForCausalLM``.
    """
    import torch
    from safetensors import SafetensorError

    transformers = import_transformers(source.name)
    try:
        with quiet(transformers):
            model, info = getattr(transformers, kind).from_pretrained(
                source.place, dtype=dtype, output_loading_info=True, **source.options
            )
        missing = sorted({*info["missing_keys"], *(key for key, *_ in info["mismatched_keys"])})
        if missing:
            raise ModelError(f"{source.name} lacks weights: {len(missing)} are missing, such as {missing[0]}")
        return model.eval().to(device)
    except torch.cuda.OutOfMemoryError as error:
        raise ModelError(f"{source.name} does not fit into the GPU's memory: give a smaller model") from error
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError) as error:
        raise explain_loading(source.name, source.place, error) from error


def load_tokenizer(source: Source) -> Any:
    """Load a model's tokenizer.

    Raises ModelError if there is none, or it is damaged.
    """
    transformers = import_transformers(source.name)
    try:
        with quiet(transformers):
            return transformers.AutoTokenizer.from_pretrained(source.place, **source.options)
    except (OSError, ValueError, KeyError, TypeError, ImportError) as error:
        raise explain_loading(f"the tokenizer of {source.name}", source.place, error) from error


def find_device(name: str | None = None) -> Any:
    """Return a device by its name; by default a GPU if there is one.

    Raises InputError if there is no such device.
    """
    import torch

    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"there is no device {name!r} here: leave the device out, or give cpu") from error
    return device
