"""Write ``run.tar.xz`` with the code of 0.1: a run directory and a cache of answers, as its users have them.

    python tests/runs/of_0_1/make.py

It takes 0.1 out of git, so it is run once and not by the tests, which load what it wrote.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

COMMIT = "50c0465"
PORT = 43210
"""Of the server of which the cache holds the answers: a cache's keys hold the address."""
ROOT = Path(__file__).resolve().parents[3]
OPTIMIZE = [
    "optimize",
    "--dataset",
    "data.csv",
    "--model",
    "sim/accuracy=0.6,wobble=0.3",
    "--trials",
    "4",
    "--rounds",
    "1",
]
OPTIMIZE += ["--samples", "16", "--rephrasings", "2", "--out", "run"]
DIAGNOSE = ["diagnose", "--dataset", "data.csv", "--model", "openai/test", "--split", "val", "--rephrasings", "2"]
DIAGNOSE += ["--api-base", f"http://127.0.0.1:{PORT}/v1"]


def check_out(folder: Path) -> Path:
    """Lay the sources of 0.1 out as a package; returns the folder that holds it."""
    archive = subprocess.run(["git", "-C", ROOT, "archive", COMMIT], check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
    shutil.move(folder / "optimizer", folder / "psopt")
    for name in ("metrics", "search_spaces"):
        shutil.move(folder / name, folder / "psopt" / name)
    return folder


def write_data(folder: Path) -> None:
    """Questions of two classes, 16 a split."""
    rows = ["id,text,label,split"]
    for split in ("train", "val", "test"):
        rows += [f"{split}{i},what is {split} {i} called ?,{'ab'[i % 2] * 3},{split}" for i in range(16)]
    (folder / "data.csv").write_text("\n".join(rows) + "\n")


def main() -> None:
    """Run 0.1 and pack what it leaves."""
    with tempfile.TemporaryDirectory() as temporary:
        sources = Path(temporary, "sources")
        work = Path(temporary, "work")
        sources.mkdir()
        work.mkdir()
        check_out(sources)
        write_data(work)
        environment = {**os.environ, "PYTHONPATH": str(sources), "PSOPT_CACHE_DIR": "cache", "OPENAI_API_KEY": "none"}
        psopt = [sys.executable, "-m", "psopt"]
        subprocess.run([*psopt, *OPTIMIZE], cwd=work, env=environment, check=True)
        program = [sys.executable, str(sources / "tests" / "chat_server" / "openai_server.py"), "--port", str(PORT)]
        with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            server.stdout.readline()
            done = subprocess.run(
                [*psopt, *DIAGNOSE, "--json"], cwd=work, env=environment, check=True, stdout=subprocess.PIPE
            )
            server.terminate()
        (work / "diagnosis.json").write_bytes(done.stdout)
        (work / "run" / "report.html").unlink()  # nothing is read from it, and it holds a library for figures
        with tarfile.open(Path(__file__).with_name("run.tar.xz"), "w:xz") as archive:
            for path in sorted(work.iterdir()):
                archive.add(path, path.name)


if __name__ == "__main__":
    main()
