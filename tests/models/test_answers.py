"""Which label does an answer name?"""

from __future__ import annotations

import itertools
import string
from typing import Any

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
VERDICTS = ("correct", "incorrect")
LANGUAGES = ("C", "Python")
GRADES = ("A*", "A", "A-", "B", "B+")
BLOOD = ("A+", "A-", "AB+", "AB-")
SIZES = ("1-5", "6-10", "11-50")
AGES = ("<5", "5", ">5")
STARS = ("1", "2", "3", "4", "5")
NA = None

ODD_ANSWERS: list[Any] = [
    # the label, but for its edges
    (TREC, {"Number": ["Number", "number", "NUMBER", " Number\n", "\ufeffNumber\u200b", "\tNumber\u00a0", "Number."]}),
    (TREC, {"Number": ["Number!", "Number?", '"Number"', "'Number'.", "“Number”", "«Number»", "`Number`"]}),
    (TREC, {"Number": ["**Number**", "__Number__", "_Number_", "**Number**.", '"**Number.**"', "(Number)"]}),
    (TREC, {"Number": ["[Number]", "<Number>", "<label>Number</label>", "# Number", "#Number", "- Number"]}),
    (TREC, {"Number": ["* Number", "• Number", "1. Number", "6) Number", "6-Number", "\\boxed{Number}"]}),
    # a sentence around it
    (TREC, {"Number": ["Label: Number", "label = number", "The answer is Number.", "Number (of days)"]}),
    (TREC, {"Number": ["Number—because it asks how many", "Number.The question asks for a count"]}),
    (TREC, {"Number": ["Number, number and again number"]}),
    (TREC, {"Location": ["The correct label is **Location**, because it asks for a place."]}),
    (TREC, {"Location": ["Sure! Here you go:\n\nLocation", "Location\n\nExplanation: it asks where."]}),
    (TREC, {NA: ["This question asks about a number of things.", "This is the Person's name"]}),
    (TREC, {NA: ["Number" + " blah" * 200], "Person": ["Category: Person (a human)", "→ Person", "Person 👍"]}),
    (TREC, {"Entity": ["I think it's Entity"]}),
    # several labels
    (TREC, {NA: ["Number or Entity", "Number/Entity", "Number, Entity", "1. Number\n2. Entity"]}),
    (TREC, {NA: ["Not sure: Person? Location?", "Number\nThis is not about a Person."]}),
    (TREC, {NA: ["Answer with one of: " + ", ".join(TREC)]}),
    # a last line that decides
    (TREC, {"Location": ["It could be Person or Location.\nAnswer: Location"]}),
    (TREC, {"Person": ["It is a Person, not a Location.\nFinal answer: Person"]}),
    (TREC, {"Entity": ["Person at first sight.\n\n**Label:** Entity"]}),
    (TREC, {"Entity": ["Person or Entity?\nTherefore, the final answer is **Entity**."]}),
    (TREC, {"Entity": ["Person or Entity?\nThe correct category is: $\\boxed{\\text{Entity}}$"]}),
    (TREC, {"Entity": ["Person or Entity?\n\nAnswer:\nEntity", "Person or Entity?\n\n### Final Answer\n\nEntity"]}),
    (TREC, {"Entity": ["Label: Entity, I guess.\nOr a Person.\nLabel: Entity"]}),
    (TREC, {NA: ["Person?\nAnswer: Person or Entity", "It is a Person.\nAnswer: 42"]}),
    (TREC, {NA: ["Answer: Person\nNo, wait.\nAnswer: Entity", "Number\n\nQuestion: Who was she ?\nLabel: Person"]}),
    (TREC, {NA: ["Person or Entity?\nAnswer:"], "Number": ["Number\nAnswer:"]}),
    (CUES, {"Question": ["Answer: Question"], "Answer": ["Answer", "Answer: it says so"]}),
    # denied
    (TREC, {NA: ["not Number", "This is not a Number", "It isn't a question about a Number.", "Number is not right"]}),
    (TREC, {NA: ["**Number** isn’t the label", "There is no Number", "I can't classify this as a Person"]}),
    (TREC, {NA: ["It is never about a Location", "Not a Person but a Location", "Location rather than Person"]}),
    (TREC, {NA: ["non-Number"], "Number": ["Not sure, but Number", "Not sure but Number"]}),
    (TREC, {"Number": ["I can't be certain. Number", "Number (not a date)"]}),
    (NOT, {"not spam": ["not spam", "It is not spam."], NA: ["It is not a spam.", "non-spam"], "spam": ["spam"]}),
    (GLUE, {"not_entailment": ["Not entailment", "The label is not_entailment."]}),
    # mentioned, whatever the sentence says of it, in any language
    (SPAM, {NA: ["The email mentions spam.", "There is no sign of spam", "The message is free of spam."]}),
    (SPAM, {NA: ["It is unlikely to be spam.", "I rule out spam.", "Emails such as spam are handled elsewhere"]}),
    (SPAM, {NA: ["There is spam in the folder", "spam: no", "Label: There is no spam", "Ce n'est pas du spam"]}),
    (SPAM, {NA: ["Esto no es spam", "spam? no", "Answer: spam (no)", "The answer is anything but spam."]}),
    (SPAM, {NA: ["I see nothing here that is spam.", "If it asked for money, the answer would be spam."]}),
    (SPAM, {NA: ["It might be spam", "The user says it is spam", "False: spam", "spam=false", "spam: いいえ"]}),
    (SPAM, {NA: ["spam\nno", "Previously labelled as spam.", "spam: 10%", "Answer: spam detection"]}),
    (SPAM, {"spam": ["The user asks for money, so it is spam", "spam: 0.95"]}),
    (GERMAN, {NA: ["Das ist keine Rechnung, sondern eine Anfrage", "Es handelt sich um eine Rechnung"]}),
    (GERMAN, {NA: ['Das ist keine "Rechnung"', '"Rechnung" trifft nicht zu.', "Rechnung? Nein."]}),
    (("スパム", "通常"), {NA: ["これはスパムではありません"]}),
    (("Billing", "Sales"), {"Billing": ["The Billing team."]}),
    (YES_NO, {NA: ["Answer: no idea"]}),
    # struck out
    (SPAM, {NA: ["❌ spam"], "ham": ["~~spam~~ ham", "☐ spam\n☑ ham"], "spam": ["- [x] spam\n- [ ] ham"]}),
    (("✅", "❌"), {"❌": ["❌", "Label: ❌"]}),
    (SPAM, {NA: ["❌ spam\n\nIt is **ham**.", "❌ Unclear\n\nIt is **ham**.", "❌ spam\n❌ ham", "- [ ] spam"]}),
    (SPAM, {"ham": ["❌ spam\n✅ ham", "ham\n❌ contains links", "❌ links\n\nLabel: ham", "[ ] links\nham"]}),
    (SPAM, {"spam": ['{"label": "spam", "reason": "❌ bad link"}', '{"label": "spam", "links": [ ]}']}),
    # a cross next to a denial only repeats it
    (
        BOOLEANS,
        {"false": ["❌ False", "False ❌", "❌ **False**, it is not."], "true": ["✅ True", "✅ true\n❌ false"]},
    ),
    (VERDICTS, {"incorrect": ["❌ Incorrect", "❌ **Incorrect**\n\nThe date is missing."]}),
    (("spam", "not_spam"), {"not_spam": ["❌ Not spam"]}),
    (YES_NO, {"no": ["❌ No.\n\n- ❌ no source"], NA: ["❌ No\n\nIt would be **yes** only with a source.", "☐ no"]}),
    # guessed, attributed, on a condition, ruled out
    (SPAM, {NA: ["The user thinks that it is spam.", "The user wrote that it is spam.", "They believe it is spam"]}),
    (
        SPAM,
        {NA: ["According to the sender, it is spam.", "Perhaps it is spam.", "Maybe it is spam.", "It can be spam"]},
    ),
    (SPAM, {NA: ["It would be spam, if it had links.", "It is **spam** only if it has links."]}),
    (SPAM, {NA: ["Alternative: spam", "Least likely: **spam**", "Second choice: spam", "Ruled out:\n- spam"]}),
    (
        SPAM,
        {NA: ["Spam: very unlikely", "**spam**: 3%", "**spam** (3 %)", "**spam**: no", "This message is not\nspam."]},
    ),
    (
        SPAM,
        {
            "spam": [
                "According to the definitions, it is spam.",
                "This can be classified as spam.",
                "First choice: spam",
            ]
        },
    ),
    (
        SPAM,
        {
            "spam": [
                "The mail reports a prize, so it is **spam**.",
                "It is spam. Perhaps it was hacked.",
                "**spam**: 97%",
            ]
        },
    ),
    (SPAM, {"spam": ["**spam**: no doubt", "Without context, the label is:\nspam", "Notification type: spam"]}),
    # asserted
    (SPAM, {"spam": ["I would classify this as spam.", "This message belongs to spam because of its links."]}),
    (SPAM, {"spam": ["My answer would be: spam", 'It is clearly "spam".', "Team: spam", "Label: spam\nScore: 0.9"]}),
    (SPAM, {"spam": ["spam\nTopic: money", "**spam**\n\nThe sender asks for money."]}),
    (SPAM, {NA: ["I would not classify this as spam."], "ham": ["The sentiment of the review is ham."]}),
    (GERMAN, {"Rechnung": ["Kategorie: Rechnung", "Die Kategorie lautet Rechnung."]}),
    (GERMAN, {"Rechnung": ["Das ist eine Rechnung.\n\nRechnung"]}),
    (("queja", "consulta"), {"queja": ["La categoría es queja."]}),
    (("返金", "通常"), {"返金": ["答え：返金"]}),
    (LETTERS, {"B": ["Option B"]}),
    # a longer label in another spelling
    (UNDERSCORED, {"not_spam": ["not\\_spam", '{"label": "not\\_spam"}', "Label: not&#95;spam", "not\u200b_spam"]}),
    (UNDERSCORED, {"account_closed": ["account\\_closed"], NA: ["The label is account (closed).", "account%20closed"]}),
    (HOBBIES, {"Sports & Leisure": ["Sports and Leisure", "Label: Sports &amp; Leisure"], "Sports": ["It is Sports."]}),
    (RTE, {"contradiction/neutral": ["contradiction\\/neutral"]}),
    # nothing
    (TREC, {NA: ["", None, "   ", "...", "I'm sorry, but I can't help with that.", "None of the above", "N/A", "42"]}),
    (TREC, {NA: ["Identity", "Numbers", "Personal", "NumberEntity", "Nummer"]}),
    # JSON
    (TREC, {"Number": ['{"label": "Number"}', '{"answer": "number"}', '{"answer": {"label": "Number"}}']}),
    (TREC, {"Number": ['{"Label": "Number", "confidence": 0.9}', '{"type": "Number"}', '["Number"]']}),
    (TREC, {"Number": ['"N\\u0075mber"', '"{\\"label\\": \\"Number\\"}"', '```json\n{"label": "Number"}\n```']}),
    (TREC, {"Number": ['A Person? No:\n```json\n{"label": "Number"}\n```\nHope it helps.', '```\n"Number"\n```']}),
    (TREC, {"Number": ["```\nNumber\n```", '{"label": "Number"', "{'label': 'Number'}"]}),
    (TREC, {"Entity": ['{"reason": "asks for a Person", "label": "Entity"}'], NA: ['{"Number": 0.9, "Person": 0.1}']}),
    (TREC, {NA: ['{"label": "Number", "answer": "Person"}', '["Number", "Person"]', '{"label": null}']}),
    (TREC, {NA: ['{"label": "Colour"}', "{}", '{"not": "Number"}']}),
    (TREC, {NA: ['```json\n{"label": "Number"}\n```\n```json\n{"label": "Person"}\n```', "[" * 100_000]}),
    (TREC, {NA: ["[" + "9" * 5000 + "]"], "Person": ['{"label": null, "answer": "Person"}']}),
    (TREC, {"Person": ['{"rejected_label": "Number", "type": "Person"}']}),
    (DIGITS, {"1": ['{"label": 1}']}),
    (TREC, {NA: ['{"reason": "Person", "team": "Colour"}'], "Person": ['{"reason": "Person", "confidence": 0.9}']}),
    (TREC, {"Person": ['{"reason": "no Entity", "type": "Person"}', '```JSON\n{"label": "Person"}\n```']}),
    (BOOLEANS, {"true": ['{"entailed": true}']}),
    # reasoning
    (TREC, {"Number": ["<think>Person or Entity?</think>Number", "<think>\nPerson\n</think>\n\nLabel: Number"]}),
    (TREC, {"Number": ["<think></think>Number", "<analysis>Person</analysis>\nNumber"]}),
    (TREC, {"Number": ["Number <think>or Person?</think>", "<think>a <think>Person</think> b</think>Number"]}),
    (TREC, {"Number": ["Person, hm ...</think>Number"], "Entity": ["<THINKING>a</THINKING> Entity"]}),
    (TREC, {"Entity": ['<think>x</think>{"label": "Entity"}'], NA: ["<think>It must be a Number"]}),
    (TREC, {NA: ["Number <think>It must", "<think>Number</think>"]}),
    # labels inside labels
    (NUMBERS, {"Number of people": ["Number of people", "The number  of\npeople."], "Number": ["Number"]}),
    (NUMBERS, {"Number": ["It's Number, I think"], NA: ["It's number of peoples", "Number of people, not Number"]}),
    (NUMBERS, {NA: ["Number of people of note"]}),
    (RTE, {"contradiction/neutral": ["contradiction/neutral", "It is contradiction/neutral."], NA: ["neutral"]}),
    (CB, {NA: ["contradiction/neutral", "no contradiction", "non-contradiction"], "contradiction": ["Contradiction."]}),
    # labels of signs
    (CODE, {"C++": ["C++", "It is C++.", "`C++`"], "C": ["C", "It's C, clearly"], "C#": ["c#", "It's C#"]}),
    (CODE, {NA: ["C++ or C#", "It's Objective-C", "aXb"], "n/a": ["n/a", "N/A.", "It is n/a here"], "a.b": ["a.b"]}),
    # signs that are part of a label, or make it another
    (LANGUAGES, {"C": ["C.", "**C**", "`C`", "# C"], NA: ["C#", "C#."]}),
    (CODE, {"C#": ["C#.", '"C#"', "(C#)", "The answer is C#."]}),
    (GRADES, {"A*": ['"A*"', "A*.", "**A***", "Grade: A*"], "A": ["**A**", "*A*", "A.", "A – it is good"]}),
    (GRADES, {"A-": ["A−", "Grade: A–", "The grade is A−."], "B+": ["B＋", "B+."], "B": ["- B", "B -"]}),
    (BLOOD, {"AB-": ["AB-", "AB−", "Type: AB–"], "AB+": ["AB＋"], NA: ["AB"]}),
    (
        SIZES,
        {"1-5": ["1 - 5", "1‑5", "**1–5**"], "11-50": ["11–50", "11 – 50", "The size is 11–50."], NA: ["15", "1150"]},
    ),
    (AGES, {"<5": ["<5.", "Age: <5"], "5": ["**5**", "<age>5</age>"], ">5": [">5.", 'The label is ">5".']}),
    (STARS, {NA: ["<2", "> 4", "≥4", "Rating: ≥4", "Rating: <4"], "4": ["<4>", "<b>4</b>", "-> 4", "Rating: **4**"]}),
    # spaces, hyphens, underscores
    (SNAKE, {"human_being": ["Human being", "human-being", "HumanBeing"], "money": ["mon-ey"], NA: ["It's mon-ey"]}),
    (SNAKE, {NA: ["It's the placename", "moneymaker"], "place-name": ["It's a place name"]}),
    (TWINS, {"human_being": ["human_being"], "human being": ["Human being.", "It's a human being"]}),
    (TWINS, {NA: ["human-being"]}),
    # case tells labels apart
    (CASED, {"us": ["us"], "US": ["US", "The answer is US."], NA: ["Us"], "other": ["Other"]}),
    (ACRONYMS, {"IT": ["it"], "Sales": ["I'd say it goes to Sales"], "HR": ["I'd say it goes to HR"]}),
    # one letter, one digit
    (LETTERS, {"A": ["A", "The answer is A because it fits"], "B": ["b.", "B)", "B) because of that"]}),
    (LETTERS, {"B": ["I think it is B"], "C": ["(C)", "Answer: C", "I'm sure it is C."], NA: ["A question about a B"]}),
    (LETTERS, {NA: ["A question about a count", "N/A", "A+", "U.S.A."]}),
    (DIGITS, {"1": ["1", "1.", "Label:1"], "-1": ["-1"], "10": ["The label is 10."], NA: ["2.5", "-2", "$2", "2%"]}),
    (DIGITS, {NA: ["It scores -2 here", "It scores -1 here", "1 or 2"]}),
    (DIGITS, {"-1": ["‑1", "−1", "Score: –1", "- -1"], "1": ["- 1", "1 – it is good"]}),
    # yes and no
    (YES_NO, {"yes": ["Yes, it is."], "no": ["No, it isn't."], NA: ["yes/no", "I know nothing"]}),
    # other scripts
    (WORLD, {"数字": ["答案是数字。"], NA: ["不是数字", "数字，人物", "Die größe ist gefragt", "Это число."]}),
    (WORLD, {"숫자": ["답은 숫자입니다"], "Größe": ["GRÖSSE"], "Café": ["Cafe\u0301", "It is a CAFÉ."]}),
    (WORLD, {NA: ["числовой", "हिन्दी", "यह हिन्द है"]}),
]


