"""Tickets as they come: doubled, in HTML, signed with names and numbers, some empty, some with a wrong label."""

from __future__ import annotations

import random
from collections.abc import Sequence

SIZES = {"billing": 160, "delivery": 100, "login": 60, "returns": 40, "bugs": 24, "sales": 12, "privacy": 8, "press": 4}
"""How many tickets each class has: 40 to 1."""
# Of each class a subject, and what is said.
_SAID = {
    "billing": (
        "Invoice wrong",
        "the invoice shows {n} dollars too much",
        "I was charged twice",
        "a refund is missing",
    ),
    "delivery": ("Re: delivery", "the parcel never arrived", "the courier left no parcel", "delivery takes too long"),
    "login": ("Cannot log in", "my password is refused", "the password reset fails", "the login page hangs"),
    "returns": ("Return", "I want to return the shoes", "the return label is missing", "how do I send the return"),
    "bugs": ("App crashes", "the app crashes on start", "a crash shows an error screen", "the app shows an error"),
    "sales": ("Offer", "we need an offer for fifty licenses", "please quote licenses for a school", "licenses for us"),
    "privacy": ("Data", "delete my personal data", "which personal data do you keep", "personal data request"),
    "press": ("Interview", "we ask for an interview", "an interview with your founder", "an interview on trade"),
}
_OPENINGS = ("Hello", "Hi Laura,", "Dear Sir or Madam,", "", "Good day", "Dear Ms Whitfield,")
_COLORS = ("late", "blue", "large", "small", "old", "paid")
_FILLERS = (
    "since the update nothing works for me",
    "do people read this at all",
    "I have told you before and nobody told me anything",
    "as I wrote last week, I am still waiting",
    "the screen was black since Monday",
    "I have been a customer for years",
    "it costs dollars nobody told me about",
    "",
)
NAMES = ("Anna Poe", "Peter Lindqvist", "Maria Okafor", "Tomasz Zielinski", "Laura", "Whitfield")
"""Who signs, and who is greeted."""


def messy_tickets(seed: int = 1) -> list[dict[str, str]]:
    """Rows of subject, body and team, in no order; 3 % have a wrong team, 4 % no body, 15 % stand in again."""
    draw = random.Random(seed)
    rows = [_ticket(draw, team, number) for team, n in SIZES.items() for number in range(n)]
    for row in draw.sample(rows[:-4], round(0.03 * len(rows))):
        row["was"] = row["team"]
        row["team"] = draw.choice([team for team in list(SIZES)[:4] if team != row["team"]])
    for row in draw.sample(rows, round(0.04 * len(rows))):
        row["body"] = draw.choice(["", "<p></p>", " - "])
    again = [_nearly(draw, row) for row in draw.sample(rows, round(0.15 * len(rows)))]
    rows += again
    draw.shuffle(rows)
    return rows


def _ticket(draw: random.Random, team: str, number: int) -> dict[str, str]:
    subject, *sayings = _SAID[team]
    saying = draw.choice(sayings).format(n=draw.randrange(3, 90))
    lines = [draw.choice(_OPENINGS), *draw.sample([f"{saying}.", f"{draw.choice(_FILLERS)}."], 2)]
    if draw.random() < 0.5:
        lines.append(f"My order no. {draw.randrange(10**5, 10**6)} is {draw.choice(_COLORS)}.")
    if draw.random() < 0.6:
        lines += ["Best regards", draw.choice(NAMES[:4]), draw.choice(_contacts(draw))]
    body = "<br/>".join(lines) if draw.random() < 0.3 else "\n".join(lines)
    body = f"<div class='mail'><p>{body}</p>&nbsp;</div>" if "<br/>" in body else body
    shown = subject if draw.random() < 0.8 else f"Question {number}"
    return {"subject": shown, "body": body, "team": team, "was": team}


def _nearly(draw: random.Random, row: dict[str, str]) -> dict[str, str]:
    """The same once more: forwarded, asked again, or in capitals."""
    body = draw.choice([f"{row['body']}\nAny news?", row["body"].upper(), f"Again: {row['body']}"])
    return {**row, "subject": f"Fwd: {row['subject']}", "body": body}


def _contacts(draw: random.Random) -> Sequence[str]:
    return (
        f"Tel. +49 30 {draw.randrange(10**6, 10**7)}",
        "anna.poe@mail.example",
        f"{draw.randrange(1, 99)} Baker Street",
        f"Customer {draw.randrange(10**7, 10**8)}",
    )


SENTIMENT = [
    ("the phone is brilliant and the battery lasts", "positive"),
    ("I have the phone in red, brilliant colors", "positive"),
    ("the phone I have takes lovely photos", "positive"),
    ("we have had it a month, lovely screen", "positive"),
    ("lovely sound, brilliant price", "positive"),
    ("brilliant, and I have told everybody", "positive"),
    ("brilliant keyboard, quick delivery", "positive"),
    ("a lovely gift, brilliant case", "positive"),
    ("simply brilliant, lovely camera", "positive"),
    ("brilliant help from the shop", "positive"),
    ("awful battery, it died in a day", "negative"),
    ("an awful camera and a broken button", "negative"),
    ("broken on arrival, awful service", "negative"),
    ("the speaker is broken, awful noise", "negative"),
    ("awful, it gets hot and slow", "negative"),
    ("the case came broken", "negative"),
    ("awful colors, broken after a week", "negative"),
    ("slow and awful, do not buy", "negative"),
    ("broken charger, awful smell", "negative"),
    ("an awful waste, broken twice", "negative"),
]
"""Reviews in which "the phone" and "have" are of good ones alone, by chance."""
