"""`x.at[index].set(values)` and its kin: arrays with some elements changed.

Windows that are slices are written by `dynamic_update_slice`, all else by `scatter`.  What is
known now to lie outside raises; what is known only when the program runs is dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayx import dtypes
from arrayx.core.array import Array
from arrayx.numpy import arithmetic
from arrayx.numpy.indexing import (
    take,
)
from arrayx.numpy.promotion import (
    placed_like,
)
from arrayx.numpy.scattering import check_mode, updated
from arrayx.primitives.creation import fill as full_of


class At:
    """What `x.at` is: `x.at[index]` names a place, whose methods give the changed array.

    >>> import arrayx.numpy as anp
    >>> anp.zeros(3).at[1].set(5.0).tolist()
    [0.0, 5.0, 0.0]
    """

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        self.array = array

    def __getitem__(self, index: Any) -> Place:
        return Place(self.array, index)

    def __repr__(self) -> str:
        return f"At({self.array!r})"


class Place:
    """A place in an array.  Every method gives a new array, except `get`, which reads.

    `mode` says what an index outside of the array means: "fill" or "drop" (reads give
    `fill_value`, writes do nothing), "clip" (the nearest element), "wrap" (counted on from the
    other end), "promise_in_bounds" (there is none).  Without it an index that is known now
    raises `IndexOutOfBoundsError` and a traced one is treated as in "fill".  `unique_indices` is
    the promise that no element is meant twice; `indices_are_sorted` is taken and not needed.
    """

    __slots__ = ("array", "index")

    def __init__(self, array: Array, index: Any) -> None:
        self.array = array
        self.index = index

    def __repr__(self) -> str:
        return f"Place({self.array!r}, {self.index!r})"

    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | None = None,
        fill_value: Any = None,
    ) -> Array:
        """The elements there."""
        return take(self.array, self.index, check_mode(mode), fill_value)

    def set(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | None = None,
    ) -> Array:
        """The array with `values` there; where an element is meant twice the last one counts."""
        return updated(self.array, self.index, values, "set", mode, unique_indices)

    def add(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | None = None,
    ) -> Array:
        """The array with `values` added there, as often as an element is meant."""
        return updated(self.array, self.index, values, "add", mode, unique_indices)

    def subtract(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | None = None,
    ) -> Array:
        """The array with `values` subtracted there."""
        values = arithmetic.negative(values)
        return updated(self.array, self.index, values, "add", mode, unique_indices)

    sub = subtract

    def multiply(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | None = None,
    ) -> Array:
        """The array multiplied by `values` there."""
        return updated(self.array, self.index, values, "mul", mode, unique_indices)

    mul = multiply

    def divide(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | None = None,
    ) -> Array:
        """The array divided by `values` there."""
        return arithmetic.divide(self.array, self._factors(values, mode, unique_indices))

    def power(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | None = None,
    ) -> Array:
        """The array to the power `values` there."""
        return arithmetic.power(self.array, self._factors(values, mode, unique_indices))

    def min(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | None = None,
    ) -> Array:
        """The array with the smaller of its elements and `values` there."""
        return updated(self.array, self.index, values, "min", mode, unique_indices)

    def max(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | None = None,
    ) -> Array:
        """The array with the larger of its elements and `values` there."""
        return updated(self.array, self.index, values, "max", mode, unique_indices)

    def apply(
        self,
        func: Callable[[Array], Any],
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | None = None,
    ) -> Array:
        """The array with `func` of its elements there, applied once however often one is meant."""
        old = take(self.array, self.index, check_mode(mode))
        return updated(self.array, self.index, func(old), "set", mode, unique_indices)

    def _factors(self, values: Any, mode: str | None, unique: bool) -> Array:
        aval = self.array.aval
        one = {"bool": True, "float": 1.0, "complex": 1 + 0j}.get(dtypes.kind(aval.dtype), 1)
        with placed_like(self.array):
            ones = full_of(aval.shape, aval.dtype, one)
        return updated(ones, self.index, values, "mul", mode, unique)
