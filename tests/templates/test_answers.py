"""How a prompt wants to be answered is found in what it says, and examples are answered so."""

from __future__ import annotations

from pathlib import Path

from psopt.templates import Template, example_answer

from tests.sweeps import each
from tests.templates.asking import read_text, template_of

COLUMNS = ("body", "reason")
LABELS = ("billing", "tech", "sales")
FIELDS = {"body": "B", "reason": "It is late."}
BOTH = '{"reason": "It is late.", "category": "tech"}'
# A prompt, how it is read, how an example is answered.
ANSWERS = [
    ("Answer with the team.", "label", "tech"),
    ('Rate it by this format: "[[reason]]".', "label", "tech"),  # as judges are told
    ('Respond with {"reason": "..", "team": ".."}.', "json:team", '{"reason": "It is late.", "team": "tech"}'),
    ('Like this:\n```json\n{"label": "<one>"}\n```', "json:label", '{"label": "tech"}'),
    ('The mail is {"body": "{body}"}.', "label", "tech"),
    ("Answer as JSON with team and reason.", "json:team", '{"team": "tech", "reason": "It is late."}'),
    ("Output a JSON object with the keys `reason` and `category`.", "json:category", BOTH),
    ("Like this: <verdict>sales</verdict>", "xml:verdict", "<verdict>tech</verdict>"),
    ("Of these:\n<label>billing</label>\n<label>tech</label>", "label", "tech"),
    ("Think first. End with a last line:\nAnswer: <team>", "last-line", "Answer: tech"),
    ("The customer was told:\nAnswer: {reason}", "label", "tech"),  # an answer that is shown, as judges are
    ('Return {"queue": "..", "desk": ".."}', "label", "tech"),
    ('```python\nreturn {"x": TEAMS["body"]}\n```\nAnswer with the team.', "label", "tech"),
    ('Return {"why": "{..}", "result": {"team": ".."}}', "json:result.team", '{"result": {"team": "tech"}}'),
    ("Is the answer inside <answer> tags right?\n<answer>{reason}</answer>", "label", "tech"),
    ("Put it in <desk> tags.", "label", "tech"),
]


def template(folder: Path, text: str, **options: str) -> Template:
    text = f"Decide which team answers.\n\n{text}\n\n{{body}}"
    prompt = read_text(folder / "prompt.txt", text, COLUMNS, LABELS, label_column="team", **options)
    found = template_of(prompt)
    assert f"answers are read as {found.answer}" in prompt.notes[-1]
    is_unclear = "no member is plainly the label (--answer json:NAME says which)" in prompt.notes[-1]
    assert is_unclear == ('"b": ' in text or '"desk": ' in text)
    assert ("if that holds the label: --answer xml:desk" in prompt.notes[-1]) == ("<desk>" in text)
    return found


@each("text, spec, shown", ANSWERS)
def test_the_answer_is_read_as_the_prompt_says(tmp_path: Path, text: str, spec: str, shown: str) -> None:
    found = template(tmp_path, text)
    assert found.answer == spec
    assert example_answer(found.example, FIELDS, "tech") == shown


@each(
    "spec, shown", [("json:why", '{"why": "tech", "x": "X"}'), ("last-line", "Answer: tech"), ("regex:(\\w+)$", "tech")]
)
def test_what_the_user_says_goes_before(tmp_path: Path, spec: str, shown: str) -> None:
    found = template(tmp_path, 'Answer as {"why": "billing", "x": ".."}.', answer=spec)
    assert found.answer == spec
    assert example_answer(found.example, {"x": "X"}, "tech") == shown


@each(
    "skeleton, label, shown",
    [
        ('{"team": 3}', "4", '{"team": 4}'),
        ('{"team": true}', "False", '{"team": false}'),
        ('{"team": ["tech", "sales"]}', '["tech"]', '{"team": ["tech"]}'),
        ('{"team": ["tech", "sales"]}', "tech", '{"team": "tech"}'),  # a choice of one
        ('{"team": ["1", "2"]}', "2", '{"team": "2"}'),
        ('{"team": "3"}', "4", '{"team": "4"}'),
        ('{"team": 3}', "four", '{"team": "four"}'),
    ],
)
def test_an_example_s_answer_has_the_type_that_the_prompt_shows(
    tmp_path: Path, skeleton: str, label: str, shown: str
) -> None:
    found = template(tmp_path, f"Return {skeleton}")
    assert example_answer(found.example, {}, label) == shown
    assert type(found).from_dict(found.to_dict()) == found
    assert ("bare" in found.to_dict()["example"]) == (skeleton in ('{"team": 3}', '{"team": true}'))
