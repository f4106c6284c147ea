"""What every `--json` and every documented file holds: each key once, with its type and what it means.

Schemas (`psopt schema`) and docs/commands/json.md are made of this. Keys are added and never renamed; a test holds real
output against it, and fails where a key is not told here.
"""

from __future__ import annotations

from typing import NamedTuple


class Key(NamedTuple):
    """A key of a JSON object.

    Attributes
    ----------
    types : str
        JSON's types with bars between; a name that begins with a capital is a shape of `SHAPES`, ``[]`` behind a type
        an array of it, and ``{}`` an object whose values are of it.
    what : str
        What it means.
    is_optional : bool
        Whether it may be left out.
    """

    types: str
    what: str
    is_optional: bool = False


def _maybe(types: str, what: str) -> Key:
    return Key(types, what, is_optional=True)


Shape = dict[str, Key]

_VERSION = {"schema_version": Key("integer", "1; raised when a key changes its meaning, not when one is added")}
_FOR = {
    "model": Key("string", "the model that answered"),
    "server": Key("string|null", "the address that it was asked at; null where psopt asks no server"),
    "model_origin": Key("string", "why it is this model: --model, a prompt's run, the default"),
}
_SCORES: Shape = {
    "f1": Key("number", "micro-F1, or what stands in its place (quality), in [0, 1]"),
    "macro_f1": Key("number|null", "mean F1 of the classes"),
    "sensitivity": Key("number", "S, in [0, 1]; lower is better"),
    "consistency": Key("number|null", "C, in [0, 1]; null where there are no classes"),
    "na_rate": Key("number", "share of answers that name no label"),
    "per_class": Key("object{}", "by label: n, f1, sensitivity, consistency, ci"),
    "ci": Key("(number|null)[]{}", "95 % intervals, [low, high], by measure"),
    "constant": Key("string|null", "the label that every answer has, if one does"),
    "per_family": Key("object{}", "by family of rephrasings: n, f1, sensitivity"),
    "na_kinds": Key("integer{}", "how many answers are N/A, by kind"),
    "na_examples": Key("object{}", "an answer of each kind"),
    "n_samples": Key("integer", "N"),
    "n_rephrasings": Key("integer", "Q"),
    "sensitivity_limit": Key("number|null", "S under ever more wordings, estimated"),
    "consistency_no_self_pairs": Key("number|null", "C without each sample's pair with itself"),
    "sensitivity_readable": _maybe("number|null", "S among the answers that were read, where some are N/A"),
    "ordinal": _maybe("object", "of ordered labels: micro_f1, nominal_sensitivity, mean_distance, quadratic_kappa"),
    "open": _maybe("object", "of open answers: quality_name, measures"),
    "answer_shares": _maybe("number{}", "of single labels: the share of the answers that each has, N/A among them"),
    "class_shares": _maybe("number{}", "the share of the samples that each label has; empty without labels"),
    "constant_f1": _maybe("number|null", "F1 of always answering the most frequent label"),
    "near_constant": _maybe("string|null", "the label nearly always answered, for hardly more than constant_f1"),
    "posix": _maybe("number|null", "POSIX, of labels that are scored by their probabilities"),
}
_MEASURED_WITH: Shape = {
    **_SCORES,
    "rephrasings_diversity": Key("number|null", "how far the wordings differ"),
}
_ENTRY: Shape = {
    "id": Key("string", "the prompt's id"),
    "knee": Key("boolean", "whether it is the knee"),
    "trial": Key("integer", "its trial in the study"),
    "edits": Key("Edit[]", "what it adds to the seed prompt"),
    "length": Key("object", "characters and tokens"),
    "val": Key("Scores", "scores on val"),
    "test": Key("Scores|null", "scores on test; null where a run ended before"),
}
_WHOLE: Shape = {
    **_ENTRY,
    "prompt": Key("object", "the prompt itself, as prompts/ID.json has it"),
    "measured": _maybe("object", "model, server, options, data and wordings that it was measured with"),
}

