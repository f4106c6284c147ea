"""A unified diff on the screen: in colour on a terminal, to the byte in a pipe or a file."""

from __future__ import annotations

import typer


def print_diff(diff: str) -> None:
    """Print it."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        typer.echo(diff, nl=False)
        return
    for number, line in enumerate(diff.splitlines()):
        console.print(line, style=_style(line, is_header=number < _HEADER), markup=False, soft_wrap=True)


_HEADER = 2  # lines that name both files


def _style(line: str, *, is_header: bool) -> str:
    if is_header:
        return "bold"
    return {"+": "green", "-": "red", "@": "cyan", "\\": "dim"}.get(line[:1], "")
