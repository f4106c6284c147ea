"""Five prompts, each in another style: measured, fixed, and written back in the format of its file.

Asks psopt's simulated model, which reads prompts as a small model would; no key, no network. With your own server,
give its address and a model: ``python walk.py http://localhost:8000/v1 openai/my-model``.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import psopt

HERE = Path(__file__).resolve().parent
MAIL = HERE / "mail.csv"
COLUMNS: dict[str, Any] = {"inputs": ["subject", "body"], "label_column": "team"}
PROMPTS = ("plain.txt", "sections.md", "tagged.json", "turns.yaml", "reasoned.json")
SMALL: dict[str, Any] = {"trials": 6, "rounds": 1, "rephrasings": 5}


def fix(name: str, folder: Path, url: str, model: str, **options: Any) -> psopt.Run:
    """Search for additions to a prompt of this folder; the run lies in `folder`."""
    task = psopt.Task.from_csv(MAIL, **COLUMNS)
    lm = psopt.LMConfig(api_base=url or None)
    out = folder / Path(name).stem
    return psopt.optimize(task, prompt=HERE / name, model=model, lm=lm, out=out, **options)


def walk(url: str, model: str) -> None:
    """Fix every prompt, print the effect, and write the new ones next to their runs."""
    folder = Path(tempfile.mkdtemp(prefix="own_prompt"))
    for name in PROMPTS:
        run = fix(name, folder, url, model, **SMALL)
        before, after = run.baseline.test, run.pick("knee").test
        exported = psopt.export(run.path, "knee")
        (folder / name).write_bytes(exported.text.encode())
        print(f"{name}: F1 {before.f1:.2f} -> {after.f1:.2f}, S {before.sensitivity:.2f} -> {after.sensitivity:.2f}")
        print(exported.length)
    print(exported.diff)
    print(f"The new prompts, and the report of each: {folder}")


def main() -> None:
    """Ask the given server, or the simulated model."""
    url, model = sys.argv[1:] or ("", "sim/accuracy=0.6,wobble=0.5")
    walk(url, model)


if __name__ == "__main__":
    main()
