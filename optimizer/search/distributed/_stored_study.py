"""An Optuna study whose trials can be read and written by number, and what it stores of a search, under which keys.

The keys are persisted: nothing may be renamed here. The names of parameters are in `psopt.search_spaces`.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import json
import zlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import optuna
from optuna.storages import RetryHeartbeatStaleTrialCallback
from optuna.trial import TrialState
from psopt.answers import FIRST_CODE, packed, unpacked
from psopt.errors import InputError
from psopt.search_spaces import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial
    from psopt.evaluation import PartialAnswers, Predictions
    from psopt.search.distributed._storage import RetryPolicy
    from psopt.search_spaces import Prompt

    Answers = tuple[NDArray[np.int64], NDArray[np.float64] | None]


# Of the study
METADATA = "psopt:shared"  # all that a worker elsewhere needs, as JSON
BASELINE = "psopt:baseline"  # hidden; the original prompt's data
EDITS = "psopt:edits"  # ":ROUND" or ":ROUND:WORKER" follows; the new edits of that round, as JSON
ANSWERED_LATER = "psopt:further"  # ":PROMPT_ID" follows, hidden; answers on val that came after its trial was finished
ROUND_LEASE = "psopt:round"  # ":ROUND" follows; [worker, beat] of the one that proposes its edits
OUTDATED = "psopt:outdated"  # hidden; [trials] whose answers are to something else than is asked about now

# Of a trial, among the system attributes, which the dashboard does not show
BEAT = "psopt:beat"  # [worker, beat] of the one that has the trial
ANSWERS = "psopt:answers"  # the answers on val

# Of a trial, for everyone to see
PROMPT_ID = "prompt_id"
CLAIMED = "psopt:claimed"  # the worker that evaluates the prompt
OF_RUN = "optimize-"  # begins the names of the processes of the run itself, among those of workers
DROPPED = "dropped"  # why its prompt was not evaluated
FAILED = "failed"  # why it could not be evaluated
INFEASIBLE = "infeasible"  # by how much its F1 is too low
RACED = "raced"  # how far it got, and why it went no further: "80 x 2, dominated by ID"
AUDIT = "audit"  # of one that would have stopped but was asked further: whether stopping was right or wrong


class StoredStudy(optuna.Study):
    """An existing study that exposes its storage, as Optuna's trials do, and what psopt keeps in it.

    `optuna.Study` hides it, and has no public access to the system attributes of a trial, nor to any trial that another
    process has.
    """

    def __init__(
        self, name: str, storage: BaseStorage, sampler: optuna.samplers.BaseSampler, policy: RetryPolicy
    ) -> None:
        super().__init__(name, storage, sampler)
        self.storage = storage
        self.retry_policy = policy
        self._id = storage.get_study_id_from_name(name)
        self.is_to_stop = False

    def stop(self) -> None:
        """Ask that nothing more is tried, as callbacks do: what was found is scored, and the run can be resumed."""
        self.is_to_stop = True

    def trials_in(self, *states: TrialState) -> list[FrozenTrial]:
        return self.get_trials(deepcopy=False, states=states)

    def read_trial(self, number: int) -> FrozenTrial:
        return self.storage.get_trial(self._trial_id(number))

    def set_trial_attr(self, number: int, key: str, value: Any) -> None:
        """Set an attribute of a trial that everyone sees."""
        self.storage.set_trial_user_attr(self._trial_id(number), key, value)

    def set_hidden_trial_attr(self, number: int, key: str, value: Any) -> None:
        """Set an attribute of a trial that the dashboard does not show."""
        self.storage.set_trial_system_attr(self._trial_id(number), key, value)

    def hidden_attrs(self) -> dict[str, Any]:
        """Return the attributes of the study that the dashboard does not show."""
        return self.storage.get_study_system_attrs(self._id)

    def set_hidden_attr(self, key: str, value: Any) -> None:
        """Set an attribute of the study that the dashboard does not show."""
        self.storage.set_study_system_attr(self._id, key, value)

    def fail_trial(self, number: int) -> None:
        """Finish a trial as failed; raises UpdateFinishedTrialError if it is finished already."""
        self.storage.set_trial_state_values(self._trial_id(number), state=TrialState.FAIL)

    def queue_again(self, number: int) -> None:
        """Queue what a trial was meant to try, but not its attributes: a dead worker's claim would bar others."""
        trial = copy.deepcopy(self.read_trial(number))
        trial.user_attrs = {}
        RetryHeartbeatStaleTrialCallback()(self, trial)

    def _trial_id(self, number: int) -> int:
        return self.storage.get_trial_id_from_study_id_trial_number(self._id, number)

    @contextlib.contextmanager
    def finished_by_others(self, number: int) -> Iterator[None]:
        """Leave the block quietly if others have finished its trial because they took its worker for dead.

        Every other error passes through. In Optuna 5, any write to such a trial raises `UpdateFinishedTrialError`.
        `Study.tell` raises ValueError instead, as for a dozen other reasons; with ``skip_if_finished`` it raises
        nothing, or the former if the others were only just faster. So it is enough to catch that class, and the trial's
        state confirms it: RuntimeError if nobody has finished it.
        """
        try:
            yield
        except optuna.exceptions.UpdateFinishedTrialError as error:
            state = self.read_trial(number).state
            if not state.is_finished():
                raise RuntimeError(f"trial {number} is {state.name}, but can't be written: {error}") from error

    def outdate_answers(self) -> None:
        """Let no one take over the answers so far: the samples, the wordings, the prompt or the model have changed."""
        self.set_hidden_attr(OUTDATED, [len(self.trials_in(*TrialState))])

    def is_outdated(self, number: int) -> bool:
        """Whether `outdate_answers` concerns a trial."""
        return number < int(self.hidden_attrs().get(OUTDATED, [0])[0])

    def write_answers(self, number: int, predictions: Predictions | PartialAnswers) -> None:
        """Store the answers on val in a trial, hidden: the whole grid, or the part that is known."""
        content = _content(predictions)
        if others := getattr(predictions, "others", ()):
            content["others"] = list(map(_content, others))
        self.set_hidden_trial_attr(number, ANSWERS, content)

    def write_further(self, prompt_id: str, answers: PartialAnswers) -> None:
        """Store the answers that a prompt got after its trial was finished, together with all earlier ones."""
        self.set_hidden_attr(f"{ANSWERED_LATER}:{prompt_id}", _content(answers))

    def read_further(self, prompt_id: str) -> Answers | None:
        """Return what `write_further` stored; None if it has stored nothing."""
        content = self.hidden_attrs().get(f"{ANSWERED_LATER}:{prompt_id}")
        return None if content is None else _read(content)

    def write_edits(self, round_number: int, edits: Iterable[Edit], worker: str = "") -> None:
        key = ":".join(filter(None, (EDITS, str(round_number), worker)))
        self.set_user_attr(key, json.dumps([edit.to_dict() for edit in edits]))

    def stored_edits(self) -> dict[str, str]:
        """Return what `write_edits` stored, unparsed (see `read_rounds`): equal to before if nothing was added."""
        return {key: value for key, value in self.user_attrs.items() if key.startswith(f"{EDITS}:")}

    def keep_baseline(self, prompt: Prompt) -> None:
        """Store the original prompt, so that every prompt can be built from the study alone."""
        self.set_hidden_attr(BASELINE, prompt.to_dict())

    def write_metadata(self, metadata: StudyMetadata) -> None:
        self.set_user_attr(METADATA, json.dumps(asdict(metadata)))

    def read_metadata(self) -> StudyMetadata:
        """Return what `write_metadata` stored; raises InputError if the study is not one of psopt's."""
        content = self.user_attrs.get(METADATA)
        if content is None:
            raise InputError(f"study {self.study_name!r} was not started by `psopt optimize --storage`")
        return StudyMetadata(**json.loads(content))


