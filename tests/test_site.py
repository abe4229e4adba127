"""The documentation as a site: a reference of every public name, pages that hold together."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote

import pytest

import arrayx as ax
import arrayx.conformance

DOCS = Path(__file__).parent.parent / "docs"
NEEDED = "the site needs: pip install -e '.[docs]'"


@pytest.fixture(scope="module")
def on_path() -> Iterator[None]:
    """The modules that make the site import each other by their plain names."""
    sys.path.insert(0, str(DOCS / "site"))
    yield
    sys.path.remove(str(DOCS / "site"))


@pytest.fixture(scope="module")
def reference(on_path: None) -> ModuleType:
    return importlib.import_module("reference")


@pytest.fixture(scope="module")
def docstrings(on_path: None) -> ModuleType:
    return importlib.import_module("docstrings")


@pytest.fixture(scope="module")
def pages(reference: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference")
    reference.write(folder)
    return folder


def public(path: str, module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Every name that `__all__` of a module, and of the modules named in it, promises."""
    for name in module.__all__:
        value = getattr(module, name)
        yield f"{path}.{name}", value
        below = inspect.ismodule(value) and value.__name__.startswith("arrayx")
        if below and hasattr(value, "__all__"):
            yield from public(f"{path}.{name}", value)


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    return dict(public("arrayx", ax))


def test_every_public_name_has_an_entry(pages: Path, names: dict[str, Any]) -> None:
    text = {page.stem: page.read_text() for page in pages.glob("*.md")}
    entries = {name for name, value in names.items() if not inspect.ismodule(value)}
    assert len(entries) > 1000
    homes = {name: text[name.rpartition(".")[0]] for name in entries}
    missing = [
        name
        for name, page in homes.items()
        if f"{{: #{name} }}" not in page and f'<a id="{name}">' not in page
    ]
    assert missing == []


def test_every_public_module_has_a_page(pages: Path, names: dict[str, Any]) -> None:
    modules = {
        name
        for name, value in names.items()
        if inspect.ismodule(value) and value.__name__.startswith("arrayx")
    }
    found = {page.stem for page in pages.glob("*.md")}
    assert {"arrayx", "arrayx.conformance", *modules} <= found


def test_a_table_stands_before_the_entries(pages: Path) -> None:
    text = (pages / "arrayx.numpy.fft.md").read_text()
    assert text.index("| [`ifft`](arrayx.numpy.fft.md#arrayx.numpy.fft.ifft) |") < text.index(
        "### ifft {: #arrayx.numpy.fft.ifft }"
    )


def test_a_name_without_a_docstring_is_an_error(
    reference: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bare() -> None: ...

    bare.__module__ = "arrayx.tree"
    monkeypatch.setattr(ax.tree, "map", bare)
    found = [m for m in reference.public_modules() if m.path == "arrayx.tree"]
    monkeypatch.setattr(reference, "public_modules", lambda: found)
    with pytest.raises(reference.MissingDocstring, match=r"arrayx\.tree\.map"):
        reference.write(tmp_path)


def test_the_index_names_every_page() -> None:
    linked = set(re.findall(r"\]\(([^)]+\.md)\)", (DOCS / "index.md").read_text()))
    pages = {page.name for page in DOCS.glob("*.md")} - {"index.md"}
    made = {"changelog.md", "decisions/index.md", "reference/index.md"}
    assert linked == pages | made


FORMS = {
    "a session becomes a block": (
        "Sine.\n\n>>> sin(0)\n0\n\n>>> sin(1)\n1",
        "Sine.\n\n```pycon\n>>> sin(0)\n0\n\n>>> sin(1)\n1\n```\n",
    ),
    "sections become lists of definitions": (
        "Args:\n    a, b: two\n        numbers.\n    c: one.",
        "**Parameters**\n\n`a`, `b`\n:   two\n    numbers.\n\n`c`\n:   one.\n",
    ),
    "what is raised is linked": (
        "Raises:\n    ShapeError: no fit.",
        "**Raises**\n\n[`ShapeError`](errors)\n:   no fit.\n",
    ),
    "a section in prose stays prose": (
        "Returns:\n    The last carry, and more.",
        "**Returns**\n\nThe last carry, and more.\n",
    ),
    "an indented block is code": (
        "It means:\n\n    for x in xs:\n        f(x)\n\nand no more.",
        "It means:\n\n```python\nfor x in xs:\n    f(x)\n```\n\nand no more.\n",
    ),
    "stars and brackets are no markup": (
        "exp(-|x|**2) for a < b, `c**2`.",
        "exp(-|x|\\*\\*2) for a &lt; b, `c**2`.\n",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_docstrings_become_markdown(docstrings: ModuleType, form: str) -> None:
    given, expected = FORMS[form]
    link = {"ShapeError": "errors"}.get
    assert docstrings.markdown(given, link) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sine of `x`, in radians.", "Sine of `x`, in radians."),
        ("Sums, e.g. of\n1.5 and 2.  More.", "Sums, e.g. of 1.5 and 2."),
        ("Means the same as:\n\n    x", "Means the same as."),
    ],
)
def test_the_summary_is_the_first_sentence(
    docstrings: ModuleType, text: str, expected: str
) -> None:
    assert docstrings.summary(text) == expected


class Page(HTMLParser):
    """The anchors of a page, what it links to, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ("script", "img", "iframe") and "src" in given:
            self.loads.append(given["src"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    for module in ("mkdocs", "material"):
        pytest.importorskip(module, reason=NEEDED)
    folder = tmp_path_factory.mktemp("site")
    # Fails where a link is broken or a page is not in the index.
    command = [sys.executable, str(DOCS / "build.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return {page: Page(page.read_text()) for page in folder.rglob("*.html")}


@pytest.mark.slow
def test_the_built_site_has_every_public_name(
    site: dict[Path, Page], names: dict[str, Any]
) -> None:
    anchors = set[str]().union(*(page.anchors for page in site.values()))
    assert [
        name
        for name, value in names.items()
        if name not in anchors
        and (not inspect.ismodule(value) or value.__name__.startswith("arrayx"))
    ] == []


@pytest.mark.slow
def test_every_internal_link_of_the_built_site_leads_somewhere(site: dict[Path, Page]) -> None:
    broken, followed = [], 0
    for path, page in site.items():
        if path.name == "404.html":  # its links are those of a server's root
            continue
        for link in page.links:
            where, _, anchor = link.partition("#")
            if ":" in where:
                continue
            followed += 1
            target = (path.parent / unquote(where)).resolve() if where else path
            lost = not target.exists()
            if not lost and anchor and target in site:
                lost = unquote(anchor) not in site[target].anchors
            if lost:
                broken.append(f"{path.name}: {link}")
    assert followed > 10_000
    assert broken == []


@pytest.mark.slow
def test_the_built_site_loads_nothing_from_elsewhere(site: dict[Path, Page]) -> None:
    loads = {load for page in site.values() for load in page.loads}
    assert loads
    assert [load for load in loads if "//" in load] == []
