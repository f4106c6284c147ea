"""Write RESULTS.md from the JSON files of the results folder, and from nothing else.

python experiments/write_results.py [--results experiments/results] [--page experiments/RESULTS.md]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from _aims import verdicts
from _claims import CLAIMS
from _lm_edits_page import lm_edits
from _promise_page import lm_promise, promise
from _prosa_page import prosa_free
from _racing_page import lm_racing, racing
from _real_grids_page import real_grids, whose_words
from _setting import HERE
from _shipping_page import shipping
from _tables import p_value, table

if TYPE_CHECKING:
    Results = dict[str, Any]

MEASURES = ("sensitivity", "consistency", "f1")
HEAD = """# Results

Written by `experiments/write_results.py` from the JSON in `{folder}/`; `make experiments` runs everything again.
Offline the model is `minilm`, an embedding model that reads prompts, or `sim`, a simulation: results on these two say
little about language models. Each script's docstring says what was expected. Most results were made before every second
rephrasing by rule named the labels. The exceptions are the whole runs on TREC, CB, DBpedia, RTE and messages, and the
sections that name whose wordings they use.
"""


def page(folder: Path) -> str:
    """The whole page."""
    results = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}
    parts = [HEAD.format(folder=folder.name), "## What psopt set out to reach\n", aims(results)]
    parts += ["## The papers' claims\n", claims(results)]
    for name, (title, body) in SECTIONS.items():
        if name in results:
            figure = f"![{title}]({folder.name}/{name}.svg)\n" if (folder / f"{name}.svg").exists() else ""
            parts += [f"## {title}\n", about(results[name]), body(results[name]), figure]
    pages = [f"[{path.stem}]({folder.name}/{path.name})" for path in sorted(folder.glob("*.md"))]
    return "\n".join([*parts, *([f"More: {', '.join(pages)}.\n"] if pages else [])]).rstrip() + "\n"


def aims(results: Results) -> str:
    """Every aim on a language model: what was asked, and what was measured."""
    return table(("what", "to reach", "measured", "verdict", "results"), verdicts(results))


def claims(results: Results) -> str:
    """Every claim, for every model that was measured."""
    rows = []
    for claim in CLAIMS:
        of_claim = results.get(claim.experiment, {}).get(claim.rows, [])
        models = dict.fromkeys(row["model"] for row in of_claim)
        groups = [(", ".join(models), of_claim)] if claim.across and of_claim else []
        if not claim.across:
            groups = [(model, [row for row in of_claim if row["model"] == model]) for model in models]
        for model, of_group in groups:
            verdict, why = claim.judge(of_group)
            rows.append((claim.source, claim.text, model, f"**{verdict}**", why, claim.rule))
    return table(("source", "claim", "model", "verdict", "because", "rule: seen if"), rows)


def about(results: Results) -> str:
    """The setting, in a line."""
    setting = results["setting"]
    if "words" in setting:
        return f"{setting['words']}\n"
    sources = ", ".join(f"{name} ({source})" for name, source in setting["sources"].items())
    line = f"{sources}; {', '.join(setting['models'])}; Q = {setting['rephrasings']}; at most {setting['samples']} "
    return line + f"samples; seeds {', '.join(map(str, setting['seeds']))}.\n"


def _triple(scores: Results) -> str:
    return " / ".join(f"{scores[name]:.3f}" for name in MEASURES)


def drafts(results: Results) -> str:
    """How many of a writer's drafts pass the checks, by set."""
    head = ("writer", "set", "drafts", "pass at once", "pass in the end", "refused for", "used")
    rows = []
    for cell in results["cells"]:
        n = cell["n_requests"]
        passed = [f"{cell[name]} ({100 * cell[name] / n:.0f} %)" for name in ("n_passed_at_once", "n_passed")]
        reasons = ", ".join(f"{reason} {count}" for reason, count in cell["refused"].items()) or "-"
        rows.append((cell["writer"], cell["dataset"], str(n), *passed, reasons, "yes" if cell["is_fit"] else "no"))
    return table(head, rows)


