"""Every command of the README and the guides, run as a newcomer runs them: one after the other, in one folder.

Added are sizes, and where no model or the embedded one is named a simulated one, so that it takes seconds; in place of
OpenAI and of a server on port 8000 stands the test server, in place of a PostgreSQL far away a SQLite file.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import open_tasks
from tests.commands import run_command
from tests.docs.pages import DOCS, ROOT, all_commands
from tests.fake_server import FakeServer

COMMANDS = all_commands()
SMALL = "--trials 3 --samples 24 --rephrasings 3 --rounds 1 --test-samples 24 --heldout 3"
SIMULATED = "sim/accuracy=0.6,wobble=0.4"
REPEATED = "psopt optimize --dataset trec"  # the guide gives it in small too
ELSEWHERE = {
    "--program": "tests/dspy_programs/test_programs_on_the_command_line.py",
    "dashboard": "tests/cli/test_json_schemas.py",
    "psopt serve": "tests/serving/test_serve.py",
    "psopt migrate": "tests/cli/test_runs_of_two_models.py",
    "hf:": "tests/cli/test_hub_data.py",
    "runs/tickets-larger": "tests/cli/test_runs_of_two_models.py",
    "--figures": "tests/report/test_report.py",
    "--into": "tests/cli/test_promptfoo.py",
    "--without": "tests/cli/test_export.py",  # what edits a run has is not known before
}
TEXTS = {
    "billing": "the invoice of month {} is wrong",
    "support": "the export crashes on file {}",
    "sales": "what would {} more seats cost",
    "legal": "clause {} of the contract is not clear",
}
ASKED = "Decide which team has to answer the ticket: billing or support. Answer with its name."
TRACKER = ("trackers/wandb_tracker.py", "")
COLUMNS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "named.csv": ("body", "team", {team: team for team in TEXTS}),
    "tickets.csv": ("text", "label", {team: team for team in TEXTS}),
    "reviews.csv": ("text", "stars", {"support": 1, "legal": 3, "sales": 5}),
    "severities.csv": ("text", "severity", {"sales": "low", "billing": "medium", "support": "high"}),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Support tickets, and what else the commands name."""
    folder = tmp_path_factory.mktemp("readme")
    for name, (text, label, values) in COLUMNS.items():
        rows = [f"{TEXTS[team].format(number)},{value}" for number in range(30) for team, value in values.items()]
        (folder / name).write_text("\n".join([f"{text},{label}", *rows]))
    tickets = [(TEXTS[team].format(row), team) for row in range(30) for team in ("billing", "support")]
    tests = [{"vars": {"message": text}, "assert": [{"type": "equals", "value": team}]} for text, team in tickets]
    config = {"prompts": [f"{ASKED} {{{{message}}}}"], "providers": ["openai:gpt-5.4-mini"], "tests": tests}
    (folder / "promptfooconfig.yaml").write_text(json.dumps(config))  # JSON is YAML
    messages = [{"role": "developer", "content": ASKED}, {"role": "user", "content": "{{ ticket_text }}"}]
    (folder / "messages.json").write_text(json.dumps(messages))
    for name in ("prompt.txt", "old.txt"):
        (folder / name).write_text("Decide which team has to answer the ticket.")
    (folder / "new.csv").write_text("subject,body\nInvoice,It is wrong.\n")
    (folder / "new.txt").write_text("the invoice is wrong\nit crashes\n")
    (folder / "tickets.toml").write_text(task_file().replace("tickets.csv", "named.csv"))
    for example, name in (("own_prompt/mail.csv", ""), ("own_prompt/sections.md", "prompt.md"), TRACKER):
        shutil.copy(ROOT / "examples" / example, folder / name)
    items = [{"item": {"ticket_text": text, "correct_label": team}} for text, team in tickets]
    mails = [{"text": row["text"], "teams": row["answer"]} for row in open_tasks.complaints()]
    for name, rows_of in (("items.jsonl", items), ("mails.jsonl", mails)):
        (folder / name).write_text("\n".join(map(json.dumps, rows_of)))
    with (folder / "bills.csv").open("w", newline="") as file:
        bills = [(row["text"], row["answer"]) for row in open_tasks.bills()]
        csv.writer(file).writerows([("text", "total"), *bills])
    return folder


