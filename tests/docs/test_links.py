"""Links lead somewhere: between pages, to headings, and in what is built. Nothing here needs a network."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.docs.pages import DOCS, ROOT
from tests.sweeps import each

PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md")), *sorted((ROOT / ".github").rglob("*.md"))]
_LINK = re.compile(r"(?<!\\)\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_FROM_DOCSTRINGS = "psopt."


def anchors(page: Path) -> set[str]:
    """The anchors that a page's headings make."""
    headings = _HEADING.findall(_CODE.sub("", page.read_text("utf-8")))
    plain = [re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings]
    return {re.sub(r"[\s-]+", "-", heading) for heading in plain}


@each("page", PAGES)
def test_links_between_files_lead_somewhere(page: Path) -> None:
    for link in _LINK.findall(_CODE.sub("", page.read_text("utf-8"))):
        target = urlsplit(link)
        if target.scheme:
            continue
        file = page.parent / unquote(target.path) if target.path else page
        assert file.exists(), f"{page.name}: {link}"
        if target.fragment and not target.fragment.startswith(_FROM_DOCSTRINGS):
            assert target.fragment in anchors(file), f"{page.name}: {link}"


class _Page(HTMLParser):
    """The ids of a page, what it links to, and what a browser fetches to show it."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(file.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag == "link" and values.get("rel") == "stylesheet":
            self.fetched.append(values["href"])
        elif tag in {"script", "img", "iframe"} and "src" in values:
            self.fetched.append(values["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages, built strictly in a folder of their own."""
    pytest.importorskip("zensical", reason="the extra `docs` is not installed")
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    shutil.copytree(DOCS, folder / "docs")
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "build" / "site"


def test_links_of_the_built_pages_lead_somewhere_and_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    built = {file: _Page(file) for file in site.rglob("*.html") if file.name != "404.html"}
    assert len(built) >= len(list(DOCS.rglob("*.md")))
    for file, page in built.items():
        assert not [address for address in page.fetched if urlsplit(address).netloc], file
        for link in page.links:
            target = urlsplit(link)
            if target.scheme or target.netloc:
                continue
            other = (file.parent / unquote(target.path)).resolve() if target.path else file
            other = other / "index.html" if other.is_dir() else other
            assert other.exists(), f"{file.name}: {link}"
            if target.fragment and not target.fragment.startswith("__"):
                assert unquote(target.fragment) in built[other].ids, f"{file.name}: {link}"
