"""A small table of mails, and prompts of several shapes for it, as people bring them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

LABELS = ("billing", "sales")
TEXT = """You sort the mails of a shop.

Decide which team has to answer the mail below. Read it with care.

Teams: billing, sales

Subject: {subject}

{body}

Reply with the team's name alone.
"""
CHAT = [
    {"role": "system", "content": "Decide which team has to answer the mail: billing or sales.\n\nTake your time."},
    {"role": "user", "content": 'Subject: {{ subject }}\n{{ body }}\n\nAnswer as JSON: {"team": .., "reason": ..}'},
]
BARE = "Decide which team has to answer the mail: billing or sales."
FUNCTION = '''"""A prompt as a function."""


def prompt(row):
    """Messages for a row."""
    mail = f"Mail: {row['subject']}\\n{row['body']}"
    return [{"role": "user", "content": f"Name the team, billing or sales.\\n\\n{mail}"}]
'''
SHAPES = ("mail.txt", "mail.json", "mail.yaml", "mail_prompt:prompt", "bare.md")


def make_mails(folder: Path, n: int = 12) -> Path:
    """Write mails.csv, `n` mails a split, and a prompt in each of the `SHAPES`."""
    rows = ["id,subject,body,team,split"]
    for split in ("train", "val", "test"):
        for i in range(n):
            subject = "Your invoice" if i % 2 else "An offer"
            rows.append(f"{split}{i},{subject} {i},What does {split} {i} cost ?,{LABELS[1 - i % 2]},{split}")
    (folder / "mails.csv").write_text("\n".join(rows) + "\n")
    (folder / "mail.txt").write_text(TEXT)
    (folder / "mail.json").write_text(json.dumps({"messages": CHAT}, indent=2))
    user, system = CHAT[1]["content"], CHAT[0]["content"]
    lines = [f"- role: {role}\n  content: {json.dumps(text)}" for role, text in (("system", system), ("user", user))]
    (folder / "mail.yaml").write_text("\n".join(lines) + "\n")
    (folder / "mail_prompt.py").write_text(FUNCTION)
    (folder / "bare.md").write_text(BARE)
    return folder


def enter_mails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with mails, from which their prompt's function can be imported."""
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    return make_mails(folder)
