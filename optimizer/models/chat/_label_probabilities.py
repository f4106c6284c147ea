"""From the log-probabilities of an answer's tokens to those of the labels, and to how sure the model was."""

from __future__ import annotations

import itertools
import json
import math
import re
from typing import TYPE_CHECKING, Any

from psopt.answers import spoken

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from psopt.models.chat._client import Alternatives

_LEAD = re.compile(r'"label"\s*:\s*"')
_QUOTE = '"'


def label_probabilities(answer: Alternatives, labels: Sequence[str]) -> list[float]:
    """Return p(label | x, rho) for each label, and last for N/A, from one answer with its top log-probabilities.

    The answer is followed token by token. At each place, an alternative that leaves only one label possible gives its
    probability to that label. One that leaves several open is followed if the answer took it; otherwise they share its
    probability equally. What fits no label, and what the server did not list, is N/A. Case and white space before the
    answer don't count.

    In a JSON answer, the text after ``"label": "`` is followed, up to the closing quote. If that is a label, N/A has no
    probability: llama.cpp's server (xllamacpp 2026.10) sends log-probabilities from *before* its grammar, which may
    leave labels a tenth. So this is p(label | it is one of the labels), as servers send it that mask first.

    >>> answer = [("Num", [("Num", -0.1), ("Ent", -2.5)]), ("ber", [("ber", -0.01)])]
    >>> [round(p, 3) for p in label_probabilities(answer, ["Number", "Entity"])]
    [0.905, 0.082, 0.013]
    >>> answer = [('{"label": "', []), ("Num", [("Question", -0.7), ("Num", -1.6), ("Ent", -3.0)]), ('ber"}', [])]
    >>> [round(p, 3) for p in label_probabilities(answer, ["Number", "Entity"])]
    [0.802, 0.198, 0.0]
    """
    written = _behind_lead(answer)
    if written is None:
        return _followed(answer, [label.casefold() for label in labels], _bare)
    names = _json_names(labels)
    probabilities = _followed(written, names, _in_json)
    text = _in_json("".join(token for token, _ in written))
    named = next((index for index, name in enumerate(names) if text.startswith(name)), None)
    if named is None:
        return probabilities
    among = probabilities[:-1]
    total = sum(among)
    if not total:  # servers send -9999 for a masked token, some perhaps even for the one that was written
        among[named] = total = 1.0
    return [*(p / total for p in among), 0.0]


def kept_places(answer: Alternatives, labels: Sequence[str]) -> Alternatives:
    """Return the part of a JSON answer that `label_probabilities` reads, so that a cache need not hold the rest.

    The lead becomes one token without alternatives. After it, up to the closing quote, only the alternatives that begin
    a label are kept, where labels are known.
    """
    written = _behind_lead(answer)
    if written is None:
        return answer
    names = _json_names(labels)
    text = "".join(token for token, _ in answer)
    places: Alternatives = [(text[: len(text) - sum(len(token) for token, _ in written)], [])]
    read = ""
    for token, alternatives in written:
        places.append((token, [pair for pair in alternatives if not names or _open(_in_json(read + pair[0]), names)]))
        read += token
        if _QUOTE in token:
            break
    return places


def _behind_lead(answer: Alternatives) -> Alternatives | None:
    """What an answer writes after the lead of its JSON; None where there is no lead.

    A token that ends the lead and begins the label is cut there, and so are its alternatives, if they go on behind it.
    """
    lead = _LEAD.search("".join(token for token, _ in answer))
    if lead is None:
        return None
    read = ""
    for number, (token, alternatives) in enumerate(answer):
        if len(read) + len(token) > lead.end():
            begun = [(_LEAD.search(read + text), read + text, logprob) for text, logprob in alternatives]
            cut = [(text[end.end() :], logprob) for end, text, logprob in begun if end]
            first = (read + token)[lead.end() :]
            return [(first, [pair for pair in cut if pair[0].strip() or pair[0] == first]), *answer[number + 1 :]]
        read += token
    return []


def _json_names(labels: Sequence[str]) -> list[str]:
    """The labels as in JSON, with the quote that ends them: so "Number" is not the beginning of "Numbers"."""
    return [json.dumps(label, ensure_ascii=False)[1:].casefold() for label in labels]


def _followed(answer: Alternatives, names: Sequence[str], clean: Callable[[str], str]) -> list[float]:
    probabilities = [0.0] * len(names)
    read = ""
    reached = 1.0  # the probability of what was read
    for token, alternatives in answer:
        if not alternatives:
            break
        followed = 0.0
        for text, logprob in alternatives:
            open_labels = _open(clean(read + text), names)
            probability = reached * math.exp(logprob)
            if text == token and len(open_labels) > 1:
                followed = probability
                continue
            for index in open_labels:
                probabilities[index] += probability / len(open_labels)
        read += token
        reached = followed
        if not followed:
            break
    answer_text = clean(read)
    named = [names.index(answer_text)] if answer_text in names else _open(answer_text, names)
    for index in named:
        probabilities[index] += reached / len(named)
    total = max(1.0, sum(probabilities))  # above 1 by rounding, or if the chosen token's is from another temperature
    probabilities = [probability / total for probability in probabilities]
    return [*probabilities, max(0.0, 1.0 - sum(probabilities))]


def _open(beginning: str, names: Sequence[str]) -> list[int]:
    """Which labels an answer may still become: those it begins, or, if it is complete, the longest that it contains."""
    possible = [index for index, name in enumerate(names) if name.startswith(beginning)]
    if possible:
        return possible
    ended = [index for index, name in enumerate(names) if beginning.startswith(name)]
    return sorted(ended, key=lambda index: -len(names[index]))[:1]


def _bare(text: str) -> str:
    return text.lstrip(" \t\n\"'*`").casefold()


def _in_json(text: str) -> str:
    return text.lstrip().casefold()


def confidence_of(logprobs: Any) -> float | None:
    """Return the mean probability of the answer's tokens, without its reasoning, in [0, 1] (P24's decoding confidence).

    None if `logprobs`, from a chat completion, lacks the probability of any token.

    >>> places = [{"token": "Num", "logprob": -0.1}, {"token": "ber", "logprob": -0.7}]
    >>> round(confidence_of({"content": places}), 3)
    0.701
    """
    places = (logprobs or {}).get("content") or []
    told = [place.get("logprob") for place in places[_first_said(places) :]]
    if not told or None in told:
        return None
    # some servers round the log-probability of a sure token to slightly above 0
    mean = sum(math.exp(min(float(logprob), 0.0)) for logprob in told) / len(told)
    return mean if math.isfinite(mean) else None


def _first_said(places: Sequence[Mapping[str, Any]]) -> int:
    """The first token of the answer: after the reasoning, if there is any that ends."""
    tokens = [str(place.get("token") or "") for place in places]
    text = "".join(tokens)
    answer = (spoken(text) or "").strip()
    begin = text.rfind(answer) if answer else 0
    ends = itertools.accumulate(map(len, tokens))
    return next((number for number, end in enumerate(ends) if end > begin), 0)
