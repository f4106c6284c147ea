"""Run folders and files as users meet them, in use, moved, robbed, damaged, hostile: one line, and nothing is lost."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import optuna
import pytest
from psopt import testing

from tests.cli.limited_runs import environment, optimize, own_words
from tests.cli.limited_runs import psopt as priced
from tests.cli.telling import check_refused, check_says
from tests.commands import psopt
from tests.fake_server import FakeServer
from tests.sweeps import each

SIM = ["--model", "sim/wobble=0.5,seed=3", "--rephrasings", "2"]
SMALL = [*SIM, "--samples", "12", "--trials", "3", "--rounds", "1", "--out", "run"]
LABELS = ("Zoë – café", "naïve → 日本")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data whose labels few encodings have, and a run on them."""
    folder = tmp_path_factory.mktemp("made")
    rows = [f"when did {own_words(i)} end … 5 °,{LABELS[i % 2]}" for i in range(40)]
    (folder / "data.csv").write_text("\n".join(["text,label", *rows]) + "\n", "utf-8")
    psopt(folder, "optimize", "--dataset", "data.csv", *SMALL, code=0)
    return folder


@pytest.fixture
def here(made: Path, tmp_path: Path) -> Path:
    """A copy of it to spoil."""
    shutil.copytree(made, tmp_path / "here")
    return tmp_path / "here"


def manifest(run: Path) -> Any:
    return json.loads((run / "run.json").read_text("utf-8"))


def test_a_run_that_has_lost_a_file_has_a_cure(here: Path) -> None:
    run = here / "run"
    shutil.rmtree(run / "prompts")
    check_refused(psopt(here, "report", "run"), "write it anew with `psopt resume run`")
    settings = manifest(run)
    del settings["settings"]["folder"]  # as earlier versions wrote it; the data are here
    (run / "run.json").write_text(json.dumps(settings))
    psopt(here, "resume", "run", "--quiet", code=0)
    assert len(list((run / "prompts").iterdir())) >= 2
    (run / "study.db").unlink()
    check_refused(psopt(here, "resume", "run"), "run has lost its study.db, which holds its trials: put it back")
    settings = manifest(run)
    settings["settings"]["storage"] = "sqlite:///gone.db"
    (run / "run.json").write_text(json.dumps(settings))
    check_refused(psopt(here, "resume", "run"), "there is no file gone.db; put it back")
    assert not (here / "gone.db").exists()
    assert manifest(run) == settings  # it is as it was, not failed


@each(
    "words, said",
    [
        (["--samples", "9"], "option samples was 12 when the run began, and can't become 9: give the same"),
        (["--rounds", "2"], "option rounds was 1"),
        (["--vary", "format"], "option vary was 'paraphrase'"),
        (["--drop-labels"], "option keep_labels was True"),
        (["--gate", "off"], "option gate was 'sure'"),
        (["--study-name", "other"], "option study_name was ''"),
    ],
)
def test_what_holds_for_a_whole_run_is_not_changed_by_resuming_it(made: Path, words: list[str], said: str) -> None:
    before = manifest(made / "run")
    check_refused(psopt(made, "optimize", "--dataset", "data.csv", *SMALL, "--resume", *words), said)
    assert manifest(made / "run") == before


def test_a_run_is_resumed_from_another_folder(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "run", tmp_path / "renamed")  # what was recorded is where its data are
    psopt(tmp_path, "resume", "renamed", "--trials", "4", "--quiet", code=0)
    run = manifest(tmp_path / "renamed")
    assert run["settings"]["folder"] == str(made)
    assert len(json.loads((tmp_path / "renamed" / "trials.json").read_text("utf-8"))["trials"]) >= 3
    assert run["calls"]["cached"] >= 3 * 2  # the trials done were read from the study
    run["settings"]["folder"] = str(tmp_path / "gone")
    (tmp_path / "renamed" / "run.json").write_text(json.dumps(run))
    lost = f"data.csv is neither where the run was started ({tmp_path / 'gone'}), nor here: put it back"
    check_refused(psopt(tmp_path, "resume", "renamed"), lost)


def test_a_run_on_real_data_is_not_resumed_on_the_sample_that_comes_along(tmp_path: Path) -> None:
    data = tmp_path / "data" / "trec"
    data.mkdir(parents=True)
    for name, lines in (("train_5500", 90), ("TREC_10", 60)):
        texts = [f"{('DESC:def', 'NUM:date')[i % 2]} When did {own_words(lines + i)} end ?" for i in range(lines)]
        (data / f"{name}.label").write_text("\n".join(texts) + "\n", "latin-1")
    psopt(tmp_path, "optimize", "--dataset", "trec", *SMALL, code=0, PSOPT_DATA_DIR=str(tmp_path / "data"))
    cure = "set PSOPT_DATA_DIR to the folder of the data that it was begun with"
    check_refused(psopt(tmp_path, "resume", "run"), "the samples (was ", cure)