SHAPES: dict[str, Shape] = {
    "Scores": _SCORES,
    "Edit": {
        "id": Key("string", "by its content"),
        "kind": Key("string", "definition, note or example"),
        "label": Key("string", "the label it is about"),
        "text": Key("string", "what it says"),
        "provenance": Key("object", "author, view, topic, samples (of train)"),
        "gain": Key("number", "share of the diagnosed answers expected to turn right"),
        "bundle": _maybe("string", "edits of one bundle are switched together"),
        "step": _maybe("string", "of a program"),
        "merges": _maybe("string[]", "the edits in whose place it stands"),
        "fields": _maybe("array", "columns of an example's row"),
        "title": _maybe("string", "what its parameter is called in the study"),
    },
    "Call": {
        "tokens_a_call": Key("integer", "estimated"),
        "usd_per_thousand": Key("number|null", "US dollars for a thousand calls; null without a price"),
    },
    "Entry": {**_ENTRY, "call": _maybe("Call", "what a call of it takes")},
    "WholePrompt": _WHOLE,
    "Start": {
        "id": Key("string", "the seed prompt's id"),
        "val": Key("Scores", "scores on val"),
        "test": Key("Scores|null", "scores on test"),
        "call": _maybe("Call", "what a call of it takes"),
    },
    "Dataset": {
        "name": Key("string", "as given"),
        "source": Key("string", "local, downloaded, bundled, file, .."),
        "sha256": Key("string", "of the samples"),
        "note": Key("string", "what is to be known of it"),
        "revision": _maybe("string", "the commit, of a data set of the hub"),
        "answers": _maybe("string", "what answers are, where no plain labels"),
        "order": _maybe("string[]", "of ordered labels"),
        "n_train": Key("integer", "samples of train"),
        "n_val": Key("integer", "samples of val"),
        "n_test": Key("integer", "samples of test"),
        "evaluated": Key("integer{}", "how many of each were asked about"),
    },
    "Rephrasings": {
        "search": Key("string[]", "the wordings searched with"),
        "heldout": Key("string[]", "those of the final test"),
        "sha256": Key("string", "of both"),
        "diversity": _maybe("object", "of each"),
    },
    "Calls": {
        "made": Key("integer", "requests"),
        "cached": Key("integer", "answers that were known"),
        "failed": Key("integer", "requests without an answer"),
        "tokens": Key("integer", "in all"),
        "cost_usd": Key("number", "US dollars"),
        "reasoning_tokens": _maybe("integer", "of those, what a model thought"),
        "cached_input_tokens": _maybe("integer", "of those, what a server knew"),
        "models": _maybe("object", "answers by the model that gave them, where several did"),
    },
    "Wording": {
        "text": Key("string", "the instructions in other words"),
        "family": Key("string", "what is varied"),
        "form": Key("object", "how the prompt is laid out"),
        "source": Key("string", "original, rules or a model"),
        "checks": Key("object", "what its checks found"),
    },
    "Finding": {
        "what": Key("string", "what was looked at"),
        "works": Key("string", "yes, no or -"),
        "used": Key("string", "what runs will use"),
    },
    "Check": {
        "option": Key("string", "the bound's option"),
        "bound": Key("number|null", "what was asked"),
        "value": Key("number|null", "what was measured"),
        "met": Key("boolean", "whether the bound is kept"),
        "note": Key("string", "how it was held"),
        "estimate": _maybe("number|null", "where the bound is held against an end of the interval"),
        "interval": _maybe("array|null", "95 %, [low, high]"),
        "n_samples": _maybe("integer", "N"),
        "n_rephrasings": _maybe("integer", "Q"),
        "measure": _maybe("string", "its name"),
        "label": _maybe("string|null", "the class it is of"),
        "each": _maybe("number|null", "of each sample, the share of wordings"),
        "failing": _maybe("array", "samples that miss it"),
    },
}

