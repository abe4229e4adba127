"""The check that a user writes into a program: a condition, a message, and values for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from arrayx import errors, source
from arrayx.core.aval import Aval
from arrayx.core.primitive import Fault, Primitive
from arrayx.primitives.arithmetic import eq
from arrayx.primitives.families import handed

EFFECT = frozenset({"check"})
_BOOL = np.dtype(bool)


class Check(Primitive):
    """States that `condition`, an array of bools, is true everywhere; there is no result.

    `words` is the message, with the names of the further operands in braces; `names` are these.
    `kind` is that of a `Fault`, "user" for those that users write.
    Compiled programs leave it out: it is `ax.checked` that looks.
    """

    name = "check"
    multiple = True

    def type_rule(
        self, condition: Any, *values: Any, kind: str, words: str, names: tuple[str, ...]
    ) -> tuple[Aval, ...]:
        if getattr(condition, "dtype", None) != _BOOL:
            raise errors.DtypeError(f"ax.debug.check takes a condition of bools, got {condition}")
        return ()

    def effects(self, **params: Any) -> frozenset[str]:
        return EFFECT

    def evaluate(
        self, condition: Any, *values: Any, kind: str, words: str, names: tuple[str, ...]
    ) -> Any:
        if not np.all(_host(condition)):
            shown = {name: _host(v) for name, v in zip(names, values, strict=True)}
            refuse(words, shown, source.current())
        return ()

    def expand(self, *args: Any, **params: Any) -> Any:
        return ()

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        self(*primals, **params)
        return (), ()

    def vmap(self, size: int, args: Any, dims: Any, **params: Any) -> Any:
        self(*args, **params)
        return (), ()

    def faults(
        self, condition: Any, *values: Any, kind: str, words: str, names: tuple[str, ...]
    ) -> list[Fault]:
        return [Fault(kind, words, eq(condition, False), dict(zip(names, values, strict=True)))]


check = Check()


def report(faults: Sequence[Fault]) -> None:
    """Writes faults into the program as checks."""
    for fault in faults:
        condition = eq(fault.failed, False)
        words, names = fault.words, tuple(fault.values)
        check(condition, *fault.values.values(), kind=fault.kind, words=words, names=names)


handed.report = report


def _host(x: Any) -> Any:
    return x.host() if hasattr(x, "host") else x


def refuse(words: str, values: dict[str, Any], where: Any) -> NoReturn:
    """Raises the error of a check that failed."""
    text = words.format(**values)
    raise errors.CheckError(f"{text}\n  checked at: {where}" if where is not None else text)


__all__ = ["EFFECT", "Check", "check", "refuse"]
