"""``--dataset hf:ORG/NAME`` from the command line to a run that is resumed, by a stand-in for the hub."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.hub import Clerk, HubStandIn, hub_stand_in

pytest.importorskip("datasets", reason="psopt[hub] is not installed")

NAME = "hf:org/tickets-v1.0"
COLUMNS = ["--text-column", "body", "--label-column", "team"]
RUN = ["--model", "sim/", "--rephrasings", "3", "--samples", "12", "--trials", "2", "--rounds", "1"]
RUN += ["--heldout", "2", "--leave-one-out", "0"]


def tickets(what: str) -> bytes:
    texts = {"billing": f"the invoice {what} number", "support": f"the program {what} crashes"}
    rows = [f"{texts[team]} {i},{team}" for i in range(20) for team in texts]
    return ("body,team\n" + "\n".join(rows) + "\n").encode()


@pytest.fixture(scope="module")
def hub() -> Iterator[HubStandIn]:
    with hub_stand_in() as served:
        served.add("org/tickets-v1.0", {"data.csv": tickets("old")})
        yield served


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hub")


@pytest.fixture(scope="module")
def psopt(hub: HubStandIn, folder: Path) -> Iterator[Any]:
    """Runs a command in a process whose environment says where the hub is, and gives back what it printed."""
    environment = {**hub.environment(folder / "hf"), "PSOPT_CACHE_DIR": str(folder / "cache")}
    clerk = Clerk("tests.cli.telling:told", environment, folder)

    def run(*words: str, code: int = 0) -> Any:
        ended, out, err = clerk.ask(words=words, folder=str(folder))
        assert ended == code, out + err
        return out, err

    yield run
    clerk.close()


def test_data_fetch_tells_where_the_library_keeps_them(psopt: Any, folder: Path) -> None:
    out, _ = psopt("data", "fetch", NAME, "--json")
    fetched = json.loads(out)
    schema, _ = psopt("schema", "data-fetch")
    jsonschema.Draft202012Validator(json.loads(schema)).validate(fetched)
    assert fetched["name"] == NAME
    assert fetched["path"].startswith(str(folder / "hf"))


def test_a_run_knows_its_commit_and_does_not_go_on_with_another(hub: HubStandIn, psopt: Any, folder: Path) -> None:
    run = ["optimize", "--dataset", NAME, *COLUMNS, *RUN, "--out", "runs/tickets", "--quiet"]
    psopt(*run)
    first = hub.repositories["org/tickets-v1.0"].refs["main"]
    dataset = json.loads((folder / "runs/tickets/run.json").read_text())["dataset"]
    assert (dataset["name"], dataset["source"], dataset["revision"]) == ("tickets-v1.0", "hub", first)
    psopt("resume", "runs/tickets", "--quiet")
    hub.add("org/tickets-v1.0", {"data.csv": tickets("old"), "README.md": b"Only the card is new."})
    psopt("resume", "runs/tickets", "--quiet")  # the same samples, of a later commit
    hub.add("org/tickets-v1.0", {"data.csv": tickets("new")})
    _, refused = psopt("resume", "runs/tickets", "--quiet", code=2)
    assert "the samples (was" in refused
    commit = json.loads((folder / "runs/tickets/run.json").read_text())["dataset"]["revision"]
    earlier = f"{NAME}@{commit}"
    assert f"give --resume with --dataset {earlier}" in refused
    assert refused.count("\n") == 1
    psopt("optimize", "--dataset", earlier, *run[3:], "--resume")
