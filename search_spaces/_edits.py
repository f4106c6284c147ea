"""An edit as a value: one change to a prompt, where it comes from, and the parameter of a study that switches it.

The names and values of parameters are persisted: studies are read by them, so none may be renamed. An edit's parameter
is named by its title, which is stored with the edit.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from psopt.notebooks import shortened
from psopt.search_spaces._prompt_parts import BATCH, Calibration, Definition, Example, in_order
from psopt.settings import TextKind
from psopt.text import read_data

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import optuna
    from psopt.search_spaces._prompt import Prompt
    from psopt.settings import SearchRestriction

EditKind = TextKind | Literal["calibration"]
WEAK_SPOT = "weak spot"
"""The topic of examples that were chosen because they are unstable themselves."""
_BY_RULE = ("rules", "task")  # authors: psopt's own rules, and the task's own words
ORDERS = ("as chosen", "by label", "shuffled 1", "shuffled 2")


@dataclass(frozen=True, slots=True)
class Provenance:
    """What an edit was drawn from."""

    author: str  # ``rules``, ``task`` or a model's name
    view: str  # the diagnosis it responds to, or ``task`` if the task's own words were used
    topic: str = ""
    samples: tuple[str, ...] = ()  # ids of *train* samples, never of val or test
    # Of the train texts that show a phrase that the edit quotes as a sign of a label: how many have that label, and
    # which have another
    support: int = 0
    counter: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edit:
    """One change to a prompt: a note added, a label defined, an example shown, the label prior taken out.

    `gain` is what the proposer expects: the share of the diagnosed train answers that would become right if the model
    followed the edit, in [-1, 1]. It ranks edits before any is paid for. Edits of one `bundle` are switched on and off
    together. In a program with several steps, an example may be for one `step`. An edit that `merges` others replaces
    them, and names their parameters. The `fields` of an example are the columns of its row (see `Example`). The `title`
    is the name of its parameter in a study (see `with_titles`), empty until it joins a pool. Gain, title and fields are
    no part of the id.
    """

    kind: EditKind
    label: str
    text: str
    provenance: Provenance
    gain: float = 0.0
    bundle: str = ""
    step: str = ""
    merges: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    title: str = field(default="", compare=False)

    @property
    def is_drafted(self) -> bool:
        """Whether a model wrote it."""
        return self.provenance.author not in _BY_RULE

    @property
    def parameter_name(self) -> str:
        """What is switched on and off: the edit's own id, or that of its bundle."""
        return "x" + hashlib.sha256(self.bundle.encode()).hexdigest()[:8] if self.bundle else self.id

    @property
    def stands_for(self) -> tuple[str, ...]:
        """The parameter names of the edits that this one merges, or its own."""
        return self.merges or (self.parameter_name,)

    @property
    def id(self) -> str:
        """A short name derived from the content: the kind's first letter and eight hexadecimal digits."""
        own_step = [self.step] if self.step else []  # so that edits of plain prompts keep the ids in stored runs
        content = json.dumps([self.kind, self.label, self.text, *own_step])
        return self.kind[0] + hashlib.sha256(content.encode()).hexdigest()[:8]

    def __repr__(self) -> str:
        """The kind and the text: the samples that it was drawn from would fill screens."""
        return f"<Edit {self.kind}: {shortened(str(self), 100)!r}>"

    def __str__(self) -> str:
        if self.kind == "definition":
            return f"{self.label}: {self.text}"
        return f"example of {self.label}: {self.text}" if self.kind == "example" else self.text

    def to_dict(self) -> dict[str, Any]:
        """Return the edit as plain JSON data, including its id."""
        data = {"id": self.id, **json.loads(json.dumps(asdict(self)))}
        origin = data["provenance"]
        for holder, optional in ((data, "fields"), (data, "title"), (origin, "support"), (origin, "counter")):
            if not holder[optional]:
                del holder[optional]
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Edit:
        """Build an edit from `to_dict`'s data; raises ValueError if they are damaged."""
        return read_data(cls, data)


CALIBRATE = Edit(
    "calibration", "", "take out the label prior", Provenance("rules", "task"), title=f"calibration: {BATCH}"
)
"""The edit that changes a prompt's decision rule, and none of its words (see `Calibration`)."""


def allowed_edits(edits: Iterable[Edit], restriction: SearchRestriction) -> list[Edit]:
    """Return the edits that a search may use."""
    left_out = set(restriction.without)
    allowed = []
    for edit in edits:
        # Among examples, only weak spots come from a view.
        needs_view = edit.provenance.topic == WEAK_SPOT and "sensitivity" not in restriction.views
        is_refused = edit.kind == "example" and (restriction.no_verbatim or needs_view)
        if edit.kind in restriction.kinds and not is_refused and not {edit.id, edit.parameter_name} & left_out:
            allowed.append(edit)
    return allowed


