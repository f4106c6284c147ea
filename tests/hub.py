"""A stand-in for the Hugging Face hub on the loopback: the paths of data sets and of models, answered from memory.

What it answers, and by which headers, is what huggingface_hub reads: https://huggingface.co/docs/hub/api. Programs are
sent to it by ``HF_ENDPOINT``, which they read when they start.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from tests.loopback import Answer, Request, answering

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Files = Mapping[str, bytes]

ROOT = Path(__file__).resolve().parent.parent
TOKEN = "hf_standin0123456789"
"""The token that opens private repositories."""
_JSON = {"Content-Type": "application/json"}


@dataclass
class Repository:
    """A repository of a data set or a model: commits by their sha, and the branches and tags that name them."""

    access: str = "public"  # or private, which is hidden from those without the token; or gated, which refuses them
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


def _of_json(content: Any) -> Answer:
    return Answer(HTTPStatus.OK, json.dumps(content).encode(), _JSON)


def _refused(code: str, status: HTTPStatus = HTTPStatus.NOT_FOUND) -> Answer:
    """A refusal, with the code by which huggingface_hub tells what is missing."""
    headers = {**_JSON, "X-Error-Code": code, "X-Error-Message": code}
    return Answer(status, json.dumps({"error": code}).encode(), headers)


@dataclass
class HubStandIn:
    """The repositories by ORG/NAME, and the requests that came in, as (method, path)."""

    url: str = ""
    repositories: dict[str, Repository] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)

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

    def answer(self, request: Request) -> Answer:
        """Answer one request."""
        self.requests.append((request.method, request.target))
        answer = self._whole(request)
        wanted = request.headers.get("Range")
        if not wanted or answer.status != HTTPStatus.OK:
            return answer
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        start, end = int(first), min(int(last or len(answer.body)), len(answer.body) - 1)
        headers = {**answer.headers, "Content-Range": f"bytes {start}-{end}/{len(answer.body)}"}
        return Answer(HTTPStatus.PARTIAL_CONTENT, answer.body[start : end + 1], headers)

    def _whole(self, request: Request) -> Answer:
        url = urlsplit(request.target)
        path = unquote(url.path).strip("/")
        is_api = path.startswith("api/")
        parts = path.removeprefix("api/").split("/")
        if not is_api and parts[0] != "datasets":
            parts = ["models", *parts]
        if parts[0] not in {"datasets", "models"} or len(parts) < 3:
            return Answer(HTTPStatus.NOT_FOUND)
        name, rest = "/".join(parts[1:3]), parts[3:]
        repository = self.repositories.get(name)
        is_known = request.headers.get("Authorization") == f"Bearer {TOKEN}"
        if repository is None or (repository.access == "private" and not is_known):
            return _refused("RepoNotFound", HTTPStatus.NOT_FOUND if is_known else HTTPStatus.UNAUTHORIZED)
        if repository.access == "gated" and not is_known and not (is_api and not rest):
            return _refused("GatedRepo", HTTPStatus.FORBIDDEN)
        what, revision, *inner = rest if len(rest) > 1 else ["revision", "main"]
        sha = repository.refs.get(revision, revision)
        if sha not in repository.commits:
            return _refused("RevisionNotFound")
        if not is_api:
            return _of_file(repository.commits[sha].get("/".join(inner)), sha)
        files = repository.commits[sha]
        if what == "tree":
            found = _tree(files, "/".join(inner), is_recursive="recursive=true" in url.query.lower())
            return _of_json(found) if found else _refused("EntryNotFound")
        siblings = [{"rfilename": path} for path in files]
        content = {"_id": name, "id": name, "sha": sha, "private": False, "gated": False, "siblings": siblings}
        return _of_json({**content, "disabled": False, "tags": [], "downloads": 0, "likes": 0})


def _of_file(data: bytes | None, sha: str) -> Answer:
    if data is None:
        return _refused("EntryNotFound")
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


@contextmanager
def hub_stand_in() -> Iterator[HubStandIn]:
    """Serve a stand-in until the block ends."""
    hub = HubStandIn()
    with answering(hub.answer) as hub.url:
        yield hub
