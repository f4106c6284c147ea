"""A stand-in for the language model that writes for DSPy's optimizers: rules that read what they are shown.

MIPROv2 and COPRO ask for other instructions: they get frames around the given ones. GEPA shows examples with feedback,
SIMBA a good and a bad run of one example: they get the instructions with one more sentence, on words in what went
wrong. psopt's own rules can do the same, so writers are alike and only optimizers differ.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from psopt.models.minilm import read_request
from psopt.text import FUNCTION_WORDS, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

OPENINGS = ("", "Please help. ", "You are an expert. ", "Take care. ", "Think before you answer. ")
CLOSINGS = ("", " Answer with one label.", " Be precise.", " Read the text closely.")
_SECTION = re.compile(r"\[\[ ## (\w+) ## \]\]\n(.*?)(?=\n\[\[ ## |\n\nRespond with|\Z)", re.DOTALL)
_SHOULD_BE = re.compile(r"it is (.+?), not ")
_MOST_WORDS = 3
_LEAST_LETTERS = 4


class RuleWriter:
    """An engine for `dspy.LM` that writes by rule.

    Parameters
    ----------
    instructions : str
        Those of the program that is optimized.
    vary : bool
        Whether instructions that are asked for without examples differ from the given ones.
    """

    def __init__(self, instructions: str, *, vary: bool = True) -> None:
        self.instructions = instructions
        self.vary = vary
        self._frames: Iterator[tuple[str, str]] = itertools.cycle(
            (opening, closing) for closing in CLOSINGS for opening in OPENINGS
        )
        if vary:
            next(self._frames)  # the first is no frame

    def complete(self, request: Any) -> Any:
        """Fill the requested outputs."""
        from dspy import lm15

        shown = dict(_SECTION.findall("".join(part.text for part in request.messages[-1].parts)))
        reading = read_request(request)
        values = {field.name: self._value(field.name, shown) for field in reading.outputs}
        text = json.dumps(values) if reading.as_json else _in_sections(values)  # GEPA asks for JSON, the others don't
        message = lm15.Message(role="assistant", parts=(lm15.TextPart(text),))
        usage = lm15.Usage(input_tokens=0, output_tokens=0)
        return lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=usage)

    def _value(self, name: str, shown: dict[str, str]) -> str:
        if name == "module_advice":
            return json.dumps(dict.fromkeys(json.loads(shown["module_names"]), _advice_of_runs(shown)))
        if "examples_with_feedback" in shown:
            return _reflected(shown["current_instruction"].strip(), json.loads(shown["examples_with_feedback"]))
        if "instruction" not in name:
            return "Texts are sorted."
        opening, closing = next(self._frames) if self.vary else ("", "")
        return f"{opening}{self.instructions}{closing}"


def _in_sections(values: dict[str, str]) -> str:
    parts = [f"[[ ## {name} ## ]]\n{value}" for name, value in values.items()]
    return "\n\n".join([*parts, "[[ ## completed ## ]]"])


def _reflected(instruction: str, examples: list[dict[str, Any]]) -> str:
    """The instruction with a sentence on the class that was missed most often."""
    missed: dict[str, list[str]] = {}
    for example in examples:
        should_be = _SHOULD_BE.search(str(example["Feedback"]))
        if should_be:
            missed.setdefault(should_be[1], []).extend(map(str, example["Inputs"].values()))
    if not missed:
        return instruction
    label = max(missed, key=lambda label: len(missed[label]))
    return f"{instruction} {_sentence(label, missed[label])}"


def _advice_of_runs(shown: dict[str, str]) -> str:
    labels = json.loads(shown["oracle_metadata"])
    return _sentence(
        next(iter(labels.values())), [str(value) for value in json.loads(shown["program_inputs"]).values()]
    )


def _sentence(label: str, texts: list[str]) -> str:
    """Say what texts of a class are about: the words that most of them have, longer ones first."""
    counts = Counter(
        word
        for text in texts
        for word in dict.fromkeys(words_of(text))
        if word not in FUNCTION_WORDS and len(word) >= _LEAST_LETTERS
    )
    told = sorted(counts, key=lambda word: (-counts[word], -len(word), word))[:_MOST_WORDS]
    return f"Texts about {', '.join(told)} are {label}." if told else f"When in doubt, it is {label}."
