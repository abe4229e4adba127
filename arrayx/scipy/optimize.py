"""Minima of functions of several variables, found with gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from arrayx import dtypes, errors
from arrayx.api.autodiff import value_and_grad
from arrayx.core.array import Array
from arrayx.lax.loops import while_loop
from arrayx.numpy import arithmetic, logic
from arrayx.numpy.contraction import dot, matmul, outer
from arrayx.numpy.linalg.norms import norm
from arrayx.numpy.matrices import eye
from arrayx.numpy.naming import at_home
from arrayx.numpy.promotion import as_array, as_type
from arrayx.numpy.selection import where

__all__ = ["OptimizeResults", "minimize"]

# How much a step must lower the function, and how much its slope: Wolfe's conditions with the
# usual constants.
_DECREASE, _CURVATURE = 1e-4, 0.9


class OptimizeResults(NamedTuple):
    """What `minimize` found.

    - `x`, `fun`, `jac`: the place, the function there, and its gradient.
    - `hess_inv`: the inverse of the Hessian, estimated.
    - `success`, `status`: whether the gradient got small; 0 if so, 1 after too many steps, 3
      where no step lowered the function enough.
    - `nfev`, `njev`, `nit`: numbers of functions, gradients and steps.
    """

    x: Array
    success: Any
    status: Any
    fun: Array
    jac: Array
    hess_inv: Array | None
    nfev: Any
    njev: Any
    nit: Any


@at_home
def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """A local minimum of `fun`, a function of a vector and `args` that gives a scalar.

    `method` is "BFGS".  `options` are `maxiter`, by default 200 for each variable; `gtol`, the
    gradient's norm at which to end, by default `tol` or 1e-5; `norm`, its order, by default inf;
    and `line_search_maxiter`, by default 10.

    Raises `ArgumentError` for another method or option, `ShapeError` unless `x0` is a vector.

    Source: J. Nocedal and S. Wright, Numerical Optimization, 2nd ed., algorithms 6.1, 3.5, 3.6.

    >>> import arrayx.numpy as anp
    >>> found = minimize(lambda x: ((x - anp.array([1.0, 2.0])) ** 2).sum(), anp.zeros(2),
    ...     method="BFGS")
    >>> [round(v, 3) for v in found.x.tolist()], bool(found.success)
    ([1.0, 2.0], True)
    """
    function = "scipy.optimize.minimize"
    if str(method).lower() != "bfgs":
        raise errors.ArgumentError(f"{function}: the method is 'BFGS', not {method!r}")
    given = dict(options or {})
    maxiter = given.pop("maxiter", None)
    gtol = given.pop("gtol", 1e-5 if tol is None else tol)
    order = given.pop("norm", np.inf)
    searches = given.pop("line_search_maxiter", 10)
    if given:
        raise errors.ArgumentError(f"{function}: there are no options {sorted(given)}")
    x = as_array(x0, function, "x0")
    if x.ndim != 1:
        raise errors.ShapeError(f"{function}: x0 must be a vector, got shape {x.shape}")
    x = as_type(x, dtypes.float_for(x.dtype))
    both = value_and_grad(lambda v: fun(v, *args))
    return _bfgs(both, x, 200 * x.shape[0] if maxiter is None else maxiter, gtol, order, searches)


def _bfgs(
    both: Callable[[Any], Any], x: Array, maxiter: int, gtol: Any, order: Any, searches: int
) -> OptimizeResults:
    """Steps along the gradient, times an estimate of the Hessian's inverse."""
    value, slope = both(x)
    identity = eye(x.shape[0], dtype=x.dtype)
    start = {
        "x": x,
        "fun": value,
        "jac": slope,
        "inverse": identity,
        "steps": 0,
        "calls": 1,
        "failed": False,
    }

    def small(state: Any) -> Any:
        return logic.less(norm(state["jac"], order), gtol)

    def going(state: Any) -> Any:
        stopped = logic.logical_or(state["failed"], small(state))
        return logic.logical_and(logic.logical_not(stopped), state["steps"] < maxiter)

    def step(state: Any) -> Any:
        x, jac, inverse = state["x"], state["jac"], state["inverse"]
        direction = arithmetic.negative(matmul(inverse, jac))
        found = _line_search(both, x, direction, state["fun"], jac, searches)
        s = arithmetic.multiply(found["length"], direction)
        y = arithmetic.subtract(found["jac"], jac)
        curvature = dot(s, y)
        # Without curvature along the step there is nothing to learn of the inverse.
        known = logic.greater(curvature, 0)
        rho = arithmetic.divide(1, where(known, curvature, 1))
        left = arithmetic.subtract(identity, arithmetic.multiply(rho, outer(s, y)))
        updated = matmul(matmul(left, inverse), left.T)
        updated = arithmetic.add(updated, arithmetic.multiply(rho, outer(s, s)))
        return {
            "x": arithmetic.add(x, s),
            "fun": found["fun"],
            "jac": found["jac"],
            "inverse": where(known, updated, inverse),
            "steps": state["steps"] + 1,
            "calls": state["calls"] + found["calls"],
            "failed": found["failed"],
        }

    end = while_loop(going, step, start)
    success = small(end)
    status = where(success, 0, where(end["failed"], 3, 1))
    return OptimizeResults(
        end["x"],
        success,
        status,
        end["fun"],
        end["jac"],
        end["inverse"],
        end["calls"],
        end["calls"],
        end["steps"],
    )


