"""A small run on the real SmolLM2, through every verb: calibration is found, kept and used."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from psopt.models.gguf import fast_copy

from tests.commands import run_command

if TYPE_CHECKING:
    from pathlib import Path
    from subprocess import CompletedProcess

TEXTS = {
    "food": ["bread and butter", "a bowl of soup", "fresh apples", "rice with beans"],
    "sport": ["a football match", "running a marathon", "she won at tennis", "the swimming team"],
    "money": ["a bank account", "the price fell", "a loan at 5 percent", "taxes are due"],
}
SPLITS = {"train": "today", "val": "yesterday", "test": "tomorrow"}


@dataclass
class Commands:
    """psopt in a folder that holds a run on the real model."""

    folder: Path
    environment: dict[str, str]

    def __call__(self, *words: str, code: int = 0, texts: str = "") -> CompletedProcess[str]:
        done = run_command(*words, cwd=self.folder, env=self.environment, texts=texts)
        assert done.returncode == code, done.stderr
        return done

    def json(self, *words: str, code: int = 0, texts: str = "") -> Any:
        return json.loads(self(*words, "--json", code=code, texts=texts).stdout)


@pytest.fixture(scope="module")
def psopt(smollm2: Path, tmp_path_factory: pytest.TempPathFactory) -> Commands:
    pytest.importorskip("xllamacpp")
    folder = tmp_path_factory.mktemp("verbs")
    rows = [
        f"{label}{place}{split},{text} {when},{label},{split}"
        for split, when in SPLITS.items()
        for label, texts in TEXTS.items()
        for place, text in enumerate(texts)
    ]
    (folder / "data.csv").write_text("\n".join(["id,text,label,split", *rows]) + "\n")
    models = folder / "cache" / "models"
    models.mkdir(parents=True)
    for file in (smollm2, fast_copy(smollm2)):
        (models / file.name).symlink_to(file)
    psopt = Commands(folder, {**os.environ, "PSOPT_CACHE_DIR": str(folder / "cache"), "COLUMNS": "200"})
    sizes = "--samples=12 --trials=2 --rounds=1 --rephrasings=2 --heldout=2 --leave-one-out=0 --max-calls=300"
    psopt("optimize", "--dataset", "data.csv", "--model", "smollm2", *sizes.split(), "--out", "run")
    return psopt


@pytest.fixture(scope="module")
def calibrated(psopt: Commands) -> dict[str, Any]:
    """A calibrated prompt of the front, as the run has written it."""
    prompts = [json.loads(file.read_text()) for file in (psopt.folder / "run" / "prompts").glob("*.json")]
    return next(prompt for prompt in prompts if prompt.get("calibration"))


def test_a_run_tries_calibration_first_and_tells_it_apart(psopt: Commands) -> None:
    manifest = json.loads((psopt.folder / "run" / "run.json").read_text())
    trials = json.loads((psopt.folder / "run" / "trials.json").read_text())["trials"]
    assert manifest["calibration"]["id"] == trials[1]["id"]
    assert manifest["calibration"]["test"]["f1"] > manifest["baseline"]["test"]["f1"]
    said = psopt("report", "run").stderr
    assert "Calibration alone" in said + (psopt.folder / "run" / "report.html").read_text("utf-8")


def test_texts_are_classified_by_the_prior_that_the_prompt_brings(psopt: Commands, calibrated: dict[str, Any]) -> None:
    def classified(prompt: str, text: str, *more: str, code: int = 0) -> CompletedProcess[str]:
        words = ["classify", "--prompt", prompt, "--model", "smollm2", *more]
        return psopt(*words, code=code, texts=f"{text}\n")

    prior = calibrated["calibration"]["prior"]
    texts = [texts[0] for texts in TEXTS.values()]
    (psopt.folder / "prompt.json").write_text(json.dumps(calibrated))
    alone = [classified("prompt.json", text).stdout.strip() for text in texts]
    assert classified("prompt.json", "\n".join(texts)).stdout.split() == alone
    plain = classified("prompt.json", texts[0], "--calibration", "off").stdout.strip()
    other = next(label for label in TEXTS if label != plain)
    improbable = {**calibrated["calibration"], "prior": {**prior, other: -50.0}}  # by itself, so that it always wins
    (psopt.folder / "other.json").write_text(json.dumps({**calibrated, "calibration": improbable}))
    assert classified("other.json", texts[0]).stdout.strip() == other
    assert classified("other.json", texts[0], "--calibration", "off").stdout.strip() == plain
    (psopt.folder / "without.json").write_text(json.dumps({**calibrated, "calibration": {"method": "batch"}}))
    refused = classified("without.json", "a loan", code=2)
    assert "takes at least 10 texts, not 1; give more, or --calibration off" in refused.stderr


def test_diagnose_check_and_compare_measure_what_calibration_changes(psopt: Commands) -> None:
    data = ["--dataset", "data.csv", "--model", "smollm2", "--rephrasings", "2"]
    plain, calibrated = (psopt.json("diagnose", *data, "--calibration", how)["f1"] for how in ("off", "batch"))
    assert calibrated > plain
    assert psopt.json("diagnose", *data, "--dry-run")["minutes"] is not None  # the run before it has timed the model
    psopt("check", *data, "--calibration", "batch", "--min-f1", "0.34")
    psopt("check", *data, "--calibration", "off", "--min-f1", "0.99", code=1)
    psopt("compare", *data, "--prompt", "prompt.json", "--prompt", "run")
    told = psopt("compare", *data, "--prompt", "prompt.json", "--model2", "minilm", "--dry-run").stderr
    assert "minilm: it gives no label probabilities: the prompt is used without its calibration" in told


def test_diagnose_names_calibration_as_the_next_step_and_a_run_is_resumed(psopt: Commands) -> None:
    (psopt.folder / "food.txt").write_text("Everything is about food.")  # so that one label is answered
    data = ["--dataset", "data.csv", "--model", "smollm2", "--prompt", "food.txt", "--rephrasings", "2"]
    assert "Next: --calibration batch" in psopt("diagnose", *data).stdout
    assert "Next: psopt optimize" in psopt("diagnose", *data, "--calibration", "batch").stdout
    psopt("resume", "run", "--trials", "3", "--max-calls", "240")
    assert len(json.loads((psopt.folder / "run" / "trials.json").read_text())["trials"]) >= 3