def label_map(results: Results) -> str:
    """What a map learnt from labelled train texts adds to batch calibration, on val and on test."""
    head = ("model", "set", "edits", "val, test", "val: batch", "with the map", "test: batch", "with the map")
    rows = []
    for cell in results["cells"]:
        shown = [
            [_scores_of(cell[part]["batch"]), f"{_scores_of(cell[part]['map'])} (sd {cell[part]['sd'][0]:.3f})"]
            for part in ("val", "test")
        ]
        sizes = f"{cell['val']['n']}, {cell['test']['n']}"
        rows.append((cell["model"], cell["dataset"], cell["kind"], sizes, *shown[0], *shown[1]))
    return f"F1 / S / C; the standard deviation is that of F1 over the draws of labelled texts.\n\n{table(head, rows)}"


def answer_lead(results: Results) -> str:
    """Where an answer begins, by how labels are scored."""
    cells = {(cell["model"], cell["dataset"], cell["way"]): cell for cell in results["cells"]}
    ways = ("label", "asked", "no turns")
    rules = ("mean, batch", "decoded, batch", "mean, none")
    head = ("model", "set", "n", *(f"{rule}: {way}" for rule in rules for way in ways))
    rows = []
    for model, dataset in dict.fromkeys((model, dataset) for model, dataset, _ in cells):
        here = [cells.get((model, dataset, way)) for way in ways]
        shown = [_scores_of(cell[rule]) if cell else "" for rule in rules for cell in here]
        rows.append((model, dataset, str(next(cell["n"] for cell in here if cell)), *shown))
    return f"F1 / S / C.\n\n{table(head, rows)}"


def example_turns(results: Results) -> str:
    """Examples in one message and as turns: means over draws of examples."""
    head = ("model", "set", "n", "examples", "none", "in one message", "as turns", "as turns, not calibrated")
    rows = []
    scored = [cell for cell in results["cells"] if not cell["served"]]
    for model, dataset in dict.fromkeys((cell["model"], cell["dataset"]) for cell in scored):
        here = [cell for cell in scored if (cell["model"], cell["dataset"]) == (model, dataset)]
        shown = [_mean_of(here, way, "batch") for way in ("no examples", "text", "turns")]
        n, n_examples = here[0]["n"], max(cell["n_examples"] for cell in here)
        rows.append((model, dataset, str(n), str(n_examples), *shown, _mean_of(here, "turns", "none")))
    words = "F1 / S / C, calibrated; means over draws of the examples (number of draws)."
    return f"{words}\n\n{table(head, rows)}\n\n{_served(results)}"


def example_layers(results: Results) -> str:
    """How many of psopt's examples: one a class, two, or four of all kinds."""
    layers = list(dict.fromkeys(cell["layers"] for cell in results["cells"]))
    rows = []
    for model, dataset in dict.fromkeys((cell["model"], cell["dataset"]) for cell in results["cells"]):
        here = {
            cell["layers"]: cell for cell in results["cells"] if (cell["model"], cell["dataset"]) == (model, dataset)
        }
        size = next(f"{cell['n']} x {cell['wordings']}" for cell in here.values())
        shown = [
            f"{_scores_of(cell['figures'])} ({cell['n_examples']})" if cell else "" for cell in map(here.get, layers)
        ]
        rows.append((model, dataset, size, *shown))
    return f"F1 / S / C (number of examples).\n\n{table(('model', 'set', 'n', *layers), rows)}"


def _served(results: Results) -> str:
    """The same where llama.cpp's server writes the answers."""
    ways = {"no examples": "none", "text": "in one message", "turns": "as turns", "turns in JSON": "as turns, in JSON"}
    served = [cell for cell in results["cells"] if cell["served"]]
    rows = []
    for model, dataset in dict.fromkeys((cell["model"], cell["dataset"]) for cell in served):
        here = [cell for cell in served if (cell["model"], cell["dataset"]) == (model, dataset)]
        rows.append((model, dataset, str(here[0]["n"]), *(_mean_of(here, way, "none") for way in ways)))
    words = 'On llama.cpp\'s server, restricted to {"label": ..}; nothing is calibrated there.'
    return f"{words}\n\n{table(('model', 'set', 'n', *ways.values()), rows)}"


