"""A promptfoo configuration is data, prompt and model in one, and takes the recommended prompt back.

The last tests have promptfoo itself run what psopt has read and written: the same labels are right, the same prompts
are sent. It is 500 MB large and none of psopt's dependencies: `PSOPT_PROMPTFOO` names its command, else it is looked
for.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from psopt import load_task
from psopt.search_spaces import Definition, Example, Prompt, filled_template, render
from psopt.tasks import Task, fields_of
from psopt.templates import promptfoo_text, read_template, with_prompt

from tests.cli.telling import check_refused, check_says
from tests.commands import psopt
from tests.sweeps import each

# As people have them: comments, two prompts, a provider, tests of several kinds.
CONFIG = """\
# Which team answers a mail
description: mail triage
prompts:
  # in use since May
  - |
    Decide which team has to answer the message: Billing, Technical or Sales.
    Answer with the name of the team only.

    Message: {{message}}
    Team:

  - label: short
    raw: 'Which team is it for, Billing, Technical or Sales? {{ message }}'  # an idea
providers:
  - id: openai:chat:gpt-5.4-mini
    config: {temperature: 0.2, max_tokens: 20, tools: []}
  - anthropic:messages:claude
defaultTest:
  assert:
    - type: latency
      threshold: 4000
tests:
"""
CHAT = [
    {"role": "system", "content": "Decide which team answers: Billing, Technical or Sales. Give its name only."},
    {"role": "user", "content": "{{message}}"},
]
TEXTS = {
    "Billing": "I was charged twice for {}",
    "Technical": "{} crashes when I open it",
    "Sales": "How much would fifty seats of {} cost",
}
PRODUCTS = ("the calendar", "the editor", "my plan", "the app", "the backup", "reports", "chat", "search")
MAILS = {text.format(product): label for product in PRODUCTS for label, text in TEXTS.items()}
ASSERTIONS = (
    "equals\n        value: {label}",
    "icontains\n        value: {lower}",
    "javascript\n        value: output.trim() === '{label}'",
    "is-json\n        value: {{type: object, properties: {{team: {{const: {label}}}}}}}",
)
CONFIGURED = ["--dataset", "promptfooconfig.yaml"]
SMALL = ["--model", "sim/accuracy=0.6,wobble=0.4", "--rephrasings", "3", "--samples", "8"]
RUN = [*SMALL, "--samples", "16", "--trials", "8", "--rounds", "1", "--leave-one-out", "0", "--gate", "off"]
RUN += ["--out", "run", "--quiet"]
CHECK = ["check", *CONFIGURED, *SMALL, "--min-f1", "0", "--prompt"]


def write_config(folder: Path, head: str = CONFIG) -> None:
    """Write a configuration with tests of every readable kind."""
    tests = ""
    for number, (text, label) in enumerate(MAILS.items()):
        assertion = ASSERTIONS[number % len(ASSERTIONS)].format(label=label, lower=label.lower())
        tests += f"  - vars:\n      message: {text}\n    assert:\n      - type: {assertion}\n"
    (folder / "promptfooconfig.yaml").write_text(head + tests)


def write_third_prompt(folder: Path) -> None:
    """Write a configuration whose third prompt is a chat in a file of JSON."""
    (folder / "chat.json").write_text(json.dumps(CHAT, indent=2))
    write_config(folder, CONFIG.replace("providers:", "  - file://chat.json\nproviders:"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    write_config(tmp_path)
    return tmp_path


def configured(folder: Path) -> tuple[Task, dict[str, Any]]:
    """The task of the configuration, and its samples by their texts."""
    task = load_task(folder / "promptfooconfig.yaml", inputs="message")
    return task, {str(sample.text): sample for sample in (*task.train, *task.val, *task.test)}


def test_the_first_prompt_is_diagnosed_others_are_named_and_all_are_compared(folder: Path) -> None:
    check_says(
        psopt(folder, "diagnose", *CONFIGURED, *SMALL, code=0).stderr,
        "fields: message",
        "the file has 2 prompts: the first is taken; promptfooconfig.yaml#2 names another",
        "as --model says; promptfooconfig.yaml names openai/gpt-5.4-mini",
    )
    check_says(psopt(folder, *CHECK, "promptfooconfig.yaml#2", code=0).stderr, "'Which team is it for")
    absent = "promptfooconfig.yaml#3 is not there: it configures 2 prompts"
    check_refused(psopt(folder, *CHECK, "promptfooconfig.yaml#3"), absent)
    write_third_prompt(folder)
    compared = json.loads(psopt(folder, "compare", *CONFIGURED, *SMALL, "--json", code=0).stdout)
    assert [contender["prompt"] for contender in compared] == [f"promptfooconfig.yaml#{place}" for place in (1, 2, 3)]


@each(
    "provider, model",
    [
        ("openai:gpt-5.4-mini", "openai/gpt-5.4-mini"),
        ("openai:chat:ft:gpt:org::1", "openai/ft:gpt:org::1"),
        ("azure:chat:mine", "azure/mine"),
        ("ollama:chat:llama3:8b", "openai/llama3:8b"),
    ],
)
def test_the_provider_is_the_model(folder: Path, provider: str, model: str) -> None:
    entry = f"{provider}\n    config: {{temperature: 0.2, apiHost: x.openai.azure.com, apiKey: s3cret, tools: []"
    write_config(folder, CONFIG.replace("openai:chat:gpt-5.4-mini\n    config: {temperature: 0.2", entry))
    said = psopt(folder, "diagnose", *CONFIGURED, code=2).stderr  # without a key
    assert "s3cret" not in said
    check_says(said, f"model {model}")


@each("provider", ["anthropic:messages:claude", "file://provider.js", "openai:{{env.M}}", ""])
def test_another_provider_is_named_and_a_model_asked_for(folder: Path, provider: str) -> None:
    head, _, rest = CONFIG.partition("providers:\n")
    write_config(folder, f"{head}providers: '{provider}'\n{rest[rest.index('defaultTest') :]}")
    why = f"its provider {provider} is none that psopt can ask" if provider else "it has no provider"
    said = psopt(folder, "diagnose", *CONFIGURED, code=2).stderr
    check_says(said, f"does not say which model it is for, {why}: give --model")


def test_a_prompt_given_beside_keeps_the_files_model(folder: Path) -> None:
    (folder / "own.txt").write_text("Decide which team answers: Billing, Technical or Sales.\n\n{message}\n")
    asked = ["--prompt", "own.txt", "--api-base", "http://x", "--min-f1", "0", "--dry-run"]
    model = "model openai/gpt-5.4-mini at http://x, as in promptfooconfig.yaml (2 providers: the first is taken"
    check_says(psopt(folder, "check", *CONFIGURED, *asked, code=0).stderr, "prompt own.txt: format text", model)


def test_the_prompt_of_a_run_is_a_further_one_of_the_file(folder: Path) -> None:
    path = folder / "promptfooconfig.yaml"
    before = path.read_text()
    psopt(folder, "optimize", *CONFIGURED, *RUN, code=0)
    front = json.loads((folder / "run" / "front.json").read_text())["prompts"]
    export = ["export", "run", "--pick", next(entry["id"] for entry in front if entry["edits"])]
    printed = psopt(folder, *export, "--format", "promptfoo", code=0).stdout
    assert path.read_text() == before
    export += ["--into", path.name]
    assert "reproduces 4 of 4 answers" in psopt(folder, *export, "--verify", "4", code=0).stderr
    assert path.read_text() == printed
    lines = printed.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("  - label: psopt-"))
    assert [*lines[:start], *lines[lines.index("providers:") :]] == before.splitlines()
    check_says(yaml.safe_load(printed)["prompts"][2]["raw"], "{{message}}", "Decide which team")
    check_refused(psopt(folder, *export), "holds this prompt already, as prompt 3")
    psopt(folder, *export, "--diff", code=2)
    psopt(folder, *CHECK, "promptfooconfig.yaml#3", code=0)


def test_a_run_from_elsewhere_needs_the_file_named(trec_run: Path) -> None:
    done = psopt(trec_run, "export", "run", "--format", "promptfoo")
    check_refused(done, "of psopt's own form names no variables of promptfoo's")


COMMAND = shlex.split(os.environ.get("PSOPT_PROMPTFOO", "")) or [shutil.which("promptfoo") or ""]
with_promptfoo = pytest.mark.skipif(not COMMAND[0], reason="promptfoo is not installed, and PSOPT_PROMPTFOO names none")
PROVIDER = """\
const answers = require('./answers.json');
module.exports = class {
  id() { return 'offline'; }
  async callApi(prompt, context) { return { output: answers[context.vars.message] }; }
};
"""
OFFLINE = {
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "PROMPTFOO_FAILED_TEST_EXIT_CODE": "0",
}


def promptfoo(folder: Path, *words: str) -> str:
    """Run promptfoo in a folder, which keeps its settings too."""
    env = {**os.environ, **OFFLINE, "PROMPTFOO_CONFIG_DIR": str(folder / "settings")}
    ended = subprocess.run([*COMMAND, *words], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def results_of(folder: Path, answers: dict[str, str]) -> list[Any]:
    """What promptfoo says of every test under every prompt, where a provider gives these answers."""
    (folder / "provider.js").write_text(PROVIDER)
    (folder / "answers.json").write_text(json.dumps(answers))
    provider = ["-r", "file://provider.js", "--no-cache", "--no-progress-bar", "--no-table"]
    promptfoo(folder, "eval", "-c", "promptfooconfig.yaml", *provider, "-o", "out.json")
    return list(json.loads((folder / "out.json").read_text())["results"]["results"])


def edited(folder: Path, source: str, task: Task) -> Prompt:
    """A prompt of the configuration with a note, a definition and an example."""
    read = read_template(folder / source, task.fields, labels=task.labels, label_column=task.label_column)
    example = task.train[0]
    return Prompt(
        read.description,
        task.labels,
        template=read.template,
        notes=('A "refund" is Billing; 10 % {off} is Sales.',),
        definitions=(Definition("Billing", "money: it's paid"),),
        examples=(Example(example.text, str(example.label), fields=tuple(fields_of(example.text).items())),),
    )


@with_promptfoo
def test_promptfoo_runs_the_further_prompts_and_sends_what_psopt_sends(folder: Path) -> None:
    write_third_prompt(folder)
    path = folder / "promptfooconfig.yaml"
    task, samples = configured(folder)
    prompts = [edited(folder, f"{path.name}#{number}", task) for number in (1, 2, 3)]
    for prompt in prompts:
        path.write_text(with_prompt(path, promptfoo_text(filled_template(prompt)), f"psopt-{prompt.id}"))
    assert "Configuration is valid" in promptfoo(folder, "validate", "config", "-c", path.name)
    results = results_of(folder, dict.fromkeys(samples, "Billing"))
    assert len(results) == 6 * len(samples)
    for prompt in prompts:
        own = [result for result in results if result["prompt"]["label"] == f"psopt-{prompt.id}"]
        sent = {result["vars"]["message"]: result["prompt"]["raw"] for result in own}
        assert sent.keys() == samples.keys()
        for text, raw in sent.items():
            messages = render(prompt, samples[text].text)
            assert (json.loads(raw) if len(messages) > 1 else [{"role": "user", "content": raw}]) == messages


@with_promptfoo
@pytest.mark.parametrize("is_right", [True, False])
def test_the_answers_that_psopt_takes_for_right_are_those_that_promptfoo_passes(folder: Path, is_right: bool) -> None:
    task, samples = configured(folder)
    others = dict(zip(task.labels, (*task.labels[1:], task.labels[0]), strict=True))
    answers = {text: sample.label if is_right else others[sample.label] for text, sample in samples.items()}
    plain = results_of(folder, answers)
    formed = results_of(folder, {text: json.dumps({"team": label}) for text, label in answers.items()})
    assert {one["success"] or other["success"] for one, other in zip(plain, formed, strict=True)} == {is_right}
