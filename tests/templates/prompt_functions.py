"""Prompts as Python functions."""

from __future__ import annotations

import sys


def mail(row: dict[str, str]) -> list[dict[str, str]]:
    """Messages with their data put in."""
    return [
        {"role": "system", "content": "Decide which team answers."},
        {"role": "user", "content": f'Mail {{"subject": "{row["subject"]}"}}\n{row["body"]}'},
    ]


def text(row: dict[str, str]) -> str:
    """A text, made of what the row may lack."""
    return f"Decide which team answers.\n\n{row['subject']}: {row.get('body', '')} {{id}}"


def adds_its_own(row: dict[str, str]) -> str:
    """A text that also holds what the function itself writes into the row."""
    row["context"] = "Mails of a shop."
    return f"{row['context']} Which team answers?\n\n{row['subject']}: {row.get('context')}"


def lowered(row: dict[str, str]) -> str:
    """A text that holds the data in another form."""
    return "Sort it: " + row["body"].lower()


def urgent(row: dict[str, str]) -> str:
    """A text that depends on what the data say."""
    return "Sort it: " + row["body"] + (" URGENT" if "price" in row["body"] else "")


def wants_more(row: dict[str, str]) -> str:
    """A text for a column that is not there."""
    return "Sort it: " + row["customer"]


def shortened(row: dict[str, str]) -> str:
    """A text that holds the data if they are short."""
    return "Sort it: " + (row["body"] if len(row["body"]) < 500 else "too long")


def leaves(_row: dict[str, str]) -> str:
    """A process that ends."""
    sys.exit(3)


def fails(_row: dict[str, str]) -> str:
    """No text at all."""
    raise ValueError("no")
