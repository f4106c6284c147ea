"""Prompts as Python functions."""

from __future__ import annotations


def mail(row: dict[str, str]) -> list[dict[str, str]]:
    """Messages with their data put in."""
    return [
        {"role": "system", "content": "Decide which team answers."},
        {"role": "user", "content": f'Mail {{"subject": "{row["subject"]}"}}\n{row["body"]}'},
    ]
