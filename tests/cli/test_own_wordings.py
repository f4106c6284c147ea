"""A prompt in another language: wordings of one's own in a text file, and notes in English only where nobody writes."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

import pytest

from tests.commands import psopt

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fake_server import FakeServer

LABELS = {"Pagos": "reembolso pendiente", "Envíos": "paquete perdido"}
PROMPT = "¿Qué equipo debe atender este mensaje?"
WORDINGS = (
    "Decide qué equipo se ocupa de este mensaje.",
    "Indica el equipo responsable del mensaje.",
    PROMPT.upper(),
    "Asigna el mensaje a un equipo.",
    "Lee el mensaje y di qué equipo lo atiende.",
)
OPTIONS = ("--dataset", "mails.csv", "--prompt", "prompt.txt", "--rephrasings-file", "wordings.txt")
SIZES = ("--rephrasings", "3", "--heldout", "2", "--trials", "4", "--leave-one-out", "0")


@pytest.fixture
def mails(tmp_path: Path) -> Path:
    rows = [f"{about} hace {n} días,{label}" for n, (label, about) in zip(range(40), cycle(LABELS.items()))]
    (tmp_path / "mails.csv").write_text("\n".join(["text,label", *rows]), "utf-8")
    (tmp_path / "prompt.txt").write_text(f"{PROMPT}\n\nMensaje: {{text}}\nEquipo:", "utf-8")
    (tmp_path / "wordings.txt").write_text("\n".join(WORDINGS), "utf-8")
    return tmp_path


def prompts_of(run: Path) -> str:
    return "\n".join(path.read_text("utf-8") for path in run.glob("prompts/*.txt"))


def test_wordings_in_a_text_file_go_in_turns_to_the_search_and_the_test(mails: Path) -> None:
    asked = psopt(mails, "optimize", *OPTIONS, *SIZES, "--model", "minilm", "--out", "run", code=0)
    assert "notes by rule are in English; --proposer MODEL writes them in the prompt's language" in asked.stderr
    rephrasings = (mails / "run" / "rephrasings.json").read_text("utf-8")
    places = [rephrasings.index(text) for text in (PROMPT, *WORDINGS[:2], *WORDINGS[3:])]
    assert places[0] < places[1] < places[3] < rephrasings.index("heldout") < places[2] < places[4]
    assert PROMPT.upper() not in rephrasings  # the original in other letters
    assert "usually belongs to" in prompts_of(mails / "run")


def test_too_few_wordings_are_refused_with_the_options_that_fit(mails: Path) -> None:
    refused = psopt(mails, "optimize", *OPTIONS, "--model", "minilm", code=2)
    line = "wordings.txt holds 3 search rephrasings; 10 were asked for: add some, or --rephrasings 3 --heldout 2"
    assert line in refused.stderr
    refused = psopt(mails, "check", *OPTIONS, "--model", "minilm", "--min-f1", "0", code=2)
    assert "holds 2 held-out rephrasings; 10 were asked for: add some, or --rephrasings 2" in refused.stderr


def test_a_wording_names_the_labels_that_the_prompt_names(mails: Path) -> None:
    (mails / "prompt.txt").write_text("¿Qué equipo debe atenderlo, Pagos o Envíos?\n\nMensaje: {text}", "utf-8")
    diagnose = ("diagnose", *OPTIONS, "--rephrasings", "3", "--model", "minilm")
    refused = psopt(mails, *diagnose, code=2)
    assert "drops the label 'Envíos', which the original names: name it, or add --drop-labels" in refused.stderr
    psopt(mails, *diagnose, "--drop-labels", code=0)


def test_where_a_model_writes_no_note_is_in_english(mails: Path, server: FakeServer) -> None:
    writes = ("--model", "minilm", "--proposer", "openai/test", "--api-base", server.url)
    asked = psopt(mails, "optimize", *OPTIONS, *SIZES, *writes, "--out", "run", code=0)
    assert "notes by rule" not in asked.stderr
    assert "can't be used" not in asked.stderr
    assert "usually belongs to" not in prompts_of(mails / "run")
