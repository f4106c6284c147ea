"""The settings of a run are kept side by side in run.json, as psopt 0.1 wrote them, whatever they are in memory."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from psopt.errors import InputError
from psopt.rephrasings import RephrasingOptions
from psopt.runs import RunSettings
from psopt.search_spaces import Edit, Provenance, SearchRestriction, allowed_edits
from psopt.settings import DataOptions, SearchOptions

from tests.sweeps import each

# As a run.json of psopt 0.1 has them.
OF_0_1: dict[str, Any] = {
    "dataset": "tickets.csv", "model": "openai/gpt-4o-mini", "strategy": "detail", "seed": 0, "trials": 30, "rounds": 2,
    "rephrasings": 8, "samples": 200, "sampler": "nsga2", "storage": None, "study_name": "tickets",
    "text_column": "body", "label_column": "team", "task_file": "tickets.toml", "test_file": None, "strict_data": True,
    "rephraser": "openai/gpt-4o", "judge": "openai/o3", "rephrasings_file": None, "keep_labels": False,
    "vary": "paraphrase,format", "proposer": "openai/gpt-4o",
    "lm": {
        "api_base": "http://localhost:8000/v1", "concurrency": 4, "timeout": 20.0, "retries": 3, "max_tokens": 64,
        "temperature": 0.0, "request_seed": 42, "structured": False, "logprobs": False, "requests_per_minute": None,
        "max_calls": 1000, "max_tokens_total": None, "max_cost": 2.5,
    },
    "parts": {"views": ["accuracy"], "kinds": ["note", "example"], "margin": 0.02},
    "leave_one_out": 4, "program": None, "command": "psopt optimize --dataset tickets.csv",
}  # fmt: skip


def test_settings_of_psopt_0_1_are_read_and_written_under_the_same_keys() -> None:
    settings = RunSettings.from_dict(OF_0_1)
    assert settings.data == DataOptions("tickets.csv", "body", "team", "tickets.toml", None, strict_data=True)
    assert settings.rephrasing == RephrasingOptions(
        "openai/gpt-4o", "openai/o3", None, keep_labels=False, families=("paraphrase", "format")
    )
    restriction = SearchRestriction(("accuracy",), ("note", "example"), 0.02)
    assert settings.search == SearchOptions(30, 2, "nsga2", 0, restriction)
    assert (settings.seed, settings.rephrasings, settings.samples, settings.leave_one_out) == (0, 8, 200, 4)
    assert (settings.lm.api_base, settings.lm.max_cost) == ("http://localhost:8000/v1", 2.5)
    written = through_json(settings)
    assert OF_0_1.keys() <= written.keys()
    for name, value in OF_0_1.items():
        assert written[name] == ({**written[name], **value} if isinstance(value, dict) else value)
    address = "http://gate.test/v1?code=c0de1234&sig=s1g12345&api-version=2"
    settings = replace(settings, command=f"psopt optimize --api-base='{address}' 'see http://a?'")
    public = "psopt optimize '--api-base=http://gate.test/v1?api-version=2' 'see http://a'"  # without secrets
    assert through_json(settings)["command"] == public


def through_json(settings: RunSettings) -> Any:
    return json.loads(json.dumps(settings.to_dict()))


def test_settings_survive_run_json() -> None:
    settings = RunSettings.from_dict(OF_0_1)
    parts = SearchRestriction(without=("n12345678",), examples_allowed=16)
    moved = replace(settings, data=replace(settings.data, folder="/home/me"), own_model=True)
    gated = replace(settings, gate="likely", gate_margin=0.02, pinned=("a",))
    of_file = replace(settings, rephrasing=RephrasingOptions(file=Path("words.json")))
    for one in (moved, gated, of_file, replace(settings, search=SearchOptions(parts=parts))):
        assert RunSettings.from_dict(through_json(one)) == one
    assert RunSettings.from_dict({"dataset": "trec"}) == RunSettings(DataOptions("trec"))
    assert RunSettings(DataOptions("trec")).gate == "sure"
    assert not {"prompt", "prompt_file"} & RunSettings(DataOptions("trec")).to_dict().keys()


@pytest.mark.parametrize("data", [{**OF_0_1, "colour": "blue"}, {"model": "minilm"}, ["trec"], "trec"])
def test_settings_that_can_t_be_read_are_said(data: Any) -> None:
    with pytest.raises(InputError, match="settings can't be read"):
        RunSettings.from_dict(data)


@each(
    "model, proposer, writer",
    [
        ("openai/gpt-4o-mini", None, "openai/gpt-4o-mini"),
        ("gguf/qwen.gguf", None, "gguf/qwen.gguf"),
        ("openai/gpt-4o-mini", "rules", None),
        ("openai/gpt-4o-mini", "azure/big", "azure/big"),
        ("minilm", None, None),
        ("hf/qwen", None, None),
        ("smollm2", None, None),
        ("smollm2", "gguf/qwen.gguf", "gguf/qwen.gguf"),
    ],
)
def test_a_model_that_can_write_drafts_edits_unless_rules_are_asked_for(
    model: str, proposer: str | None, writer: str | None
) -> None:
    settings = RunSettings(DataOptions("trec"), model, proposer=proposer)
    assert settings.writer == writer
    assert replace(settings, model=model, own_model=True).writer == (writer if proposer else None)


def test_an_edit_that_is_left_out_by_its_id_is_not_allowed() -> None:
    edits = [Edit("note", "a", text, Provenance("rules", "accuracy")) for text in ("One is a.", "Two is a.")]
    assert allowed_edits(edits, SearchRestriction(without=(edits[0].id,))) == edits[1:]
