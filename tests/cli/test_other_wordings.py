"""`--heldout-from`: what is handed back is put to wordings of another source too."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

import psopt
import pytest
from psopt.errors import InputError
from psopt.tasks import load_task

from tests.cli.limited_runs import make_data
from tests.cli.limited_runs import optimize as optimize_limited
from tests.commands import exit_code
from tests.fake_server import FakeServer
from tests.tracking.small_runs import arguments, optimize

if TYPE_CHECKING:
    from pathlib import Path

PEOPLE = (
    "Tell me what sort of answer each question wants.",
    "what kind of thing is the person asking about here?",
    "Put every question in the bucket of its answer.",
)


@pytest.fixture
def wordings(tmp_path: Path) -> Path:
    path = tmp_path / "people.txt"
    path.write_text("\n\n".join([*PEOPLE, PEOPLE[0].upper()]) + "\n", "utf-8")
    return path


def test_the_screen_run_json_and_the_report_say_both(
    tmp_path: Path, wordings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = arguments(tmp_path, "--gate", "off", "--heldout-from", str(wordings))
    assert exit_code(*given) == 0
    out = capsys.readouterr().out
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    other = run["other_wordings"]
    assert other["wordings"] == list(PEOPLE)
    assert other["id"] == run["recommended"]["id"]
    assert set(other["differences"]) == {"f1", "sensitivity", "consistency"}
    sensitivity = other["differences"]["sensitivity"]
    assert sensitivity["low"] <= sensitivity["after"] - sensitivity["before"] <= sensitivity["high"]
    assert sensitivity["before"] == other["baseline"]["sensitivity"]
    assert other["own_sensitivity"]["before"] == run["baseline"]["test"]["sensitivity"]
    said = f"S {100 * sensitivity['before']:.1f} -> {100 * sensitivity['after']:.1f}"
    report = html.unescape((tmp_path / "run" / "report.html").read_text())
    for text in (out, report):
        assert f"Under 3 wordings of {wordings}" in " ".join(text.split())
        assert said in " ".join(text.split())


def test_a_run_that_is_gone_on_with_needs_the_file_no_more(tmp_path: Path, wordings: Path) -> None:
    assert exit_code(*arguments(tmp_path, "--gate", "off", "--heldout-from", str(wordings))) == 0
    wordings.unlink()
    assert exit_code("resume", str(tmp_path / "run"), "--trials", "6", "--cache-dir", str(tmp_path / "cache")) == 0
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["settings"]["trials"] == 6
    assert run["other_wordings"]["wordings"] == list(PEOPLE)


def test_texts_in_python_and_a_baseline_that_is_kept(tmp_path: Path) -> None:
    # of equal prompts none is better for sure
    run = optimize(
        tmp_path / "run", model="sim/accuracy=1,wobble=0", heldout_from=[*PEOPLE, load_task("trec").description]
    )
    other = json.loads((run.path / "run.json").read_text())["other_wordings"]
    assert run.recommended.id == run.baseline.id
    assert other["n_wordings"] == 3  # the prompt's own is none of another source
    assert other["source"] == "another source"


@pytest.mark.parametrize(
    "content", [json.dumps(PEOPLE), json.dumps({"original": "x", "search": ["x", *PEOPLE], "heldout": []})]
)
def test_json_is_read_too(tmp_path: Path, content: str) -> None:
    path = tmp_path / "people.json"
    path.write_text(content, "utf-8")
    run = optimize(tmp_path / "run", heldout_from=path, trials=1)
    assert json.loads((run.path / "run.json").read_text())["other_wordings"]["wordings"] == list(PEOPLE)


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("people.txt", b"only one\n", "needs 2 wordings or more beside the prompt's own, and has 1"),
        ("people.json", b'{"a": 1}', "expected a list of texts, or a rephrasings.json"),
        ("people.json", b'["one", 2]', "number 2 is none"),
        ("people.json", b"[", "no valid JSON"),
        ("people.txt", b"\xff\xfe\x00", "is UTF-16"),
        ("missing.txt", None, "can't be read"),
    ],
)
def test_what_can_t_be_used_is_one_line_before_anything_is_asked(
    tmp_path: Path, name: str, content: bytes | None, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert exit_code(*arguments(tmp_path, "--heldout-from", str(tmp_path / name))) == 2
    err = capsys.readouterr().err
    assert what in err
    assert err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_limit_holds_its_calls_back(tmp_path: Path, wordings: Path) -> None:
    with FakeServer() as server:
        stopped = optimize_limited(
            make_data(tmp_path), server, "--max-calls", "700", "--trials", "12", "--heldout-from", str(wordings)
        )
    assert stopped.returncode == 3, stopped.stderr
    run: dict[str, Any] = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["calls"]["made"] <= 700
    assert run["other_wordings"]["n_wordings"] == 3


def test_a_wording_of_a_template_must_have_its_parts(tmp_path: Path) -> None:
    prompt = "Sort the question.\nQuestion: {text}\nAnswer with one label."
    with pytest.raises(InputError, match="--heldout-from"):
        psopt.optimize(
            load_task("trec"), prompt=prompt, out=tmp_path / "run", heldout_from=[*PEOPLE, "One.\n\nTwo."], trials=2
        )