def test_a_report_that_can_t_be_written_is_one_line(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("psopt.runs._directory.tempfile.NamedTemporaryFile", refuse)
    check_refused(psopt(here, "report", "run"), "run/report.html can't be written: Read-only file system")


_SIZES = ["--trials", "3", "--samples", "12", "--rounds", "1", "--race", "off"]
_DEEP = "[" * 100_000 + "]" * 100_000
_ALIASES = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
_SCRIPT = "</script><script>alert(1)</script>"
_HOSTILE = f"{_SCRIPT} javascript:alert(1) | *bold* ``` [x](http://e.vil)"
_NAMES = ("../x", _SCRIPT)


def cut(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("study.db", ["start anew in another folder"]),
        ("run.json", ["run/run.json is damaged", "delete it and resume with its `psopt optimize` command"]),
        ("rephrasings.json", ["restore the file, or remove it to have them made again"]),
    ],
)
def test_a_file_that_was_cut_is_named_with_a_cure(here: Path, name: str, said: list[str]) -> None:
    cut(here / "run" / name)
    ended = psopt(here, "resume", "run", "--trials", "4")
    check_refused(ended, *said, alone=False)
    assert "psopt resume" not in ended.stderr


def test_what_is_written_at_the_end_may_be_damaged(here: Path) -> None:
    for name in ("front.json", "proposals.json", "contributions.json", "spent.json", "report.html"):
        cut(here / "run" / name)
    psopt(here, "resume", "run", "--trials", "4", code=0)


def test_what_a_run_with_a_limit_has_spent_is_not_forgotten(data: Path) -> None:
    with FakeServer() as server:
        optimize(data, server, *_SIZES, "--max-calls", "5000", code=0)
        (data / "run" / "spent.json").write_bytes(b"")
        said = ["run/spent.json is damaged, so what the run has spent is unknown", "remove it to count from 0"]
        check_refused(priced(data, "resume", "run", "--trials", "5"), *said, alone=False)


def test_a_full_disk_is_one_line_and_with_room_the_run_goes_on(data: Path) -> None:
    """A limit on the size of files stands for the disk: no test may mount one."""
    with FakeServer() as server:
        optimize(data, server, *_SIZES, code=0)
        size = (data / "run" / "study.db").stat().st_size // 1024
        limited = f"ulimit -f {size - 20}; trap '' XFSZ; exec {sys.executable} -m psopt resume run --trials 5"
        ended = subprocess.run(["bash", "-c", limited], cwd=data, env=environment(data), capture_output=True, text=True)
        assert ended.returncode == 2, ended.stderr
        assert "Traceback" not in ended.stdout + ended.stderr
        assert ended.stderr.splitlines()[-1].startswith("psopt: ")
        before = server.counts()["requests"]
        priced(data, "resume", "run", "--trials", "5", code=0)
        assert server.counts()["requests"] > before
        assert server.counts()["answered_twice"] == 0