_RUN: Shape = {
    **_VERSION,
    "psopt_version": Key("string", "that wrote it"),
    "command": Key("string", "how it was started, without secrets"),
    "seed": Key("integer", "of all chance"),
    "model": Key("string", "the model that answers"),
    "dataset": Key("Dataset", "the data"),
    "rephrasings": Key("Rephrasings", "the wordings"),
    "baseline": Key("Start|null", "the seed prompt"),
    "front": Key("Entry[]", "the Pareto front"),
    "short": Key("Entry|null", "the shortest prompt that is as good as the knee"),
    "calls": Key("Calls", "what was asked and paid"),
    "finish_reason": Key("string", "running, trials, exhausted, budget, interrupted, failed"),
    "seconds": Key("number", "of all parts of the run"),
    "settings": Key("object", "all options, as `resume` takes them"),
    "recommended": _maybe("object", "what the gate decided: sentence, verdict, id, tests, call, .."),
    "prompt_limits": _maybe("object", "how large a prompt may be that is handed back"),
    "short_against_knee": _maybe("object{}", "by measure: the difference on test, its interval, p_value"),
    "answers": _maybe("object", "where answers are no plain labels: type, positions"),
    "prompt_source": _maybe("object", "of a prompt of your own: format, file, fields"),
    "race": _maybe("object", "what racing saved"),
    "plan": _maybe("object", "what was expected as the run began"),
    "diagnoses": _maybe("object[]", "how much of train was asked about"),
    "calibration": _maybe("object", "the original prompt with its label prior taken out: id, val, test"),
    "planted": _maybe(
        "object", "how often planted phrases of notes flip answers: n_texts, n_notes, original, recommended"
    ),
    "other_wordings": _maybe("object", "test under wordings of another source: baseline, chosen, differences, .."),
}
_ESTIMATE: Shape = {
    **_VERSION,
    "phases": Key("object[]", "what is asked when: what, calls, cached, tokens, times, least, most, cost"),
    "calls": Key("integer", "at most, without racing"),
    "calls_range": Key("integer[]", "[least, most]"),
    "tokens": Key("integer", "expected"),
    "tokens_range": Key("integer[]", "[least, most]"),
    "cost_usd": Key("number|null", "expected; null without a price"),
    "cost_usd_range": Key("(number|null)[]|null", "[least, most]"),
    "minutes_range": Key("(number|null)[]|null", "[least, most], by the rate measured last"),
    "racing": Key("object|null", "what racing is expected to save"),
    "trials_within_limits": Key("integer|null", "how many trials the limits pay for"),
    "shows": Key("object|null", "what differences test can show"),
    "plan": _maybe("object", "of a run: effort, sizes, limits, phases, warnings"),
}
_DIAGNOSIS: Shape = {
    "groups": Key("object[]", "what weak samples share"),
    "blocks": Key("object[]", "parts of a class that are answered alike"),
    "joint": Key("object|null", "S and C of each sample beside each other"),
    "carried": Key("integer{}", "how many samples carry such a share of S"),
    "weak": Key("array{}", "failing samples, by view"),
    "suspects": Key("object", "samples whose labels are suspect, and of how many"),
}
_RESULT: Shape = {"run": Key("string", "the run directory"), **_RUN}

