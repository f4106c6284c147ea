"""A text on one line that a terminal only shows: it sets no title, changes no colour and moves no cursor."""


def one_line(text: str) -> str:
    r"""Return a text without control characters and half surrogate pairs, all white space as one blank.

    >>> one_line("no\n\x1b[31m way\x9b0m \ud800")
    'no [31m way 0m'
    """
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
