"""Integrals of functions that are given by samples, and differential equations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from arrayx import errors
from arrayx.core.array import Array
from arrayx.experimental import ode
from arrayx.numpy import cumulative

__all__ = ["odeint", "trapezoid"]


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """The integral of samples `y` at `x`, or `dx` apart, joined by straight lines.

    >>> import numpy as np
    >>> float(trapezoid(np.array([0.0, 1.0, 2.0])))
    2.0
    """
    return cumulative.trapezoid(y, x, dx, axis)


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    args: tuple[Any, ...] = (),
    *,
    rtol: float | None = None,
    atol: float | None = None,
    hmax: float = 0.0,
    mxstep: int = 0,
    tfirst: bool = False,
) -> Any:
    """The solution of dy/dt = func(y, t, *args) at the times `t`, of which `y0` is at the first.

    `arrayx.experimental.ode.odeint` with SciPy's arguments: 0 for `hmax` and `mxstep` leaves them
    open, `tfirst` says that `func` takes the time before the state.  The method is that of Dormand
    and Prince, which is slow for stiff equations.

    >>> import arrayx.numpy as anp
    >>> times = anp.array([0.0, 1.0])
    >>> [round(y, 3) for y in odeint(lambda y, t: -y, 1.0, times, rtol=1e-5).tolist()]
    [1.0, 0.368]
    """
    if not isinstance(args, tuple):
        raise errors.ArgumentError(
            f"scipy.integrate.odeint: args is a tuple of arguments, not one of type "
            f"{type(args).__name__}"
        )
    slope = (lambda y, t, *more: func(t, y, *more)) if tfirst else func
    return ode.odeint(
        slope,
        y0,
        t,
        *args,
        rtol=ode.TOLERANCE if rtol is None else rtol,
        atol=ode.TOLERANCE if atol is None else atol,
        mxstep=mxstep or math.inf,
        hmax=hmax or math.inf,
    )
