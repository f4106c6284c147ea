"""Parameters are named by what their edits say: short, each its own, and the same for whoever reads them back."""

from __future__ import annotations

import optuna
from hypothesis import given
from hypothesis import strategies as st
from psopt.search_spaces import Edit, Provenance, chosen_edits, parameters_of, suggest_edits, with_titles

RULES = Provenance("rules", "accuracy")


def note(text: str, topic: str = "", label: str = "Date") -> Edit:
    return Edit("note", label, text, Provenance("rules", "accuracy", topic))


def titles(*edits: Edit) -> list[str]:
    return [edit.title for edit in with_titles(edits, ())]


def test_a_title_is_what_the_edit_says() -> None:
    topic = 'contains "in what year"'
    assert titles(
        note(f"A question that {topic} belongs to Date.", topic),
        note(f"A question that {topic} of all the years belongs to Date.", f"{topic} of all the years"),
        note("Dates win over numbers wherever both could be meant by a question."),
        Edit("definition", "Person", "who, whose", RULES),
        Edit("example", "Person", "Who was\nthe first man on the moon of Jupiter ?", RULES),
        Edit("example", "Person", "Who?", RULES, bundle="examples 1: typical (train-1+train-2)"),
    ) == [
        'note: contains "in what year" (Date)',
        'note: contains "in what year" of all..',
        "note: Dates win over numbers wherever..",
        "define Person: who, whose",
        "example Person: Who was the first man..",
        "examples 1: typical",
    ]


def test_what_is_in_the_pool_keeps_its_title_and_names_what_joins_its_bundle() -> None:
    bundled = Edit("example", "Date", "1999 ?", RULES, bundle="examples 1: typical (train-1)")
    pool = with_titles([bundled, note("x")], ())
    (joined, again) = with_titles([Edit("example", "Date", "2001 ?", RULES, bundle=bundled.bundle), note("x")], pool)
    assert [joined.title, again.title] == ["examples 1: typical", "note: x"]
    before_0_2 = [bundled]
    assert [edit.title for edit in with_titles([bundled, note("x")], before_0_2)] == ["", "note: x"]


def test_parameters_are_called_by_titles_and_read_back_by_them() -> None:
    pool = with_titles([note("x"), note("y")], ())
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.enqueue_trial(parameters_of([pool[1].parameter_name], pool))
    trial = study.ask()
    chosen, _ = suggest_edits(trial, pool, ["as chosen"])
    assert trial.params == {"note: x": False, "note: y": True}
    assert chosen == (pool[1],)
    assert chosen_edits(trial.params, pool)[0] == chosen


texts = st.text(min_size=1, max_size=80)


@given(st.lists(st.builds(note, texts, label=st.text(max_size=30)), max_size=12, unique_by=lambda edit: edit.id))
def test_titles_are_short_in_one_line_and_all_different(edits: list[Edit]) -> None:
    titled = with_titles(edits[6:], with_titles(edits[:6], ())) + with_titles(edits[:6], ())
    assert len({edit.title for edit in titled}) == len(edits)
    for edit in titled:
        assert 0 < len(edit.title) <= 40
        assert "\n" not in edit.title
