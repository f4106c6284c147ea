"""A stand-in for the Hugging Face hub on the loopback: the paths that `datasets` asks for, answered from memory.

What it answers, and by which headers, is what huggingface_hub reads: https://huggingface.co/docs/hub/api. Programs are
sent to it by ``HF_ENDPOINT``, which they read when they start.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Files = Mapping[str, bytes]

ROOT = Path(__file__).resolve().parent.parent
TOKEN = "hf_standin0123456789"
"""The token that opens private repositories."""
_JSON = {"Content-Type": "application/json"}


@dataclass
class Repository:
    """A data set's repository: commits by their sha, and the branches and tags that name them.

    Attributes
    ----------
    access : str
        ``public``; ``private``, which is hidden from those without the token; or ``gated``, which refuses them.
    """

    access: str = "public"
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)

    def commit(self, files: Files, *, tag: str = "") -> str:
        """Commit these files to main, and return the sha."""
        content = [*((name, data.hex()) for name, data in sorted(files.items())), len(self.commits)]
        sha = hashlib.sha1(json.dumps(content).encode(), usedforsecurity=False).hexdigest()
        self.commits[sha] = dict(files)
        self.refs["main"] = sha
        if tag:
            self.refs[tag] = sha
        return sha


class Clerk:
    """A process with an environment of its own, which answers one question after the other by a function.

    The hub's library reads its environment when it is imported, and that takes three seconds.
    """

    def __init__(self, function: str, environment: Mapping[str, str], folder: Path) -> None:
        module, name = function.split(":")
        program = (
            f"import json, sys; sys.path.insert(0, {str(ROOT)!r}); from {module} import {name}\n"
            f"out, sys.stdout = sys.stdout, sys.stderr\n"
            f"for line in sys.stdin: print(json.dumps({name}(**json.loads(line))), file=out, flush=True)"
        )
        self._said = folder / "said.txt"
        with self._said.open("w") as said:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", program],
                cwd=folder,
                env={**os.environ, **environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
            )

    def ask(self, **question: Any) -> Any:
        """Return what the function returns; it must say nothing on standard error."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        said = self._said.read_text()
        assert answer, said
        assert said == ""
        return json.loads(answer)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


@dataclass(frozen=True)
class Answer:
    """What a request is answered."""

    status: HTTPStatus
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_json(cls, content: Any) -> Answer:
        """An answer of the API."""
        return cls(HTTPStatus.OK, json.dumps(content).encode(), _JSON)

    @classmethod
    def refused(cls, status: HTTPStatus, code: str) -> Answer:
        """A refusal, with the code by which huggingface_hub tells what is missing."""
        headers = {**_JSON, "X-Error-Code": code, "X-Error-Message": code}
        return cls(status, json.dumps({"error": code}).encode(), headers)


