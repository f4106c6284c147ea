"""promptfoo itself runs what psopt has read and written: the same labels are right, the same prompts are sent.

It is 500 MB large and none of psopt's dependencies: `PSOPT_PROMPTFOO` names its command, else it is looked for.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from psopt import load_task
from psopt.search_spaces import Definition, Example, Prompt, filled_template, render
from psopt.tasks import fields_of
from psopt.templates import promptfoo_text, read_template, with_prompt

from tests.cli.promptfoo_files import CONFIG, write_chat, write_config

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.tasks import Task

COMMAND = shlex.split(os.environ.get("PSOPT_PROMPTFOO", "")) or [shutil.which("promptfoo") or ""]
pytestmark = pytest.mark.skipif(not COMMAND[0], reason="promptfoo is not installed, and PSOPT_PROMPTFOO names none")
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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_chat(tmp_path)
    (tmp_path / "provider.js").write_text(PROVIDER)
    write_config(tmp_path, CONFIG.replace("providers:", "  - file://chat.json\nproviders:"))
    return tmp_path


def test_promptfoo_runs_the_further_prompts_and_sends_what_psopt_sends(folder: Path) -> None:
    path = folder / "promptfooconfig.yaml"
    task = load_task(path, inputs="message")
    prompts = [edited(folder, f"{path.name}#{number}", task) for number in (1, 2, 3)]
    for prompt in prompts:
        path.write_text(with_prompt(path, promptfoo_text(filled_template(prompt)), f"psopt-{prompt.id}"))
    assert "Configuration is valid" in promptfoo(folder, "validate", "config", "-c", path.name)
    samples = {str(sample.text): sample for sample in (*task.train, *task.val, *task.test)}
    results = results_of(folder, dict.fromkeys(samples, "Billing"))
    assert len(results) == 6 * len(samples)
    for prompt in prompts:
        sent = {
            r["vars"]["message"]: r["prompt"]["raw"] for r in results if r["prompt"]["label"] == f"psopt-{prompt.id}"
        }
        assert sent.keys() == samples.keys()
        for text, raw in sent.items():
            messages = render(prompt, samples[text].text)
            assert (json.loads(raw) if len(messages) > 1 else [{"role": "user", "content": raw}]) == messages


@pytest.mark.parametrize("is_right", [True, False])
def test_the_answers_that_psopt_takes_for_right_are_those_that_promptfoo_passes(folder: Path, is_right: bool) -> None:
    task = load_task(folder / "promptfooconfig.yaml", inputs="message")
    labels = {str(sample.text): str(sample.label) for sample in (*task.train, *task.val, *task.test)}
    others = dict(zip(task.labels, (*task.labels[1:], task.labels[0]), strict=True))
    said = {text: label if is_right else others[label] for text, label in labels.items()}
    tests = json.dumps(said)
    (folder / "said.json").write_text(tests)
    as_json = {text: json.dumps({"team": label}) for text, label in said.items()}
    plain = results_of(folder, said)
    formed = results_of(folder, as_json)
    passed = [one["success"] or other["success"] for one, other in zip(plain, formed, strict=True)]
    assert set(passed) == {is_right}
