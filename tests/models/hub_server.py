"""A model hub on the loopback that serves one repository from a folder, as much of the protocol as clients use."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REPO, GATED, COMMIT = "org/tiny", "org/gated", "c0ffee" + "0" * 34


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder as `REPO` at `COMMIT` under the revision main; gives the hub's address."""

    class Hub(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_HEAD(self) -> None:
            self._answer(self.path.partition("?")[0].strip("/").split("/"), body=False)

        def do_GET(self) -> None:
            self._answer(self.path.partition("?")[0].strip("/").split("/"), body=True)

        def _answer(self, path: list[str], *, body: bool) -> None:
            is_api = path[:2] == ["api", "models"]
            repo = "/".join(path[2:4] if is_api else path[:2])
            revision = next(
                (path[i + 1] for i, part in enumerate(path[:-1]) if part in {"revision", "resolve"}), "main"
            )
            file = folder / path[-1]
            if repo != REPO:
                self._refuse(*((403, "GatedRepo") if repo == GATED else (401, "RepoNotFound")))
            elif revision not in {"main", COMMIT}:
                self._refuse(404, "RevisionNotFound")
            elif is_api and path[-1] in {revision, "tiny"}:
                self._send(json.dumps({"id": REPO, "sha": COMMIT, "siblings": []}).encode(), body=body)
            elif not is_api and file.is_file():
                self._send(file.read_bytes(), body=body)
            else:
                self._refuse(404, "EntryNotFound")

        def _send(self, content: bytes, *, body: bool) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()
            if body:
                self.wfile.write(content)

        def _refuse(self, status: int, reason: str) -> None:
            self.send_response(status)
            self.send_header("X-Error-Code", reason)
            self.send_header("Content-Length", "0")
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
