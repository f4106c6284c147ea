"""Diffs: what leads from old lines to new ones, and what `patch` and `git apply` read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from psopt.text import line_changes, unified_diff

LINES = st.lists(st.sampled_from(["", "a", "b", "## Notes", "- x"]), max_size=12)


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


def test_a_last_line_without_an_end_is_said() -> None:
    diff = unified_diff("Sort it.\nTeam:", "Sort it.\nNote: now.\nTeam:", "a", "b")
    end = " Team:\n\\ No newline at end of file\n"
    assert diff == f"--- a\n+++ b\n@@ -1,2 +1,3 @@\n Sort it.\n+Note: now.\n{end}"


def test_texts_that_are_the_same_have_no_diff() -> None:
    assert unified_diff("a\n", "a\n", "a", "b") == ""
