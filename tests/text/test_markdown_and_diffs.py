"""Texts of others show in Markdown as they are; diffs lead from old lines to new, as `patch` and `git apply` read."""

from __future__ import annotations

import html

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from psopt.text import escaped_markdown, fenced, line_changes, unified_diff

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


def test_a_last_line_without_an_end_is_said_and_equal_texts_have_no_diff() -> None:
    diff = unified_diff("Sort it.\nTeam:", "Sort it.\nNote: now.\nTeam:", "a", "b")
    end = " Team:\n\\ No newline at end of file\n"
    assert diff == f"--- a\n+++ b\n@@ -1,2 +1,3 @@\n Sort it.\n+Note: now.\n{end}"
    assert unified_diff("a\n", "a\n", "a", "b") == ""


@given(st.text(st.sampled_from("a1 '\"&#x27;<b>|*_`[]()!~\\-.:"), max_size=40))
def test_an_escaped_text_renders_as_itself_within_a_line(text: str) -> None:
    shown = MarkdownIt("commonmark").renderInline(f"x {escaped_markdown(text)} y")
    assert html.unescape(shown) == f"x {' '.join(text.split())} y"


def test_an_apostrophe_stays_one_and_a_fence_is_longer_than_what_it_holds() -> None:
    assert escaped_markdown("don't") == "don't"
    assert fenced("a ```` b").startswith("`````text\n")
