"""Which groups does the diagnosis find on TREC, without being told?

    PSOPT_DATA_DIR=... python experiments/groups_on_trec.py [--out experiments/results]

Errica et al., in appendices B and C, found by hand that dates and colours are unstable. Expected: on
train, questions for dates are missed members of Number and colours of Entity; on the 500 test questions, where
definitions abound, "what is" goes with Description. The original prompt, minilm, 10 rephrasings, the whole split.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from psopt.api import diagnose
from psopt.tasks import load_task

EXPECTED = {
    ("train", "dates", "Number"): ("when", "year", "date"),
    ("train", "colours", "Entity"): ("color", "colors", "colour"),
    ("test", "what is", "Description"): ("what is",),
}


def main(out: Path) -> None:
    """Diagnose train and test, and write the findings as JSON and as a Markdown page."""
    task = load_task("trec", strict_data=True)
    groups_of = {}
    for split in ("train", "test"):
        report = diagnose(task, split=split, samples=5000)
        groups = sorted(report.diagnosis.to_dict()["groups"], key=lambda group: -group["need"])
        keys = ("view", "label", "predicted", "size", "share", "topic", "phrases")
        groups_of[split] = [{key: group[key] for key in keys} for group in groups]
    claims = [_claim(groups_of[split], split, topic, label, words) for (split, topic, label), words in EXPECTED.items()]
    out.mkdir(parents=True, exist_ok=True)
    result = {"claims": claims, "groups": groups_of}
    (out / "groups_on_trec.json").write_text(json.dumps(result, indent=2) + "\n", "utf-8")
    (out / "groups_on_trec.md").write_text(_page(result), "utf-8")
    print(_page(result))


def _claim(groups: list[dict], split: str, topic: str, label: str, words: tuple[str, ...]) -> dict:
    """The largest group of a label whose name has one of these words, if there is one."""
    named = [
        group
        for group in groups
        if group["label"] == label and any(_shows(phrase, word) for phrase in group["phrases"] for word in words)
    ]
    best = named[0] if named else None
    return {"split": split, "what": topic, "label": label, "seen": best is not None, "group": best}


def _shows(phrase: str, word: str) -> bool:
    return f" {word} " in f" {phrase.lstrip('^')} "


def _page(result: dict) -> str:
    lines = [
        "# Groups found on TREC",
        "",
        "| split | looked for | label | seen | group | samples |",
        "|---|---|---|---|---|--:|",
    ]
    for claim in result["claims"]:
        group = claim["group"] or {"topic": "–", "size": 0}
        seen = "seen" if claim["seen"] else "not seen"
        lines.append(
            f"| {claim['split']} | {claim['what']} | {claim['label']} | {seen} | {group['topic']} | {group['size']} |"
        )
    for split, groups in result["groups"].items():
        lines += [
            "",
            f"## The ten biggest on {split}",
            "",
            "| topic | class | taken for | samples | of S |",
            "|---|---|---|--:|--:|",
        ]
        for group in groups[:10]:
            cells = [
                group["topic"],
                group["label"],
                group["predicted"] or "–",
                group["size"],
                f"{100 * group['share']:.0f} %",
            ]
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("experiments/results"))
    main(parser.parse_args().out)
