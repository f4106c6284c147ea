"""A model that answers one label to every text: what the command line says of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.commands import psopt
from tests.fake_server import FakeServer

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

LINE = "The prompt answers toys to 100 % of the texts; 30 % are."
FURTHER = "Its F1 is 30.0, and 70.0 for always answering tools: its S and C say nothing."


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    with FakeServer(answer='fixed:{"label": "toys"}') as running:
        yield running


def measured(verb: str, server: FakeServer, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    splits = [split for split in ("train", "val", "test") for _ in range(40)]
    rows = [f"what is {i} for ?,{'toys' if i % 10 < 3 else 'tools'},{split}" for i, split in enumerate(splits)]
    (folder / "data.csv").write_text("\n".join(["text,label,split", *rows]) + "\n")
    given = ["--dataset", "data.csv", "--rephrasings", "2", "--split", "test", "--model", "openai/test", *more]
    return psopt(folder, verb, *given, "--api-base", server.url, code=0, columns=100, OPENAI_API_KEY="none")


def test_a_diagnosis_has_the_line_and_the_shares(server: FakeServer, tmp_path: Path) -> None:
    done = measured("diagnose", server, tmp_path)
    assert f"{LINE} {FURTHER}" in " ".join(done.stdout.split())
    assert "largest class: tools (70 % of the samples)" in done.stdout
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["toys", "100.0", "30.0"] in rows
    assert ["tools", "0.0", "70.0"] in rows


def test_a_check_notes_it_and_has_it_in_json(server: FakeServer, tmp_path: Path) -> None:
    done = measured("check", server, tmp_path, "--max-sensitivity", "0.1")
    assert LINE in " ".join(done.stderr.split())
    data = json.loads(measured("check", server, tmp_path, "--max-sensitivity", "0.1", "--json").stdout)
    assert (data["near_constant"], data["constant_f1"], data["answer_shares"]["toys"]) == ("toys", 0.7, 1)
    assert data["class_shares"] == pytest.approx({"toys": 0.3, "tools": 0.7})
