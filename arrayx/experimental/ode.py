"""Ordinary differential equations: `odeint`.

The method of Dormand and Prince of order 5(4) (J. Comput. Appl. Math. 6, 1980) with steps chosen by
its error estimate.  It is differentiated step by step, the lengths of the steps being constants, so
that derivatives of both modes and of any order are those of the numbers that come out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from arrayx import dtypes, errors, flatten_util, lax, tree
from arrayx.api.arguments import check_callable
from arrayx.api.mapping import vmap
from arrayx.core.array import Array
from arrayx.lax import loops
from arrayx.numpy import arithmetic, creation, shapes, statistics, transcendental
from arrayx.numpy.logic import greater, isfinite, logical_and, not_equal
from arrayx.numpy.promotion import as_array, as_type, inexact, promoted_arrays
from arrayx.numpy.selection import where

__all__ = ["odeint"]

# The stages of the method: their times, and what each takes of the slopes before it.
TIMES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
WEIGHTS = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
# The result of order 5, whose stage is the last one, less that of order 4.
ERROR = (
    35 / 384 - 5179 / 57600,
    0.0,
    500 / 1113 - 7571 / 16695,
    125 / 192 - 393 / 640,
    -2187 / 6784 + 92097 / 339200,
    11 / 84 - 187 / 2100,
    -1 / 40,
)
# How a step is made shorter or longer.
SAFETY, LEAST, MOST = 0.9, 0.2, 10.0
# What stands for no bound at all: reverse mode needs one.
UNBOUNDED = 4096
TOLERANCE = 1.4e-8


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    *args: Any,
    rtol: float = TOLERANCE,
    atol: float = TOLERANCE,
    mxstep: float = math.inf,
    hmax: float = math.inf,
) -> Any:
    """The solution of dy/dt = func(y, t, *args) with y = `y0` at the first of the times `t`.

    Differentiable by `y0`, `t`, `args` and what `func` closes over, in forward and in reverse mode
    and to any order; it can be compiled and batched.  Reverse mode keeps about 2·√mxstep values of
    y for each time and solves a second time.

    Args:
        func: a function of the state, the time, and `args`, that gives the slope: a tree like `y0`.
        y0: the first state, a tree of arrays; integers become floats.
        t: a vector of times, ascending or descending.
        args: further arguments of `func`.
        rtol, atol: the error of a step is at most about atol + rtol·|y|; below 16 times the
            rounding of the dtype they are raised to that.
        mxstep: how many steps lead from one time to the next at most; inf stands for 4,096.  Where
            they are not enough, all that follows is nan.
        hmax: the longest step.

    Returns:
        The states at the times `t`, along a new first axis of each leaf of `y0`.

    Raises:
        ArgumentError: `func` is no function, or gives another tree.
        ShapeError: `t` is not a vector, or `func` gives another shape.

    >>> import arrayx.numpy as anp
    >>> times = anp.array([0.0, 1.0, 2.0])
    >>> states = odeint(lambda y, t, rate: -rate * y, 1.0, times, 2.0, rtol=1e-5)
    >>> [round(y, 3) for y in states.tolist()]
    [1.0, 0.135, 0.018]
    """
    check_callable(func, "odeint")
    times = as_array(t, "odeint", "t")
    if times.ndim != 1 or not times.size:
        raise errors.ShapeError(f"odeint: t is a vector of times, got shape {times.shape}")
    leaves, structure = tree.flatten(y0)
    leaves = [as_array(leaf, "odeint", "y0") for leaf in leaves]
    leaves = [as_type(leaf, inexact(leaf.dtype, False)[0]) for leaf in leaves]
    start, unravel = flatten_util.ravel_pytree(tree.unflatten(structure, leaves))
    real = dtypes.real_dtype(start.dtype)
    times = as_type(promoted_arrays((times,), "odeint", ("t",), inexact)[0], real)
    slope = _flat_slope(func, unravel, structure, start, args)
    bound = UNBOUNDED if math.isinf(mxstep) else int(mxstep)
    least = 16 * float(dtypes.finfo(real).eps)
    tolerances = max(float(atol), least), max(float(rtol), least)
    rows = _solved(slope, start, times, tolerances, bound, float(hmax))
    return vmap(unravel)(rows)


def _flat_slope(func: Any, unravel: Any, structure: Any, start: Array, args: Any) -> Any:
    """`func` as a function of a vector and a time, that gives a vector."""

    def slope(y: Array, t: Array) -> Array:
        given = func(unravel(y), t, *args)
        found = tree.structure(given)
        if found != structure:
            raise errors.ArgumentError(
                f"odeint: func has to give the structure of y0, {structure}, but gave {found}"
            )
        leaves = [as_array(leaf, "odeint", "func(y, t)") for leaf in tree.leaves(given)]
        for leaf, like in zip(leaves, tree.leaves(unravel(y)), strict=True):
            if leaf.shape != like.shape:
                raise errors.ShapeError(
                    f"odeint: func has to give the shape of y0, {like.shape}, but gave {leaf.shape}"
                )
        flat = [as_type(shapes.ravel(leaf), start.dtype) for leaf in leaves]
        return shapes.concatenate(flat) if flat else start

    return slope


def _solved(
    slope: Any, start: Array, times: Array, tolerances: tuple[float, float], bound: int, hmax: float
) -> Array:
    """The states at all times, as rows."""
    if times.shape[0] == 1:
        return shapes.expand_dims(start, 0)
    forward = where(greater(times[1], times[0]), 1.0, -1.0).astype(times.dtype)
    first = slope(start, times[0])
    length = _first_length(slope, start, first, times[0], forward, tolerances, hmax)

    def interval(carry: Any, end: Array) -> Any:
        y, f, t, length = carry

        def going(carry: Any) -> Array:
            return not_equal(carry[2], end)  # type: ignore[no-any-return]

        def step(carry: Any) -> Any:
            y, f, t, length = carry
            left = arithmetic.abs(arithmetic.subtract(end, t))
            last = greater(length, left * 0.9999)
            h = arithmetic.multiply(where(last, left, length), forward)
            following, slopes = _stages(slope, y, f, t, h)
            ratio = _error_ratio(y, following, slopes, h, tolerances)
            accepted = ratio <= 1.0
            factor = SAFETY * arithmetic.maximum(ratio, 1e-10) ** -0.2
            factor = arithmetic.clip(factor, LEAST, MOST)
            # A step that was cut to end at a time says nothing of longer ones.
            taken = arithmetic.abs(h)
            proposed = arithmetic.multiply(taken, factor)
            kept = logical_and(logical_and(last, accepted), greater(length, proposed))
            length = lax.stop_gradient(arithmetic.minimum(where(kept, length, proposed), hmax))
            after = where(last, end, arithmetic.add(t, h))
            return (
                where(accepted, following, y),
                where(accepted, slopes[-1], f),
                where(accepted, after, t),
                length.astype(t.dtype),
            )

        y, f, t, length = loops.while_loop(going, step, (y, f, t, length), max_steps=bound)
        # What has not arrived is lost.
        y = where(not_equal(t, end), math.nan, y)
        return (y, f, t, length), y

    # The end of an interval that is the start of the next one moves both.
    _, rows = loops.scan(interval, (start, first, times[0], length), times[1:])
    return shapes.concatenate([shapes.expand_dims(start, 0), rows])


def _combined(weights: Any, slopes: Any) -> Any:
    """The sum of slopes with these weights."""
    parts = [s * w for w, s in zip(weights, slopes, strict=True) if w]
    return sum(parts[1:], parts[0])


def _stages(slope: Any, y: Array, f: Array, t: Array, h: Array) -> tuple[Array, list[Array]]:
    """A step of length `h`: the next state, and the slopes of which the last one is at its end."""
    slopes = [f]
    following = y
    for time, weights in zip(TIMES, WEIGHTS, strict=True):
        following = y + h.astype(y.dtype) * _combined(weights, slopes)
        slopes.append(slope(following, t + h * time))
    return following, slopes


def _error_ratio(y: Array, following: Array, slopes: Any, h: Array, tolerances: Any) -> Array:
    """The estimated error of a step beside the tolerated one; inf where it is not a number."""
    y, following, h = (lax.stop_gradient(x) for x in (y, following, h))
    slopes = [lax.stop_gradient(s) for s in slopes]
    error = h.astype(y.dtype) * _combined(ERROR, slopes)
    size = arithmetic.maximum(arithmetic.abs(y), arithmetic.abs(following))
    ratio = _norm(error, tolerances[0] + tolerances[1] * size)
    return where(isfinite(ratio), ratio, math.inf)  # type: ignore[no-any-return]


def _norm(x: Array, scale: Array) -> Array:
    """The root of the mean of the squares, in units of `scale`."""
    if not x.size:
        return creation.zeros((), dtypes.real_dtype(x.dtype))
    return transcendental.sqrt(statistics.mean(arithmetic.abs(x / scale) ** 2))  # type: ignore[no-any-return]


def _first_length(
    slope: Any, y: Array, f: Array, t: Array, forward: Array, tolerances: Any, hmax: float
) -> Array:
    """How long the first step is (Hairer, Nørsett and Wanner, "Solving Ordinary Differential
    Equations I", II.4)."""
    y, f, t = (lax.stop_gradient(x) for x in (y, f, t))
    scale = tolerances[0] + tolerances[1] * arithmetic.abs(y)
    d0, d1 = _norm(y, scale), _norm(f, scale)
    tiny = logical_and(d0 > 1e-5, d1 > 1e-5)
    h0 = where(tiny, 0.01 * d0 / where(tiny, d1, 1.0), 1e-6)
    step = (h0 * forward).astype(y.dtype)
    ahead = lax.stop_gradient(slope(y + step * f, t + h0 * forward))
    d2 = _norm(ahead - f, scale) / h0
    largest = arithmetic.maximum(d1, d2)
    steady = largest <= 1e-15
    h1 = where(
        steady, arithmetic.maximum(1e-6, h0 * 1e-3), (0.01 / where(steady, 1.0, largest)) ** 0.2
    )
    length = arithmetic.minimum(arithmetic.minimum(100.0 * h0, h1), hmax)
    return lax.stop_gradient(where(isfinite(length), length, 1e-6)).astype(t.dtype)  # type: ignore[no-any-return]
