"""Instructions whose sentences are broken to fit a line are found whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from psopt.templates import read_template

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "instruction",
    [
        "Sort the mail into the queue of the team that has to\nanswer it. Judge by what is wanted, not by words alone.",
        "Read the mail of a customer and decide which is its\nteam: the writer wants help, and no other can give it.",
        "Find the team without which the writer is not helped; you have\nfour teams:",
    ],
)
def test_a_line_that_goes_on_with_a_sentence_is_part_of_it(tmp_path: Path, instruction: str) -> None:
    file = tmp_path / "prompt.md"
    file.write_text(f"# Job\n\n{instruction}\n\n- sales\n- billing\n\nAnswer with a team alone.\n\n{{body}}\n")
    read = read_template(file, ["body"], labels=("sales", "billing"))
    assert read.description == instruction
