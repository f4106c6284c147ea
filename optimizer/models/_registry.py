"""Models by name, and the provider of all models of a command: with the same settings, budget and cache."""

from __future__ import annotations

import difflib
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from psopt.answers import embed_with
from psopt.errors import InputError, UnknownNameError
from psopt.models._answer_cache import AnswerCache, cache_folder
from psopt.models._assessment import Assessor, OwnFunction
from psopt.models._base import capabilities_of
from psopt.models._calibrated import CalibratedModel, calibrates
from psopt.models.chat import (
    Budget,
    LMConfig,
    RatingJudge,
    SamenessJudge,
    asks_in_chat,
    chat_engine,
    chat_model,
    function_name,
    load_writer,
    name_hint,
)
from psopt.models.chat._factory import BATCH_KINDS, RUN_HERE, WRITING_KINDS
from psopt.models.gguf import GGUFModel, fast_copy, fetched_model
from psopt.models.hf import HFModel
from psopt.models.minilm import Encoder, MiniLM
from psopt.models.sim import SimulatedModel
from psopt.settings import model_names, models_name
from psopt.tasks import FREE, FUNCTION, JUDGE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from psopt.models._base import Model
    from psopt.models.chat import Engine, Writer
    from psopt.tasks import AnswerSpec, Task

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
_WHOLE_NAMES = [name for name in NAMES if "/" not in name]
_KINDS = {name.partition("/")[0]: name for name in NAMES if "/" in name}  # by what stands before the slash
_SCORING = frozenset({"hf", "gguf", SMOLLM2})


def can_write(model: str) -> bool:
    """Whether a model of this name can also write definitions and notes, and not only answer.

    minilm, sim and hf write nothing; smollm2 could, but with 135 million parameters it writes nothing useful.

    >>> [can_write(name) for name in ("openai/gpt-4o-mini", "gguf/qwen.gguf", "smollm2", "minilm", "hf/qwen")]
    [True, True, False, False, False]
    """
    return model.partition("/")[0] in WRITING_KINDS


def scores_labels(model: str) -> bool:
    """Whether a language model of this name scores labels by default, so that it can be calibrated.

    >>> [scores_labels(name) for name in ("smollm2", "gguf/qwen.gguf", "openai/gpt-4o-mini", "minilm")]
    [True, True, False, False]
    """
    return model.partition("/")[0] in _SCORING


def load_model(
    model: Any,
    task: Task,
    *,
    cache_dir: Path | None = None,
    options: LMConfig | None = None,
    budget: Budget | None = None,
) -> Model:
    """Load a task model for a task.

    The task provides its train texts, without their labels: minilm sees texts relative to them.

    The model is a name (see `NAMES`), your own `Model`, which is returned unchanged, a `dspy.LM`, or a function that
    takes chat messages and returns the answer's text, directly or as a coroutine. Language models are asked by
    `options`, and share the `budget`, by default what `options` allow.

    Raises UnknownNameError if there is no such model. Raises MissingExtraError if it needs an optional dependency that
    is not installed. Raises InputError if the task's answers are more than a label, and the model gives only labels
    (see `Capabilities.writes`) or lacks the requested probabilities (see `Capabilities.has_confidences`); or if it has
    no batches, and they are asked for.
    """
    options = options or LMConfig()
    budget = budget or Budget.of(options)  # shared with a judge
    if hasattr(model, "predict") and hasattr(model, "name"):
        _check_own(model, task, options)
        return model  # type: ignore[no-any-return]
    kind, name = _read_name(model, task)
    if options.batch and kind not in BATCH_KINDS:
        raise InputError(f"--batch is for openai/ and azure/ models, and not for {kind}: leave it out")
    if kind == "minilm":
        return MiniLM([sample.text for sample in (task.train or task.val)], cache_dir=cache_dir)
    if kind == "sim":
        return SimulatedModel(name, task)
    cache = AnswerCache(cache_dir)
    if kind == SMOLLM2:
        path = fast_copy(fetched_model(kind))  # in the default folder, wherever answers are kept
        return GGUFModel(path, name=kind, cache=cache, likelihood=options.hf_likelihood)
    if kind == "gguf":
        return GGUFModel(name, cache=cache, likelihood=options.hf_likelihood)
    if kind == "hf":
        return HFModel(name, cache=cache, likelihood=options.hf_likelihood)
    return chat_model(kind, name, cache, options, budget, assessor_for(task.spec, cache_dir, options, budget))