def task_file() -> str:
    """The task file that the guide shows, with the labels that these tickets have."""
    (block,) = re.findall(r"```toml\n(.+?)```", (DOCS / "guides" / "data.md").read_text("utf-8"), re.DOTALL)
    return block.replace('"billing", "support"', '"billing", "legal", "sales", "support"')


def environment(folder: Path, server: FakeServer) -> dict[str, Any]:
    paths = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    keys = {"OPENAI_API_KEY": "sk-of-no-use", "OPENAI_BASE_URL": server.url, "WANDB_MODE": "offline"}
    ours = {"COLUMNS": "80", "PATH": paths, "PSOPT_CACHE_DIR": str(folder / "cache"), "PSOPT_OFFLINE": "1"}
    return {**os.environ, **keys, **ours}


def small(line: str, folder: Path, server: FakeServer) -> str:
    """A command as it is run here."""
    of_a_run = "p.json" in line or "1a2b3c.json" in line  # such a prompt says its model itself
    for told, ours in (
        ("http://localhost:8000/v1", server.url),
        ("postgresql://psopt@db.local/studies", f"sqlite:///{folder}/study.db"),
        ("psopt optimize --dataset trec ", "psopt optimize --dataset tickets.csv "),
        ("psopt diagnose --dataset cb", "psopt diagnose --dataset cb --samples 20 --rephrasings 3"),
        ("--trials 16", "--trials 5"),
        ("--model minilm", f"--model {SIMULATED}"),
    ):
        line = line.replace(told, ours)
    for option, data in (("--label-column severity", "severities.csv"), ("--text-column", "named.csv")):
        line = line.replace("tickets.csv", data) if option in line else line
    if any(name in line for name in ("mail.csv", "promptfooconfig.yaml", "items.jsonl")):
        # The test server answers otherwise
        line = line.replace("openai/gpt-5.4-mini", SIMULATED)
    is_optimize = line.startswith("psopt optimize")
    if is_optimize and "--dry-run" not in line:
        line += f" {SMALL}"
    asks = is_optimize or line.startswith(("psopt diagnose", "psopt compare", "psopt check"))
    if asks and "--model" not in line and not of_a_run:
        line += f" --model {SIMULATED}"
    if "--batch" in line:
        line += " --batch-tick 0.01"
    for name in ("mail", "tickets"):
        made = sorted((folder / "runs" / name / "prompts").glob("*.json"))
        if made:
            shutil.copy(made[0], folder / "p.json")
            line = line.replace(f"runs/{name}/prompts/1a2b3c.json", str(made[0]))
    return line.replace("runs/tickets", "runs/shared") if is_optimize and "--storage" in line else line


def run(line: str, folder: Path, server: FakeServer) -> subprocess.CompletedProcess[str]:
    """A line as a shell reads it: a command, and perhaps the file that its output goes to."""
    command, _, file = line.partition(" > ")
    done = run_command(*shlex.split(command)[1:], cwd=folder, env=environment(folder, server))
    if file:
        (folder / file.strip()).write_text(done.stdout, "utf-8")
        done.stdout = ""
    return done


def test_they_run(folder: Any) -> None:
    with FakeServer() as server, open_tasks.server_of_bills() as bills, open_tasks.server_of_complaints() as mails:
        answering = {"bills.csv": bills.base, "mails.jsonl": mails.base}
        for line in COMMANDS:
            if line == REPEATED or any(word in line for word in ELSEWHERE):
                continue
            wanted = small(line, folder, server)
            for file, base in answering.items():
                if file in line:
                    wanted += f" --api-base {base}"
            done = run(wanted, folder, server)
            missed = line.startswith("psopt check") and done.returncode == 1  # so it may be
            assert done.returncode == 0 or missed, f"{line}\n{done.stderr}"
            assert "Traceback" not in done.stderr
            for shown in done.stdout.splitlines():
                assert "psopt check" in line or len(shown) <= 200, shown
    assert (folder / "better.json").is_file()
    assert (folder / "rephrasings.json").is_file()
