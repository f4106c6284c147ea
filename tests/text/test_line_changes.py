"""Diffs: additions alone where these are enough, and what `patch` and `git apply` read."""

from __future__ import annotations

import difflib

from hypothesis import given
from hypothesis import strategies as st
from psopt.text import line_changes, unified_diff

LINES = st.lists(st.sampled_from(["", "a", "b", "## Notes", "- x"]), max_size=12)


@given(LINES, st.lists(st.tuples(st.integers(0, 12), st.sampled_from(["", "a", "- x", "new"])), max_size=8))
def test_a_text_that_only_grows_has_additions_alone(old: list[str], added: list[tuple[int, str]]) -> None:
    new = list(old)
    for place, line in added:
        new.insert(min(place, len(new)), line)
    assert {kind for kind, *_ in line_changes(old, new)} <= {"equal", "insert"}


@given(LINES, LINES)
def test_changes_lead_from_the_old_lines_to_the_new(old: list[str], new: list[str]) -> None:
    built: list[str] = []
    at = 0
    for kind, start, end, new_start, new_end in line_changes(old, new):
        assert (start, new_start) == (at, len(built))
        if kind == "equal":
            assert old[start:end] == new[new_start:new_end]
        built += new[new_start:new_end]
        at = end
    assert (built, at) == (new, len(old))


@given(LINES, LINES)
def test_it_reads_as_the_diffs_of_difflib_do(old: list[str], new: list[str]) -> None:
    before = [f"{line}\n" for line in old]
    after = [f"{line}\n" for line in new]
    usual = "".join(difflib.unified_diff(before, after, "old", "new"))
    ours = unified_diff("".join(before), "".join(after), "old", "new")
    if any(line.startswith("-") for line in ours.splitlines()[2:]):
        assert ours == usual
    else:
        assert bool(ours) == bool(usual)


def test_a_last_line_without_an_end_is_said() -> None:
    diff = unified_diff("Sort it.\nTeam:", "Sort it.\nNote: now.\nTeam:", "a", "b")
    end = " Team:\n\\ No newline at end of file\n"
    assert diff == f"--- a\n+++ b\n@@ -1,2 +1,3 @@\n Sort it.\n+Note: now.\n{end}"


def test_texts_that_are_the_same_have_no_diff() -> None:
    assert unified_diff("a\n", "a\n", "a", "b") == ""
