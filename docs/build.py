"""Builds the documentation: `python docs/build.py [FOLDER]`, then open FOLDER/index.html.

The pages are those of docs/, and a reference made from the package.  Whatever is not right is an
error: a broken link, a public name without a docstring, a page that the index does not name.
Needs `pip install -e '.[docs]'`.
"""

from __future__ import annotations

import argparse
import logging
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS / "site"))

import reference  # noqa: E402

LINK = re.compile(r"\[([^\]]+)\]\(([^)#:]+\.md)(?:#[^)]*)?\)")
# The theme's stand-in for workers, which it would load from elsewhere.
REMOTE = re.compile(r'<script src="https://unpkg\.com/[^"]*"></script>')
OUTSIDE = re.compile(r"\]\(((?:\.\./)+)([^)#:]+)\)")


def stage(folder: Path) -> list[Any]:
    """Writes the sources of the site, and returns its navigation."""
    for page in sorted(DOCS.rglob("*.md")):
        place = folder / page.relative_to(DOCS)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(adapted(page.read_text(), page, folder))
    shutil.copy2(ROOT / "CHANGELOG.md", folder / "changelog.md")
    for own in ("style.css", "worker.js"):
        shutil.copy2(DOCS / "site" / own, folder)
    decisions = sorted((DOCS / "decisions").glob("*.md"))
    (folder / "decisions" / "index.md").write_text(decision_index(decisions))
    reference.write(folder / "reference")
    nav: list[Any] = [{"arrayx": "index.md"}]
    for caption, links in sections((DOCS / "index.md").read_text()):
        entries = [entry(folder, *link) for link in links]
        (only,) = entries[0].values()
        # A section of one index is that index.
        nav.append({caption: only if len(entries) == 1 and isinstance(only, list) else entries})
    return nav


def adapted(text: str, page: Path, folder: Path) -> str:
    """A page as the site shows it: sessions as such, and with copies of files outside of docs/."""

    def copied(match: re.Match[str]) -> str:
        source = (page.parent / match[1] / match[2]).resolve()
        if not source.is_relative_to(ROOT) or source.is_relative_to(DOCS) or not source.is_file():
            return match[0]
        place = folder / "files" / source.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, place)
        up = "../" * (len(page.relative_to(DOCS).parts) - 1)
        return f"]({up}files/{source.relative_to(ROOT).as_posix()})"

    return OUTSIDE.sub(copied, text.replace("```python\n>>> ", "```pycon\n>>> "))


def decision_index(pages: list[Path]) -> str:
    """The list of decisions, in order."""
    rows = [f"| {page.stem[:4]} | [{title(page)}]({page.name}) |" for page in pages]
    return (
        "# Decisions\n\nWhat was decided, why, and what was given up for it.\n\n"
        "| number | decision |\n|---|---|\n" + "\n".join(rows) + "\n"
    )


def title(page: Path) -> str:
    """The title of a page."""
    return page.read_text().splitlines()[0].lstrip("# ").partition(" {:")[0]


def sections(index: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """The sections of the index with the pages that each links: the navigation of the site.

    >>> sections("# A\\n\\n## B\\n\\n| [See](c.md) | d |\\n")
    [('B', [('See', 'c.md')])]
    """
    found = []
    for part in re.split(r"(?m)^## ", index)[1:]:
        links = {page: name for name, page in LINK.findall(part)}
        found.append((part.splitlines()[0], [(name, page) for page, name in links.items()]))
    return found


def entry(folder: Path, name: str, page: str) -> dict[str, Any]:
    """A page of the navigation; one that is an index brings the pages beside it."""
    place = folder / page
    if place.name != "index.md":
        return {name: page}
    beside = sorted((p for p in place.parent.glob("*.md") if p != place), key=lambda p: p.stem)
    below = [{title(p): p.relative_to(folder).as_posix()} for p in beside]
    return {name[0].upper() + name[1:]: [page, *below]}


def build(folder: Path) -> None:
    """Builds the site into `folder`; raises Abort for whatever is not right."""
    with tempfile.TemporaryDirectory() as scratch:
        nav = stage(Path(scratch))
        mkdocs_build(
            load_config(
                str(DOCS / "site" / "mkdocs.yml"),
                docs_dir=scratch,
                site_dir=str(folder),
                nav=nav,
                strict=True,
            )
        )
    for page in folder.rglob("*.html"):
        text = page.read_text()
        up = "../" * (len(page.relative_to(folder).parts) - 1)
        page.write_text(REMOTE.sub(f'<script src="{up}worker.js"></script>', text))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Builds the documentation.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "site")
    folder = parser.parse_args().folder.resolve()
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    try:
        build(folder)
    except Abort:
        raise SystemExit("the documentation has errors, see above") from None
    print(folder / "index.html")
