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
LANGUAGES = ("C", "Python")
GRADES = ("A*", "A", "A-", "B", "B+")
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
    (TREC, {"Location": ["The correct label is **Location**, because it asks for a place."]}),
    (TREC, {NA: ["This question asks about a number of things.", "This is the Person's name"]}),
    (TREC, {NA: ["Number" + " blah" * 200], "Person": ["Category: Person (a human)", "→ Person", "Person 👍"]}),
    # several labels
    (TREC, {NA: ["Number or Entity", "Number/Entity", "Number, Entity", "1. Number\n2. Entity"]}),
    (TREC, {NA: ["Not sure: Person? Location?", "Number\nThis is not about a Person."]}),
    # a last line that decides
    (TREC, {"Location": ["It could be Person or Location.\nAnswer: Location"]}),
    (
        TREC,
        {
            "Location": [
                "It could be Person. Answer: Location",
                "Person? No. **Final answer:** Location. I hope it helps!",
            ]
        },
    ),
    (WORLD, {"数字": ["可能是人物。答案：数字"], "Café": ["Es könnte Größe sein. Antwort: Café"]}),
    (TREC, {NA: ["It could be Person. The answer: is not Location", "Person it is. Their answer: Location"]}),
    (TREC, {NA: ['He wrote "A Person? Sure. Answer: Location".', "Answer: Person. No, wait. Answer: Location"]}),
    (TREC, {"Entity": ["Person at first sight.\n\n**Label:** Entity"]}),
    (TREC, {"Entity": ["Person or Entity?\nThe correct category is: $\\boxed{\\text{Entity}}$"]}),
    (TREC, {"Entity": ["Person or Entity?\n\nAnswer:\nEntity", "Person or Entity?\n\n### Final Answer\n\nEntity"]}),
    (TREC, {NA: ["Answer: Person\nNo, wait.\nAnswer: Entity", "Number\n\nQuestion: Who was she ?\nLabel: Person"]}),
    (TREC, {NA: ["Person or Entity?\nAnswer:"], "Number": ["Number\nAnswer:"]}),
    (CUES, {"Question": ["Answer: Question"], "Answer": ["Answer", "Answer: it says so"]}),
    # denied
    (TREC, {NA: ["not Number", "This is not a Number", "It isn't a question about a Number.", "Number is not right"]}),
    (TREC, {NA: ["It is never about a Location", "Not a Person but a Location", "Location rather than Person"]}),
    (NOT, {"not spam": ["not spam", "It is not spam."], NA: ["It is not a spam.", "non-spam"], "spam": ["spam"]}),
    (GLUE, {"not_entailment": ["Not entailment", "The label is not_entailment."]}),
    # mentioned, whatever the sentence says of it, in any language
    (SPAM, {NA: ["The email mentions spam.", "There is no sign of spam", "The message is free of spam."]}),
    (SPAM, {NA: ["There is spam in the folder", "spam: no", "Label: There is no spam", "Ce n'est pas du spam"]}),
    (SPAM, {NA: ["I see nothing here that is spam.", "If it asked for money, the answer would be spam."]}),
    (SPAM, {"spam": ["The user asks for money, so it is spam", "spam: 0.95"]}),
    (GERMAN, {NA: ["Das ist keine Rechnung, sondern eine Anfrage", "Es handelt sich um eine Rechnung"]}),
    (("スパム", "通常"), {NA: ["これはスパムではありません"]}),
    # struck out
    (SPAM, {NA: ["❌ spam"], "ham": ["~~spam~~ ham", "☐ spam\n☑ ham"], "spam": ["- [x] spam\n- [ ] ham"]}),
    (SPAM, {"ham": ["❌ spam\n✅ ham", "ham\n❌ contains links", "❌ links\n\nLabel: ham", "[ ] links\nham"]}),
    # a cross next to a denial only repeats it
    (BOOLEANS, {"false": ["False ❌", "❌ **False**, it is not."], "true": ["✅ True", "✅ true\n❌ false"]}),
    (YES_NO, {"no": ["❌ No.\n\n- ❌ no source"], NA: ["❌ No\n\nIt would be **yes** only with a source.", "☐ no"]}),
    # guessed, attributed, on a condition, ruled out
    (SPAM, {NA: ["The user thinks that it is spam.", "The user wrote that it is spam.", "They believe it is spam"]}),
    (SPAM, {NA: ["Alternative: spam", "Least likely: **spam**", "Second choice: spam", "Ruled out:\n- spam"]}),
    (SPAM, {NA: ["Spam: very unlikely", "**spam**: 3%", "**spam**: no", "This message is not\nspam."]}),
    (SPAM, {"spam": ["According to the definitions, it is spam.", "First choice: spam"]}),
    # asserted
    (SPAM, {"spam": ["I would classify this as spam.", "This message belongs to spam because of its links."]}),
    (SPAM, {NA: ["I would not classify this as spam."], "ham": ["The sentiment of the review is ham."]}),
    (("返金", "通常"), {"返金": ["答え：返金"]}),
    # a longer label in another spelling
    (UNDERSCORED, {"not_spam": ["not\\_spam", '{"label": "not\\_spam"}', "Label: not&#95;spam", "not\u200b_spam"]}),
    (HOBBIES, {"Sports & Leisure": ["Sports and Leisure", "Label: Sports &amp; Leisure"], "Sports": ["It is Sports."]}),
    # nothing
    (TREC, {NA: ["", None, "   ", "...", "I'm sorry, but I can't help with that.", "None of the above", "N/A", "42"]}),
    # JSON
    (TREC, {"Number": ['{"label": "Number"}', '{"answer": "number"}', '{"answer": {"label": "Number"}}']}),
    (TREC, {"Number": ['"N\\u0075mber"', '"{\\"label\\": \\"Number\\"}"', '```json\n{"label": "Number"}\n```']}),
    (TREC, {"Number": ["```\nNumber\n```", '{"label": "Number"', "{'label': 'Number'}"]}),
    (TREC, {"Entity": ['{"reason": "asks for a Person", "label": "Entity"}'], NA: ['{"Number": 0.9, "Person": 0.1}']}),
    (TREC, {NA: ['{"label": "Number", "answer": "Person"}', '["Number", "Person"]', '{"label": null}']}),
    (TREC, {NA: ['```json\n{"label": "Number"}\n```\n```json\n{"label": "Person"}\n```', "[" * 100_000]}),
    (DIGITS, {"1": ['{"label": 1}']}),
    (TREC, {"Person": ['{"reason": "no Entity", "type": "Person"}', '```JSON\n{"label": "Person"}\n```']}),
    (BOOLEANS, {"true": ['{"entailed": true}']}),
    # reasoning
    (TREC, {"Number": ["<think>Person or Entity?</think>Number", "<think>\nPerson\n</think>\n\nLabel: Number"]}),
    (TREC, {"Number": ["Number <think>or Person?</think>", "<think>a <think>Person</think> b</think>Number"]}),
    (TREC, {"Entity": ['<think>x</think>{"label": "Entity"}'], NA: ["<think>It must be a Number"]}),
    # labels inside labels
    (NUMBERS, {"Number of people": ["Number of people", "The number  of\npeople."], "Number": ["Number"]}),
    (NUMBERS, {"Number": ["It's Number, I think"], NA: ["It's number of peoples", "Number of people, not Number"]}),
    (RTE, {"contradiction/neutral": ["contradiction/neutral", "It is contradiction/neutral."], NA: ["neutral"]}),
    (CB, {NA: ["contradiction/neutral", "no contradiction", "non-contradiction"], "contradiction": ["Contradiction."]}),
    # labels of signs
    (CODE, {"C++": ["C++", "It is C++.", "`C++`"], "C": ["C", "It's C, clearly"], "C#": ["c#", "It's C#"]}),
    # signs that are part of a label, or make it another
    (LANGUAGES, {"C": ["C.", "**C**", "`C`", "# C"], NA: ["C#", "C#."]}),
    (GRADES, {"A*": ['"A*"', "A*.", "**A***", "Grade: A*"], "A": ["**A**", "*A*", "A.", "A – it is good"]}),
    (GRADES, {"A-": ["A−", "Grade: A–", "The grade is A−."], "B+": ["B＋", "B+."], "B": ["- B", "B -"]}),
    (AGES, {"<5": ["<5.", "Age: <5"], "5": ["**5**", "<age>5</age>"], ">5": [">5.", 'The label is ">5".']}),
    (STARS, {NA: ["<2", "> 4", "≥4", "Rating: ≥4", "Rating: <4"], "4": ["<4>", "<b>4</b>", "-> 4", "Rating: **4**"]}),
    # spaces, hyphens, underscores
    (SNAKE, {"human_being": ["Human being", "human-being", "HumanBeing"], "money": ["mon-ey"], NA: ["It's mon-ey"]}),
    (TWINS, {"human_being": ["human_being"], "human being": ["Human being.", "It's a human being"]}),
    # case tells labels apart
    (CASED, {"us": ["us"], "US": ["US", "The answer is US."], NA: ["Us"], "other": ["Other"]}),
    # one letter, one digit
    (LETTERS, {"A": ["A", "The answer is A because it fits"], "B": ["b.", "B)", "B) because of that"]}),
    (LETTERS, {"B": ["I think it is B"], "C": ["(C)", "Answer: C", "I'm sure it is C."], NA: ["A question about a B"]}),
    (DIGITS, {"1": ["1", "1.", "Label:1"], "-1": ["-1"], "10": ["The label is 10."], NA: ["2.5", "-2", "$2", "2%"]}),
    # yes and no
    (YES_NO, {NA: ["No category fits.", "**No** label", "No, label unclear", "Answer: No class can be given"]}),
    (YES_NO, {"no": ["no (label)", "Label: no", "It belongs to the no class.", "No. The label is wrong."]}),
    (("ja", "nein"), {NA: ["Nein, Kategorie unklar", "Keine Kategorie"], "nein": ["Nein, das stimmt nicht"]}),
    (("是", "否"), {NA: ["否，类别不明"], "否": ["否。"]}),
    (("none", "other"), {"none": ["none (no label fits)"], "other": ["Other category", "Other, no label fits"]}),
    (YES_NO, {"yes": ["Yes, it is."], "no": ["No, it isn't."], NA: ["yes/no", "I know nothing"]}),
    # other scripts
    (WORLD, {"数字": ["答案是数字。"], NA: ["不是数字", "数字，人物", "Die größe ist gefragt", "Это число."]}),
    (WORLD, {"숫자": ["답은 숫자입니다"], "Größe": ["GRÖSSE"], "Café": ["Cafe\u0301", "It is a CAFÉ."]}),
]


@each("labels, readings", ODD_ANSWERS)
def test_odd_answers_are_read_as_people_would(labels: Any, readings: Any) -> None:
    for expected, answers in readings.items():
        index = len(labels) if expected is NA else labels.index(expected)
        assert {answer: read_answer(answer, labels) for answer in answers} == dict.fromkeys(answers, index)


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
