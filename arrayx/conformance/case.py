"""One row of the conformance table: a function, its operands, and what is true of it.

A row is data; `arrayx.conformance.checks` holds the sentences that are checked of every row.

To add a row, write a line in the file of `arrayx/conformance/cases/` that is named like the
file of the function, inside that file's tuple `CASES`::

    Case("rev", axes.rev, ((3, 4),), {"axes": (1,)}, lambda x, axes: np.flip(x, axes)),

That line gets every check there is: value in every dtype, type, derivatives of both modes and
both orders, batching over every axis, zero sizes, special values, compilation.  What differs
from the usual is said by further fields:

- an operand of its own dtype or domain: `Operand((3,), dtype="int32", domain=(0, 5))`;
- dtypes: `dtypes=REAL` (or FLOATS, INTEGERS, NUMERIC, …, or a tuple of names);
- a sum, whose error is relative to the sum of the magnitudes: `scale=lambda x, axes: ...`;
- several rows for one function: give each a `label`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from arrayx import dtypes

FLOAT8 = ("float8_e4m3fn", "float8_e5m2")
HALF = ("bfloat16", "float16")
FLOATS = ("float32", "float64", *HALF)
COMPLEX = ("complex64", "complex128")
SIGNED = ("int32", "int8", "int16", "int64")
UNSIGNED = ("uint32", "uint8", "uint16", "uint64")
BOOL = ("bool",)
INTEGERS = (*SIGNED, *UNSIGNED)
INEXACT = (*FLOATS, *COMPLEX)
REAL = (*FLOATS, *INTEGERS)
NUMERIC = (*REAL, *COMPLEX)
LOGICAL = (*BOOL, *INTEGERS)
ORDERED = (*REAL, *BOOL)
ANY = (*NUMERIC, *BOOL)

Interval = tuple[float, float]


@dataclass(frozen=True)
class Operand:
    """How one operand of a case is made.

    `dtype` is None where it follows the case's own; `domain` is None where it is the
    case's own; `values` are given elements in place of drawn ones.
    """

    shape: tuple[int, ...]
    dtype: str | None = None
    domain: Interval | None = None
    values: Any = None


@dataclass(frozen=True, eq=False)
class Case:
    """A function with operands, params, a reference, and the facts that the checks need.

    - `name`: of the primitive or the public function.
    - `call`: the function of arrays and params; it gives an array or a tuple.
    - `operands`: each an `Operand`, or just its shape.
    - `params`: handed on by keyword to `call`, `reference` and `scale`.
    - `reference`: the truth, a function of NumPy arrays: floats come as float64, complex
      numbers as complex128, integers and booleans as they are.
    - `dtypes`: the names of those to try; float64 stands for all where one is enough.
    - `domain`: the interval that elements are drawn from, both parts of complex ones.
    - `ulps`, `scale`: a result may be off by `ulps * eps(dtype) * scale(*operands, **params)`;
      without `scale` it is the magnitude of the reference.
    - `differentiable`: the numbers of the operands with a derivative; None for all of inexact
      dtype, () for none.
    - `second_order`: False where second derivatives are not to be compared.
    - `special`: False where nan, infinities and signed zeros are not compared.
    - `signed_zeros`: False where the sign of a zero is left open.
    - `literals`: the numbers of the operands for which a Python scalar may stand.
    - `placed`: False where the function itself is given no array, so that its result lies where
      the default backend makes it.
    - `label`: tells rows of one function apart.
    - `covers`: further primitives for which this row counts as a case.
    """

    name: str
    call: Callable[..., Any]
    operands: tuple[Any, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    reference: Callable[..., Any] | None = None
    dtypes: tuple[str, ...] = ANY
    domain: Interval = (-3.0, 3.0)
    ulps: float = 4.0
    scale: Callable[..., Any] | None = None
    differentiable: tuple[int, ...] | None = None
    second_order: bool = True
    special: bool = True
    signed_zeros: bool = True
    literals: tuple[int, ...] = ()
    placed: bool = True
    label: str = ""
    covers: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The name of the row in a test report."""
        return f"{self.name}-{self.label}" if self.label else self.name

    @cached_property
    def specs(self) -> tuple[Operand, ...]:
        """The operands, shapes alone made into `Operand`s."""
        return tuple(o if isinstance(o, Operand) else Operand(tuple(o)) for o in self.operands)

    @property
    def main_dtype(self) -> str:
        """The dtype that stands for all: float64 where the case has it."""
        if "float64" in self.dtypes:
            return "float64"
        return "complex128" if "complex128" in self.dtypes else self.dtypes[0]

    def derivative_dtypes(self) -> tuple[str, ...]:
        """The wide dtypes in which derivatives are compared with differences."""
        wide = tuple(d for d in ("float64", "complex128") if d in self.dtypes)
        if wide or not any(o.dtype in ("float64", "complex128") for o in self.specs):
            return wide
        return self.dtypes[:1]

    def active(self, arrays: tuple[np.ndarray, ...]) -> tuple[bool, ...]:
        """Which of these operands have a derivative."""
        inexact = [dtypes.kind(a.dtype) in ("float", "complex") for a in arrays]
        if self.differentiable is None:
            return tuple(inexact)
        return tuple(i in self.differentiable and ok for i, ok in enumerate(inexact))

    def draw(self, dtype: str, seed: int = 0) -> tuple[np.ndarray, ...]:
        """Operands for the checks: the same ones for the same arguments."""
        rng = np.random.default_rng(zlib.crc32(f"{self.id}/{dtype}/{seed}".encode()))
        return tuple(
            drawn(rng, o.shape, o.dtype or dtype, o.domain or self.domain, o.values)
            for o in self.specs
        )

    def with_shapes(self, dtype: str, shape: tuple[int, ...]) -> tuple[np.ndarray, ...]:
        """Operands that all have another shape: for elementwise functions."""
        rng = np.random.default_rng(zlib.crc32(f"{self.id}/{dtype}/{shape}".encode()))
        return tuple(
            drawn(rng, shape, o.dtype or dtype, o.domain or self.domain, None) for o in self.specs
        )


def drawn(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    dtype_name: str,
    domain: Interval,
    values: Any = None,
) -> np.ndarray:
    """An array of elements from `domain`, or of the given values."""
    dtype: Any = dtypes.as_dtype(dtype_name)
    if values is not None:
        return np.asarray(values).astype(dtype).reshape(shape)
    kind = dtypes.kind(dtype)
    low, high = domain
    if kind == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if kind in ("int", "uint"):
        limits = dtypes.iinfo(dtype)
        first, last = (
            min(max(bound, int(limits.min)), int(limits.max))
            for bound in (int(np.ceil(low)), int(np.floor(high)))
        )
        return rng.integers(first, last, shape, dtype=dtype, endpoint=True)
    if kind == "complex":
        return (rng.uniform(low, high, shape) + 1j * rng.uniform(low, high, shape)).astype(dtype)
    return rng.uniform(low, high, shape).astype(dtype)


def widened(array: Any) -> np.ndarray:
    """An array in the dtype that references take: float64, complex128, or its own."""
    given: np.ndarray = np.asarray(array)
    wide = {"float": np.float64, "complex": np.complex128}.get(dtypes.kind(given.dtype))
    return given if wide is None else given.astype(wide)


def as_tuple(result: Any) -> tuple[Any, ...]:
    """The results of a function that gives one or several."""
    return tuple(result) if isinstance(result, tuple | list) else (result,)