@dataclass(frozen=True, slots=True)
class StudyMetadata:
    """All that prompts are compared on, and the settings of the search, as plain JSON data."""

    settings: dict[str, Any]  # the run's settings
    dataset_sha256: str  # of the samples; each worker loads its own copy
    prompt: dict[str, Any]  # the original prompt
    rephrasings: dict[str, Any]  # the set, as in rephrasings.json
    psopt_version: str


def _content(answers: Predictions | PartialAnswers) -> dict[str, Any]:
    """A grid of answers with its probabilities, if any; open ones with their texts, so that these can be read back."""
    array, probabilities = answers.array, answers.probabilities
    content: dict[str, Any] = {"shape": list(array.shape)}
    if (array >= FIRST_CODE).any():
        places, texts = packed(array)
        content["int32"] = _packed(places, np.int32)
        content["texts"] = base64.b64encode(zlib.compress(json.dumps(texts).encode())).decode()
        content["n_labels"] = int(array[(array >= 0) & (array < FIRST_CODE)].max(initial=-1))
    else:
        content["int16"] = _packed(array, np.int16)
    if probabilities is not None:
        content["probabilities"] = {"shape": [*probabilities.shape], "float64": _packed(probabilities, np.float64)}
    return content


def read_answers(trial: optuna.trial.FrozenTrial) -> list[Answers]:
    """What `write_answers` stored, if anything, for each model: answers, -1 for none, and probabilities or None."""
    content = trial.system_attrs.get(ANSWERS)
    if content is None:
        return []
    return [_read(content), *map(_read, content.get("others", ()))]


def _read(content: Mapping[str, Any]) -> Answers:
    if "texts" in content:
        texts = json.loads(zlib.decompress(base64.b64decode(content["texts"])))
        answers = unpacked(_unpacked(content["int32"], np.int32, content["shape"]), texts, content["n_labels"])
    else:
        answers = _unpacked(content["int16"], np.int16, content["shape"]).astype(np.int64)
    probabilities = content.get("probabilities")
    if probabilities is None:
        return answers, None
    return answers, _unpacked(probabilities["float64"], np.float64, probabilities["shape"])


def _packed(array: NDArray[Any], kind: type[np.generic]) -> str:
    return base64.b64encode(zlib.compress(np.ascontiguousarray(array, dtype=kind).tobytes())).decode()


def _unpacked(packed: str, kind: type[np.generic], shape: Sequence[int]) -> NDArray[Any]:
    return np.frombuffer(zlib.decompress(base64.b64decode(packed)), dtype=kind).reshape(shape)


def read_rounds(stored: Mapping[str, str]) -> list[list[Edit]]:
    """Return the new edits of each round so far, whichever worker proposed them, in the same order for all."""
    edits_of_round: dict[int, dict[str, Edit]] = {}
    earlier: set[str] = set()
    for key, content in sorted(stored.items(), key=lambda item: (_round_of(item[0]), item[0])):
        edits = [Edit.from_dict(data) for data in json.loads(content)]
        new = {edit.id: edit for edit in edits if edit.id not in earlier}
        edits_of_round.setdefault(_round_of(key), {}).update(new)
        earlier |= {edit.id for edit in edits}
    rounds: list[list[Edit]] = []
    while len(rounds) in edits_of_round:  # rounds after a gap are read once the gap is filled
        rounds.append(sorted(edits_of_round[len(rounds)].values(), key=lambda edit: (-edit.gain, edit.id)))
    return rounds


def _round_of(key: str) -> int:
    return int(key.split(":")[2])