@pytest.mark.parametrize(
    ("name", "content", "option"),
    [
        ("deep.yaml", _DEEP, "--prompt"),
        ("aliases.yaml", f"{_ALIASES}messages: *i\n", "--prompt"),  # written out it would fill the memory
        ("tag.yaml", '- role: user\n  content: !!python/object/apply:os.system ["touch pwned"]\n', "--prompt"),
        ("deep.toml", f"a = {_DEEP}", "--config"),
        ("task.toml", f"labels = {_DEEP}", "--task-file"),
        ("deep.jsonl", f'{{"text": {_DEEP}}}', "--dataset"),
        ("rephrasings.json", _DEEP, "--rephrasings-file"),
    ],
    ids=lambda value: value if len(value) < 30 else "",
)
def test_a_hostile_file_is_one_line(data: Path, name: str, content: str, option: str) -> None:
    (data / name).write_text(content)
    given = [] if option == "--dataset" else ["--dataset", "data.csv"]
    check_refused(priced(data, "diagnose", *given, option, name, "--model", "minilm"), name, alone=False)
    assert not (data / "pwned").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["data", "fetch", "../../etc/passwd"],
        ["models", "fetch", "../x"],
        ["export", "run", "--pick", "../../../etc/passwd"],
        ["optimize", "--dataset", "hf:../../x", "--model", "minilm"],
        ["optimize", "--dataset", "trec/../../x", "--model", "minilm"],
        ["diagnose", "--dataset", "data.csv", "--model", "gguf/../../../etc/passwd"],
        ["dashboard", "../nothing"],
    ],
)
def test_a_name_that_leads_elsewhere_is_one_line(made: Path, words: list[str]) -> None:
    before = sorted(made.parent.iterdir())
    check_refused(psopt(made, *words), alone=False)
    assert sorted(made.parent.iterdir()) == before


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in a folder, with a run on data whose ids, texts and labels are hostile."""
    folder = tmp_path_factory.mktemp("odd") / "inner"
    folder.mkdir()
    with (folder / "odd.jsonl").open("w") as file:
        for n in range(90):
            row = {"id": f"../../evil{n}", "text": f"what is {own_words(n)} called {_HOSTILE}", "label": _NAMES[n % 2]}
            file.write(json.dumps({**row, "split": ("train", "val", "test")[n % 3]}) + "\n")
    sizes = ["--trials", "6", "--rephrasings", "3", "--rounds", "2"]
    sizes += ["--max-prompt-tokens", "9999"]  # hostile texts are long, and all examples are to be tried
    psopt(
        folder, "optimize", "--dataset", "odd.jsonl", "--model", "sim/wobble=0.5,seed=3", *sizes, "--out", "run", code=0
    )
    return folder


def test_names_and_labels_in_data_write_nothing_elsewhere_and_run_nothing(odd: Path) -> None:
    assert _SCRIPT not in (odd / "run" / "report.html").read_text()
    assert [path.name for path in odd.parent.iterdir()] == ["inner"]
    assert {path.name for path in odd.iterdir()} == {"odd.jsonl", "run"}


def study_of(folder: Path) -> Any:
    return optuna.load_study(study_name="run", storage=f"sqlite:///{folder}/run/study.db")


def note_of(study: Any, trial: Any = None) -> str:
    """The note of a trial or of the study, as the dashboard keeps it: in parts, with the study."""
    attributes = study._storage.get_study_system_attrs(study._study_id)
    prefix = f"dashboard:{trial._trial_id}:note_str:" if trial else "dashboard:note_str:"
    parts = {int(name.removeprefix(prefix)): value for name, value in attributes.items() if name.startswith(prefix)}
    return "".join(parts[number] for number in sorted(parts))


def test_every_trial_can_be_understood_from_the_study_alone(odd: Path) -> None:
    study = study_of(odd)
    assert study.metric_names == ["f1", "sensitivity", "consistency"]
    assert {"task", "model", "dataset_sha256", "rephrasings_sha256", "psopt_version"} <= set(study.user_attrs)
    finished = [trial for trial in study.trials if trial.values]
    assert len(finished) == 6
    known = {"prompt_id", "edits", "per_class", "na_rate", "calls", "tokens", "cost_usd", "seconds"}
    for trial in finished:
        assert known <= set(trial.user_attrs)
        assert set(trial.user_attrs["per_class"]) == set(_NAMES)
        assert note_of(study, trial).startswith(f"# Prompt {trial.user_attrs['prompt_id']}")
        assert not any("edit:" in name for name in trial.params)  # they are called by what edits say
    recommended = manifest(odd / "run")["recommended"]["id"]
    check_says(note_of(study), "Recommended: trial", recommended, "psopt export run", "report.html")


def test_a_trials_note_shows_hostile_text_as_text(odd: Path) -> None:
    study = study_of(odd)
    note = note_of(study, next(trial for trial in study.trials if trial.values and trial.user_attrs["edits"]))
    assert "## Added to the original prompt" in note
    table = note.partition("## The prompt")[0]
    assert "<script>" not in table.replace("\\<", "")
    assert "&" not in table.replace("\\&", ""), "an entity"
    assert "| *bold*" not in table


def test_another_model_and_other_samples_are_refused_and_forced_onto_them_a_run_scores_what_is_answered_to_them(
    tmp_path: Path,
) -> None:
    words = ("dog", "cat", "bird")
    lines = [f"Story {n} of a {words[n % 3]},{words[n % 3]}" for n in range(120)]

    def first_words(messages: list[dict[str, Any]]) -> str:
        text = str(messages[-1]["content"])
        return "dog" if "Tale" in text else next((word for word in words if f"of a {word}" in text[-40:]), "bird")

    with testing.FakeServer(first_words) as server:
        model = ["--model", "openai/fake", "--api-base", server.url, "--proposer", "rules"]
        sizes = ["--samples", "12", "--trials", "2", "--rephrasings", "2", "--quiet"]
        given = ["optimize", "--dataset", "data.csv", *model, *sizes]
        (tmp_path / "data.csv").write_text("\n".join(["text,label", *lines]))
        psopt(tmp_path, *given, "--out", "run", code=0)
        other = psopt(tmp_path, *given, "--model", "openai/other", "--out", "run", "--resume")
        check_refused(other, "the model (was openai/fake, is openai/fake + openai/other)")
        (tmp_path / "data.csv").write_text("\n".join(["text,label", *lines[:60]]).replace("Story", "Tale"))
        check_refused(psopt(tmp_path, "resume", "run", "--quiet"), "the samples (was ")
        psopt(tmp_path, "resume", "run", "--force", "--quiet", code=0)
        psopt(tmp_path, *given, "--out", "fresh", code=0)
    assert manifest(tmp_path / "run")["baseline"]["val"] == manifest(tmp_path / "fresh")["baseline"]["val"]
