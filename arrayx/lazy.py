"""Libraries that cost too much to import before somebody needs them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


class _Lazy:
    """Stands for a module and becomes it at the first look inside."""

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def __getattr__(self, attribute: str) -> Any:
        module = importlib.import_module(self._name)
        self.__dict__.update(module.__dict__)
        return getattr(module, attribute)


def lazy(name: str) -> Any:
    """The module of this name, imported at the first use of one of its attributes.

    >>> lazy("math").sqrt(4.0)
    2.0
    """
    return _Lazy(name)


def lazy_attributes(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """A `__getattr__` for a package whose attributes are imported when first looked at.

    `places` maps an attribute to the module that is it, or that has it.

    >>> lazy_attributes("math", {"nothing": "nowhere"})("sine")
    Traceback (most recent call last):
    AttributeError: module 'math' has no attribute 'sine'
    """

    def attribute(name: str) -> Any:
        place = places.get(name)
        if place is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(place)
        found = module if place.endswith(f".{name}") else getattr(module, name)
        setattr(sys.modules[package], name, found)
        return found

    return attribute
