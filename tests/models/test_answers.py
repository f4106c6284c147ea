"""Which label does an answer name?"""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from psopt.answers import read_answer

from tests.sweeps import each

TREC = ("Abbreviation", "Entity", "Description", "Person", "Location", "Number")
CB = ("entailment", "contradiction", "neutral")
RTE = ("entailment", "contradiction/neutral")
NUMBERS = ("Number", "Number of people", "people", "people of note")
CODE = ("C++", "C", "C#", "n/a", "a.b")
SNAKE = ("human_being", "place-name", "money")
CASED = ("us", "US", "other")
LETTERS = ("A", "B", "C", "I")
DIGITS = ("-1", "0", "1", "2", "10")
YES_NO = ("yes", "no")
NOT = ("spam", "not spam")
GLUE = ("entailment", "not_entailment")
TWINS = ("human_being", "human being", "other")
ACRONYMS = ("IT", "HR", "Sales")
CUES = ("Question", "Answer")
WORLD = ("数字", "人物", "Größe", "Café", "число", "हिन्द", "숫자")
SPAM = ("spam", "ham")
GERMAN = ("Rechnung", "Konto")
UNDERSCORED = ("spam", "not_spam", "account", "account_closed")
HOBBIES = ("Sports", "Sports & Leisure")
BOOLEANS = ("true", "false")
NA = None

