"""``python -m tests.fake_server``: serve in this process."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses

from tests.fake_server._options import FakeServerOptions
from tests.fake_server._server import serve


def main() -> None:
    """Read the options and serve."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fake_server",
        description="An OpenAI server for tests: it classifies, and misbehaves when told to.",
    )
    for field in dataclasses.fields(FakeServerOptions):
        name, kind, told = f"--{field.name.replace('_', '-')}", type(field.default), field.metadata["help"]
        parser.add_argument(name, type=kind, default=field.default, nargs="?", const=True, help=told)
    try:
        options = FakeServerOptions(**vars(parser.parse_args()))
    except ValueError as error:
        parser.error(str(error))
    asyncio.run(serve(options))


if __name__ == "__main__":
    main()
