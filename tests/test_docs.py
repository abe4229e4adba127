"""What the documentation shows is run: README, docs, and every docstring's example."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import arrayx

ROOT = Path(__file__).parent.parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def modules() -> list[str]:
    """Every module of the package but those that need an extra or run when imported."""
    found = ["arrayx"]
    for info in pkgutil.walk_packages(arrayx.__path__, "arrayx."):
        if info.name not in ("arrayx.__main__", "arrayx.demo"):
            found.append(info.name)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_examples_of_a_page_give_what_it_shows(page: Path) -> None:
    result = doctest.testfile(str(page), module_relative=False, optionflags=FLAGS)
    assert result.failed == 0


@pytest.mark.parametrize("name", modules())
def test_the_examples_in_docstrings_give_what_they_show(name: str) -> None:
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=FLAGS)
    assert result.failed == 0
