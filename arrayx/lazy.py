"""Libraries that cost too much to import before somebody needs them."""

from __future__ import annotations

import importlib
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