def apply_edits(prompt: Prompt, edits: Iterable[Edit], order: str = ORDERS[0]) -> Prompt:
    """Return `prompt` with `edits` applied, and its few-shot examples in one of the `ORDERS`.

    What the prompt already holds is not added twice. Only a template names the columns of examples; psopt's own form
    shows just their texts. Several definitions of one label become one.
    """
    definitions = {definition.label: [definition.text] for definition in prompt.definitions}
    notes = list(prompt.notes)
    examples = list(prompt.examples)
    calibration = prompt.calibration
    for edit in edits:
        if edit.kind == "definition":
            definitions.setdefault(edit.label, []).append(edit.text)
        elif edit.kind == "note" and edit.text not in notes:
            notes.append(edit.text)
        elif edit.kind == "example":
            example = Example(edit.text, edit.label, edit.step, edit.fields if prompt.template else ())
            if example not in examples:
                examples.append(example)
        elif edit.kind == "calibration":
            calibration = Calibration()
    defined = [label for label in prompt.labels if label in definitions]
    return replace(
        prompt,
        definitions=tuple(Definition.of_texts(label, definitions[label]) for label in defined),
        notes=tuple(notes),
        calibration=calibration,
        examples=_ordered(examples, prompt.labels, order),
    )


def _ordered(examples: Sequence[Example], labels: Sequence[str], order: str) -> tuple[Example, ...]:
    if order == "by label":
        place = {label: index for index, label in enumerate(labels)}
        return tuple(sorted(examples, key=lambda example: (place.get(example.label, len(place)), example.label)))
    return tuple(in_order(examples, ORDERS.index(order)) if order.startswith("shuffled") else examples)


_EXAMPLE_ORDER = "example-order"


def parameter_names(edits: Iterable[Edit]) -> set[str]:
    """Return the names by which psopt knows the parameters that choose these edits."""
    return {edit.parameter_name for edit in edits}


def first_parameters(edits: Sequence[Edit], most: int) -> list[Edit]:
    """Return the edits of the first `most` parameters."""
    first = list(dict.fromkeys(edit.parameter_name for edit in edits))[:most]
    return [edit for edit in edits if edit.parameter_name in first]


def suggest_edits(trial: optuna.Trial, pool: Iterable[Edit], orders: Sequence[str]) -> tuple[tuple[Edit, ...], str]:
    """Ask the sampler for a subset of the pool, in the pool's order, and, if it has examples, for one of `orders`."""
    edits = tuple(edit for edit in pool if trial.suggest_categorical(edit.title, [False, True]))
    if len(orders) > 1 and any(edit.kind == "example" for edit in edits):
        return edits, trial.suggest_categorical(_EXAMPLE_ORDER, orders)
    return edits, orders[0]


def chosen_edits(params: Mapping[str, Any], pool: Iterable[Edit]) -> tuple[tuple[Edit, ...], str]:
    """Return the edits that a trial's parameters choose, in the pool's order, and the order of the examples."""
    return tuple(edit for edit in pool if params.get(edit.title)), params.get(_EXAMPLE_ORDER, ORDERS[0])


def parameters_of(names: Iterable[str], pool: Iterable[Edit], order: str | None = None) -> dict[str, bool | str]:
    """Return the parameters that choose the edits with these names and no other edit of the pool."""
    selected_names = set(names)
    params: dict[str, bool | str] = {edit.title: edit.parameter_name in selected_names for edit in pool}
    return params if order is None else {**params, _EXAMPLE_ORDER: order}


_LONGEST = 40  # characters: as many as an axis of Optuna's plots shows completely
_LONGEST_LABEL = 16  # characters of these for the label, so that the text keeps its share
_LONGEST_TAIL = 8  # characters of a word at the cut, which is then dropped; longer ones are kept in part
_VERBS = {"definition": "define", "example": "example"}
_SHORTEST_DIGEST = 4  # hexadecimal digits that tell two edits with the same beginning apart


def with_titles(edits: Iterable[Edit], pool: Iterable[Edit]) -> list[Edit]:
    """Give edits that join a pool their titles: edits that are switched together share one, all others differ.

    If the pool has a title already, a digest of the edit is appended. So titles are stored, and never computed again.
    """
    titles = {edit.parameter_name: edit.title for edit in pool}
    titled = []
    for edit in edits:
        if edit.parameter_name not in titles:
            titles[edit.parameter_name] = _free_title(edit, set(titles.values()))
        titled.append(replace(edit, title=titles[edit.parameter_name]))
    return titled


def _free_title(edit: Edit, taken: Collection[str]) -> str:
    words = _words_of(edit)
    title = _cut(words, _LONGEST)
    digest = hashlib.sha256(edit.parameter_name.encode()).hexdigest()
    length = _SHORTEST_DIGEST
    while title in taken:
        title = f"{_cut(words, _LONGEST - length - 1)} {digest[:length]}"
        length += 1
    return title


def _words_of(edit: Edit) -> str:
    """A description of an edit, of any length; for a note, the words it is about, if it contains them."""
    if edit.bundle:
        return edit.bundle.partition(" (")[0]
    label = _cut(edit.label, _LONGEST_LABEL)
    if edit.kind != "note":
        return f"{_VERBS[edit.kind]} {label}: {edit.text}"
    topic = edit.provenance.topic
    if not topic or topic not in edit.text:
        return f"note: {edit.text}"
    named = f"note: {topic} ({label})"
    return named if label and len(named) <= _LONGEST else f"note: {topic}"


def _cut(text: str, most: int) -> str:
    """A text on one line of at most `most` characters, cut after a word if possible."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    beginning = line[: most - 2]
    words, space, tail = beginning.rpartition(" ")
    return f"{(words if space and len(tail) <= _LONGEST_TAIL else beginning).rstrip(' ,;:')}.."