def _mean_of(cells: list[Results], way: str, prior: str) -> str:
    figures = [cell[prior] for cell in cells if cell["way"] == way]
    if not figures:
        return ""
    means = [sum(column) / len(figures) for column in zip(*figures, strict=True)]
    return f"{_scores_of(means)} ({len(figures)})"


def _scores_of(figures: list[float]) -> str:
    return " / ".join(f"{figure:.3f}" for figure in figures)


def near_constant(results: Results) -> str:
    """S, C and F1 by how lopsided answers are."""
    head = ("model", "set", "texts", "lopsidedness", "biases", "S", "C", "F1")
    rows = [
        (
            row["model"],
            row["dataset"],
            str(row["texts"]),
            f"{row['from']} to {row['to']}",
            str(row["biases"]),
            *(f"{row[name]:.3f}" for name in MEASURES),
        )
        for row in results["rows"]
    ]
    return table(head, rows)


def table1(results: Results) -> str:
    """S / C_y / F1, ours and published."""
    rows = []
    for row in results["rows"]:
        cells = [f"{row[name]:.3f} ± {row['std'][name]:.3f} [{_interval(row, name)}]" for name in MEASURES]
        head = (row["dataset"], row["samples"], row["model"], row["strategy"], row["seed"])
        rows.append((*head, *cells, f"{row['na_rate']:.3f}"))
    ours = table(("data", "N", "model", "strategy", "seed", "S", "C_y", "F1", "N/A"), rows)
    return f"± standard deviation, [95 % interval].\n\n{ours}\n{_published_scores(results['rows'])}"


def _published_scores(rows: list[Results]) -> str:
    """What Errica et al. published for the same data sets."""
    published = json.loads((HERE / "published.json").read_text("utf-8"))
    theirs = [
        (dataset, model, *(_triple(scores) for scores in by_strategy.values()))
        for dataset in dict.fromkeys(row["dataset"] for row in rows)
        for model, by_strategy in published["table1"].get(dataset, {}).items()
    ]
    head = ("data", "model (published)", "simple", "detail", "1-shot")
    return f"{published['what']}. S / C_y / F1:\n\n{table(head, theirs)}"


def _interval(row: Results, name: str) -> str:
    return ", ".join(f"{bound:.3f}" for bound in row["ci"][name]) if row["ci"] else "–"


def lm_table1(results: Results) -> str:
    """S, C and F1 of language models, with and without the label prior, and as published."""
    rows = []
    for cell in results["cells"]:
        shown = []
        for prior in ("none", "batch"):
            of = cell[prior]
            figures = " / ".join(f"{of[name][0]:.3f} [{of[name][1]:.2f}, {of[name][2]:.2f}]" for name in MEASURES)
            shown.append(figures + (f", nearly always {of['near_constant']}" if of["near_constant"] else ""))
        rows.append((cell["dataset"], f"{cell['n']} x {cell['q']}", cell["model"], cell["strategy"], *shown))
    ours = table(("data", "N x Q", "model", "strategy", "uncalibrated", "calibrated"), rows)
    return f"S / C / F1 [95 %].\n\n{ours}\n{_published_scores(results['cells'])}"


def lm_prosa(results: Results) -> str:
    """PSS of language models by examples, with and without the label prior, and against confidence."""
    head = ("data", "N x Q", "model", "examples per class", "uncalibrated", "calibrated")
    rows = []
    for cell in results["cells"]:
        shown = []
        for prior in ("none", "batch"):
            value, low, high = cell[prior]["pss"]
            shown.append(f"{value:.3f} [{low:.2f}, {high:.2f}] / {cell[prior]['f1']:.2f} / {cell[prior]['rho']:+.2f}")
        rows.append((cell["dataset"], f"{cell['n']} x {cell['q']}", cell["model"], cell["shots"], *shown))
    return f"PSS [95 %] / F1 / Spearman's rho of confidence and PSS.\n\n{table(head, rows)}"