@each("labels, readings", ODD_ANSWERS)
def test_odd_answers_are_read_as_people_would(labels: Any, readings: Any) -> None:
    for expected, answers in readings.items():
        index = len(labels) if expected is NA else labels.index(expected)
        assert {answer: read_answer(answer, labels) for answer in answers} == dict.fromkeys(answers, index)
        assert {answer: read_answer(answer, list(labels)) for answer in answers} == dict.fromkeys(answers, index)


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


SIGNS = ["```", '"', "}", "[", "]", "\n", " ", "**", "\\", "\ud800", "\u0301", "ı", "ſ", "İ", "\x00", "-", "1"]
WORDS = ["<think>", "</think>", "json", '{"label":', "Answer:", "the", "is", "not", "n't", "no", "not a"]
PIECES = st.lists(st.sampled_from([*TREC, *NUMBERS, *CODE, *WORDS, *SIGNS])).map("".join)


@given(st.one_of(st.text(st.characters()), PIECES), LABEL_LISTS)
def test_any_text_is_read_without_an_error(text: Any, labels: Any) -> None:
    assert 0 <= read_answer(text, labels) <= len(labels)


ODD_LABELS = st.one_of(st.text(min_size=1), st.text(string.punctuation + " aA", min_size=1))


@given(st.lists(ODD_LABELS, unique=True), st.text())
@example(["a", "A"], "a")
@example([" ", "-"], "x - y")
@example(["[", "^"], "^")
def test_any_label_is_read_as_itself_and_makes_no_error(labels: Any, text: Any) -> None:
    assert [read_answer(label, labels) for label in labels] == list(range(len(labels)))
    assert 0 <= read_answer(text, labels) <= len(labels)


OF_TREC = [itertools.chain.from_iterable(readings.values()) for labels, readings in ODD_ANSWERS if labels is TREC]


@given(st.permutations(range(len(TREC))), st.sampled_from([*itertools.chain.from_iterable(OF_TREC)]))
def test_the_order_of_labels_does_not_matter(order: Any, answer: Any) -> None:
    labels = [*TREC, "N/A by rule"]
    shuffled = [TREC[index] for index in order]
    assert ([*shuffled, labels[-1]])[read_answer(answer, shuffled)] == labels[read_answer(answer, TREC)]


@each(
    "answer, expected",
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
)
def test_an_answer_of_a_megabyte_is_read_in_passing(answer: Any, expected: Any) -> None:
    """Quadratic reading would take hours here."""
    assert read_answer(answer, TREC) == (len(TREC) if expected is NA else TREC.index(expected))
