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
import socket
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
    "dashboard": "below",
    "psopt serve": "tests/serving/test_serve.py",
    "psopt migrate": "tests/cli/test_migrate.py",
    "hf:": "tests/cli/test_hub_data.py",
    "runs/tickets-larger": "tests/cli/test_report_of_two_runs.py",
    "--figures": "tests/report/test_report.py",
    "--into": "tests/cli/test_promptfoo.py",
    "--without": "tests/cli/test_export.py",  # what edits a run has is not known before
}
STARS = ((1, "support"), (3, "legal"), (5, "sales"))
SEVERITIES = (("low", "sales"), ("medium", "billing"), ("high", "support"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Support tickets, and what else the commands name."""
    folder = tmp_path_factory.mktemp("readme")
    texts = {
        "billing": "the invoice of month {} is wrong",
        "support": "the export crashes on file {}",
        "sales": "what would {} more seats cost",
        "legal": "clause {} of the contract is not clear",
    }
    rows = [f"{texts[team].format(number)},{team}" for number in range(30) for team in texts]
    plain = "\n".join(["text,label", *rows])
    (folder / "named.csv").write_text("\n".join(["body,team", *rows]))
    (folder / "tickets.csv").write_text(plain)
    stars = "\n".join(
        ["text,stars", *(f"{texts[team].format(row)},{star}" for row in range(30) for star, team in STARS)]
    )
    (folder / "reviews.csv").write_text(stars)
    severities = (f"{texts[team].format(row)},{level}" for row in range(30) for level, team in SEVERITIES)
    (folder / "severities.csv").write_text("\n".join(["text,severity", *severities]))
    for name in ("prompt.txt", "old.txt"):
        (folder / name).write_text("Decide which team has to answer the ticket.")
    own = ROOT / "examples" / "own_prompt"
    shutil.copy(own / "mail.csv", folder)
    shutil.copy(own / "sections.md", folder / "prompt.md")
    shutil.copy(ROOT / "examples" / "trackers" / "wandb_tracker.py", folder)
    tickets = [(texts[team].format(row), team) for row in range(30) for team in ("billing", "support")]
    items = [{"item": {"ticket_text": text, "correct_label": team}} for text, team in tickets]
    (folder / "items.jsonl").write_text("\n".join(map(json.dumps, items)))
    asked = "Decide which team has to answer the ticket: billing or support. Answer with its name."
    tests = [{"vars": {"message": text}, "assert": [{"type": "equals", "value": team}]} for text, team in tickets]
    config = {"prompts": [f"{asked} {{{{message}}}}"], "providers": ["openai:gpt-5.4-mini"], "tests": tests}
    (folder / "promptfooconfig.yaml").write_text(json.dumps(config))  # JSON is YAML
    messages = [{"role": "developer", "content": asked}, {"role": "user", "content": "{{ ticket_text }}"}]
    (folder / "messages.json").write_text(json.dumps(messages))
    (folder / "new.csv").write_text("subject,body\nInvoice,It is wrong.\n")
    (folder / "new.txt").write_text("the invoice is wrong\nit crashes\n")
    mails = [{"text": row["text"], "teams": row["answer"]} for row in open_tasks.complaints()]
    (folder / "mails.jsonl").write_text("\n".join(map(json.dumps, mails)))
    with (folder / "bills.csv").open("w", newline="") as file:
        bills = csv.writer(file)
        bills.writerows([("text", "total"), *((row["text"], row["answer"]) for row in open_tasks.bills())])
    (folder / "tickets.toml").write_text(task_file().replace("tickets.csv", "named.csv"))
    return folder


def task_file() -> str:
    """The task file that the guide shows, with the labels that these tickets have."""
    (block,) = re.findall(r"```toml\n(.+?)```", (DOCS / "guides" / "data.md").read_text("utf-8"), re.DOTALL)
    return block.replace('"billing", "support"', '"billing", "legal", "sales", "support"')


def environment(folder: Path, server: FakeServer) -> dict[str, Any]:
    kept = dict(os.environ)
    paths = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ours = {
        "OPENAI_API_KEY": "sk-of-no-use",
        "OPENAI_BASE_URL": server.url,
        "COLUMNS": "80",
        "PATH": paths,
        "WANDB_MODE": "offline",
    }
    return {**kept, **ours, "PSOPT_CACHE_DIR": str(folder / "cache"), "PSOPT_OFFLINE": "1"}


def small(line: str, folder: Path, server: FakeServer) -> str:
    """A command as it is run here."""
    line = line.replace("http://localhost:8000/v1", server.url)
    line = line.replace("postgresql://psopt@db.local/studies", f"sqlite:///{folder}/study.db")
    line = line.replace("psopt optimize --dataset trec ", "psopt optimize --dataset tickets.csv ")
    line = line.replace("psopt diagnose --dataset cb", "psopt diagnose --dataset cb --samples 20 --rephrasings 3")
    if "--label-column severity" in line:
        line = line.replace("tickets.csv", "severities.csv")
    if "--text-column" in line:
        line = line.replace("tickets.csv", "named.csv")
    if line.startswith("psopt optimize") and "--dry-run" not in line:
        line += f" {SMALL}"
    of_a_run = "p.json" in line or "1a2b3c.json" in line  # such a prompt says its model itself
    if any(name in line for name in ("mail.csv", "promptfooconfig.yaml", "items.jsonl")):
        # The test server answers otherwise
        line = line.replace("openai/gpt-5.4-mini", SIMULATED)
    asks = line.startswith(("psopt optimize", "psopt diagnose", "psopt compare", "psopt check"))
    if asks and "--model" not in line and not of_a_run:
        line += f" --model {SIMULATED}"
    if "--batch" in line:
        line += " --batch-tick 0.01"
    for name in ("mail", "tickets"):
        made = sorted((folder / "runs" / name / "prompts").glob("*.json"))
        if made:
            shutil.copy(made[0], folder / "p.json")
            line = line.replace(f"runs/{name}/prompts/1a2b3c.json", str(made[0]))
    line = line.replace("--trials 16", "--trials 5").replace("--model minilm", f"--model {SIMULATED}")
    if "--storage" in line and line.startswith("psopt optimize"):
        line = line.replace("runs/tickets", "runs/shared")
    return line


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


def test_the_dashboard_starts(folder: Any) -> None:
    (line,) = [line for line in COMMANDS if line.startswith("psopt dashboard")]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with FakeServer() as server:
        words = [sys.executable, "-P", "-m", "psopt", *shlex.split(line)[1:], "--port", str(port)]
        process = subprocess.Popen(
            words, cwd=folder, env=environment(folder, server), stdout=subprocess.PIPE, text=True
        )
        assert f"http://127.0.0.1:{port}/" in process.stdout.readline()
        process.kill()
        process.communicate()
