"""`psopt optimize --program` and `psopt export --format dspy`, as people run them."""

from __future__ import annotations

import importlib
import json
import sys
from typing import TYPE_CHECKING

import pytest

dspy = pytest.importorskip("dspy", reason="the extra `dspy` is not installed")

from psopt.models import minilm_lm  # noqa: E402

from tests.commands import exit_code  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MINE = """
import dspy
from typing import Literal

KINDS = Literal["Number", "Location", "Person", "Description", "Entity", "Abbreviation"]
FIELDS = {"question": (str, dspy.InputField()), "kind": (KINDS, dspy.OutputField())}
sort = dspy.Predict(dspy.Signature(FIELDS, "Sort it."))
wrong = dspy.Predict("question -> kind: bool")
two = dspy.Predict(sort.signature.prepend("context", dspy.InputField(), str))
number = 7
def make():
    return dspy.ChainOfThought(sort.signature)
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache_dir: Path) -> Iterator[None]:
    forget_modules()  # other tests may have programs of these names
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "broken.py").write_text("1 / 0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(cache_dir))
    yield
    forget_modules()


def forget_modules() -> None:
    for name in ("mine", "broken"):
        sys.modules.pop(name, None)


SMALL = ["--dataset", "trec", "--trials", "3", "--samples", "12", "--rephrasings", "2", "--rounds", "1", "--quiet"]
SMALL += ["--test-samples", "12", "--heldout", "2"]  # all of test under ten wordings takes a minute


@pytest.mark.usefixtures("report")
def test_a_program_is_optimized_gone_on_with_and_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("optimize", *SMALL, "--program", "mine:sort", "--out", "run") == 0
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["dataset"]["name"] == "trec"
    assert run["settings"]["program"] == "mine:sort"
    assert (tmp_path / "run" / "report.html").is_file()
    assert exit_code("resume", "run", "--trials", "4", "--quiet") == 0
    capsys.readouterr()
    assert exit_code("export", "run", "--format", "dspy") == 0
    (tmp_path / "knee.json").write_text(capsys.readouterr().out)
    import mine

    program = mine.sort.deepcopy()
    program.load(tmp_path / "knee.json")
    assert program.signature.instructions.startswith("Sort it.")
    with dspy.context(lm=minilm_lm(cache=False)):
        assert program(question="How many are there ?").kind in run["baseline"]["test"]["per_class"]


def test_a_prompt_is_exported_as_a_program_and_as_messages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    assert exit_code("optimize", *SMALL, "--out", "run") == 0
    capsys.readouterr()
    assert exit_code("export", "run", "--pick", "f1", "--format", "dspy") == 0
    (tmp_path / "f1.json").write_text(capsys.readouterr().out)
    mine = importlib.import_module("mine")
    program = dspy.Predict(mine.sort.signature.delete("kind").append("label", dspy.OutputField(), mine.KINDS))
    program.load(tmp_path / "f1.json")
    assert "Classify the question" in program.signature.instructions
    assert exit_code("export", "run", "--format", "openai") == 0
    messages = json.loads(capsys.readouterr().out)
    assert [one["role"] for one in messages] == ["system", "user"]
    assert "Question: {text}" in messages[1]["content"]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("mine", "MODULE:NAME"),
        ("nowhere:sort", "importing nowhere failed"),
        ("broken:sort", "ZeroDivisionError"),
        ("mine:nothing", "has no 'nothing'"),
        ("mine:number", "no dspy.Module"),
        ("mine:two", "reads context, question"),
        ("mine:wrong", "labels"),
    ],
)
def test_a_program_that_can_t_be_used_is_one_clear_line(
    program: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code("optimize", *SMALL, "--program", program, "--out", "run") == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.strip().splitlines()) == 1
    assert "Traceback" not in said


def test_ordered_labels_reach_a_program(tmp_path: Path) -> None:
    rows = [f"what is {word} number {number} ?,{kind}" for number in range(20) for kind, word in ORDERED.items()]
    (tmp_path / "data.csv").write_text("\n".join(["question,kind", *rows]))
    (tmp_path / "graded.py").write_text(
        MINE.replace("KINDS = Literal[", f"KINDS = Literal{list(ORDERED)}\nOLD = Literal[")
    )
    words = ["--dataset", "data.csv", "--text-column", "question", "--label-column", "kind", "--out", "run", *SMALL[2:]]
    order = ["--answers", "ordinal", "--order", ",".join(ORDERED)]
    assert exit_code("optimize", *words, "--program", "graded:sort", *order) == 0
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["answers"] == {"type": "ordinal", "positions": [0.0, 1.0, 2.0]}
    assert run["baseline"]["val"]["f1"] > run["baseline"]["val"]["ordinal"]["micro_f1"]


ORDERED = {"small": "a crumb", "medium": "a chair", "large": "a mountain"}
