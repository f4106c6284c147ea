"""A real language model behind DSPy that answers a class without generating: restricted to the labels, as by a grammar.

Each answer is the most probable label if only labels may follow the lead of DSPy's form. A server that is restricted
to a schema writes the same, token by token, in thirteen steps instead of one or two.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from _lm_rules import label_scores, scored_steps
from psopt.models import load_model
from psopt.models.minilm import read_request
from psopt.tasks import load_task

if TYPE_CHECKING:
    from psopt.search_spaces import Messages


class LabelEngine:
    """An engine for `dspy.LM` around a model that runs here; programs have one output, a class.

    Attributes
    ----------
    n_calls : int
        How often it was asked.
    """

    def __init__(self, name: str) -> None:
        model: Any = load_model(name, load_task("trec"), cache_dir=None)  # such a model makes no use of its texts
        self._model = model
        self._lock = threading.Lock()
        self._known: dict[str, int] = {}  # it always answers alike; a repeated call counts, and takes no time
        self.n_calls = 0

    def complete(self, request: Any) -> Any:
        """Answer one request (an `lm15.Request`) with an `lm15.Response`."""
        from dspy import lm15

        reading = read_request(request)
        (field,) = reading.outputs
        lead = f'{{"{field.name}": "' if reading.as_json else f"[[ ## {field.name} ## ]]\n"
        with self._lock:
            self.n_calls += 1
            label = field.labels[self._best(_messages(request), field.labels, lead)]
        if reading.as_json:
            text = json.dumps({field.name: label}, ensure_ascii=False)
        else:
            text = f"{lead}{label}\n\n[[ ## completed ## ]]"
        message = lm15.Message(role="assistant", parts=(lm15.TextPart(text),))
        usage = lm15.Usage(input_tokens=0, output_tokens=0)
        return lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=usage)

    def _best(self, messages: Messages, labels: tuple[str, ...], lead: str) -> int:
        begun: Messages = [*messages, {"role": "assistant", "content": lead}]
        key = json.dumps([begun, labels])
        if key not in self._known:
            tree, steps = scored_steps(self._model, self._model.tokenizer, [begun], labels, asked="")
            self._known[key] = int(label_scores(tree, steps, "decoded")[0].argmax())
        return self._known[key]


class AsyncLabelEngine:
    """The same engine for async programs; it computes, so there is nothing to wait for."""

    def __init__(self, engine: LabelEngine) -> None:
        self._engine = engine

    async def complete(self, request: Any) -> Any:
        """Answer one request; see `LabelEngine.complete`."""
        return self._engine.complete(request)


def _messages(request: Any) -> Messages:
    system = request.system if isinstance(request.system, str) else "".join(part.text for part in request.system or ())
    turns = [{"role": turn.role, "content": "".join(part.text for part in turn.parts)} for turn in request.messages]
    return [{"role": "system", "content": system}, *turns]