ODD_ANSWERS = [
    # the label, but for its edges
    ("Number", TREC, "Number"),
    ("number", TREC, "Number"),
    ("NUMBER", TREC, "Number"),
    (" Number\n", TREC, "Number"),
    ("\ufeffNumber\u200b", TREC, "Number"),
    ("\tNumber\u00a0", TREC, "Number"),
    ("Number.", TREC, "Number"),
    ("Number!", TREC, "Number"),
    ("Number?", TREC, "Number"),
    ('"Number"', TREC, "Number"),
    ("'Number'.", TREC, "Number"),
    ("“Number”", TREC, "Number"),
    ("«Number»", TREC, "Number"),
    ("`Number`", TREC, "Number"),
    ("**Number**", TREC, "Number"),
    ("__Number__", TREC, "Number"),
    ("_Number_", TREC, "Number"),
    ("**Number**.", TREC, "Number"),
    ('"**Number.**"', TREC, "Number"),
    ("(Number)", TREC, "Number"),
    ("[Number]", TREC, "Number"),
    ("<Number>", TREC, "Number"),
    ("<label>Number</label>", TREC, "Number"),
    ("# Number", TREC, "Number"),
    ("#Number", TREC, "Number"),
    ("- Number", TREC, "Number"),
    ("* Number", TREC, "Number"),
    ("• Number", TREC, "Number"),
    ("1. Number", TREC, "Number"),
    ("6) Number", TREC, "Number"),
    ("6-Number", TREC, "Number"),
    ("\\boxed{Number}", TREC, "Number"),
    # a sentence around it
    ("Label: Number", TREC, "Number"),
    ("label = number", TREC, "Number"),
    ("The answer is Number.", TREC, "Number"),
    ("The correct label is **Location**, because it asks for a place.", TREC, "Location"),
    ("This question asks about a number of things.", TREC, NA),
    ("Number (of days)", TREC, "Number"),
    ("Number—because it asks how many", TREC, "Number"),
    ("Number.The question asks for a count", TREC, "Number"),
    ("Category: Person (a human)", TREC, "Person"),
    ("Number, number and again number", TREC, "Number"),
    ("I think it's Entity", TREC, "Entity"),
    ("This is the Person's name", TREC, NA),
    ("→ Person", TREC, "Person"),
    ("Person 👍", TREC, "Person"),
    ("Sure! Here you go:\n\nLocation", TREC, "Location"),
    ("Location\n\nExplanation: it asks where.", TREC, "Location"),
    ("Number" + " blah" * 200, TREC, NA),
    # several labels
    ("Number or Entity", TREC, NA),
    ("Number/Entity", TREC, NA),
    ("Number, Entity", TREC, NA),
    ("1. Number\n2. Entity", TREC, NA),
    ("Not sure: Person? Location?", TREC, NA),
    ("Number\nThis is not about a Person.", TREC, NA),
    ("Answer with one of: " + ", ".join(TREC), TREC, NA),
    # a last line that decides
    ("It could be Person or Location.\nAnswer: Location", TREC, "Location"),
    ("It is a Person, not a Location.\nFinal answer: Person", TREC, "Person"),
    ("Person at first sight.\n\n**Label:** Entity", TREC, "Entity"),
    ("Person or Entity?\nTherefore, the final answer is **Entity**.", TREC, "Entity"),
    ("Person or Entity?\nThe correct category is: $\\boxed{\\text{Entity}}$", TREC, "Entity"),
    ("Person or Entity?\n\nAnswer:\nEntity", TREC, "Entity"),
    ("Person or Entity?\n\n### Final Answer\n\nEntity", TREC, "Entity"),
    ("Label: Entity, I guess.\nOr a Person.\nLabel: Entity", TREC, "Entity"),
    ("Person?\nAnswer: Person or Entity", TREC, NA),
    ("It is a Person.\nAnswer: 42", TREC, NA),
    ("Answer: Person\nNo, wait.\nAnswer: Entity", TREC, NA),
    ("Number\n\nQuestion: Who was she ?\nLabel: Person", TREC, NA),
    ("Person or Entity?\nAnswer:", TREC, NA),
    ("Number\nAnswer:", TREC, "Number"),
    ("Answer: Question", CUES, "Question"),
    ("Answer", CUES, "Answer"),
    ("Answer: it says so", CUES, "Answer"),
    # denied
    ("not Number", TREC, NA),
    ("This is not a Number", TREC, NA),
    ("It isn't a question about a Number.", TREC, NA),
    ("Number is not right", TREC, NA),
    ("**Number** isn’t the label", TREC, NA),
    ("There is no Number", TREC, NA),
    ("I can't classify this as a Person", TREC, NA),
    ("It is never about a Location", TREC, NA),
    ("Not a Person but a Location", TREC, NA),
    ("Location rather than Person", TREC, NA),
    ("non-Number", TREC, NA),
    ("Not sure, but Number", TREC, "Number"),
    ("Not sure but Number", TREC, "Number"),
    ("I can't be certain. Number", TREC, "Number"),
    ("Number (not a date)", TREC, "Number"),
    ("not spam", NOT, "not spam"),
    ("It is not spam.", NOT, "not spam"),
    ("It is not a spam.", NOT, NA),
    ("non-spam", NOT, NA),
    ("spam", NOT, "spam"),
    ("Not entailment", GLUE, "not_entailment"),
    ("The label is not_entailment.", GLUE, "not_entailment"),
    # mentioned, whatever the sentence says of it, in any language
    ("The email mentions spam.", SPAM, NA),
    ("There is no sign of spam", SPAM, NA),
    ("The message is free of spam.", SPAM, NA),
    ("It is unlikely to be spam.", SPAM, NA),
    ("I rule out spam.", SPAM, NA),
    ("Emails such as spam are handled elsewhere", SPAM, NA),
    ("There is spam in the folder", SPAM, NA),
    ("spam: no", SPAM, NA),
    ("Label: There is no spam", SPAM, NA),
    ("Ce n'est pas du spam", SPAM, NA),
    ("Esto no es spam", SPAM, NA),
    ("Das ist keine Rechnung, sondern eine Anfrage", GERMAN, NA),
    ("Es handelt sich um eine Rechnung", GERMAN, NA),
    ('Das ist keine "Rechnung"', GERMAN, NA),
    ("これはスパムではありません", ("スパム", "通常"), NA),
    ('"Rechnung" trifft nicht zu.', GERMAN, NA),
    ("Rechnung? Nein.", GERMAN, NA),
    ("spam? no", SPAM, NA),
    ("Answer: spam (no)", SPAM, NA),
    ("The answer is anything but spam.", SPAM, NA),
    ("I see nothing here that is spam.", SPAM, NA),
    ("If it asked for money, the answer would be spam.", SPAM, NA),
    ("It might be spam", SPAM, NA),
    ("The user says it is spam", SPAM, NA),
    ("The user asks for money, so it is spam", SPAM, "spam"),
    ("False: spam", SPAM, NA),
    ("spam=false", SPAM, NA),
    ("spam: いいえ", SPAM, NA),
    ("spam\nno", SPAM, NA),
    ("Previously labelled as spam.", SPAM, NA),
    ("The Billing team.", ("Billing", "Sales"), "Billing"),
    ("spam: 10%", SPAM, NA),
    ("spam: 0.95", SPAM, "spam"),
    ("Answer: no idea", YES_NO, NA),
    ("Answer: spam detection", SPAM, NA),
    # struck out
    ("❌ spam", SPAM, NA),
    ("~~spam~~ ham", SPAM, "ham"),
    ("- [x] spam\n- [ ] ham", SPAM, "spam"),
    ("☐ spam\n☑ ham", SPAM, "ham"),
    ("❌", ("✅", "❌"), "❌"),
    ("Label: ❌", ("✅", "❌"), "❌"),
    # asserted
    ("I would classify this as spam.", SPAM, "spam"),
    ("I would not classify this as spam.", SPAM, NA),
    ("The sentiment of the review is ham.", SPAM, "ham"),
    ("This message belongs to spam because of its links.", SPAM, "spam"),
    ("My answer would be: spam", SPAM, "spam"),
    ('It is clearly "spam".', SPAM, "spam"),
    ("Team: spam", SPAM, "spam"),
    ("Kategorie: Rechnung", GERMAN, "Rechnung"),
    ("Die Kategorie lautet Rechnung.", GERMAN, "Rechnung"),
    ("La categoría es queja.", ("queja", "consulta"), "queja"),
    ("答え：返金", ("返金", "通常"), "返金"),
    ("Label: spam\nScore: 0.9", SPAM, "spam"),
    ("spam\nTopic: money", SPAM, "spam"),
    ("Option B", LETTERS, "B"),
    ("Das ist eine Rechnung.\n\nRechnung", GERMAN, "Rechnung"),
    ("**spam**\n\nThe sender asks for money.", SPAM, "spam"),
    # a longer label in another spelling
    ("not\\_spam", UNDERSCORED, "not_spam"),
    ('{"label": "not\\_spam"}', UNDERSCORED, "not_spam"),
    ("Label: not&#95;spam", UNDERSCORED, "not_spam"),
    ("account\\_closed", UNDERSCORED, "account_closed"),
    ("The label is account (closed).", UNDERSCORED, NA),
    ("Sports and Leisure", HOBBIES, "Sports & Leisure"),
    ("Label: Sports &amp; Leisure", HOBBIES, "Sports & Leisure"),
    ("It is Sports.", HOBBIES, "Sports"),
    ("account%20closed", UNDERSCORED, NA),
    ("not\u200b_spam", UNDERSCORED, "not_spam"),
    ("contradiction\\/neutral", RTE, "contradiction/neutral"),
    # nothing
    ("", TREC, NA),
    (None, TREC, NA),
    ("   ", TREC, NA),
    ("...", TREC, NA),
    ("I'm sorry, but I can't help with that.", TREC, NA),
    ("None of the above", TREC, NA),
    ("N/A", TREC, NA),
    ("42", TREC, NA),
    ("Identity", TREC, NA),
    ("Numbers", TREC, NA),
    ("Personal", TREC, NA),
    ("NumberEntity", TREC, NA),
    ("Nummer", TREC, NA),
    # JSON
    ('{"label": "Number"}', TREC, "Number"),
    ('{"answer": "number"}', TREC, "Number"),
    ('{"answer": {"label": "Number"}}', TREC, "Number"),
    ('{"Label": "Number", "confidence": 0.9}', TREC, "Number"),
    ('{"reason": "asks for a Person", "label": "Entity"}', TREC, "Entity"),
    ('{"type": "Number"}', TREC, "Number"),
    ('{"Number": 0.9, "Person": 0.1}', TREC, NA),
    ('{"label": "Number", "answer": "Person"}', TREC, NA),
    ('{"label": null, "answer": "Person"}', TREC, "Person"),
    ('["Number"]', TREC, "Number"),
    ('["Number", "Person"]', TREC, NA),
    ('"N\\u0075mber"', TREC, "Number"),
    ('"{\\"label\\": \\"Number\\"}"', TREC, "Number"),
    ('```json\n{"label": "Number"}\n```', TREC, "Number"),
    ('A Person? No:\n```json\n{"label": "Number"}\n```\nHope it helps.', TREC, "Number"),
    ('```\n"Number"\n```', TREC, "Number"),
    ("```\nNumber\n```", TREC, "Number"),
    ('{"label": "Number"', TREC, "Number"),
    ("{'label': 'Number'}", TREC, "Number"),
    ('{"label": null}', TREC, NA),
    ('{"label": "Colour"}', TREC, NA),
    ("{}", TREC, NA),
    ('{"not": "Number"}', TREC, NA),
    ('{"rejected_label": "Number", "type": "Person"}', TREC, "Person"),
    ('```json\n{"label": "Number"}\n```\n```json\n{"label": "Person"}\n```', TREC, NA),
    ('{"label": 1}', DIGITS, "1"),
    ('{"entailed": true}', BOOLEANS, "true"),
    ("[" * 100_000, TREC, NA),
    ("[" + "9" * 5000 + "]", TREC, NA),
    # reasoning
    ("<think>Person or Entity?</think>Number", TREC, "Number"),
    ("<think>\nPerson\n</think>\n\nLabel: Number", TREC, "Number"),
    ("<think></think>Number", TREC, "Number"),
    ("<analysis>Person</analysis>\nNumber", TREC, "Number"),
    ("Number <think>or Person?</think>", TREC, "Number"),
    ("<think>a <think>Person</think> b</think>Number", TREC, "Number"),
    ("Person, hm ...</think>Number", TREC, "Number"),
    ("<THINKING>a</THINKING> Entity", TREC, "Entity"),
    ('<think>x</think>{"label": "Entity"}', TREC, "Entity"),
    ("<think>It must be a Number", TREC, NA),
    ("Number <think>It must", TREC, NA),
    ("<think>Number</think>", TREC, NA),
    # labels inside labels
    ("Number of people", NUMBERS, "Number of people"),
    ("The number  of\npeople.", NUMBERS, "Number of people"),
    ("Number", NUMBERS, "Number"),
    ("It's Number, I think", NUMBERS, "Number"),
    ("It's number of peoples", NUMBERS, NA),
    ("Number of people, not Number", NUMBERS, NA),
    ("Number of people of note", NUMBERS, NA),
    ("contradiction/neutral", RTE, "contradiction/neutral"),
    ("It is contradiction/neutral.", RTE, "contradiction/neutral"),
    ("neutral", RTE, NA),
    ("contradiction/neutral", CB, NA),
    ("Contradiction.", CB, "contradiction"),
    ("no contradiction", CB, NA),
    ("non-contradiction", CB, NA),
    # labels of signs
    ("C++", CODE, "C++"),
    ("It is C++.", CODE, "C++"),
    ("`C++`", CODE, "C++"),
    ("C", CODE, "C"),
    ("It's C, clearly", CODE, "C"),
    ("c#", CODE, "C#"),
    ("It's C#", CODE, "C#"),
    ("C++ or C#", CODE, NA),
    ("It's Objective-C", CODE, NA),
    ("n/a", CODE, "n/a"),
    ("N/A.", CODE, "n/a"),
    ("It is n/a here", CODE, "n/a"),
    ("a.b", CODE, "a.b"),
    ("aXb", CODE, NA),
    # spaces, hyphens, underscores
    ("Human being", SNAKE, "human_being"),
    ("human-being", SNAKE, "human_being"),
    ("HumanBeing", SNAKE, "human_being"),
    ("mon-ey", SNAKE, "money"),
    ("It's mon-ey", SNAKE, NA),
    ("It's a place name", SNAKE, "place-name"),
    ("It's the placename", SNAKE, NA),
    ("moneymaker", SNAKE, NA),
    ("human_being", TWINS, "human_being"),
    ("Human being.", TWINS, "human being"),
    ("It's a human being", TWINS, "human being"),
    ("human-being", TWINS, NA),
    # case tells labels apart
    ("us", CASED, "us"),
    ("US", CASED, "US"),
    ("Us", CASED, NA),
    ("The answer is US.", CASED, "US"),
    ("Other", CASED, "other"),
    ("it", ACRONYMS, "IT"),
    ("I'd say it goes to Sales", ACRONYMS, "Sales"),
    ("I'd say it goes to HR", ACRONYMS, "HR"),
    # one letter, one digit
    ("A", LETTERS, "A"),
    ("b.", LETTERS, "B"),
    ("(C)", LETTERS, "C"),
    ("B)", LETTERS, "B"),
    ("B) because of that", LETTERS, "B"),
    ("Answer: C", LETTERS, "C"),
    ("A question about a B", LETTERS, NA),
    ("A question about a count", LETTERS, NA),
    ("I think it is B", LETTERS, "B"),
    ("I'm sure it is C.", LETTERS, "C"),
    ("The answer is A because it fits", LETTERS, "A"),
    ("N/A", LETTERS, NA),
    ("A+", LETTERS, NA),
    ("U.S.A.", LETTERS, NA),
    ("1", DIGITS, "1"),
    ("-1", DIGITS, "-1"),
    ("1.", DIGITS, "1"),
    ("Label:1", DIGITS, "1"),
    ("The label is 10.", DIGITS, "10"),
    ("2.5", DIGITS, NA),
    ("-2", DIGITS, NA),
    ("$2", DIGITS, NA),
    ("2%", DIGITS, NA),
    ("It scores -2 here", DIGITS, NA),
    ("It scores -1 here", DIGITS, NA),
    ("1 or 2", DIGITS, NA),
    # yes and no
    ("Yes, it is.", YES_NO, "yes"),
    ("No, it isn't.", YES_NO, "no"),
    ("yes/no", YES_NO, NA),
    ("I know nothing", YES_NO, NA),
    # other scripts
    ("答案是数字。", WORLD, "数字"),
    ("不是数字", WORLD, NA),
    ("数字，人物", WORLD, NA),
    ("답은 숫자입니다", WORLD, "숫자"),
    ("GRÖSSE", WORLD, "Größe"),
    ("Die größe ist gefragt", WORLD, NA),
    ("Cafe\u0301", WORLD, "Café"),
    ("It is a CAFÉ.", WORLD, "Café"),
    ("Это число.", WORLD, NA),
    ("числовой", WORLD, NA),
    ("हिन्दी", WORLD, NA),
    ("यह हिन्द है", WORLD, NA),
]


