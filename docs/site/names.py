"""What is public, found by walking the package: the reference has no list kept by hand."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

# Reached by import, not as an attribute of `arrayx`: authors of backends use it.
IMPORTED_BY_PATH = ("arrayx.conformance",)


@dataclass(frozen=True)
class Name:
    """One public name of a module, and the topic that its page shows it under."""

    name: str
    value: Any
    topic: str


@dataclass(frozen=True)
class Module:
    """A public module: the path that users write, and what it offers beside other modules."""

    path: str
    value: ModuleType
    names: tuple[Name, ...]
    modules: tuple[str, ...]

    @property
    def page(self) -> str:
        """The file of its page, without its ending."""
        return self.path


def public_modules() -> list[Module]:
    """Every public module, `arrayx` first, those below a module after it."""
    found = list(_walk("arrayx", importlib.import_module("arrayx"), set()))
    for path in IMPORTED_BY_PATH:
        package = importlib.import_module(path)
        found.append(_module(path, package))
        for info in pkgutil.iter_modules(package.__path__, path + "."):
            if not info.ispkg and not info.name.rpartition(".")[2].startswith("_"):
                found.append(_module(info.name, importlib.import_module(info.name)))
    return found


def _walk(path: str, module: ModuleType, seen: set[str]) -> Iterator[Module]:
    if path in seen:
        return
    seen.add(path)
    made = _module(path, module)
    yield made
    for name in made.modules:
        yield from _walk(f"{path}.{name}", getattr(module, name), seen)


def _module(path: str, module: ModuleType) -> Module:
    topics = _topics(module)
    names, modules = [], []
    for name in _public(module):
        value = getattr(module, name)
        if not inspect.ismodule(value):
            names.append(Name(name, value, topics.get(name, "")))
        elif value.__name__.startswith("arrayx"):
            modules.append(name)
    return Module(path, module, tuple(names), tuple(modules))


def _public(module: ModuleType) -> list[str]:
    """The names in `__all__`; without one, what the module defines itself, but not for pytest."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__, key=lambda name: (name.lower(), name))
    return sorted(
        name
        for name, value in vars(module).items()
        if not name.startswith(("_", "pytest_", "test_"))
        and getattr(value, "__module__", None) == module.__name__
    )


def _topics(module: ModuleType) -> dict[str, str]:
    """For each name the file that it is imported from, in words: "index parsing"."""
    if not hasattr(module, "__path__"):
        return {}
    found = {}
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and node.module:
            topic = node.module.rpartition(".")[2].replace("_", " ")
            for imported in node.names:
                found[imported.asname or imported.name] = topic
    return found