def _check_own(model: Model, task: Task, options: LMConfig) -> None:
    """Make sure that the caller's own model gives the answers that are asked for; raises InputError."""
    abilities = capabilities_of(model)
    if task.spec.is_assessed and not abilities.is_assessed:
        raise InputError(
            f"answers {str(task.spec)!r} are compared or rated by what is asked beside a chat model, such as "
            f"openai/NAME, and model {model.name} is one of your own: take {FREE}, or give it `assess`"
        )
    if task.spec.is_open and not abilities.writes:
        raise _chooses(model.name, task)
    if task.spec.is_open and options.logprobs and not abilities.has_confidences:
        raise InputError(f"model {model.name} gives no probabilities: leave --logprobs out")


def _read_name(model: Any, task: Task) -> tuple[str, Any]:
    """The kind of a model and its name, or the `dspy.LM` or function itself; raises InputError if it can't be one."""
    if (not callable(model) and not isinstance(model, str)) or isinstance(model, type):
        type_name = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise InputError(
            "a model is a name such as 'minilm', a function from messages to a text, a dspy.LM or a psopt Model, "
            f"not {type_name}"
        )
    if not isinstance(model, str):
        return "dspy" if _is_dspy_lm(model) else "function", model
    if len(model_names(model)) > 1:
        raise InputError(f"{model} is several models, and this is for one: name it with --model")
    kind, _, name = model.partition("/")
    if kind in RUN_HERE and task.spec.is_open:
        raise _chooses(model, task)
    if model not in _WHOLE_NAMES and kind not in _KINDS:
        raise _unknown(model)
    if not name and kind in _KINDS and kind != "sim":
        form = _KINDS[kind]
        raise InputError(f"model {model!r} lacks {'a path' if form.endswith('PATH') else 'a name'}: {form}")
    return kind, name


def _chooses(model: str, task: Task) -> InputError:
    return InputError(
        f"model {model} chooses among labels, and the answers of {task.name} are {task.spec.kind}: take a model that "
        "writes, such as openai/NAME"
    )


def _unknown(model: str) -> InputError:
    """A name without a kind is usually a chat model's; one with a slash may be a repository's."""
    local = f", or hf/{model} to run it here" if "/" in model else ""
    hint = name_hint(model) or f"did you mean openai/{model} (a server, see --api-base){local}?"
    if model.casefold().endswith(".gguf"):
        hint = f"did you mean gguf/{model}?"
    elif difflib.get_close_matches(model.casefold(), _WHOLE_NAMES, cutoff=0.5):
        return UnknownNameError("model", model, _WHOLE_NAMES, f"or {', '.join(_KINDS.values())}")
    *others, last = (*_WHOLE_NAMES, *_KINDS.values())
    return InputError(f"unknown model {model!r}: {hint} There are {', '.join(others)} and {last}")


def name_of_model(model: Any) -> str:
    """The name of a model, or of what `load_model` turns into one.

    >>> name_of_model("minilm"), name_of_model(len), name_of_model(["minilm", "smollm2"])
    ('minilm', 'function/len', 'minilm + smollm2')
    """
    if isinstance(model, (list, tuple)):
        return models_name([name_of_model(each) for each in model])
    if isinstance(model, str):
        return model
    if isinstance(name := getattr(model, "name", None), str) and hasattr(model, "predict"):
        return name
    if callable(model) and not _is_dspy_lm(model):
        return function_name(model)
    return f"dspy/{getattr(model, 'model', type(model).__name__)}"