def _line_search(
    both: Callable[[Any], Any], x: Array, direction: Array, value: Array, jac: Array, most: int
) -> dict[str, Any]:
    """A step length that satisfies Wolfe's strong conditions, with what is known there."""
    slope = dot(jac, direction)

    def at(length: Any) -> Any:
        value_there, jac_there = both(arithmetic.add(x, arithmetic.multiply(length, direction)))
        return value_there, jac_there, dot(jac_there, direction)

    def too_high(length: Any, value_there: Any) -> Any:
        line = arithmetic.add(value, arithmetic.multiply(_DECREASE * length, slope))
        return logic.logical_not(logic.less_equal(value_there, line))

    def flat(slope_there: Any) -> Any:
        return logic.less_equal(abs(slope_there), arithmetic.multiply(-_CURVATURE, slope))

    zero = arithmetic.multiply(slope, 0)
    ends = {"low": (zero, value, slope), "high": (zero, value, slope)}
    state = {
        **ends,
        "length": arithmetic.add(zero, 1),
        "before": (zero, value, slope),
        "fun": value,
        "jac": jac,
        "count": 0,
        "bracketed": False,
        "done": False,
    }

    def widening(s: Any) -> Any:
        open_ = logic.logical_not(logic.logical_or(s["bracketed"], s["done"]))
        return logic.logical_and(open_, s["count"] < most)

    def widen(s: Any) -> Any:
        length = s["length"]
        value_there, jac_there, slope_there = at(length)
        here = (length, value_there, slope_there)
        rises = logic.logical_and(
            logic.greater_equal(value_there, s["before"][1]), logic.greater(s["count"], 0)
        )
        beyond = logic.logical_or(too_high(length, value_there), rises)
        done = logic.logical_and(logic.logical_not(beyond), flat(slope_there))
        turned = logic.greater_equal(slope_there, 0)
        bracketed = logic.logical_and(logic.logical_or(beyond, turned), logic.logical_not(done))
        going_on = logic.logical_not(logic.logical_or(bracketed, done))
        return {
            "low": tuple(where(beyond, b, h) for b, h in zip(s["before"], here, strict=True)),
            "high": tuple(where(beyond, h, b) for b, h in zip(s["before"], here, strict=True)),
            "length": where(going_on, 2 * length, length),
            "before": here,
            "fun": value_there,
            "jac": jac_there,
            "count": s["count"] + 1,
            "bracketed": bracketed,
            "done": done,
        }

    def narrowing(s: Any) -> Any:
        open_ = logic.logical_and(s["bracketed"], logic.logical_not(s["done"]))
        return logic.logical_and(open_, s["count"] < 3 * most)

    def narrow(s: Any) -> Any:
        low, high = s["low"], s["high"]
        length = _between(low, high)
        value_there, jac_there, slope_there = at(length)
        here = (length, value_there, slope_there)
        worse = logic.logical_or(
            too_high(length, value_there), logic.greater_equal(value_there, low[1])
        )
        done = logic.logical_and(logic.logical_not(worse), flat(slope_there))
        # The better end stays on the side where the function falls from it.
        away = logic.greater_equal(
            arithmetic.multiply(slope_there, arithmetic.subtract(high[0], low[0])), 0
        )
        new_high = tuple(
            where(worse, n, where(away, a, b)) for n, a, b in zip(here, low, high, strict=True)
        )
        return {
            **s,
            "low": tuple(where(worse, a, n) for a, n in zip(low, here, strict=True)),
            "high": new_high,
            "length": length,
            "fun": value_there,
            "jac": jac_there,
            "count": s["count"] + 1,
            "done": done,
        }

    state = while_loop(narrowing, narrow, while_loop(widening, widen, state))
    # Without such a length, the last one will do if it lowers the function at all.
    lower = logic.less(state["fun"], value)
    good = logic.logical_or(state["done"], lower)
    return {
        "length": where(good, state["length"], 0),
        "fun": where(good, state["fun"], value),
        "jac": where(good, state["jac"], jac),
        "calls": state["count"],
        "failed": logic.logical_not(good),
    }


def _between(low: Any, high: Any) -> Any:
    """Where the parabola through both ends, with the slope at the better one, has its minimum.

    The middle, where that is not well inside.
    """
    width = arithmetic.subtract(high[0], low[0])
    bend = arithmetic.subtract(
        arithmetic.subtract(high[1], low[1]), arithmetic.multiply(low[2], width)
    )
    share = arithmetic.divide(
        arithmetic.multiply(-0.5, arithmetic.multiply(low[2], width)), where(bend == 0, 1, bend)
    )
    inside = logic.logical_and(share > 0.1, share < 0.9)
    return arithmetic.add(low[0], arithmetic.multiply(where(inside, share, 0.5), width))
