"""What `psopt check` leaves for CI: JUnit XML, a summary on GitHub's page, the samples that fail."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from psopt.api import CheckResult, FailingSample, Threshold
from psopt.cli._check import junit_xml, summary

from tests.commands import psopt

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

DATA = ["--dataset", "data.csv", "--rephrasings", "5", "--samples", "40"]
SHAKY = ["--model", "sim/wobble=0.6,accuracy=0.6,na=0"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of two classes."""
    folder = tmp_path_factory.mktemp("checked")
    rows = ["id,text,label,split"]
    for split in ("train", "val", "test"):
        rows += [f"{split}{i},text {split} {i},{'Number' if i % 2 else 'Person'},{split}" for i in range(40)]
    (folder / "data.csv").write_text("\n".join(rows) + "\n")
    return folder


def check(folder: Path, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return psopt(folder, "check", *DATA, *SHAKY, *arguments, **more)


def test_bounds_and_failing_samples_are_test_cases_and_rows(folder: Path) -> None:
    page = folder / "page.md"
    page.write_text("before\n")
    bounds = ("--min-macro-f1", "0.1", "--min-class-f1", "Person=0.99", "--each", "0.8", "--max-sensitivity", "1")
    done = check(folder, *bounds, "--junit", "check.xml", "--json", GITHUB_STEP_SUMMARY=str(page), code=1)
    result = json.loads(done.stdout)
    by_option = {one["option"]: one for one in result["checks"]}
    assert by_option["min_macro_f1"]["met"]
    assert by_option["min_class_f1"]["label"] == "Person"
    failing = {sample["id"] for sample in by_option["min_each"]["failing"]}
    assert len(failing) == round(40 * (1 - by_option["min_each"]["value"]))
    root = ET.parse(folder / "check.xml").getroot()
    failures = {case.get("name") for case in root.iter("testcase") if case.find("failure") is not None}
    assert failures == {"f1 of Person", "samples right under 80 % of wordings", *failing}
    assert root.get("tests") == str(4 + len(failing))
    assert root.get("failures") == str(len(failures))
    text = page.read_text("utf-8")
    assert text.startswith("before\n### psopt check: 2 of 4 bounds missed\n")
    assert text.count("\n| kept |") == 2
    assert f" and {len(failing) - 10} more" in text


def test_on_the_screen_ten_failing_samples_are_named(folder: Path) -> None:
    done = check(folder, "--each", "1", code=1)
    assert "missed: samples right under 100 % of wordings " in done.stderr
    assert done.stderr.count("test") == 10
    check(folder, "--each", "1", "--min-each", "0", code=0)


def test_a_page_that_can_not_be_written_is_a_warning(folder: Path) -> None:
    done = check(folder, "--min-f1", "0", GITHUB_STEP_SUMMARY=str(folder / "nowhere" / "page.md"), code=0)
    assert "Warning: the summary $GITHUB_STEP_SUMMARY can't be written: No such file or directory\n" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--min-f1", "0", "--junit", "nowhere/check.xml"], "--junit nowhere/check.xml can't be written: there is no"),
        (["--min-f1", "0", "--junit", "."], "--junit . is a folder"),
        (["--min-class-f1", "Persona=.5"], "no label is called 'Persona'; there are Number, Person"),
        (["--min-class-f1", "Person"], "'Person': a number from 0 to 1 is expected, or LABEL=NUMBER"),
        (["--min-class-f1", "1.5"], "'1.5': a number from 0 to 1 is expected"),
        (["--min-class-f1", ".5", "--min-class-f1", "Person=.5"], "give it alone, or LABEL=NUMBER for each class"),
        (["--min-each", ".5"], "--min-each says how many samples must keep their right answer: give --each too"),
        (["--each", "0"], "a number above 0 is expected"),
    ],
)
def test_what_can_not_be_asked_is_one_line(folder: Path, arguments: list[str], message: str) -> None:
    done = check(folder, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_file_of_an_earlier_check_is_replaced_whole_and_nothing_else_is_left(folder: Path) -> None:
    (folder / "reports").mkdir()
    (folder / "reports" / "check.xml").write_text("x" * 100_000)
    check(folder, "--min-f1", "0", "--junit", "reports/check.xml", code=0)
    ET.parse(folder / "reports" / "check.xml")
    assert [path.name for path in (folder / "reports").iterdir()] == ["check.xml"]


HOSTILE = 'a]]>b<&"\x00\x1b[31m|`*\n\ud800\ufffe é 漢'


def hostile_result(**more: Any) -> CheckResult:
    held = [
        Threshold("min_class_f1", 0.5, 0.4, label=HOSTILE),
        Threshold("min_each", 1.0, 0.5, each=0.8, n_rephrasings=5, failing=(FailingSample(HOSTILE, HOSTILE, 0.2),)),
        Threshold("rests_on_na", 0.2, 0.5, note=HOSTILE),
    ]
    scores: Any = None
    return CheckResult(scores, tuple(held))


def test_junit_is_xml_whatever_the_texts_hold() -> None:
    text = junit_xml(hostile_result(), {"prompt": HOSTILE})
    root = ET.fromstring(text.encode("utf-8"))
    (name,) = [case.get("name") for case in root.iter("testcase") if case.get("classname") == "psopt.check.samples"]
    assert name == 'a]]>b<&"\\x00\\x1b[31m|`*\n\\ud800\\ufffe é 漢'


def test_a_summary_is_a_table_whatever_the_texts_hold() -> None:
    text = summary(hostile_result(), {"prompt": HOSTILE})
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 3
    assert {row.replace("\\|", "").count("|") for row in rows} == {8}
    assert "\x1b" not in text
    assert r"\<\&" in text


def test_samples_that_a_bound_allows_to_fail_are_skipped_and_no_failures() -> None:
    held = Threshold("min_each", 0.5, 0.9, each=0.8, n_rephrasings=5, failing=(FailingSample("s1", "a", 0.2),))
    scores: Any = None
    root = ET.fromstring(junit_xml(CheckResult(scores, (held,)), {}))
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("2", "0", "1")


def test_pinned_samples_fail_a_check_with_their_ids(folder: Path) -> None:
    rows = (folder / "data.csv").read_text().splitlines()
    pinned = {"test3", "train4"}
    marked = [f"{rows[0]},keep", *(f"{row},{'yes' if row.split(',')[0] in pinned else ''}" for row in rows[1:])]
    (folder / "pinned.csv").write_text("\n".join(marked) + "\n")
    arguments = ("--dataset", "pinned.csv", "--pinned-column", "keep", "--pin", "val5")
    wrong = check(folder, *arguments, "--model", "sim/accuracy=0.3", "--junit", "pinned.xml", "--json", code=1)
    (of_pinned,) = json.loads(wrong.stdout)["checks"]
    assert (of_pinned["option"], of_pinned["n_samples"]) == ("pinned", 3)
    failing = {sample["id"] for sample in of_pinned["failing"]}
    assert failing <= {"test3", "train4", "val5"}
    root = ET.parse(folder / "pinned.xml").getroot()
    failures = {case.get("name") for case in root.iter("testcase") if case.find("failure") is not None}
    assert failures == {"pinned samples right under all wordings", *failing}
    right = check(folder, *arguments, "--model", "sim/accuracy=1,wobble=0,na=0")
    assert right.returncode == 0, right.stdout + right.stderr
    assert "ok: pinned samples right under all wordings 100.0 >= 100" in right.stdout


def test_a_check_of_nothing_is_refused(folder: Path) -> None:
    done = check(folder, code=2)
    assert "nothing to check" in done.stderr
    assert "or --pin" in done.stderr
