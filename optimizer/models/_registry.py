"""Models by name."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, UnknownNameError
from psopt.models._answer_cache import AnswerCache
from psopt.models._assessors import assessor_for
from psopt.models._capabilities import capabilities_of
from psopt.tasks import FREE

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.models._base import Model
    from psopt.models.chat import Budget, LMConfig
    from psopt.tasks import Task

NAMES = {
    "minilm": "embedded: all-MiniLM-L6-v2 reads the prompt; offline, free",
    "smollm2": "embedded: SmolLM2-135M, a small language model; fetched once, then offline, free",
    "gguf/PATH": "any language model in a GGUF file, by llama.cpp; labels are scored by their likelihood",
    "openai/NAME": "a chat model of OpenAI's, or of any server that speaks its protocol (--api-base URL)",
    "azure/DEPLOYMENT": "a deployment of Azure's (--api-base https://NAME.openai.azure.com)",
    "hf/REPO-OR-PATH": "a local model, by transformers; labels are scored by their likelihood (--hf-likelihood)",
    "dspy/NAME": "whatever dspy.LM takes",
    "sim/OPTIONS": "a simulated classifier with known scores",
}
SMOLLM2 = "smollm2"
_WHOLE_NAMES = ("minilm", SMOLLM2)
_WRITING = frozenset({"gguf", "openai", "azure", "dspy"})
_CHOOSING = frozenset({"minilm", "sim", "hf", "gguf", SMOLLM2})


def can_write(model: str) -> bool:
    """Whether a model of this name can also write definitions and notes, and not only answer.

    minilm, sim and hf write nothing; smollm2 does, but with 135 million parameters nothing that would be of use.

    >>> [can_write(name) for name in ("openai/gpt-4o-mini", "gguf/qwen.gguf", "smollm2", "minilm", "hf/qwen")]
    [True, True, False, False, False]
    """
    return model.partition("/")[0] in _WRITING


def load_model(
    model: Any,
    task: Task,
    *,
    cache_dir: Path | None = None,
    options: LMConfig | None = None,
    budget: Budget | None = None,
) -> Model:
    """Load a task model for a task.

    The task lends its train texts, without their labels: minilm sees texts relative to them.

    Parameters
    ----------
    model : str, Model, dspy.LM or callable
        A name (see `NAMES`), a `Model` of one's own, which is returned as it is, a `dspy.LM`, or a function that takes
        chat messages and returns the answer's text, at once or as a coroutine.
    options : LMConfig, optional
        How language models are asked.
    budget : Budget, optional
        What they may spend, shared with other models; by default what `options` allow.

    Raises
    ------
    UnknownNameError
        If there is no such model.
    MissingExtraError
        If the model needs an optional dependency that is not installed.
    InputError
        If the task's answers are more than a label, and the model gives nothing else (`Capabilities.writes`), or not
        the probabilities of what it writes that are asked for (`Capabilities.has_confidences`).
    """
    if not isinstance(model, str):
        given = _given(model, task, cache_dir, options, budget)
        if task.spec.is_open and not capabilities_of(given).writes:
            raise _chooses(given.name, task)
        if task.spec.is_open and options and options.logprobs and not capabilities_of(given).has_confidences:
            raise InputError(f"model {given.name} gives no probabilities: leave --logprobs out")
        return given
    kind, _, rest = model.partition("/")
    if kind in _CHOOSING and task.spec.is_open:
        raise _chooses(model, task)
    if model == "minilm":
        from psopt.models.minilm import MiniLM

        texts = [sample.text for sample in (task.train or task.val)]
        return MiniLM(texts, cache_dir=cache_dir)
    likelihood = options.hf_likelihood if options else "mean"
    if model == SMOLLM2:
        from psopt.models.gguf import GGUFModel, fast_copy, fetched_model

        path = fast_copy(fetched_model(model))  # beside all answers, whichever cache these are kept in
        return GGUFModel(path, name=model, cache=AnswerCache(cache_dir), likelihood=likelihood)
    if kind not in {name.partition("/")[0] for name in NAMES if "/" in name}:
        raise _unknown(model)
    if kind == "sim":
        from psopt.models.sim import SimulatedModel

        return SimulatedModel(rest, task)
    if not rest:
        raise InputError(f"model {model!r} lacks a name: {kind}/NAME")
    if kind == "gguf":
        from psopt.models.gguf import GGUFModel

        return GGUFModel(rest, cache=AnswerCache(cache_dir), likelihood=likelihood)
    if kind == "hf":
        from psopt.models.hf import HFModel

        return HFModel(rest, cache=AnswerCache(cache_dir), likelihood=likelihood)
    from psopt.models.chat import chat_model

    assessor = assessor_for(task.spec, cache_dir, options, budget)
    return chat_model(kind, rest, AnswerCache(cache_dir), options, budget, assessor)


def _chooses(model: str, task: Task) -> InputError:
    return InputError(
        f"model {model} chooses among labels, and the answers of {task.name} are {task.spec.kind}: take a model that "
        "writes, such as openai/NAME"
    )


def _unknown(model: str) -> InputError:
    """A name without a kind is most often a chat model's; one with slashes may be a repository's."""
    if difflib.get_close_matches(model.casefold(), _WHOLE_NAMES, cutoff=0.5):
        kinds = "or gguf/PATH, openai/NAME, hf/REPO-OR-PATH, dspy/NAME, sim/OPTIONS"
        return UnknownNameError("model", model, _WHOLE_NAMES, kinds)
    from psopt.models.chat import name_hint

    kinds = "There are minilm, smollm2, gguf/PATH, openai/NAME, azure/NAME, hf/REPO-OR-PATH, dspy/NAME and sim/OPTIONS"
    if hint := name_hint(model):
        return InputError(f"unknown model {model!r}: {hint} {kinds}")
    local = f", or hf/{model} to run it here" if "/" in model else ""
    return InputError(
        f"unknown model {model!r}: did you mean openai/{model} (a server, see --api-base){local}? {kinds}"
    )


def _given(model: Any, task: Task, cache_dir: Path | None, options: LMConfig | None, budget: Budget | None) -> Model:
    """A model of the caller's own."""
    if hasattr(model, "predict") and hasattr(model, "name"):
        if task.spec.is_assessed and not capabilities_of(model).is_assessed:
            raise InputError(
                f"answers {str(task.spec)!r} are compared or rated by what is asked beside a chat model, such as "
                f"openai/NAME, and model {model.name} is one of your own: take {FREE}, or give it `assess`"
            )
        return model  # type: ignore[no-any-return]
    if not callable(model) or isinstance(model, type):
        given = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise InputError(
            "a model is a name such as 'minilm', a function from messages to a text, a dspy.LM or a psopt Model, "
            f"not {given}"
        )
    from psopt.models.chat import chat_model

    assessor = assessor_for(task.spec, cache_dir, options, budget)
    kind = "dspy" if _is_dspy_lm(model) else "function"
    return chat_model(kind, model, AnswerCache(cache_dir), options, budget, assessor)


def name_of_model(model: Any) -> str:
    """The name of a model, or of what `load_model` makes one of.

    >>> name_of_model("minilm"), name_of_model(len)
    ('minilm', 'function/len')
    """
    if isinstance(model, str):
        return model
    if isinstance(name := getattr(model, "name", None), str) and hasattr(model, "predict"):
        return name
    if callable(model) and not _is_dspy_lm(model):
        from psopt.models.chat import function_name

        return function_name(model)
    return f"dspy/{getattr(model, 'model', type(model).__name__)}"


def _is_dspy_lm(model: Any) -> bool:
    return hasattr(model, "model") and hasattr(model, "kwargs") and callable(model)
