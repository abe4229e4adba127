"""What the functions of `arrayx.random` ask of their shapes, dtypes and parameters."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.aval import Shape
from arrayx.numpy.promotion import as_type, broadcast_to_shape, host_array, read, scalar_array


def checked_shape(function: str, shape: Any, *inner: Shape) -> Shape:
    """`shape` as a tuple of integers, to which shapes of parameters can be broadcast.

    One integer stands for one axis.  Raises `ArgumentError` or `ShapeError`.
    """
    try:
        sizes = shape if isinstance(shape, tuple | list) else (shape,)
        result = tuple(operator.index(n) for n in sizes)
    except TypeError:
        raise errors.ArgumentError(
            f"{function}: a shape is a tuple of integers known before the program runs, such as "
            f"(2, 3); got {shape!r} of type {type(shape).__name__}"
        ) from None
    if any(n < 0 for n in result):
        raise errors.ShapeError(f"{function}: the shape {result} has a negative length")
    for other in inner:
        last = result[len(result) - len(other) :]
        if len(other) > len(result) or any(n not in (1, m) for n, m in zip(other, last)):
            raise errors.ShapeError(
                f"{function}: a parameter of shape {other} cannot be broadcast to the shape "
                f"{result} that is asked for"
            )
    return result


def checked_dtype(function: str, dtype: Any, kinds: Sequence[str], default: Any) -> Any:
    """The canonical dtype, `default` for None; raises `DtypeError` for one of another kind."""
    result = default if dtype is None else dtypes.as_dtype(dtype)
    if dtypes.kind(result) not in kinds:
        words = {"float": "floating", "int": "integer", "uint": "unsigned integer"}
        raise errors.DtypeError(
            f"{function}: the dtype must be {' or '.join(words.get(k, k) for k in kinds)}, "
            f"got {dtypes.dtype_name(result)}"
        )
    return result


def float_dtype(function: str, dtype: Any) -> Any:
    """A floating dtype; the default one for None."""
    return checked_dtype(function, dtype, ("float",), dtypes.default_float())


def rounded(value: Any, dtype: Any) -> float:
    """A Python number as the nearest one of a floating dtype."""
    with np.errstate(all="ignore"):
        return float(np.asarray(value, dtype))


def value(x: Any, function: str, argument: str, beside: Any) -> Any:
    """A Python number, or an array; NumPy's come to the device of `beside`."""
    if isinstance(x, np.ndarray | np.generic):
        return host_array(x, (beside,))
    return read(x, function, argument)


def parameter(x: Any, function: str, argument: str, dtype: Any, beside: Any) -> Any:
    """A parameter of a distribution as an array of `dtype`, on the device of `beside`."""
    x = value(x, function, argument, beside)
    if isinstance(x, bool | int | float):
        return scalar_array(x, dtype, False, (beside,))
    if isinstance(x, complex) or dtypes.kind(x.aval.dtype) not in ("float", "int", "uint", "bool"):
        raise errors.DtypeError(f"{function}: {argument} must be real, got {x!r}")
    return as_type(x, dtype)


def spread(x: Any, shape: Shape) -> Any:
    """An array repeated to `shape`; a Python number stays a literal."""
    return x if isinstance(x, int | float) else broadcast_to_shape(x, shape)
