"""Pages, and what several of them show: a prompt with its added lines, samples that another prompt fixes or breaks.

A page is one file that opens offline, with every text escaped; the page itself draws the figures.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup
from psopt._version import __version__
from psopt.answers import answers_line
from psopt.notebooks import shortened
from psopt.search_spaces import ShownMessage, mark_added, render_instructions, render_shown, shown_messages
from psopt.text import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    import jinja2
    from psopt.evaluation import Predictions
    from psopt.report._theme import Figure
    from psopt.search_spaces import Prompt

MOST_ROWS = 500  # a page with more is slow, and nobody reads them
_LONGEST = 1000  # characters of a text in a table: a row of 50,000 hides all others


def render_page(template: str, figures: Sequence[Figure], **content: Any) -> str:
    """Render one of this folder's templates around its figures."""
    from plotly.offline import get_plotlyjs

    plotly_js = Markup(get_plotlyjs())  # noqa: S704  # the library itself
    page = _environment().get_template(template)
    return page.render(figures=figures, plotly_js=plotly_js, version=__version__, **content)


@functools.cache
def _environment() -> jinja2.Environment:
    """One environment for all pages, so that each template is compiled once."""
    import jinja2

    loader = jinja2.FunctionLoader(lambda name: resources.files("psopt.report").joinpath(name).read_text("utf-8"))
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, loader=loader)
    environment.filters |= {"percent": percent, "as_json": _as_json}
    environment.filters["shortened"] = functools.partial(shortened, longest=_LONGEST)
    return environment


def _as_json(figure: Figure) -> Markup:
    """A figure as JSON that can't end the script element around it."""
    text = str(figure.plot.to_json())
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704  # escaped above


@dataclass(frozen=True, slots=True)
class PromptPanel:
    """A prompt as a page shows it."""

    copied: str  # what its button copies: the prompt without marks
    messages: list[ShownMessage]  # one without a role where the prompt has psopt's own form

    @classmethod
    def of(cls, prompt: Prompt, seed_prompt: Prompt | None = None) -> PromptPanel:
        """Compare a prompt with the original prompt.

        Without an original prompt, a template or psopt's own form with examples is compared with its author's text, and
        psopt's own form without examples with itself. Examples are shown as turns.
        """
        if prompt.template is None and not prompt.examples:
            text = render_instructions(prompt)
            before = render_instructions(seed_prompt or prompt)
            return cls(text, [ShownMessage("", tuple(mark_added(before.splitlines(), text.splitlines())))])
        if seed_prompt and seed_prompt.template != prompt.template:
            seed_prompt = None
        return cls(render_shown(prompt), shown_messages(prompt, seed_prompt))


def fixed_and_broken(first: Predictions, second: Predictions, most: int = MOST_ROWS) -> list[dict[str, Any]]:
    """The samples whose share of right answers differs most between two prompts, those that the second broke first.

    Both have the same samples in the same order. For graded answers it is their mean worth.
    """
    change = second.share_right - first.share_right
    by_change = [int(index) for index in np.argsort(-np.abs(change), kind="stable")[:most] if change[index]]
    rows = []
    for index in sorted(by_change, key=lambda place: change[place]):
        sample = first.samples[index]
        rows.append(
            {
                "id": sample.id,
                "text": sample.text,
                "label": sample.label,
                "kind": "fixed" if change[index] > 0 else "broken",
                "answers": [answers_line(predictions.answers_to(index)) for predictions in (first, second)],
                "right": [float(predictions.share_right[index]) for predictions in (first, second)],
            }
        )
    return rows