@each("answer, labels, expected", ODD_ANSWERS)
def test_odd_answers_are_read_as_people_would(answer: Any, labels: Any, expected: Any) -> None:
    index = len(labels) if expected is NA else labels.index(expected)
    assert read_answer(answer, labels) == index
    assert read_answer(answer, list(labels)) == index


LABEL_LISTS = st.sampled_from([TREC, CB, RTE, NUMBERS, SNAKE, LETTERS, YES_NO, NOT, GLUE, ACRONYMS, BOOLEANS])
NO_WORDS = st.text(st.characters(exclude_categories=["L", "N", "M"], exclude_characters="+#\\"), max_size=12)
FILLERS = st.lists(st.sampled_from(["this", "could", "well", "be", "the", "one", ",", "and", "\n"]), max_size=5)


@given(LABEL_LISTS, st.data(), NO_WORDS, NO_WORDS)
def test_what_is_no_word_does_not_hide_a_label(labels: Any, data: Any, before: Any, after: Any) -> None:
    index = data.draw(st.integers(0, len(labels) - 1))
    assert read_answer(before + labels[index] + after, labels) == index


@given(st.permutations(TREC), FILLERS, FILLERS, FILLERS)
def test_two_labels_are_no_answer(order: Any, before: Any, between: Any, after: Any) -> None:
    assert read_answer(" ".join([*before, order[0], *between, order[1], *after]), TREC) == len(TREC)


