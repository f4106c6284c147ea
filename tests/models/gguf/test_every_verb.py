"""A small run on the real SmolLM2, through every verb: calibration is found, kept and used."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from psopt.models.gguf import fast_copy

from tests import commands

TEXTS = {
    "food": ["bread and butter", "a bowl of soup", "fresh apples", "rice with beans"],
    "sport": ["a football match", "running a marathon", "she won at tennis", "the swimming team"],
    "money": ["a bank account", "the price fell", "a loan at 5 percent", "taxes are due"],
}
SPLITS = {"train": "today", "val": "yesterday", "test": "tomorrow"}
DATA = ["--dataset", "data.csv", "--model", "smollm2", "--rephrasings", "2"]


@pytest.fixture(scope="module")
def folder(smollm2: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds a run on the real model."""
    pytest.importorskip("xllamacpp")
    folder = tmp_path_factory.mktemp("verbs")
    rows = [
        f"{label}{place}{split},{text} {when},{label},{split}"
        for split, when in SPLITS.items()
        for label, texts in TEXTS.items()
        for place, text in enumerate(texts)
    ]
    (folder / "data.csv").write_text("\n".join(["id,text,label,split", *rows]) + "\n")
    (folder / "food.txt").write_text("Everything is about food.")  # to which one label is answered
    models = folder / "cache" / "models"
    models.mkdir(parents=True)
    for file in (smollm2, fast_copy(smollm2)):
        (models / file.name).symlink_to(file)
    sizes = "--samples=12 --trials=2 --rounds=1 --heldout=2 --leave-one-out=0 --max-calls=300"
    commands.psopt(folder, "optimize", *DATA, *sizes.split(), "--out", "run", code=0)
    return folder


@pytest.fixture(scope="module")
def psopt(folder: Path) -> Any:
    return partial(commands.psopt, folder, columns=200)


@pytest.fixture(scope="module")
def calibrated(folder: Path) -> Path:
    """A calibrated prompt of the front, as the run has written it."""
    prompts = (folder / "run" / "prompts").glob("*.json")
    return next(prompt for prompt in prompts if json.loads(prompt.read_text()).get("calibration"))


def test_a_run_tries_calibration_first_and_tells_it_apart(psopt: Any, folder: Path) -> None:
    trials = json.loads((folder / "run" / "trials.json").read_text())["trials"]
    manifest = json.loads((folder / "run" / "run.json").read_text())
    assert manifest["calibration"]["id"] == trials[1]["id"]
    assert manifest["calibration"]["test"]["f1"] > manifest["baseline"]["test"]["f1"]
    said = psopt("report", "run", code=0).stderr
    page = (folder / "run" / "report.html").read_text("utf-8")
    assert "Calibration alone" in said + page
    assert "It is calibrated: its text alone does not give these scores." in page


def test_texts_are_classified_by_the_prior_that_the_prompt_brings(psopt: Any, folder: Path, calibrated: Path) -> None:
    def classified(calibration: Any, *texts: str, how: str = "auto", code: int = 0) -> Any:
        (folder / "prompt.json").write_text(json.dumps({**prompt, "calibration": calibration}))
        words = ["--prompt", "prompt.json", "--model", "smollm2", "--calibration", how]
        done = psopt("classify", *words, texts="\n".join(texts) + "\n", code=code)
        return done.stderr if code else done.stdout.split()

    prompt = json.loads(calibrated.read_text())
    brought = prompt["calibration"]
    texts = [texts[0] for texts in TEXTS.values()]
    assert classified(brought, *texts) == [classified(brought, text)[0] for text in texts]
    (plain,) = classified(brought, texts[0], how="off")
    other = next(label for label in TEXTS if label != plain)
    improbable = {**brought, "prior": {**brought["prior"], other: -50.0}}  # by itself, so that it always wins
    assert classified(improbable, texts[0]) == [other]
    assert classified(improbable, texts[0], how="off") == [plain]
    refused = classified({"method": "batch"}, "a loan", code=2)
    assert "takes at least 10 texts, not 1; give more, or --calibration off" in refused


def test_diagnose_check_and_compare_measure_what_calibration_changes(psopt: Any, calibrated: Path) -> None:
    before, after = (
        json.loads(psopt("diagnose", *DATA, "--calibration", how, "--json", code=0).stdout)["f1"]
        for how in ("off", "batch")
    )
    assert after > before
    planned = json.loads(psopt("diagnose", *DATA, "--dry-run", "--json", code=0).stdout)
    assert planned["minutes"] is not None  # the run before it has timed the model
    psopt("check", *DATA, "--calibration", "batch", "--min-f1", "0.34", code=0)
    psopt("check", *DATA, "--calibration", "off", "--min-f1", "0.99", code=1)
    assert "Next: --calibration batch" in psopt("diagnose", *DATA, "--prompt", "food.txt", code=0).stdout
    compared = ["compare", *DATA, "--prompt", calibrated, "--model2", "minilm", "--dry-run"]
    told = psopt(*compared, code=0).stderr
    assert "minilm: it gives no label probabilities: the prompt is used without its calibration" in told
