"""Text that stands in a template as itself: does it hold anything that would be read as a part of the template?"""

from __future__ import annotations

import re

_MARK = re.compile(r"\{\{[^{}\n]*\}\}|\{[ \t]*[^\W\d][\w .-]*\}|</?rephrase>")


def template_marks(text: str) -> list[str]:
    """Return what of a text would be a field or a mark, if it stood in the file of a template.

    psopt never reads what it fills in as a template. But an exported prompt is a file, and in it ``{body}`` in an
    example is a field like any other.

    >>> template_marks('My {body} hurts, {"a": 1}, {{ x }}')
    ['{body}', '{{ x }}']
    """
    return _MARK.findall(text)