PIECES = [
    *TREC,
    *NUMBERS,
    *CODE,
    "<think>",
    "</think>",
    "```",
    "json",
    '{"label":',
    '"',
    "}",
    "[",
    "]",
    "Answer:",
    "the",
]
PIECES += [
    "\n",
    " ",
    "is",
    "not",
    "n't",
    "no",
    "**",
    "\\",
    "\ud800",
    "\u0301",
    "ı",
    "ſ",
    "İ",
    "\x00",
    "not a",
    "-",
    "1",
]


@given(st.one_of(st.text(st.characters()), st.lists(st.sampled_from(PIECES)).map("".join)), LABEL_LISTS)
def test_any_text_is_read_without_an_error(text: Any, labels: Any) -> None:
    assert 0 <= read_answer(text, labels) <= len(labels)


@given(
    st.lists(st.one_of(st.text(min_size=1), st.text(string.punctuation + " aA", min_size=1)), unique=True), st.text()
)
@example(["a", "A"], "a")
@example([" ", "-"], "x - y")
@example(["[", "^"], "^")
def test_any_label_is_read_as_itself_and_makes_no_error(labels: Any, text: Any) -> None:
    assert [read_answer(label, labels) for label in labels] == list(range(len(labels)))
    assert 0 <= read_answer(text, labels) <= len(labels)


