"""A promptfoo configuration as people have them: comments, two prompts, a provider, tests of several kinds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

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
ASSERTIONS = (
    "equals\n        value: {label}",
    "icontains\n        value: {lower}",
    "javascript\n        value: output.trim() === '{label}'",
    "is-json\n        value: {{type: object, properties: {{team: {{const: {label}}}}}}}",
)


def mails() -> list[tuple[str, str]]:
    """Texts with their labels."""
    return [(text.format(product), label) for product in PRODUCTS for label, text in TEXTS.items()]


def write_config(folder: Path, head: str = CONFIG) -> Path:
    """Write a configuration with tests of every readable kind."""
    tests = ""
    for number, (text, label) in enumerate(mails()):
        assertion = ASSERTIONS[number % len(ASSERTIONS)].format(label=label, lower=label.lower())
        tests += f"  - vars:\n      message: {text}\n    assert:\n      - type: {assertion}\n"
    path = folder / "promptfooconfig.yaml"
    path.write_text(head + tests)
    return path


def write_chat(folder: Path) -> None:
    """Write a chat prompt as JSON."""
    (folder / "chat.json").write_text(json.dumps(CHAT, indent=2))