def lm_formats(results: Results) -> str:
    """F1 over forms of one prompt."""
    head = ("data", "N", "model", "prompt", "uncalibrated", "calibrated")
    rows = []
    for cell in results["cells"]:
        shown = [
            f"{of['worst']:.2f} to {of['best']:.2f}, own {of['own_form']:.2f} / {of['sensitivity']:.3f}"
            for of in (cell["none"], cell["batch"])
        ]
        rows.append((cell["dataset"], cell["n"], cell["model"], cell["prompt"], *shown))
    return f"F1 of the worst and the best form, and of psopt's own / S over forms.\n\n{table(head, rows)}"


def appendix_a(results: Results) -> str:
    """Three predictors."""
    rows = []
    for row in results["rows"]:
        pairs = row["sample_sensitivity"], row["sample_consistency"]
        head = (row["dataset"], len(row["sample_sensitivity"]), row["model"], row["predictor"])
        rows.append((*head, *(row[name] for name in MEASURES), _rho(*pairs)))
    return table(("data", "N", "model", "predictor", "S", "C_y", "F1", "correlation of S and consistency"), rows)


def _rho(first: list[float], second: list[float]) -> float | None:
    return float(np.corrcoef(first, second)[0, 1]) if np.std(first) > 0 and np.std(second) > 0 else None


def fixes(results: Results) -> str:
    """The paper's form: right answers of Q, and S, sample by sample; then the whole test set."""
    published = json.loads((HERE / "published.json").read_text("utf-8"))["fixes"]
    parts = []
    for fix in results["fixes"]:
        parts.append(f"**{fix['topic']} -> {fix['label']}**, {fix['model']}, seed {fix['seed']}: “{fix['sentence']}”\n")
        rows = [
            (kind, _list(column["right"]), _list(column["sensitivity"]), _triple(column["whole"]))
            for kind, column in fix["columns"].items()
        ]
        theirs = published.get(fix["topic"], {})
        rows += [
            (
                f"published, of 30, {when}",
                _list(theirs[f"right_{when}"]),
                _list(theirs.get(f"sensitivity_{when}", [])),
                None,
            )
            for when in ("before", "after")
            if theirs
        ]
        parts.append(table(("prompt", f"right of {fix['rephrasings']}", "S", "all: S / C_y / F1"), rows))
    return "\n".join(parts)


def _list(values: list[float]) -> str:
    return ", ".join(f"{value:.2f}" if isinstance(value, float) else str(value) for value in values) or "–"


def how_many(results: Results) -> str:
    """S by Q, and where the ranking settles."""
    parts = []
    for row in results["rows"]:
        curves = [(name, *curve["mean"]["sensitivity"]) for name, curve in row["curves"].items()]
        parts.append(f"{row['dataset']}, {row['model']}: mean S of subsets of Q wordings.\n")
        parts.append(table(("prompt", *(f"Q = {size}" for size in row["sizes"])), curves))
        taus = [
            (measure, how.replace("_", " "), *taus, row["settles_at"][measure][how])
            for measure, by_how in row["agreement"].items()
            for how, taus in by_how.items()
        ]
        settled = f"settled: at least {row['tau']} from that Q on; clear pairs differ by more than {row['clear']}"
        parts.append(f"Kendall's tau of the prompts' rankings; {settled}.\n")
        parts.append(table(("measure", "ranking", *(f"Q = {size}" for size in row["sizes"]), "settled at"), taus))
    return "\n".join(parts)


