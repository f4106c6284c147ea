"""``hf:ORG/NAME``: data sets of the Hugging Face hub, read by the real library from a stand-in on the loopback."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from psopt.errors import InputError, MissingExtraError
from psopt.tasks import HubName, load_task

from tests.hub import TOKEN, Clerk, HubStandIn, hub_stand_in
from tests.sweeps import each

pytest.importorskip("datasets", reason="psopt[hub] is not installed")

CLASSES = ("bad", "good")


def csv_of(n: int, word: str = "text") -> bytes:
    return ("text,label\n" + "".join(f"{word} {i},{CLASSES[i % 2]}\n" for i in range(n))).encode()


def parquet_of(columns: dict[str, Any], classes: tuple[str, ...] = ()) -> bytes:
    """A Parquet file as `datasets` writes it: what its columns mean stands in the schema's metadata."""
    table = pa.table(columns)
    if classes:
        features: dict[str, Any] = {name: {"dtype": "string", "_type": "Value"} for name in columns}
        features["label"] = {"names": list(classes), "_type": "ClassLabel"}
        kept = json.dumps({"info": {"features": features}})
        table = table.replace_schema_metadata({"huggingface": kept})
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def numbered(n: int, word: str, *, labelled: bool = True) -> bytes:
    labels = [i % 2 if labelled else -1 for i in range(n)]
    return parquet_of({"text": [f"{word} {i}" for i in range(n)], "label": pa.array(labels, pa.int64())}, CLASSES)


CARD = b"""---
configs:
- config_name: long
  data_files: long.csv
- config_name: short
  data_files: short.csv
---
"""


def in_splits(**splits: bytes) -> dict[str, bytes]:
    return {f"data/{split}-00000-of-00001.parquet": data for split, data in splits.items()}


@pytest.fixture(scope="module")
def hub() -> Iterator[HubStandIn]:
    train, rows = numbered(40, "train"), csv_of(30, "short").replace(b"text,label", b"q,kind")
    with hub_stand_in() as served:
        served.add("org/one.csv", {"data.csv": csv_of(30)})
        served.add("org/kept", {"data.csv": csv_of(30)})
        served.add("org/splits", in_splits(train=train, validation=numbered(10, "val"), test=numbered(12, "test")))
        served.add("org/contest", in_splits(train=train, test=numbered(12, "test", labelled=False)))
        served.add("org/configs", {"README.md": CARD, "long.csv": csv_of(30, "long"), "short.csv": rows})
        served.add("org/moving", {"data.csv": csv_of(30, "first")}, tag="v1")
        served.add("org/moving", {"data.csv": csv_of(30, "second")})
        served.add("org/private", {"data.csv": csv_of(30)}, access="private")
        served.add("org/gated", {"data.csv": csv_of(30)}, access="gated")
        served.add("org/empty", {"notes.txt2": b"nothing that is data"})
        served.add("org/script", {"script.py": b"raise SystemExit('a script of the data set was run')"})
        served.add("org/broken", {"data.parquet": b"no parquet at all"})
        served.add("org/testonly", {"long/dev.csv": csv_of(9), "long/test.csv": csv_of(9)})
        yield served


