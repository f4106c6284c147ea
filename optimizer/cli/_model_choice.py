"""Which model a command asks, and how: as the command line says, otherwise as in the run that measured the prompt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from psopt.cli._typer import has_option, is_given
from psopt.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.runs import Measured, PromptSource
    from psopt.search_spaces import Prompt
    from psopt.settings import LMConfig

_DEFAULT = "minilm"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model of a command."""

    model: str
    server: str | None  # the address that is asked, without secrets
    origin: str  # where the choice comes from, in words
    lm: LMConfig  # how it is asked
    note: str = ""  # on what of the prompts' calibration it can't use

    @property
    def line(self) -> str:
        """The line about it on the screen."""
        line = f"model {_place(self.model, self.server)}{likelihood_note(self.model, self.lm)}, {self.origin}"
        return "; ".join(filter(None, (line, self.note)))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {"model": self.model, "server": self.server, "model_origin": self.origin}


def likelihood_note(model: str, lm: LMConfig) -> str:
    """Say by which likelihood a local model scores labels; empty for others, and for llama.cpp if it is the usual."""
    from psopt.models import scores_labels

    if not scores_labels(model) or (_kind(model) != "hf" and lm.hf_likelihood == "mean"):
        return ""
    return f" (labels scored by {'mean' if lm.hf_likelihood == 'mean' else 'whole'} log-likelihood)"


def choose_model(named: str | None, lm: LMConfig, sources: Sequence[PromptSource]) -> ModelChoice:
    """Choose the model of prompts, and how to ask it: as the run asked it; raises InputError if the prompts disagree.

    The command line overrides what a prompt says. If it names a model, the prompt's server and options still apply, as
    long as both models are asked in the same way.
    """
    from psopt.models.chat import server_of

    measured = [(source, source.measured) for source in sources if source.measured is not None]
    model, origin = named, "as --model says"
    if not model:
        model, origin = _model_of(sources, measured)
    alike = [how for _, how in measured if _kind(how.model) == _kind(model)]
    if alike:  # what a run has set replaces the defaults
        lm = replace(lm, **{name: value for name, value in alike[0].options.items() if not is_given(name)})
    server = server_of(model, lm)
    for source, how in measured:
        if (how.model, how.server or server) != (model, server):
            verb = "names" if source.prompt is None else "was measured with"
            origin += f"; {source.path} {verb} {_place(how.model, how.server)}"
    notes = dict.fromkeys(calibration_note(source.prompt, model, lm) for source in sources)
    return ModelChoice(model, server, origin, lm, "; ".join(filter(None, notes)))


def calibration_note(prompt: Prompt | None, model: str, lm: LMConfig) -> str:
    """Say what of a prompt's calibration a model can't use; empty if it uses all of it, or is told not to."""
    from psopt.models import calibrated_as, scores_labels

    if prompt is None or prompt.calibration is None or lm.calibration == "off":
        return ""
    if not (scores_labels(model) or lm.logprobs):
        return "it gives no label probabilities: the prompt is used without its calibration"
    asked = calibrated_as(model, lm.hf_likelihood if scores_labels(model) else "mean")
    calibration = prompt.calibration.of(asked)
    if calibration.label_map and calibration.model != asked:
        return f"the prompt's label map is for {calibration.model} and is left out"
    return ""


def model_to_search_with(model: str, lm: LMConfig, sources: Sequence[PromptSource]) -> tuple[str, LMConfig, str]:
    """The model of a new run, how to ask it, and the line that reports it.

    If the run starts from an earlier run's prompt, it uses that run's model, asked in the same way. A user's own prompt
    is for a particular model, so none is assumed.
    """
    if any(source.measured is not None for source in sources):
        choice = choose_model(model if is_given("model") else None, lm, sources)
        return choice.model, choice.lm, choice.line
    if sources and not is_given("model"):
        raise _unstated(sources[0], " (minilm needs none)")
    note = likelihood_note(model, lm)
    return model, lm, note and f"model {model}{note}"


def _model_of(sources: Sequence[PromptSource], measured: Sequence[tuple[PromptSource, Measured]]) -> tuple[str, str]:
    """The model where none was named, and where it comes from; raises an error if the prompts do not say one."""
    if not sources:
        return _DEFAULT, "the default"
    if not measured:
        raise _unstated(sources[0])
    for source, how in measured:
        _check_usable(source, how)
    first, how = measured[0]
    for further_source, different in measured[1:]:
        _check_same(first, how, further_source, different)
    origin = f"as in {first.run or first.model_file or first.path}"
    return how.model, f"{origin} ({first.model_note})" if first.model_note else origin


def _unstated(source: PromptSource, hint: str = "") -> InputError:
    fault = f"prompt {source.model_file or source.path} does not say which model it is for"
    return InputError(f"{', '.join(filter(None, (fault, source.model_note)))}: give --model{hint}")


def _check_usable(source: PromptSource, how: Measured) -> None:
    if how.program is not None:
        raise InputError(
            f"prompt {source.path} is that of a DSPy program ({how.program}), run by {_place(how.model, how.server)}: "
            "use the program (psopt export RUN --format dspy), or give --model to try its text as a prompt of psopt's"
        )
    if not how.by_name:
        raise InputError(
            f"prompt {source.path} was measured with a model object in Python ({how.model}), which no name loads: "
            "give --model"
        )


def _check_same(first: PromptSource, how: Measured, second: PromptSource, different: Measured) -> None:
    ours = how.deciding
    theirs = different.deciding
    for name in sorted(ours.keys() | theirs.keys(), key=lambda name: (name != "model", name != "server", name)):
        option = "api_base" if name == "server" else name
        if ours.get(name) != theirs.get(name) and not is_given(option):
            flag = "--" + option.replace("_", "-") if has_option(option) else "--model"
            raise InputError(
                f"the prompts were measured differently: {first.path} with {name} {ours.get(name)}, {second.path} with "
                f"{theirs.get(name)}; say with {flag} what both are to be measured with"
            )


def _kind(model: str) -> str:
    return model.partition("/")[0]


def _place(model: str, server: str | None) -> str:
    return f"{model} at {server}" if server else model
