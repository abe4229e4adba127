"""Polynomials as vectors of their coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic
from arrayx.numpy.creation import asarray, full_like, zeros_like
from arrayx.numpy.naming import named
from arrayx.numpy.promotion import (
    as_array,
    as_type,
    broadcast_shapes,
    broadcast_to_shape,
    promoted_arrays,
)
from arrayx.numpy.ranges import concrete_index
from arrayx.numpy.selection import concrete_array
from arrayx.numpy.shapes import atleast_1d, concatenate, stack
from arrayx.numpy.signals import convolve
from arrayx.primitives.arithmetic import add, mul


def _vectors(function: str, **given: Any) -> list[Array]:
    arrays = promoted_arrays([asarray(a) for a in given.values()], function, tuple(given))
    for name, a in zip(given, arrays, strict=True):
        if a.ndim > 1:
            raise errors.ShapeError(
                f"{function}: {name} must be a vector of coefficients, got shape {a.shape}"
            )
    return [atleast_1d(a) for a in arrays]


def _lengthened(p: Array, length: int) -> Array:
    missing = length - p.shape[0]
    return concatenate([zeros_like(p, shape=(missing,)), p]) if missing else p


@named
def polyval(p: Any, x: Any, *, unroll: int = 16) -> Array:
    """The polynomial with coefficients `p` at `x`, by Horner's scheme.

    `p` may have more axes, which are broadcast against `x`.

    >>> import arrayx.numpy as anp
    >>> float(anp.polyval(anp.array([2.0, 0.0, 1.0]), 3.0))
    19.0
    """
    coefficients, points = promoted_arrays((asarray(p), x), "polyval", ("p", "x"))
    if coefficients.ndim == 0:
        raise errors.ShapeError("polyval: p must be a vector of coefficients, got a number")
    shape = broadcast_shapes(coefficients.shape[1:], points.shape)
    points = broadcast_to_shape(points, shape)
    if not coefficients.shape[0]:
        return zeros_like(points)
    result = broadcast_to_shape(coefficients[0], shape)
    for i in range(1, coefficients.shape[0]):
        result = add(mul(result, points), broadcast_to_shape(coefficients[i], shape))
    return result


@named
def polyadd(a1: Any, a2: Any) -> Array:
    """The sum of two polynomials.

    >>> import arrayx.numpy as anp
    >>> anp.polyadd(anp.array([1, 2]), anp.array([1, 0, 0])).tolist()
    [1, 1, 2]
    """
    p, q = _vectors("polyadd", a1=a1, a2=a2)
    length = max(p.shape[0], q.shape[0])
    return arithmetic.add(_lengthened(p, length), _lengthened(q, length))


@named
def polysub(a1: Any, a2: Any) -> Array:
    """The difference of two polynomials.

    >>> import arrayx.numpy as anp
    >>> anp.polysub(anp.array([1, 2]), anp.array([1, 0, 0])).tolist()
    [-1, 1, 2]
    """
    p, q = _vectors("polysub", a1=a1, a2=a2)
    length = max(p.shape[0], q.shape[0])
    return arithmetic.subtract(_lengthened(p, length), _lengthened(q, length))


def _trimmed(p: Array, function: str) -> Array:
    """`p` without leading zeros, which have to be known now."""
    host = np.asarray(concrete_array(p, function, "trim_leading_zeros=False instead of True"))
    found = np.flatnonzero(host)
    return p[int(found[0]) :] if found.size else p[-1:]


@named
def polymul(a1: Any, a2: Any, *, trim_leading_zeros: bool = False) -> Array:
    """The product of two polynomials.

    `trim_leading_zeros` drops zeros in front, as NumPy does, which needs known coefficients.

    >>> import arrayx.numpy as anp
    >>> anp.polymul(anp.array([1, 1]), anp.array([1, -1])).tolist()
    [1, 0, -1]
    """
    p, q = _vectors("polymul", a1=a1, a2=a2)
    if trim_leading_zeros:
        p, q = _trimmed(p, "polymul"), _trimmed(q, "polymul")
    return convolve(p, q)


@named
def polydiv(u: Any, v: Any, *, trim_leading_zeros: bool = False) -> tuple[Array, Array]:
    """Quotient and remainder of two polynomials; the remainder keeps its leading zeros.

    `trim_leading_zeros` drops them, as NumPy does, which needs known coefficients.

    >>> import arrayx.numpy as anp
    >>> q, r = anp.polydiv(anp.array([1.0, 0.0, -1.0]), anp.array([1.0, 1.0]))
    >>> q.tolist(), r.tolist()
    ([1.0, -1.0], [0.0, 0.0, 0.0])
    """
    p, q = _vectors("polydiv", u=u, v=v)
    dtype = dtypes.float_for(p.dtype)
    rest, divisor = as_type(p, dtype), as_type(q, dtype)
    m, n = rest.shape[0], divisor.shape[0]
    steps = max(m - n + 1, 1)
    if m < n:
        quotient = zeros_like(rest, shape=(1,))
    else:
        digits = []
        for i in range(steps):
            digit = arithmetic.divide(rest[i], divisor[0])
            rest = rest.at[i : i + n].add(-arithmetic.multiply(digit, divisor))  # type: ignore[attr-defined]
            rest = rest.at[i].set(0)  # type: ignore[attr-defined]
            digits.append(digit)
        quotient = stack(digits)
    return quotient, _trimmed(rest, "polydiv") if trim_leading_zeros else rest


@named
def polyder(p: Any, m: int = 1) -> Array:
    """The derivative number `m` of a polynomial.

    >>> import arrayx.numpy as anp
    >>> anp.polyder(anp.array([1, 0, 5, 7])).tolist()
    [3, 0, 5]
    """
    (x,) = _vectors("polyder", p=p)
    order = concrete_index(m, "polyder", "m")
    if order < 0:
        raise errors.ArgumentError(f"polyder: the order is negative: {order}")
    for _ in range(order):
        powers = np.arange(x.shape[0] - 1, 0, -1)
        x = arithmetic.multiply(x[:-1], as_type(asarray(powers), x.dtype))
    return x


@named
def polyint(p: Any, m: int = 1, k: Any = None) -> Array:
    """The integral number `m` of a polynomial, with the constants `k` (0) of integration.

    >>> import arrayx.numpy as anp
    >>> anp.polyint(anp.array([2.0, 3.0])).tolist()
    [1.0, 3.0, 0.0]
    """
    order = concrete_index(m, "polyint", "m")
    if order < 0:
        raise errors.ArgumentError(f"polyint: the order is negative: {order}")
    (x, constants) = _vectors("polyint", p=p, k=0 if k is None else k)
    dtype = dtypes.float_for(x.dtype)
    x, constants = as_type(x, dtype), as_type(constants, dtype)
    if constants.shape == (1,):
        constants = broadcast_to_shape(constants, (order,))
    if constants.shape != (order,):
        raise errors.ShapeError(
            f"polyint: k must hold one constant, or {order}; got shape {constants.shape}"
        )
    for i in range(order):
        powers = np.arange(x.shape[0], 0, -1)
        x = arithmetic.divide(x, as_type(asarray(powers), dtype))
        x = concatenate([x, constants[i : i + 1]])
    return x


@named
def poly(seq_of_zeros: Any) -> Array:
    """The polynomial with these roots and leading coefficient 1.

    >>> import arrayx.numpy as anp
    >>> anp.poly(anp.array([1.0, -1.0])).tolist()
    [1.0, 0.0, -1.0]
    """
    roots = as_array(asarray(seq_of_zeros), "poly", "seq_of_zeros")
    if roots.ndim != 1:
        raise errors.ShapeError(
            f"poly takes a vector of roots, got an array of shape {roots.shape}; the "
            "characteristic polynomial of a matrix needs its eigenvalues"
        )
    roots = as_type(roots, dtypes.float_for(roots.dtype))
    if not roots.shape[0]:
        return full_like(roots, 1, shape=())  # as NumPy has it
    result = full_like(roots, 1, shape=(1,))
    for i in range(roots.shape[0]):
        factor = concatenate(
            [full_like(roots, 1, shape=(1,)), arithmetic.negative(roots[i : i + 1])]
        )
        result = convolve(result, factor)
    return result
