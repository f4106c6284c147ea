"""`@pytest.mark.psopt`, in test suites of users."""

from __future__ import annotations

import pytest

pytest_plugins = "pytester"

SUITE = """
import pytest

pytestmark = pytest.mark.psopt(dataset="tickets.csv", model="sim/accuracy=0.6,wobble=0.6,na=0", rephrasings=3)

@pytest.mark.psopt(min_f1=0.05, max_sensitivity=1.0, rephrasings_file="wordings.txt")
def test_kept():
    print("the body ran")

@pytest.mark.psopt(min_f1=0.999, min_class_f1={"refund": 0.999}, min_macro_f1=0.01)
def test_missed():
    print("the body ran too")
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with tickets; each pytest in it is a process of its own, as a user's."""
    rows = [f"ticket {n},{'refund' if n % 2 else 'fault'}" for n in range(120)]
    pytester.makefile(".csv", tickets="\n".join(["text,label", *rows]) + "\n")
    pytester.maketxtfile(wordings="\n".join(f"Sort the ticket, way {n}." for n in range(6)))
    pytester.makeini("[pytest]\naddopts = --strict-markers\n")
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(pytester.path / "cache"))
    return pytester


def test_a_marked_test_fails_with_a_line_for_each_bound_that_is_missed(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Data are found from a folder other than pytest's root too."""
    file = suite.makepyfile(SUITE)
    monkeypatch.chdir(suite.mkdir("elsewhere"))
    done = suite.runpytest_subprocess("-rA", str(file))
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["missed: F1 * < 99.9 (95 %: *", "missed: F1 of refund * < 99.9 (95 %: *"])
    done.stdout.no_fnmatch_line("*macro-F1*")
    done.stdout.fnmatch_lines(["the body ran"])
    done.stdout.no_fnmatch_line("the body ran too")
    done.stdout.no_fnmatch_line("*Traceback*")


UNREAD = {
    "dataset='tickets.csv', model='sim/accuracy=1'": "psopt: nothing to check: give at least one of *",
    "min_f1=0.5": "psopt: the marker lacks a dataset*",
    "dataset='tickets.csv', min_f2=0.5": "psopt: there is no option 'min_f2'; did you mean 'min_f1'[?]",
    "'tickets.csv', min_f1=0.5": "psopt: the marker takes arguments by name only*",
    "dataset='nowhere.csv', min_f1=0.5": "psopt: *nowhere.csv*",
}


def test_a_marker_that_can_not_be_read_fails_its_test_in_one_line(suite: pytest.Pytester) -> None:
    marked = [f"@pytest.mark.psopt({given})\ndef test_{n}():\n    pass\n" for n, given in enumerate(UNREAD)]
    suite.makepyfile("\n".join(["import pytest\n", *marked]))
    done = suite.runpytest_subprocess()
    done.assert_outcomes(failed=len(UNREAD))
    for message in UNREAD.values():
        done.stdout.fnmatch_lines([message])


def test_without_a_marked_test_nothing_heavy_is_imported_and_the_marker_is_listed(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        """
        import sys

        def test_unmarked():
            assert "psopt.testing._pytest_plugin" in sys.modules
            assert not {"numpy", "psopt.api", "psopt.tasks"} & set(sys.modules)
        """
    )
    suite.runpytest_subprocess("-p", "no:hypothesispytest").assert_outcomes(passed=1)
    suite.runpytest_inprocess("--markers").stdout.fnmatch_lines(["@pytest.mark.psopt(dataset, prompt, model, *"])