@dataclass
class HubStandIn:
    """The repositories, and the requests that came in.

    Attributes
    ----------
    url : str
    repositories : dict of ORG/NAME to Repository
    requests : list of (method, path)
    broken : bool
        Answer everything with an error of the server's.
    """

    url: str = ""
    repositories: dict[str, Repository] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    broken: bool = False

    def add(self, name: str, files: Files, *, access: str = "public", tag: str = "") -> str:
        """Add a repository, or a commit to one, and return the commit's sha."""
        return self.repositories.setdefault(name, Repository(access)).commit(files, tag=tag)

    def environment(self, home: Path) -> dict[str, str]:
        """What a program's environment must hold so that it asks here, and keeps what it gets in a folder."""
        return {
            "HF_ENDPOINT": self.url,
            "HF_HOME": str(home),
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_XET": "1",
            "NO_PROXY": "127.0.0.1",
        }

    def answer(self, method: str, target: str, authorization: str, body: bytes) -> Answer:
        """Answer one request."""
        self.requests.append((method, target))
        if self.broken:
            return Answer(HTTPStatus.INTERNAL_SERVER_ERROR, b"the stand-in is broken")
        path = unquote(urlsplit(target).path).strip("/")
        is_api = path.startswith("api/")
        parts = path.removeprefix("api/").split("/")
        if parts[0] != "datasets" or len(parts) < 3:
            return Answer(HTTPStatus.NOT_FOUND)
        name, rest = "/".join(parts[1:3]), parts[3:]
        repository = self.repositories.get(name)
        is_known = authorization == f"Bearer {TOKEN}"
        if repository is None or (repository.access == "private" and not is_known):
            return Answer.refused(HTTPStatus.NOT_FOUND if is_known else HTTPStatus.UNAUTHORIZED, "RepoNotFound")
        if repository.access == "gated" and not is_known and not (is_api and not rest):
            return Answer.refused(HTTPStatus.FORBIDDEN, "GatedRepo")
        return (
            self._of_api(repository, name, rest, urlsplit(target).query, body)
            if is_api
            else self._of_file(repository, rest)
        )

    def _of_api(self, repository: Repository, name: str, rest: list[str], query: str, body: bytes) -> Answer:
        what, revision, *inner = [*rest, "revision", "main"][: max(2, len(rest))] if rest else ["revision", "main"]
        sha = repository.refs.get(revision, revision)
        if sha not in repository.commits:
            return Answer.refused(HTTPStatus.NOT_FOUND, "RevisionNotFound")
        files = repository.commits[sha]
        if what == "tree":
            found = _tree(files, "/".join(inner), is_recursive="recursive=true" in query.lower())
            return Answer.of_json(found) if found else Answer.refused(HTTPStatus.NOT_FOUND, "EntryNotFound")
        if what == "paths-info":
            asked = _paths_in(body)
            return Answer.of_json([_entry(path, files[path]) for path in asked if path in files])
        siblings = [{"rfilename": path} for path in files]
        content = {"_id": name, "id": name, "sha": sha, "private": False, "gated": False, "siblings": siblings}
        return Answer.of_json({**content, "disabled": False, "tags": [], "downloads": 0, "likes": 0})

    def _of_file(self, repository: Repository, rest: list[str]) -> Answer:
        if rest[:1] != ["resolve"] or len(rest) < 3:
            return Answer(HTTPStatus.NOT_FOUND)
        sha = repository.refs.get(rest[1], rest[1])
        if sha not in repository.commits:
            return Answer.refused(HTTPStatus.NOT_FOUND, "RevisionNotFound")
        data = repository.commits[sha].get("/".join(rest[2:]))
        if data is None:
            return Answer.refused(HTTPStatus.NOT_FOUND, "EntryNotFound")
        headers = {"ETag": f'"{_digest(data)}"', "X-Repo-Commit": sha, "Accept-Ranges": "bytes"}
        return Answer(HTTPStatus.OK, data, {**headers, "Content-Type": "application/octet-stream"})


def _entry(path: str, data: bytes) -> dict[str, Any]:
    return {"type": "file", "oid": _digest(data), "size": len(data), "path": path}


def _tree(files: Files, below: str, *, is_recursive: bool) -> list[dict[str, Any]]:
    """What is in a folder of a repository: its files and folders, or all files below it."""
    prefix = f"{below}/" if below else ""
    entries: dict[str, dict[str, Any]] = {}
    for path, data in files.items():
        if path.startswith(prefix):
            first, slash, _ = path.removeprefix(prefix).partition("/")
            if slash and not is_recursive:
                folder = f"{prefix}{first}"
                entries[folder] = {"type": "directory", "oid": _digest(folder.encode()), "size": 0, "path": folder}
            else:
                entries[path] = _entry(path, data)
    return list(entries.values())


def _digest(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def _paths_in(body: bytes) -> list[str]:
    """The paths of a request for information on paths, which is JSON."""
    paths = json.loads(body)["paths"]
    return [paths] if isinstance(paths, str) else list(paths)


@contextmanager
def hub_stand_in() -> Iterator[HubStandIn]:
    """Serve a stand-in on a free port of 127.0.0.1 until the block ends."""
    hub = HubStandIn()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer()

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def _answer(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answer = hub.answer(self.command, self.path, self.headers.get("Authorization", ""), sent)
            status, data, headers = answer.status, answer.body, dict(answer.headers)
            wanted = self.headers.get("Range")
            if wanted and status == HTTPStatus.OK:
                first, _, last = wanted.removeprefix("bytes=").partition("-")
                start, end = int(first), min(int(last or len(data)), len(data) - 1)
                headers["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
                status, data = HTTPStatus.PARTIAL_CONTENT, data[start : end + 1]
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