def _is_dspy_lm(model: Any) -> bool:
    return hasattr(model, "model") and hasattr(model, "kwargs") and callable(model)


def assessor_for(spec: AnswerSpec, cache_dir: Path | None, options: LMConfig, budget: Budget) -> Assessor | None:
    """Return what compares or rates a task's answers, None where the answers alone are enough; raises InputError."""
    if not spec.is_assessed:
        return None

    def asked(by: Any, judging: type[SamenessJudge | RatingJudge]) -> Any:
        if by.kind != JUDGE:
            return OwnFunction(by.name) if by.kind == FUNCTION else None
        if options.batch:
            raise InputError("--batch is for answers without a judge, who is asked call by call: leave it out")
        return judging(load_writer(by.name, cache_dir=cache_dir, options=options, budget=budget))

    return Assessor(asked(spec.equivalence, SamenessJudge), asked(spec.rating, RatingJudge))


class ModelProvider:
    """Makes the model that answers, the ones that write and judge, and the encoder.

    Answers and embeddings are kept in `cache_dir`, by default `cache_folder`. Language models have the settings of
    `lm`, and share `budget`, by default what `lm` allows.
    """

    def __init__(
        self, cache_dir: str | Path | None = None, lm: LMConfig | None = None, budget: Budget | None = None
    ) -> None:
        self.cache_dir = cache_folder(cache_dir)
        self.lm = lm or LMConfig()
        self.budget = budget or Budget.of(self.lm)

    def answering(self, model: Any, task: Task) -> Model:
        """Load a task model, by name or from an object (see `load_model`); calibrated where possible."""
        embed_with(lambda texts: self.encoder.encode(texts))
        answering = load_model(model, task, cache_dir=self.cache_dir, options=self.lm, budget=self.budget)
        if calibrates(answering):  # loaded before: a second wrapper would measure its priors again
            return answering
        has_label_prior = capabilities_of(answering).has_label_prior or (asks_in_chat(answering) and self.lm.logprobs)
        if task.spec.is_open or not has_label_prior:
            if self.lm.calibration == "batch":
                raise InputError(
                    f"--calibration batch needs a language model's probabilities of labels, and {answering.name} gives "
                    "none: take smollm2, gguf/ or hf/, or openai/ with --logprobs"
                )
            return answering
        if self.lm.calibration == "off":
            return answering
        texts = [sample.text for sample in (task.train or task.val)]
        return CalibratedModel(answering, texts, self.budget, is_always=self.lm.calibration == "batch")

    def assessor(self, spec: AnswerSpec) -> Assessor | None:
        """Make what compares or rates free answers; None where nothing is needed."""
        return assessor_for(spec, self.cache_dir, self.lm, self.budget)

    def writer(self, model: Any) -> Writer:
        """Load a model that writes, by name or from a `dspy.LM` (see `load_writer`)."""
        return load_writer(model, cache_dir=self.cache_dir, options=self.lm, budget=self.budget)

    def judge(self, model: Any) -> Callable[[str, str], bool]:
        """Load a model that says whether two descriptions of a task ask for the same thing."""
        return self.writer(model).judge

    def engine(self, kind: str, name: Any) -> Engine:
        """Make what asks a chat model, for programs that write their own requests, call by call (see `chat_engine`)."""
        if self.lm.batch:
            raise InputError(
                "--batch (LMConfig.batch) means nothing for a program, which asks call by call: leave it out"
            )
        return chat_engine(kind, name, AnswerCache(self.cache_dir), self.lm, self.budget)

    @cached_property
    def encoder(self) -> Encoder:
        """The embedded encoder; raises MissingExtraError if what it needs is not installed."""
        return Encoder(self.cache_dir)


@cache
def _default_encoder() -> Encoder:
    """For answers that are compared where no model is loaded, as of a finished run."""
    return Encoder(cache_folder())


embed_with(lambda texts: _default_encoder().encode(texts))
