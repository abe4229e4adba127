"""How densities of distributions are written down: once in a standard form, then moved and scaled.

A distribution is a class whose methods are static functions, so `stats.norm.logpdf(x, loc, scale)`
reads as in SciPy.  A family gives the logarithm of its density; what follows from it, the
density, is here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayx.core.array import Array
from arrayx.numpy import arithmetic, transcendental
from arrayx.numpy.promotion import broadcast_shapes, broadcast_to_shape, inexact, promoted_arrays
from arrayx.numpy.selection import where


def operands(name: str, names: tuple[str, ...], *values: Any) -> list[Array]:
    """Parameters as floating arrays of one dtype and shape."""
    arrays = promoted_arrays(values, name, names, inexact)
    shape = broadcast_shapes(*(a.shape for a in arrays))
    return [broadcast_to_shape(a, shape) for a in arrays]


def standard(name: str, x: Any, loc: Any, scale: Any, *others: Any) -> list[Array]:
    """(x - loc) / scale, the scale, and the other parameters, all of one dtype and shape."""
    names = ("x", "loc", "scale", *(f"parameter {i}" for i in range(len(others))))
    x, loc, scale, *rest = operands(name, names, x, loc, scale, *others)
    return [arithmetic.divide(arithmetic.subtract(x, loc), scale), scale, *rest]


def within(inside: Any, value: Any, outside: float) -> Array:
    """`value` where `inside` holds; nan stays nan."""
    return where(inside, value, where(value != value, value, outside))  # type: ignore[no-any-return]


def exponential_of(logarithm: Callable[..., Array], name: str, example: str) -> Any:
    """The function that takes the exponential of another with the same arguments."""

    def function(*args: Any, **kwargs: Any) -> Array:
        return transcendental.exp(logarithm(*args, **kwargs))  # type: ignore[no-any-return]

    function.__name__ = name
    function.__doc__ = f"The exponential of `{logarithm.__name__}`.\n\n{example}"
    return staticmethod(function)
