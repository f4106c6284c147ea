"""What a run recommends: the prompt, and the test behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.answers import AnswerType
from psopt.evaluation import measure_names
from psopt.runs._call_price import CallPrice, more_line
from psopt.search.gating import F1_ALONE
from psopt.text import counted, percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.search import Candidate
    from psopt.search.gating import Verdict


NOTHING_COMPARED = "Nothing was compared: no other prompt was scored on val; raise --max-calls"
"""Takes the verdict's place if a limit ended the search before it had a candidate."""

_BY_ESTIMATE = "by an estimate from test and, at half its weight, val"  # the basis of `likely`
_MOST_LOSSES = 5  # nobody reads a line with more classes


@dataclass(frozen=True, eq=False)
class Recommendation:
    """What the gate has decided about a run."""

    prompt: Candidate  # the recommended prompt: a nominee, or the baseline
    verdict: Verdict  # the gate's verdict, with its tests
    # If the baseline is kept: with about how many test samples the gate would pass the best nominee in 80 % of cases,
    # if it is as good as it looks. None if no number of samples would be enough.
    samples_needed: int | None = None
    looks: int = 1  # how many times test has decided in this run: the error holds for each, not for all together
    before: CallPrice | None = None  # what a call of the baseline takes
    after: CallPrice | None = None  # and one of `prompt`

    def __repr__(self) -> str:
        return f"<Recommendation {self.prompt.id}: {self.verdict!r}>"

    def to_dict(self) -> dict[str, Any]:
        calls = {"before": self.before, "after": self.after}
        return {
            **self.verdict.to_dict(),
            "id": self.prompt.id,
            "samples_needed": self.samples_needed,
            "looks": self.looks,
            "call": {when: call.to_dict() for when, call in calls.items() if call},
        }


def n_looks(before: Mapping[str, Any], verdict: Verdict) -> int:
    """How many times test has decided, going by the run.json of the part before: a new nominee is a new look.

    >>> from psopt.search.gating import untested
    >>> n_looks({}, untested("sure", 0.01, "no test"))
    1
    """
    earlier = before.get("recommended") or {}
    tested = {test["id"] for test in earlier.get("tests", ())}
    is_new = bool(tested) and not {test.id for test in verdict.tests} <= tested
    return int(earlier.get("looks", 1)) + is_new


def quality_name(manifest: Mapping[str, Any]) -> str:
    """The name of what takes the place of F1 in a run, by its run.json."""
    return AnswerType.from_dict(manifest.get("answers")).quality_name


def recommendation_lines(data: Mapping[str, Any], quality: str = "F1") -> list[str]:
    """Describe run.json's `recommended`, and how often test was looked at, as the report shows it."""
    return [*verdict_lines(data, quality), *look_lines(data)]


def verdict_lines(data: Mapping[str, Any], quality: str = "F1") -> list[str]:
    """Describe the verdict of run.json's `recommended`, why, and which classes have lost; `quality` replaces F1."""
    tests = data["tests"]
    lines = [_sentence(data, tests, quality)]
    if tests and data.get("reason"):
        lines.append(f"{data['reason']}.")
    if losses := losses_line(tests, data["id"], quality):
        lines.append(losses)
    return lines


def look_lines(data: Mapping[str, Any]) -> list[str]:
    """Describe which test scores the gate has looked at, and how often."""
    lines = []
    if data["tests"]:
        *others, last = (test["id"] for test in data["tests"])
        names = f"{', '.join(['the original prompt', *others])} and {last}"
        lines.append(
            f"The gate has looked at the test scores of {names}, so the chosen prompt's scores are slightly optimistic."
        )
    if data.get("looks", 1) > 1:
        lines.append(f"This was look {data['looks']} at the same test samples: the error holds of each look alone.")
    return lines


def _sentence(data: Mapping[str, Any], tests: list[Mapping[str, Any]], quality: str) -> str:
    recommended_test = next((test for test in tests if test["id"] == data["id"]), None)
    if recommended_test is not None:
        return _of_chosen(data, recommended_test, quality)
    if not tests:
        return f"{NOTHING_COMPARED}." if data["reason"] == NOTHING_COMPARED else f"Keep yours: {data['reason']}."
    best = nearest_to_pass(tests)
    found = f"Keep yours. The best found, {best['id']},"
    if best["lost"]:
        return f"{found} is wrong on what is pinned: {', '.join(best['lost'])}."
    differences = differences_line(best, quality)
    gain, is_s_decisive = best["f1"]["difference"], tuple(best.get("decisive", ())) != F1_ALONE
    is_steadier = is_s_decisive and best["sensitivity"]["difference"] < 0
    looks_better = gain > 0 or (is_steadier and gain > -data["margin"])
    if best.get("is_harmful") and looks_better:
        return f"{found} looks better on the whole, but is worse for single classes: {differences}."
    if looks_better and is_s_decisive and best["sensitivity"]["low"] > 0:
        return f"{found} has a better {quality}, but is surely less steady: {differences}."
    if data["mode"] == "likely":
        return f"{found} is not likely better: {differences} on test, and no better {_BY_ESTIMATE}."
    if data["samples_needed"]:
        needed = f"about {data['samples_needed']:,} test samples would settle it"
        return f"{found} may be better: {differences}; {needed}."
    if looks_better:
        return (
            f"{found} may be better: {differences}; more test samples alone would not settle it, more held-out "
            "wordings might."
        )
    return f"{found} looks no better on test: {differences}."


