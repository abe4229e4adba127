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


def lazy_attributes(
    package: str, places: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose attributes are imported when looked at.

    `places` maps a module, named from the package on or in full, to the names that it has, with
    spaces between; `new=old` renames one.  The names beside "" are modules of the package, those
    beside "inner." modules of a package inside.  Type checkers read the same as imports under
    `TYPE_CHECKING`, and a test compares the two.

    >>> look, names = lazy_attributes("math", {"nowhere": "nothing"})
    >>> look("sine")
    Traceback (most recent call last):
    AttributeError: module 'math' has no attribute 'sine'
    >>> "nothing" in names()
    True
    """
    found: dict[str, tuple[str, str]] = {}
    for place, names in places.items():
        module = place if place.startswith("arrayx.") else f"{package}.{place}"
        whole = module.endswith(".")
        for name in names.split():
            new, _, old = name.partition("=")
            found[new] = (module + name, "") if whole else (module, old or new)

    def attribute(name: str) -> Any:
        place = found.get(name)
        if place is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(place[0])
        value = getattr(module, place[1]) if place[1] else module
        setattr(sys.modules[package], name, value)
        return value

    return attribute, lambda: sorted({*vars(sys.modules[package]), *found})


class Late:
    """An attribute of a class that is imported when first looked at, and then takes its place.

    `wrap` makes the attribute from what the module has.
    """

    __slots__ = ("attribute", "module", "name", "owner", "wrap")

    def __init__(
        self, owner: type, name: str, module: str, attribute: str, wrap: Callable[[Any], Any]
    ) -> None:
        self.owner, self.name = owner, name
        self.module, self.attribute, self.wrap = module, attribute, wrap

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        value = self.wrap(getattr(importlib.import_module(self.module), self.attribute))
        setattr(self.owner, self.name, value)
        return value.__get__(instance, owner)
