"""A page: one file that opens offline, with every text escaped; the page itself draws the figures."""

from __future__ import annotations

import functools
from importlib import resources
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from psopt._version import __version__
from psopt.notebooks import shortened
from psopt.text import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    import jinja2
    from psopt.report._theme import Figure

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