def _of_chosen(data: Mapping[str, Any], test: Mapping[str, Any], quality: str) -> str:
    differences = differences_line(test, quality)
    if call := data.get("call"):
        before, after = (CallPrice.from_dict(call[when]) for when in ("before", "after"))
        differences = f"{differences}, {more_line(before, after)}"
    is_f1_alone = tuple(test.get("decisive", ())) == F1_ALONE
    if data["mode"] == "off":
        return f"Not tested (--gate off): {test['id']} is the best by val; on test {differences}."
    why = f"{quality} is higher"
    if data["mode"] == "likely":
        estimate = test["estimate"]
        why = f"{quality} is higher ({100 * estimate['f1']:+.1f})"
        if not is_f1_alone:
            total = f"{quality} - S" if estimate["consistency"] is None else f"{quality} - S + C"
            gain = estimate["f1"] - estimate["sensitivity"] + (estimate["consistency"] or 0.0)
            why = f"{quality} is no lower ({100 * estimate['f1']:+.1f}) and {total} is higher ({100 * gain:+.1f})"
        return (
            f"Likely better: {test['id']}, {differences}. {why} {_BY_ESTIMATE}: "
            "no test stands behind it (--gate likely)."
        )
    if not is_f1_alone:
        with_each = " with every model" if test.get("of_models") else ""
        why = (
            f"{quality} is not lower by {100 * data['margin']:g} and S not higher by 1{with_each}, "
            "and at least one of them is better"
        )
    return f"Use prompt {test['id']}: {differences}. Tested at {100 * data['alpha']:g} %: {why}."


def losses_line(tests: Sequence[Mapping[str, Any]], chosen: str, quality: str = "F1") -> str:
    """Which classes are worse on test, and macro-F1 if it is, with the recommended prompt or else the best found."""
    if not tests:
        return ""
    shown = next((test for test in tests if test["id"] == chosen), nearest_to_pass(tests))
    parts = []
    for loss in shown.get("losses", ()):
        support = f"{counted(loss['n'], 'sample')}{', surely' if loss['is_sure'] else ''}"
        change = f"{percent(loss['before'])} -> {percent(loss['after'])}"
        parts.append(f"label {loss['label']}: {quality} {change} ({support})")
    if len(parts) > _MOST_LOSSES:
        parts[_MOST_LOSSES:] = [f"and {len(parts) - _MOST_LOSSES} more"]
    macro = shown.get("macro_f1")
    if macro and macro[1] < macro[0]:
        parts.append(f"macro-F1 {percent(macro[0])} -> {percent(macro[1])}")
    if not parts:
        return ""
    return f"Worse with {shown['id']} on test: {', '.join(parts)}."


def differences_line(test: Mapping[str, Any], quality: str = "F1") -> str:
    """Give F1 and S before and after, with the interval of each difference, from a test in run.json."""
    if of_models := test.get("of_models"):
        return "; ".join(f"with {name} {differences_line(each, quality)}" for name, each in of_models.items())
    return ", ".join(f"{name} {_difference(test[key])}" for key, name in (("f1", quality), ("sensitivity", "S")))


def _difference(measure: Mapping[str, float]) -> str:
    """Before, after and the interval of the difference."""
    low, high = 100 * measure["low"], 100 * measure["high"]
    return f"{percent(measure['before'])} -> {percent(measure['after'])} ({low:+.1f} to {high:+.1f})"