def prosa(results: Results) -> str:
    """PSS by shots and by confidence."""
    shots = [
        (row["dataset"], row["model"], row["seed"], row["shots"], row["pss"], row["f1"], row["against_none"],
         ", ".join(f"{bound:+.3f}" for bound in row["ci"]))
        for row in results["by_shots"]
    ]  # fmt: skip
    fifths = [
        (
            row["dataset"],
            row["model"],
            row["seed"],
            row["confidence"],
            *row["pss_by_fifth"],
            row["rho"],
            p_value(row["p_value"]),
        )
        for row in results["by_confidence"]
    ]
    head = ("data", "model", "seed", "confidence", *(f"fifth {n}" for n in range(1, 6)), "rho", "p")
    names = ("data", "model", "seed", "examples per class", "PSS", "F1", "against no examples", "95 % interval")
    return f"{table(names, shots)}\nPSS by confidence, the least confident fifth first.\n\n{table(head, fifths)}"


def what_shakes(results: Results) -> str:
    """S by family."""
    rows = [
        (row["dataset"], row["model"], row["family"], row.get("sensitivity"), row.get("f1"), row.get("spread"),
         row.get("f1_std"), row.get("left_out") or ("" if row["moved"] else "no answer changed"))
        for row in results["rows"]
    ]  # fmt: skip
    return table(("data", "model", "family", "S", "F1", "spread of F1", "std of F1", ""), rows)


def ablation(results: Results) -> str:
    """Means over seeds, and each seed's hypervolume."""
    rows = []
    for without in dict.fromkeys(row["without"] for row in results["rows"]):
        own = [row for row in results["rows"] if row["without"] == without]
        whole = [row for row in results["rows"] if row["without"] == results["rows"][0]["without"]]
        lost = [row["hypervolume"] - other["hypervolume"] for row, other in zip(own, whole, strict=True)]
        knee = {name: float(np.mean([row["knee"][name] for row in own])) for name in MEASURES}
        volumes = ", ".join(f"{row['hypervolume']:.3f}" for row in own)
        mean = float(np.mean([row["hypervolume"] for row in own]))
        n_lost = sum(row["lost_f1"] for row in own)
        below = f"{sum(difference < 0 for difference in lost)} of {len(lost)}"
        rows.append((without, mean, volumes, f"{np.mean(lost):+.3f}", below, _triple(knee), n_lost))
    start = float(np.mean([row["hypervolume_seed_prompt"] for row in results["rows"]]))
    head = ("without", "hypervolume", "by seed", "against the full search", "seeds where it is lower",
            "knee: S / C_y / F1", "front prompts that lost F1 on val")  # fmt: skip
    return f"Reference point {results['reference']}; the original prompt alone has {start:.3f}.\n\n{table(head, rows)}"


def transfer(results: Results) -> str:
    """Each front in each setting."""
    rows = [
        (row["dataset"], row["seed"], " ".join(row["from"]), " ".join(row["to"]), _triple(row["seed_prompt"]),
         _triple(row["knee"]), f"{row['better']:.0%} of {row['front']}")
        for row in results["rows"]
    ]  # fmt: skip
    head = ("data", "seed", "found on", "scored on", "original prompt", "knee", "front prompts better in F1 and S")
    return f"S / C_y / F1 on test, held-out wordings.\n\n{table(head, rows)}"


def confidence(results: Results) -> str:
    """How well each figure predicts the errors of a vote."""
    figures = ("S", "vote share", "S, then probability", "S of probabilities", "mean probability")
    head = ("model", "set", "prompt", "N", "wordings", "errors", "S = 0", *figures)
    rows = []
    for cell in results["cells"]:
        for n_wordings, of in sorted(cell["figures"].items()):
            told = [
                f"{of[name][0]:.2f} ± {of[name][1]:.2f} ({of[name][2]:.0f})" if of.get(name) else "" for name in figures
            ]
            steady = f"{of['steady']:.0f} %" if "steady" in of else ""
            named = (cell["model"], cell["dataset"], cell["prompt"], str(cell["n"]), n_wordings)
            rows.append((*named, f"{of['errors']:.0f} %", steady, *told))
    return f"± standard error. Under one wording *mean probability* is that of its answer.\n\n{table(head, rows)}"


