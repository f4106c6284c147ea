"""`psopt optimize --program` and `psopt export --format dspy`, as people run them; also of a prompt of their own."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import dspy
import pytest
from psopt.dspy_programs import predict_state
from psopt.models import minilm_lm
from psopt.search_spaces import Definition, Example, Prompt
from psopt.templates import ExampleForm, Field, Message, Part, Slot, Template

from tests.commands import exit_code
from tests.sweeps import each

SIZES = {"small": "a crumb", "medium": "a chair", "large": "a mountain"}
MINE = f"""
import dspy
from typing import Literal

KINDS = Literal["Number", "Location", "Person", "Description", "Entity", "Abbreviation"]
FIELDS = {{"question": (str, dspy.InputField()), "kind": (KINDS, dspy.OutputField())}}
sort = dspy.Predict(dspy.Signature(FIELDS, "Sort it."))
grade = dspy.Predict(sort.signature.with_updated_fields("kind", type_=Literal{list(SIZES)}))


class Graded(dspy.Module):
    def __init__(self):
        super().__init__()
        self.step = grade

    def forward(self, text, context=None):
        return self.step(question=text)


def made(size):
    return sort


graded = Graded()
wrong = dspy.Predict("question -> kind: bool")
two = dspy.Predict(sort.signature.prepend("context", dspy.InputField(), str))
number = 7
"""
# all of test under ten wordings takes a minute
SMALL = ["--trials", "3", "--samples", "12", "--rephrasings", "2", "--rounds", "1", "--quiet"]
SMALL += ["--test-samples", "12", "--heldout", "2"]
TREC = ["--dataset", "trec", *SMALL]


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


def loaded(program: Any, folder: Path, shown: str) -> Any:
    """A copy of a program with the state that was exported."""
    (folder / "state.json").write_text(shown)
    copied = program.deepcopy()
    copied.load(folder / "state.json")
    return copied


@pytest.mark.usefixtures("report")
def test_a_program_is_optimized_gone_on_with_and_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("optimize", *TREC, "--program", "mine:sort", "--out", "run") == 0
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["dataset"]["name"] == "trec"
    assert run["settings"]["program"] == "mine:sort"
    assert (tmp_path / "run" / "report.html").is_file()
    assert exit_code("resume", "run", "--trials", "4", "--quiet") == 0
    capsys.readouterr()
    assert exit_code("export", "run", "--format", "dspy") == 0
    program = loaded(sys.modules["mine"].sort, tmp_path, capsys.readouterr().out)
    (tmp_path / "mine.py").write_text(MINE.replace("dspy.InputField()", "dspy.InputField(desc='what is asked')", 1))
    sys.modules.pop("mine")
    assert exit_code("resume", "run", "--trials", "5", "--quiet") == 2
    said = capsys.readouterr().err
    assert (
        "has changed: its instructions, fields and demonstrations; start a new run, or accept it with --force" in said
    )
    assert exit_code("resume", "run", "--trials", "5", "--quiet", "--force") == 0
    assert program.signature.instructions.startswith("Sort it.")
    with dspy.context(lm=minilm_lm(cache=False)):
        assert program(question="How many are there ?").kind in run["baseline"]["test"]["per_class"]


def test_a_prompt_is_exported_as_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("optimize", *TREC, "--model", "sim/accuracy=0.6,wobble=0.4", "--out", "run") == 0
    capsys.readouterr()
    assert exit_code("export", "run", "--pick", "f1", "--format", "dspy") == 0
    fields = {"question": (str, dspy.InputField()), "label": (str, dspy.OutputField())}
    program = loaded(dspy.Predict(dspy.Signature(fields)), tmp_path, capsys.readouterr().out)
    assert "Classify the question" in program.signature.instructions


@each(
    "program, message",
    [
        ("mine", "MODULE:NAME"),
        ("broken:sort", "ZeroDivisionError"),
        ("mine:nothing", "has no 'nothing'"),
        ("mine:made", "calling it without arguments failed: TypeError: made() missing"),
        ("mine:two", "reads context, question"),
        ("mine:wrong", "labels"),
    ],
)
def test_a_program_that_can_t_be_used_is_one_clear_line(
    program: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code("optimize", *TREC, "--program", program, "--out", "run") == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.strip().splitlines()) == 1
    assert "Traceback" not in said


def test_a_limit_that_cant_pay_the_original_is_refused_before_a_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nobody = "--model", "openai/x", "--api-base", "http://127.0.0.1:9/v1"
    assert exit_code("optimize", *TREC, "--program", "mine:sort", *nobody, "--max-calls", "9", "--out", "run") == 2
    assert "--max-calls 9 can't pay the original program on val and the final test" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_ordered_labels_reach_a_program(tmp_path: Path) -> None:
    rows = [f"what is {word} number {number} ?,{kind}" for number in range(20) for kind, word in SIZES.items()]
    (tmp_path / "data.csv").write_text("\n".join(["question,kind", *rows]))
    data = ["--dataset", "data.csv", "--text-column", "question", "--label-column", "kind"]
    order = ["--answers", "ordinal", "--order", ",".join(SIZES)]
    assert exit_code("optimize", *data, *SMALL, "--out", "run", "--program", "mine:graded", *order) == 0
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["answers"] == {"type": "ordinal", "positions": [0.0, 1.0, 2.0]}
    assert run["baseline"]["val"]["f1"] > run["baseline"]["val"]["ordinal"]["micro_f1"]


SUBJECT, BODY = Field("subject", "{subject}"), Field("mail body", "{mail body}")
SLOTS = (Slot("definitions", opening="\n\n# Teams\n"), Slot("notes", opening="\n\n# Notes\n"))
ASK = '\n\nAnswer as JSON: {"team": "..", "reason": ".."}'
MAIL = ("<mail>\n", SUBJECT, "\n", BODY, "\n</mail>")
TEMPLATE = Template(
    (Message("system", ("# Mail\n\n", Part(0), *SLOTS, ASK)), Message("user", MAIL)),
    answer="json:team",
    example=ExampleForm(MAIL, label_key="team", keys=("team",), turns=True),
)
PROMPT = Prompt(
    "Which team answers?",
    ("billing", "sales"),
    definitions=(Definition("sales", "offers"),),
    notes=("Bills go to billing.",),
    examples=(Example("Bill", "billing", fields=(("subject", "Bill"), ("mail body", "Too high"))),),
    template=TEMPLATE,
)


def test_fields_are_inputs_and_text_without_them_is_the_instructions(tmp_path: Path) -> None:
    state = predict_state(PROMPT)
    instructions = "# Mail\n\nWhich team answers?\n\n# Teams\n- sales: offers\n\n# Notes\n- Bills go to billing."
    assert state["signature"]["instructions"] == instructions
    assert state["demos"] == [{"subject": "Bill", "mail_body": "Too high", "label": "billing"}]
    fields: dict[str, Any] = {name: (str, dspy.InputField()) for name in ("subject", "mail_body")}
    fields["label"] = (Literal["billing", "sales"], dspy.OutputField())
    program = loaded(dspy.Predict(dspy.Signature(fields, "Sort it.")), tmp_path, json.dumps(state))
    with dspy.context(lm=minilm_lm(cache=False)):
        assert program(subject="Bill", mail_body="It is too high.").label in {"billing", "sales"}


FEW_SHOT = (Message("user", ("Mail: hello",)), Message("assistant", ("sales",)))
HEADED = (Part(0), "\n\n## Rules\n\nBe strict.\n\n## The mail\n\n**", SUBJECT, "**\n\n", BODY, "\n\nTeam:")


@each(
    "messages, instructions",
    [
        # what stands before a field in its paragraph, and few-shot turns, are no instructions
        ((*FEW_SHOT, Message("user", (Part(0), "\nMail: ", BODY, "\nFrom: ", SUBJECT))), "Which team answers?"),
        # nor are headings of fields, and the line that opens the answer
        ((Message("user", HEADED),), "Which team answers?\n\n## Rules\n\nBe strict."),
    ],
)
def test_what_belongs_to_fields_is_the_template_s_own(messages: Any, instructions: str) -> None:
    template = Template(messages, example=ExampleForm((BODY,)))
    state = predict_state(replace(PROMPT, template=template, definitions=(), notes=(), examples=()))
    assert state["signature"]["instructions"] == instructions
