"""Texts of others show in Markdown as they are."""

from __future__ import annotations

import html

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from psopt.text import escaped_markdown, fenced


@given(st.text(st.sampled_from("a1 '\"&#x27;<b>|*_`[]()!~\\-.:"), max_size=40))
def test_an_escaped_text_renders_as_itself_within_a_line(text: str) -> None:
    shown = MarkdownIt("commonmark").renderInline(f"x {escaped_markdown(text)} y")
    assert html.unescape(shown) == f"x {' '.join(text.split())} y"


def test_an_apostrophe_stays_one() -> None:
    assert escaped_markdown("don't") == "don't"


def test_a_fence_is_longer_than_what_it_holds() -> None:
    assert fenced("a ```` b").startswith("`````text\n")
