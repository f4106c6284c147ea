"""A promptfoo configuration is data, prompt and model in one, and takes the recommended prompt back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml
from psopt import load_task

from tests.cli.promptfoo_files import CONFIG, mails, write_chat, write_config
from tests.commands import exit_code
from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.tasks import Task

SIM = "sim/accuracy=0.6,wobble=0.4"
CONFIGURED = ["--dataset", "promptfooconfig.yaml"]
SMALL = ["--model", SIM, "--rephrasings", "3", "--samples", "8"]
RUN = ["--model", SIM, "--rephrasings", "3", "--samples", "16", "--trials", "8", "--rounds", "1"]
RUN += ["--leave-one-out", "0", "--gate", "off", "--out", "run"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    write_config(tmp_path)
    return tmp_path


def samples(task: Task) -> dict[str, str | None]:
    """The texts of a task with their labels."""
    return {str(sample.text): sample.label for sample in (*task.train, *task.val, *task.test)}


def test_tests_are_samples_whose_labels_the_assertions_name(folder: Path) -> None:
    task = load_task(folder / "promptfooconfig.yaml", inputs="message")
    assert samples(task) == dict(mails())
    assert task.labels == ("Billing", "Sales", "Technical")


def test_the_first_prompt_is_diagnosed_and_others_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("diagnose", *CONFIGURED, *SMALL) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "fields: message" in said
    assert "the file has 2 prompts: the first is taken; promptfooconfig.yaml#2 names another" in said
    assert "as --model says; promptfooconfig.yaml names openai/gpt-5.4-mini" in said
    assert exit_code("check", *CONFIGURED, *SMALL, "--prompt", "promptfooconfig.yaml#2", "--min-f1", "0") == 0
    assert "'Which team is it for" in capsys.readouterr().err
    assert exit_code("check", *CONFIGURED, *SMALL, "--prompt", "promptfooconfig.yaml#3", "--min-f1", "0") == 2
    assert "promptfooconfig.yaml#3 is not there: it configures 2 prompts" in capsys.readouterr().err


def test_all_prompts_are_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_chat(folder)
    write_config(folder, CONFIG.replace("providers:", "  - file://chat.json\nproviders:"))
    assert exit_code("compare", *CONFIGURED, *SMALL, "--json") == 0
    prompts = [contender["prompt"] for contender in json.loads(capsys.readouterr().out)]
    assert prompts == [f"promptfooconfig.yaml#{number}" for number in (1, 2, 3)]


PROVIDERS = {
    "openai:gpt-5.4-mini": "openai/gpt-5.4-mini",
    "openai:chat:ft:gpt:org::1": "openai/ft:gpt:org::1",
    "azure:chat:mine": "azure/mine",
    "ollama:chat:llama3:8b": "openai/llama3:8b",
}


@each("provider", PROVIDERS)
def test_the_provider_is_the_model(folder: Path, provider: str, capsys: pytest.CaptureFixture[str]) -> None:
    entry = f"{provider}\n    config: {{temperature: 0.2, apiHost: x.openai.azure.com, apiKey: s3cret, tools: []"
    write_config(folder, CONFIG.replace("openai:chat:gpt-5.4-mini\n    config: {temperature: 0.2", entry))
    assert exit_code("diagnose", *CONFIGURED) == 2  # without a key
    shown = capsys.readouterr().err
    assert "s3cret" not in shown
    said = " ".join(shown.split())
    assert f"model {PROVIDERS[provider]}" in said


@each("provider", ["anthropic:messages:claude", "openai:embedding:x", "file://provider.js", "openai:{{env.M}}", ""])
def test_another_provider_is_named_and_a_model_asked_for(
    folder: Path, provider: str, capsys: pytest.CaptureFixture[str]
) -> None:
    head, _, rest = CONFIG.partition("providers:\n")
    named = f"providers: '{provider}'\n"
    write_config(folder, head + named + rest[rest.index("defaultTest") :])
    assert exit_code("diagnose", *CONFIGURED) == 2
    why = f"its provider {provider} is none that psopt can ask" if provider else "it has no provider"
    assert f"does not say which model it is for, {why}: give --model" in " ".join(capsys.readouterr().err.split())


def test_a_prompt_given_beside_keeps_the_files_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "own.txt").write_text("Decide which team answers: Billing, Technical or Sales.\n\n{message}\n")
    asked = ["--prompt", "own.txt", "--api-base", "http://x", "--min-f1", "0", "--dry-run"]
    assert exit_code("check", *CONFIGURED, *asked) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "prompt own.txt: format text" in said
    assert "model openai/gpt-5.4-mini at http://x, as in promptfooconfig.yaml (2 providers: the first is taken" in said


def test_the_prompt_of_a_run_is_a_further_one_of_the_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "promptfooconfig.yaml"
    before = path.read_text()
    assert exit_code("optimize", *CONFIGURED, *RUN, "--quiet") == 0
    pick = ["--pick", next(file.stem for file in (folder / "run" / "prompts").glob("*.json") if edits_in(file))]
    assert exit_code("export", "run", *pick, "--format", "promptfoo") == 0
    printed = capsys.readouterr().out
    assert path.read_text() == before
    assert exit_code("export", "run", *pick, "--into", "promptfooconfig.yaml", "--verify", "4") == 0
    assert "reproduces 4 of 4 answers" in capsys.readouterr().err
    assert path.read_text() == printed
    lines = printed.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("  - label: psopt-"))
    end = lines.index("providers:")
    assert [*lines[:start], *lines[end:]] == before.splitlines()
    added = yaml.safe_load(printed)["prompts"][2]["raw"]
    assert "{{message}}" in added
    assert "Decide which team" in added
    assert exit_code("export", "run", *pick, "--into", "promptfooconfig.yaml") == 2
    assert "holds this prompt already, as prompt 3" in capsys.readouterr().err
    assert exit_code("export", "run", *pick, "--into", "promptfooconfig.yaml", "--diff") == 2
    assert exit_code("check", *CONFIGURED, *SMALL, "--prompt", "promptfooconfig.yaml#3", "--min-f1", "0") == 0


def edits_in(file: Path) -> bool:
    """Whether a run's prompt adds anything to the original."""
    prompt = json.loads(file.read_text())
    return bool(prompt.get("notes") or prompt.get("examples") or prompt.get("definitions"))


def test_a_run_from_elsewhere_needs_the_file_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("optimize", "--dataset", "trec", *RUN, "--trials", "2", "--quiet") == 0
    assert exit_code("export", "run", "--format", "promptfoo") == 2
    assert "of psopt's own form names no variables of promptfoo's" in " ".join(capsys.readouterr().err.split())
