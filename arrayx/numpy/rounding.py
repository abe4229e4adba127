"""Rounding to whole numbers and decimals."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.core.interpreter import Tracer
from arrayx.numpy.arithmetic import (
    add,
    floor_divide,
    multiply,
    remainder,
    subtract,
)
from arrayx.numpy.composing import composed
from arrayx.numpy.functions import array_of, unary
from arrayx.numpy.naming import named, refuse_out
from arrayx.numpy.promotion import LITERALS, as_numbers, inexact
from arrayx.primitives import arithmetic, bitwise, combined, numeric
from arrayx.primitives import complex as complex_parts
from arrayx.primitives.arithmetic import eq, lt, ne, select
from arrayx.primitives.creation import fill


@named
def modf(x: Any, /) -> tuple[Array, Array]:
    """The fractional and the whole part of `x`, each with the sign of `x`.

    >>> import arrayx.numpy as anp
    >>> [part.tolist() for part in anp.modf(anp.asarray([1.5, -2.25]))]
    [[0.5, -0.25], [1.0, -2.0]]
    """
    x = array_of(x, "modf", inexact)
    # The remainder keeps the sign of x where it is 0.
    infinite = eq(numeric.abs(x), float("inf"))
    zero = combined.copysign(fill(x.aval.shape, x.aval.dtype, 0.0, x.aval.weak_type), x)
    return select(infinite, zero, numeric.rem(x, 1.0)), trunc(x)


def _unchanged(x: Any) -> Any:
    return x


_WHOLE = {"int": _unchanged, "uint": _unchanged, "bool": _unchanged}


floor = unary(
    "floor",
    numeric.floor,
    "The largest whole number that is at most `x`.",
    """
>>> anp.floor(anp.asarray([1.5, -1.5])).tolist()
[1.0, -2.0]""",
    by_kind=_WHOLE,
)


ceil = unary(
    "ceil",
    numeric.ceil,
    "The smallest whole number that is at least `x`.",
    """
>>> anp.ceil(anp.asarray([1.5, -1.5])).tolist()
[2.0, -1.0]""",
    by_kind=_WHOLE,
)


def _trunc(x: Array) -> Any:
    return select(lt(x, 0.0), numeric.ceil(x), numeric.floor(x))


trunc = fix = unary(
    "trunc",
    _trunc,
    "`x` without its fraction.",
    """
>>> anp.trunc(anp.asarray([1.5, -1.5])).tolist()
[1.0, -1.0]""",
    by_kind=_WHOLE,
)


def _rint(x: Array) -> Any:
    if dtypes.kind(x.aval.dtype) == "complex":
        parts = complex_parts.real(x), complex_parts.imag(x)
        return complex_parts.complex(*map(numeric.round, parts))
    return numeric.round(x)


rint = unary(
    "rint",
    _rint,
    "`x` rounded to the nearest whole number, halves to the even one.",
    """
>>> anp.rint(anp.asarray([0.5, 1.5, -0.7])).tolist()
[0.0, 2.0, -1.0]""",
    result_of=inexact,
)


@composed
def round(a: Any, decimals: int = 0, out: None = None) -> Array:
    """`a` rounded to `decimals` places after the point, halves to even; keeps the dtype.

    >>> import arrayx.numpy as anp
    >>> anp.round(anp.asarray([0.125, 2.5]), 2).tolist()
    [0.11999999731779099, 2.5]
    """
    refuse_out(out, "round")
    x = array_of(a, "round")
    try:
        decimals = operator.index(decimals)
    except TypeError:
        raise errors.ArgumentError(
            f"round: decimals must be an integer, got {decimals!r}"
        ) from None
    which = dtypes.kind(x.aval.dtype)
    if which not in ("float", "complex"):
        if decimals >= 0:
            return x
        if which == "bool":
            raise errors.DtypeError("round: booleans have no decimals")
        step = 10**-decimals
        if not dtypes.scalar_fits(step, x.aval.dtype):
            return multiply(x, 0)
        low = remainder(x, step)
        up = add(x, subtract(step, low))
        down = subtract(x, low)
        twice = multiply(low, 2)
        odd = ne(remainder(floor_divide(x, step), 2), 0)
        tie = bitwise.bitwise_and(eq(twice, step), odd)
        over = arithmetic.gt(twice, step)
        return select(bitwise.bitwise_or(over, tie), up, down)  # type: ignore[no-any-return]
    if decimals == 0:
        return _rint(x)  # type: ignore[no-any-return]
    factor = LITERALS[which](10.0**decimals)
    return numeric.div(_rint(arithmetic.mul(x, factor)), factor)  # type: ignore[no-any-return]


around = round


def rounded(a: Any, ndigits: int | None = None) -> Array:
    """What Python's `round(a, ndigits)` gives; see `anp.round`."""
    return round(a, ndigits or 0)


@named
def real_if_close(a: Any, tol: float = 100.0) -> Array:
    """The real parts of `a` where all imaginary parts are below `tol`, else `a`.

    A `tol` above 1 counts in units of the dtype's machine epsilon.  The dtype of the result depends
    on the elements of a complex array, so these must be known: under `jit` and `vmap` it raises,
    and `anp.real` does what is meant.

    >>> import arrayx.numpy as anp
    >>> anp.real_if_close(anp.array([1 + 1e-9j])).tolist()
    [1.0]
    """
    x = as_numbers(a, "real_if_close", "a")
    if dtypes.kind(x.aval.dtype) != "complex":
        return x
    known: Any = x.concrete("anp.real_if_close") if isinstance(x, Tracer) else x
    bound = tol * float(dtypes.finfo(x.aval.dtype).eps) if tol > 1 else tol
    close = bool((np.abs(np.asarray(known).imag) < bound).all())
    return complex_parts.real(x) if close else x  # type: ignore[no-any-return]