def nearest_to_pass(tests: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Of the nominees' tests, as in run.json, the one that comes closest to passing."""
    return min(tests, key=lambda test: (bool(test["lost"] or test.get("is_harmful")), test["p_value"]))


def best_found(tests: Sequence[Mapping[str, Any]], otherwise: str) -> str:
    """The id of the prompt that is shown where the original one stays: what the verdict is about, if any was tested."""
    return str(nearest_to_pass(tests)["id"]) if tests else otherwise


def unasked_lines(manifest: Mapping[str, Any]) -> list[str]:
    """Describe what calibration alone does, and what planted phrases do."""
    return list(filter(None, (_calibration(manifest), _planted(manifest))))


def worse_line(manifest: Mapping[str, Any]) -> str:
    """What planted phrases do, where they change more answers than with the original prompt; otherwise empty."""
    planted = manifest.get("planted") or {"original": 0, "recommended": 0}
    is_worse = planted["recommended"] > planted["original"]
    return f"Read its notes before you ship it. {_planted(manifest)}" if is_worse else ""


def asked_for_lines(manifest: Mapping[str, Any]) -> list[str]:
    """Describe what the user has asked for: each of several models, other wordings, and the user's own texts."""
    return list(filter(None, (_of_models(manifest), _other_wordings(manifest), _probe(manifest))))


def _of_models(manifest: Mapping[str, Any]) -> str:
    """How each of several models does with the original prompt, and with the recommended one or otherwise the knee."""
    baseline = manifest.get("baseline") or {}
    if not baseline.get("val", {}).get("per_model"):
        return ""
    entries = {entry["id"]: entry for entry in (*manifest["front"], manifest.get("short") or baseline)}
    picked_entry = next((entry for entry in manifest["front"] if entry["knee"]), baseline)
    recommended = (manifest.get("recommended") or {}).get("id")
    if recommended != baseline["id"]:
        picked_entry = entries.get(recommended, picked_entry)
    split = "test" if baseline["test"] and picked_entry["test"] else "val"
    lines = [
        f"{name}: {_changes(before, picked_entry[split]['per_model'][name], quality_name(manifest))}"
        for name, before in baseline[split]["per_model"].items()
    ]
    of = f"original -> {picked_entry['id']}"
    if picked_entry["id"] == baseline["id"]:
        of = "the original prompt"
    return f"With each model on {split}, {of}. {'. '.join(lines)}."


def _calibration(manifest: Mapping[str, Any]) -> str:
    if not (alone := manifest.get("calibration")):
        return ""
    split = "test" if alone["test"] else "val"
    after = alone[split]
    line = f"Calibration alone, on {split}: {_changes(manifest['baseline'][split], after, quality_name(manifest))}"
    name = manifest["recommended"]["id"]
    recommended: Mapping[str, Any] = next((entry for entry in manifest["front"] if entry["id"] == name), {})
    has_no_edits = name in {alone["id"], manifest["baseline"]["id"]}
    if has_no_edits or not recommended.get(split):
        return f"{line}."
    return f"{line}; the edits of {name} on top: {_changes(after, recommended[split], quality_name(manifest))}."


def _changes(before: Mapping[str, Any], after: Mapping[str, Any], quality: str) -> str:
    parts = []
    for key, name in measure_names(quality).items():
        was, now = before.get(key), after.get(key)
        if was is not None and now is not None:
            change = percent(was) if before == after else f"{percent(was)} -> {percent(now)}"
            parts.append(f"{name} {change}")
    return ", ".join(parts)


def _other_wordings(manifest: Mapping[str, Any]) -> str:
    """The results on test under wordings of another source."""
    if not (measured := manifest.get("other_wordings")):
        return ""
    where = f"Under {measured['n_wordings']} wordings of {measured['source']}, on test"
    own = percent(measured["own_sensitivity"]["before"])
    if measured["differences"]:
        where += f", original prompt -> {measured['id']}"
        names = measure_names(quality_name(manifest))
        scores = ", ".join(f"{names[key]} {_difference(of)}" for key, of in measured["differences"].items())
        own += f" -> {percent(measured['own_sensitivity']['after'])}"
    else:  # the baseline is kept, and nothing was nominated
        scores = _changes(measured["baseline"], measured["baseline"], quality_name(manifest))
    return f"{where}: {scores}; S under psopt's own held-out ones {own}."


def _planted(manifest: Mapping[str, Any]) -> str:
    """How often phrases that are planted where they mean nothing flip answers."""
    if not (planted := manifest.get("planted")):
        return ""
    phrases = "A phrase of its note" if planted["n_notes"] == 1 else f"Phrases of its {planted['n_notes']} notes"
    own, edited = (f"{100 * planted[prompt]:.0f} %" for prompt in ("original", "recommended"))
    where = f"put into {planted['n_texts']} texts of other classes"
    return f"{phrases}, {where}, changed {edited} of its answers (original prompt: {own})."


def _probe(manifest: Mapping[str, Any]) -> str:
    """How the user's own texts are answered."""
    if not (probe := manifest.get("probe")):
        return ""
    recommended = probe.get("recommended") or probe["original"]
    line = f"On the {probe['n_texts']} texts of {probe['file']}: "
    line += _changes(probe["original"], recommended, quality_name(manifest))
    if "recommended" in probe:
        line += f", {probe['n_changed']} answered otherwise under some wording"
    return f"{line}."
