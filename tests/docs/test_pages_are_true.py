"""What pages repeat from the code is compared with it: versions, keys, environment variables, references, rooms."""

from __future__ import annotations

import json
import re

import psopt
import pytest
import yaml
from psopt import metrics
from psopt.tasks import Task, load_task

from tests.docs.pages import DOCS, ROOT
from tests.test_architecture import ROOMS

ARCHITECTURE = (DOCS / "architecture.md").read_text("utf-8")
PACKAGE = [file for folder in ("optimizer", "metrics", "search_spaces") for file in (ROOT / folder).rglob("*.py")]


def test_the_version_is_that_of_the_package() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == psopt.__version__
    assert f"## {psopt.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_every_page_is_in_the_navigation_and_in_llms_txt() -> None:
    configuration = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    navigation = json.dumps(configuration["nav"])
    listed = (DOCS / "llms.txt").read_text("utf-8")
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).as_posix()
        assert f'"{name}"' in navigation, name
        assert name == "index.md" or f"]({name})" in listed or name.startswith("commands/"), name


def test_every_public_name_is_on_a_page() -> None:
    text = "\n".join(page.read_text("utf-8") for page in (DOCS / "python").glob("*.md"))
    shown = set(re.findall(r"^::: psopt\.([\w.]+)$", text, re.MULTILINE))
    assert set(psopt.__all__) - {"__version__"} <= shown
    assert {f"metrics.{name}" for name in metrics.__all__} <= shown


def test_the_table_of_rooms_is_that_of_the_arrows() -> None:
    told = re.findall(r"^\| ((?:`\w+/?`(?:, )?)+) \|", ARCHITECTURE.split("## The life")[0], re.MULTILINE)
    rooms = [name for names in told for name in re.findall(r"`(\w+)/?`", names)]
    assert rooms == [room for room in ROOMS if room not in {"__main__", "__init__"}]


def test_what_the_code_cites_stands_in_the_bibliography() -> None:
    bibliography = (DOCS / "bibliography.md").read_text("utf-8")
    sources = [*PACKAGE, *(ROOT / "experiments").glob("*.py")]
    for file in sources:
        text = file.read_text("utf-8")
        cited = re.findall(r"\b([A-Z][a-z]+) et al\.|\b([A-Z][a-z]+) \((?:18|19|20)\d\d\)|\b(E25|P24)\b", text)
        for name in {name for names in cited for name in names if name}:
            assert name in bibliography, f"{file.name} cites {name}"


def test_environment_variables_are_listed() -> None:
    troubleshooting = (DOCS / "guides" / "troubleshooting.md").read_text("utf-8")
    read = {name for file in PACKAGE for name in re.findall(r"PSOPT_[A-Z]+(?:_[A-Z]+)*", file.read_text("utf-8"))}
    for name in read - {"PSOPT_COMPLETE"}:  # the shell's completion sets it
        assert f"`{name}`" in troubleshooting, name


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> psopt.Run:
    """A small run with a storage of its own, as several workers would use it."""
    folder = tmp_path_factory.mktemp("run")
    task: Task = load_task("trec")
    storage = f"sqlite:///{folder}/study.db"
    model = "sim/accuracy=0.6,wobble=0.4"
    return psopt.optimize(task, model=model, trials=4, samples=24, rephrasings=3, storage=storage, out=folder / "run")


def test_keys_of_the_study_are_told(run: psopt.Run) -> None:
    section = ARCHITECTURE.split("## Keys of the study")[1].split("\n## ")[0]
    patterns = [re.escape(name) for name in re.findall(r"`([\w:-]+)`", section)]
    told = re.compile("|".join(re.sub(r"(ROUND|WORKER|ID|N)\b", r"[\\w-]+", name) for name in patterns))
    attributes = run.study.user_attrs
    edits = [json.loads(listed) for key, listed in attributes.items() if key.startswith("psopt:edits:")]
    titles = {edit["title"] for listed in edits for edit in listed}
    keys = set(attributes)
    for trial in run.study.get_trials(deepcopy=False):
        keys |= set(trial.user_attrs) | (set(trial.params) - titles)
        keys |= {key for key in trial.system_attrs if key.startswith("psopt:")}
    assert not {key for key in keys if not told.fullmatch(key)}


def test_keys_of_run_json_and_files_of_a_run_are_told(run: psopt.Run) -> None:
    told = set(re.findall(r"\w+", ARCHITECTURE.split("## The schema of a run")[1].split("\n## ")[0]))
    manifest = json.loads((run.path / "run.json").read_text("utf-8"))
    parts = [manifest[name] for name in ("dataset", "rephrasings", "calls")]
    for part in (manifest, *parts, manifest["front"][0], manifest["baseline"]["val"]):
        assert set(part) <= told
    page = (DOCS / "guides" / "report.md").read_text("utf-8")
    names = {f"{path.name}/" if path.is_dir() else path.name for path in run.path.iterdir() if path.name[0] != "."}
    assert "report.html" in names
    assert not {name for name in names if f"`{name}`" not in page}