def samples_or_wordings(results: Results) -> str:
    """How often tests of each size pass, by pair of prompts, and on average."""
    sizes = list(results["pairs"][0]["shown"])
    rows = [
        (pair["model"], pair["dataset"], pair["pair"], *(f"{100 * pair['shown'][size][0]:.0f}" for size in sizes))
        for pair in results["pairs"]
    ]
    means = (f"{100 * sum(pair['shown'][size][0] for pair in results['pairs']) / len(rows):.0f}" for size in sizes)
    head = ("model", "set", "prompts", *sizes)
    return f"In percent of draws, by samples x wordings.\n\n{table(head, [*rows, ('mean', '', '', *means)])}"


def prior_texts(results: Results) -> str:
    """F1 and S by the number of texts that priors are measured on, and how many answers change."""
    rows = []
    for cell in results["cells"]:
        pool = str(cell["pool"])
        schemes = [name for name, of in cell.items() if isinstance(of, dict)]
        told = [
            f"{cell[name]['f1'][0]:.3f} ± {cell[name]['f1'][1]:.3f} / {cell[name]['s'][0]:.3f}, "
            f"{100 * cell[name]['other']:.0f} %"
            for name in schemes
        ]
        of_all = "{:.3f} / {:.3f}".format(*cell[pool])
        rows.append((cell["model"], cell["dataset"], cell["kind"], f"{of_all} ({pool})", *told))
    head = ("model", "set", "prompt", "all texts: F1 / S", *schemes)
    return f"F1 ± its deviation over draws / S, and the share of answers that are others.\n\n{table(head, rows)}"


SECTIONS = {
    "promise": ("The promise: what psopt recommends is not worse", promise),
    "table1": ("Tables 1 and 2: strategies", table1),
    "lm_table1": ("Tables 1 and 2 on local language models", lm_table1),
    "appendix_a": ("Appendix A: noise", appendix_a),
    "appendix_b": ("Appendix B: fixes from sensitivity", fixes),
    "appendix_c": ("Appendix C: fixes from consistency", fixes),
    "lm_appendix_b": ("Appendix B on local language models", fixes),
    "lm_appendix_c": ("Appendix C on local language models", fixes),
    "how_many_rephrasings": ("How many rephrasings are enough?", how_many),
    "prosa": ("ProSA: PSS by examples and by confidence", prosa),
    "lm_prosa": ("ProSA on local language models", lm_prosa),
    "lm_formats": ("Formats: the same prompt in 20 forms", lm_formats),
    "prosa_free": ("ProSA: PSS by set, a check of the instrument", prosa_free),
    "prosa_free_models": ("ProSA: PSS by model and set", prosa_free),
    "what_shakes": ("What a model is sensitive to: families of perturbations", what_shakes),
    "ablation": ("Ablation of the search", ablation),
    "transfer": ("Transfer of fronts", transfer),
    "real_grids": ("Intervals and tests on real answers", real_grids),
    "samples_or_wordings": ("Samples or wordings: what a test shows more with", samples_or_wordings),
    "whose_words": ("S by origin of the wordings", whose_words),
    "lm_promise": ("The promise on a language model", lm_promise),
    "racing": ("Racing: a front with fewer calls", racing),
    "lm_racing": ("Racing on a language model", lm_racing),
    "shipping": ("Whole runs on real language models: would you ship it?", shipping),
    "drafts": ("How many drafts of edits are usable", drafts),
    "answer_lead": ("Where a chat model's answer begins", answer_lead),
    "example_turns": ("Examples in one message, and as turns", example_turns),
    "example_layers": ("How many examples of a class", example_layers),
    "prior_texts": ("On how many texts a label prior is measured", prior_texts),
    "label_map": ("Calibration that learns from labels", label_map),
    "confidence": ("Which figure of a vote predicts its errors", confidence),
    "near_constant": ("When the label prior decides the scores", near_constant),
    "lm_edits": ("Kinds of edits on real language models", lm_edits),
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--results", type=Path, default=HERE / "results")
    parser.add_argument("--page", type=Path, default=HERE / "RESULTS.md")
    words = parser.parse_args()
    words.page.write_text(page(words.results), "utf-8")
