"""What functions of matrices do to their arguments first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy.promotion import as_array, as_type, broadcast_shapes, broadcast_to_shape
from arrayx.primitives.arithmetic import add, mul
from arrayx.primitives.matrices import adjoint


def working_dtype(dtype: Any) -> Any:
    """What matrices of a dtype are factorised in: integers as floats, 16-bit floats in float32."""
    return dtypes.accumulation_dtype(dtypes.float_for(dtype))


def matrix(x: Any, function: str, argument: str = "a", square: bool = False) -> Array:
    """An argument as matrices in a dtype that can be factorised; raises where it is none."""
    a = as_array(x, function, argument)
    check_matrix(a, function, argument, square)
    return as_type(a, working_dtype(a.dtype))


def check_matrix(a: Array, function: str, argument: str, square: bool) -> None:
    """Raises where an array has no matrices in its last two axes."""
    if a.ndim < 2:
        raise errors.ShapeError(
            f"{function}: {argument} of shape {a.shape} is no matrix: it needs at least 2 "
            "dimensions"
        )
    if square and a.shape[-1] != a.shape[-2]:
        raise errors.ShapeError(
            f"{function}: the matrices in the last two axes of {argument} must be square, got "
            f"shape {a.shape}"
        )


def narrowing(x: Any, function: str, argument: str = "a") -> Callable[[Array], Array]:
    """What gives a result the precision of the argument again: 16-bit floats are widened."""
    dtype = dtypes.float_for(as_array(x, function, argument).dtype)
    if working_dtype(dtype) is dtype:
        return lambda result: result
    return lambda result: as_type(result, dtype)


def symmetrised(a: Array) -> Array:
    """The mean of matrices and their adjoints."""
    half = 0.5 + 0j if dtypes.is_complex(a.dtype) else 0.5
    return mul(add(a, adjoint(a)), half)  # type: ignore[no-any-return]


def with_equal_batches(a: Array, b: Array) -> tuple[Array, Array]:
    """Two stacks of matrices, the axes before the last two broadcast."""
    batch = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return (
        broadcast_to_shape(a, (*batch, *a.shape[-2:])),
        broadcast_to_shape(b, (*batch, *b.shape[-2:])),
    )