@given(st.permutations(range(len(TREC))), st.sampled_from([one[0] for one in ODD_ANSWERS if one[1] is TREC]))
def test_the_order_of_labels_does_not_matter(order: Any, answer: Any) -> None:
    labels = [*TREC, "N/A by rule"]
    shuffled = [TREC[index] for index in order]
    assert ([*shuffled, labels[-1]])[read_answer(answer, shuffled)] == labels[read_answer(answer, TREC)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("x " * 500_000 + "Number", NA),
        ("x " * 500_000 + "\nNumber", "Number"),
        ("Number " * 30_000, NA),
        ("```" * 330_000 + "Number", "Number"),
        ("``` " + "a" * 1_000_000, NA),
        ("<think>" * 140_000, NA),
        ("not '" * 200_000 + "Number", NA),
        ("*" * 1_000_000 + "Number", "Number"),
        ("answer " * 140_000, NA),
        ("the " * 250_000 + "\nAnswer: Number", "Number"),
    ],
    ids=lambda value: f"{value!r:.12}",
)
def test_an_answer_of_a_megabyte_is_read_in_passing(answer: Any, expected: Any) -> None:
    """Quadratic reading would take hours here."""
    assert read_answer(answer, TREC) == (len(TREC) if expected is NA else TREC.index(expected))
