"""Where an element of a value is found: sums of loop counters, and views as maps of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class Index:
    """A sum of whole multiples of loop counters (by axis) and of names, and a constant."""

    __slots__ = ("constant", "terms")

    def __init__(self, terms: Mapping[Any, int] | None = None, constant: int = 0) -> None:
        self.terms = {k: c for k, c in (terms or {}).items() if c}
        self.constant = constant

    def plus(self, other: Index, times: int = 1) -> Index:
        terms = dict(self.terms)
        for k, c in other.terms.items():
            terms[k] = terms.get(k, 0) + c * times
        return Index(terms, self.constant + other.constant * times)

    def is_counter(self, axis: int) -> bool:
        """True for the counter of this axis and nothing else."""
        return self.constant == 0 and self.terms == {axis: 1}

    def value(self, counters: Mapping[int, Any]) -> int | str:
        """The sum for these counters: a number where all are, else text."""
        constant, parts = self.constant, []
        for k, c in self.terms.items():
            counter = counters[k] if isinstance(k, int) else k
            if isinstance(counter, int):
                constant += c * counter
            else:
                parts.append(counter if c == 1 else f"{counter} * {c}")
        if not parts:
            return constant
        if constant:
            parts.append(str(constant))
        return " + ".join(parts)


ZERO = Index()


def counters(shape: tuple[int, ...]) -> tuple[list[Index], list[int]]:
    """An index for each axis of a shape, and the loops' lengths: axes of length 1 have none."""
    indices, lengths = [], []
    for n in shape:
        if n == 1:
            indices.append(ZERO)
        else:
            indices.append(Index({len(lengths): 1}))
            lengths.append(n)
    return indices, lengths


def strides(shape: tuple[int, ...]) -> list[int]:
    """Row-major strides, in elements."""
    result, step = [], 1
    for n in reversed(shape):
        result.append(step)
        step *= n
    return result[::-1]


def flat(shape: tuple[int, ...], indices: list[Index]) -> Index:
    """The place in a contiguous array."""
    total = ZERO
    for n, step, i in zip(shape, strides(shape), indices, strict=True):
        if n != 1:
            total = total.plus(i, step)
    return total


@dataclass(eq=False)
class Stored:
    """Memory in the program: a contiguous array, by name, with a place where it begins."""

    name: str
    shape: tuple[int, ...]
    dtype: Any
    first: Index = field(default_factory=Index)

    def place(self, indices: list[Index]) -> Index:
        return flat(self.shape, indices).plus(self.first)


@dataclass(eq=False)
class Scalar:
    """A number in the program, by name or as a literal; of an array of one element too."""

    name: str
    dtype: Any


@dataclass(eq=False)
class View:
    """Elements of another value (or none), through a map of indices."""

    equation: Any
    # Names of starts, for a window that is moved at run time.
    starts: tuple[Any, ...] = ()


VIEWS = frozenset(
    {"broadcast_in_dim", "transpose", "slice", "rev", "full", "iota", "reshape", "dynamic_slice"}
)


def is_view(e: Any) -> bool:
    """True for an equation that only moves elements, in a way that `through` knows."""
    return e.primitive.name in VIEWS and len(e.outputs) == 1


def keeps_axes(e: Any) -> bool:
    """True for a reshape that only adds or drops axes of length 1."""
    old = [n for n in e.inputs[0].aval.shape if n != 1]
    return old == [n for n in e.outputs[0].aval.shape if n != 1]


def through(view: View, indices: list[Index]) -> list[Index]:
    """The indices into the operand of a view."""
    e = view.equation
    name, params = e.primitive.name, e.params
    shape = e.inputs[0].aval.shape
    if name == "broadcast_in_dim":
        return [ZERO if n == 1 else indices[d] for n, d in zip(shape, params["dims"], strict=True)]
    if name == "transpose":
        result = [ZERO] * len(shape)
        for out, axis in enumerate(params["perm"]):
            result[axis] = indices[out]
        return result
    if name == "slice":
        return [
            Index(constant=start).plus(i, stride)
            for i, start, stride in zip(indices, params["starts"], params["strides"], strict=True)
        ]
    if name == "rev":
        return [
            Index(constant=n - 1).plus(i, -1) if axis in params["axes"] else i
            for axis, (n, i) in enumerate(zip(shape, indices, strict=True))
        ]
    if name == "dynamic_slice":
        return [i.plus(s) for i, s in zip(indices, view.starts, strict=True)]
    assert name == "reshape"
    kept = [i for n, i in zip(e.outputs[0].aval.shape, indices, strict=True) if n != 1]
    given = iter(kept)
    return [ZERO if n == 1 else next(given) for n in shape]
