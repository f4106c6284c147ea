"""Texts as duplicates are looked for: two that read the same are one."""

from __future__ import annotations

import unicodedata


def words(text: str) -> str:
    """The words of a text, whatever their case and what is between them."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def letters(text: str) -> str:
    """The letters and digits of a text."""
    return "".join(sign for sign in text.casefold() if sign.isalnum()) or text.strip()
