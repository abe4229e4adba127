"""Sorting, by a comparison that is written out."""

from __future__ import annotations

from typing import Any

from arrayx import dtypes
from arrayx.core.aval import Aval
from arrayx_xla.emitter import Emitter, Value, type_of


class _Comparator:
    """The body of a sort's comparison, which may not use values of the function around it."""

    def __init__(self, indent: str) -> None:
        self.indent = indent
        self.lines: list[str] = []

    def add(self, text: str) -> str:
        name = f"%t{len(self.lines)}"
        self.lines.append(f"{self.indent}{name} = stablehlo.{text}")
        return name

    def compare(self, direction: str, a: str, b: str, scalar: str) -> str:
        return self.add(f"compare {direction}, {a}, {b} : ({scalar}, {scalar}) -> tensor<i1>")

    def less(self, a: str, b: str, dtype: Any) -> str:
        """True where `a` comes before `b`: nan behind all others, equal zeros."""
        scalar = type_of(Aval((), dtype))
        less = self.compare("LT", a, b, scalar)
        if dtypes.kind(dtype) != "float":
            return less
        number = self.compare("EQ", a, a, scalar)
        nan = self.compare("NE", b, b, scalar)
        before = self.add(f"and {number}, {nan} : tensor<i1>")
        return self.add(f"or {less}, {before} : tensor<i1>")

    def pairs(self, a: str, b: str, dtype: Any) -> list[tuple[str, str, Any]]:
        """What is compared of a key: the parts of a complex one."""
        if dtypes.kind(dtype) != "complex":
            return [(a, b, dtype)]
        part = dtypes.real_dtype(dtype)
        made = f"({type_of(Aval((), dtype))}) -> {type_of(Aval((), part))}"
        return [
            (self.add(f"{name} {a} : {made}"), self.add(f"{name} {b} : {made}"), part)
            for name in ("real", "imag")
        ]


def sort(e: Emitter, *xs: Value, axis: int, num_keys: int) -> tuple[Value, ...]:
    body = _Comparator(e.indent + "  ")
    pairs = [p for i in range(num_keys) for p in body.pairs(f"%a{i}", f"%b{i}", xs[i].dtype)]
    *first, last = pairs
    result = body.less(*last)
    # From the last key to the first: a before b, or neither before the other and then the rest.
    for a, b, dtype in reversed(first):
        less, greater = body.less(a, b, dtype), body.less(b, a, dtype)
        tied = body.add(f"not {greater} : tensor<i1>")
        rest = body.add(f"and {tied}, {result} : tensor<i1>")
        result = body.add(f"or {less}, {rest} : tensor<i1>")
    scalars = [type_of(Aval((), x.dtype)) for x in xs]
    given = ", ".join(f"%a{i}: {t}, %b{i}: {t}" for i, t in enumerate(scalars))
    names = ", ".join(x.name for x in xs)
    types = ", ".join(x.type for x in xs)
    made = ", ".join(type_of(a) for a in e.results)
    lines = "\n".join(body.lines)
    text = (
        f'"stablehlo.sort"({names}) <{{dimension = {axis} : i64, is_stable = true}}> ({{\n'
        f"{e.indent}^bb0({given}):\n{lines}\n{e.indent}  stablehlo.return {result} : tensor<i1>\n"
        f"{e.indent}}}) : ({types}) -> ({made})"
    )
    return e.add_several("sort", text, e.results)


RULES: dict[str, Any] = {"sort": sort}