@pytest.fixture(scope="module")
def load(hub: HubStandIn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Loads a task in a process whose environment says where the hub is; one for each environment."""
    home = tmp_path_factory.mktemp("hf-home")
    clerks: dict[Any, Clerk] = {}

    def loaded(dataset: str, env: tuple[str, str] | None = None, **options: Any) -> Any:
        if env not in clerks:
            folder = home / f"clerk {len(clerks)}"
            (folder / "org" / "one.csv").mkdir(parents=True)  # a folder of a data set's name is not taken for it
            (folder / "org" / "one.csv" / "data.csv").write_bytes(csv_of(8))
            environment = hub.environment(home) | dict([env] if env else [])
            clerks[env] = Clerk("tests.tasks.loading:loaded", environment, folder)
        answer = clerks[env].ask(dataset=dataset, options=options)
        assert "\n" not in answer.get("error", "")
        return answer

    yield loaded
    for clerk in clerks.values():
        clerk.close()


@each(
    "name, sizes, note",
    [
        ("one.csv", [18, 6, 6], ""),
        ("splits", [40, 10, 12], ""),
        ("contest", [24, 8, 8], "the split 'test' is left out: it has no labels"),
    ],
)
def test_splits_are_those_of_the_data_others_are_drawn_and_classes_have_their_names(
    hub: HubStandIn, load: Any, name: str, sizes: list[int], note: str
) -> None:
    task = load(f"hf:org/{name}")
    assert (task["name"], task["source"], task["labels"]) == (name, "hub", ["bad", "good"])
    assert [len(task[split]) for split in ("train", "val", "test")] == sizes
    assert task["note"] == note
    assert task["revision"] == hub.repositories[f"org/{name}"].refs["main"]
    assert all(label == CLASSES[int(text.split()[1]) % 2] for _, text, label in task["test"])


def test_a_configuration_is_named_and_columns_by_the_options_of_files(load: Any) -> None:
    task = load("hf:org/configs:short", text_column="q", label_column="kind")
    assert task["name"] == "configs-short"
    assert all(text.startswith("short") for _, text, _ in task["train"])
    known = "name one of long, short, as hf:org/configs:long"
    assert load("hf:org/configs")["error"] == f"hf:org/configs: has several configurations: {known}"
    assert load("hf:org/configs:tiny")["error"] == f"hf:org/configs:tiny: has no configuration 'tiny': {known}"
    column = load("hf:org/configs:short", text_column="quest")["error"]
    assert column == "hf:org/configs:short: has no column 'quest'; its columns: 'q', 'kind'"


def test_a_branch_is_resolved_to_its_commit(hub: HubStandIn, load: Any) -> None:
    first, newest = hub.repositories["org/moving"].commits
    of_tag, of_main, of_commit = (load(f"hf:org/moving{at}") for at in ("@v1", "", f"@{first}"))
    assert (of_tag["revision"], of_main["revision"]) == (first, newest)
    assert of_tag["sha256"] == of_commit["sha256"] != of_main["sha256"]
    assert {text.split()[0] for _, text, _ in of_tag["train"]} == {"first"}
    assert "has no revision 'v2'" in load("hf:org/moving@v2")["error"]


def test_what_the_hub_hides_needs_the_token(hub: HubStandIn, load: Any) -> None:
    hidden = load("hf:org/private")["error"]
    assert "hf:org/private: 127.0.0.1:" in hidden
    assert "no such data set, or hides it" in hidden
    assert "HF_TOKEN" in hidden
    assert len(load("hf:org/private", ("HF_TOKEN", TOKEN))["train"]) == 18
    wrong = load("hf:org/private2", ("HF_TOKEN", TOKEN))["error"]
    assert "no such data set" in wrong
    assert TOKEN not in wrong
    assert f"is gated: ask for access at {hub.url}/datasets/org/gated" in load("hf:org/gated")["error"]


@each(
    "dataset, part",
    [
        ("hf:org/empty", "can't be read"),
        ("hf:org/script", "scripts are no longer supported"),
        ("hf:org/broken", "can't be read"),
        ("hf:org/testonly", "none of its splits is called train; its splits: "),
    ],
)
def test_data_that_cannot_be_read_say_so_in_a_line(load: Any, dataset: str, part: str) -> None:
    message = load(dataset)["error"]
    assert message.startswith(f"{dataset}: ")
    assert part in message


def test_without_the_hub_a_copy_in_the_cache_is_used_and_told(hub: HubStandIn, load: Any) -> None:
    without = [("PSOPT_OFFLINE", "1"), ("HF_ENDPOINT", "http://127.0.0.1:9")]
    for env in without:
        assert "no copy of it is in the cache" in load("hf:org/kept", env)["error"]
    online = load("hf:org/kept")
    commit, n_requests = online["revision"], len(hub.requests)
    for env in without:
        offline = load("hf:org/kept", env)
        assert (offline["sha256"], offline["revision"]) == (online["sha256"], commit)
        assert offline["note"] == f"the hub can't be reached, so the copy in the cache is used: commit {commit[:12]}"
        assert load(f"hf:org/kept@{commit}", env)["sha256"] == online["sha256"]
        assert f"hf:org/kept@{commit}" in load("hf:org/kept@v1", env)["error"]
    assert len(hub.requests) == n_requests


def test_names_are_read_as_they_are_written_and_those_of_another_form_refused() -> None:
    for name in ("hf:org/name", "hf:org/name:config", "hf:org/name@refs/pr/1", "hf:org/name:a-b@v1.0"):
        assert str(HubName.read(name)) == name
    for name in ("hf:", "hf:imdb", "hf:a/b/c", "hf:org/name:", "hf:org/name@", "hf:org/na me"):
        with pytest.raises(InputError, match=r"hf:ORG/NAME\[:CONFIG"):
            load_task(name)


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r"hf:org/name needs datasets.*pip install 'psopt\[hub\]'"):
        load_task("hf:org/name")