OUTPUTS: dict[str, tuple[str, Shape]] = {
    "optimize": ("`psopt optimize --json`: run.json, and where it lies", _RESULT),
    "resume": ("`psopt resume --json`: run.json, and where it lies", _RESULT),
    "dry-run": ("`--dry-run --json` of any command", _ESTIMATE),
    "worker": (
        "`psopt worker --json`",
        {
            **_VERSION,
            "study_name": Key("string", "the study joined"),
            "evaluated": Key("integer", "prompts that this worker evaluated"),
        },
    ),
    "diagnose": (
        "`psopt diagnose --json`; without labels only the scores that need none",
        {
            **_VERSION,
            **_FOR,
            "prompt": Key("object", "the prompt"),
            "labelled": Key("boolean", "whether the data have labels"),
            **{
                name: key if name in {"sensitivity", "na_rate", "n_samples", "n_rephrasings"} else _maybe(*key[:2])
                for name, key in _MEASURED_WITH.items()
            },
            **_DIAGNOSIS,
        },
    ),
    "compare": (
        "`psopt compare --json`: an array, an entry for each prompt and model",
        {
            **_VERSION,
            "prompt": Key("string", "its file or strategy"),
            "model": _FOR["model"],
            "server": _FOR["server"],
            **_MEASURED_WITH,
            "against_first": Key("object{}", "by measure: the difference to the first, its interval, p_value, verdict"),
        },
    ),
    "check": (
        "`psopt check --json`",
        {
            **_VERSION,
            "met": Key("boolean", "whether all bounds are kept"),
            "checks": Key("Check[]", "each bound"),
            **_FOR,
            **_MEASURED_WITH,
        },
    ),
    "classify": (
        "`psopt classify --json`: an object a line, one for each text, in their order",
        {
            **_VERSION,
            "text": Key("string", "the text"),
            "label": Key("string|null", "its label; null where the answer names none"),
            "agreement": Key("number|null", "share of wordings that say so (--vote)"),
            "fields": _maybe("string{}", "of a row of several columns"),
            "na_kind": _maybe("string", "why there is no label"),
            "said": _maybe("string|null", "what was answered instead"),
            **_FOR,
        },
    ),
    "rephrase": (
        "`psopt rephrase --json`, rephrasings.json, and what `--rephrasings-file` takes",
        {
            **_VERSION,
            "original": Key("string", "the instructions as they are"),
            "source": Key("string", "rules, curated or a model"),
            "search": Key("Wording[]", "to search with"),
            "heldout": Key("Wording[]", "for the final test"),
            "rejected": Key("string{}[]", "texts that failed a check, and the reason"),
            "n_parts": _maybe("integer", "of a prompt of your own"),
            "sha256": Key("string", "of all texts"),
        },
    ),
    "rephrase-show": (
        "`psopt rephrase --show --json`",
        {
            **_VERSION,
            "prompt": Key("string", "its file"),
            "format": Key("string", "what it came as"),
            "fields": Key("string[]", "columns of the data that it names"),
            "answer": Key("string|null", "how its answer is read"),
            "notes": Key("string[]", "what was found out about it"),
            "messages": Key("object[]", "role, and content: stretches of text, rephrased or kept"),
        },
    ),
    "doctor": (
        "`psopt doctor --json`",
        {
            **_VERSION,
            "model": Key("string", "the model asked"),
            "server": _FOR["server"],
            "findings": Key("Finding[]", "what it takes"),
        },
    ),
    "report": (
        "`psopt report RUN --json`",
        {**_VERSION, "report": Key("string", "the page"), "figures": Key("string[]", "files of --figures")},
    ),
    "report-two": (
        "`psopt report RUN OTHER --json`",
        {
            **_VERSION,
            "runs": Key("object[]", "of each run: what it hands back"),
            "against_first": Key("object{}|null", "by measure: the second's difference to the first"),
            "basis": Key("string", "which samples and wordings both have"),
            "changed_settings": Key("object", "settings that differ"),
            "report": Key("string", "the page"),
            "figures": Key("string[]", "files of --figures"),
        },
    ),
    "select": (
        "`psopt select --json`",
        {
            **_VERSION,
            "run": Key("string", "the run directory"),
            "wish": Key("string", "what was asked of it"),
            **_WHOLE,
        },
    ),
    "export": (
        "`psopt export --json`",
        {
            **_VERSION,
            "run": Key("string", "the run directory"),
            **_WHOLE,
            "notes": Key("string[]", "what is to be known of it"),
            "text": Key("string", "the prompt as text"),
            "call": Key("object", "what a call takes, before and after: tokens, price"),
            "diff": _maybe("string", "against the original (--diff)"),
            "verification": _maybe("object", "how answers compare with the run's (--verify)"),
        },
    ),
    "dashboard": ("`psopt dashboard --json`", {**_VERSION, "url": Key("string", "where it is served")}),
    "data-list": (
        "`psopt data list --json`: an array, an entry for each data set",
        {
            **_VERSION,
            "name": Key("string", "its name"),
            "description": Key("string", "what it is"),
            "path": Key("string|null", "its folder; null where it is not at hand"),
            "source": Key("string|null", "local or downloaded"),
            "files": Key("string[]", "its files"),
            "n_bytes": Key("integer", "their size"),
            "note": Key("string", "what is to be known of it"),
        },
    ),
    "data-fetch": (
        "`psopt data fetch --json`",
        {**_VERSION, "name": Key("string", "its name"), "path": Key("string", "its folder")},
    ),
    "models-list": (
        "`psopt models list --json`: an array, an entry for each model or kind of models",
        {
            **_VERSION,
            "name": Key("string", "what --model takes"),
            "description": Key("string", "what it is"),
            "path": Key("string|null", "its file; null where it is not fetched"),
            "n_bytes": Key("integer|null", "its size; null where psopt fetches none"),
            "license": Key("string|null", "of the file; null where psopt fetches none"),
        },
    ),
    "models-fetch": (
        "`psopt models fetch --json`",
        {**_VERSION, "name": Key("string", "its name"), "path": Key("string", "its file")},
    ),
    "skill": (
        "`psopt skill --json`",
        {**_VERSION, "file": Key("string|null", "where it was written"), "text": Key("string", "the skill file")},
    ),
    "completion": (
        "`psopt completion --json`",
        {**_VERSION, "shell": Key("string", "bash, zsh, fish or powershell"), "script": Key("string", "the script")},
    ),
    "run.json": ("A run's manifest and summary", _RUN),
    "front.json": (
        "A run's prompts, whole",
        {
            **_VERSION,
            "prompts": Key("WholePrompt[]", "the Pareto front"),
            "short": Key("WholePrompt|null", "the shortest prompt that is as good as the knee"),
            "recommended": _maybe("WholePrompt|null", "the prompt to use"),
        },
    ),
    "weak_spots.json": (
        "What shook on train under the seed prompt, and how that fares under the chosen one",
        {
            **_VERSION,
            "prompt": Key("string", "the chosen prompt's id"),
            "before": Key("object", "the diagnosis of the seed prompt, as in `psopt diagnose --json`"),
            "after": Key("object{}", "by sample: right, sensitivity, and of how many answers"),
            "diagnosed": _maybe("integer{}", "how many samples were asked about: before, after, of"),
        },
    ),
}
"""By name: what it is of, and its keys."""
ARRAYS = frozenset({"compare", "data-list", "models-list"})
"""Those that are an array of such objects."""
