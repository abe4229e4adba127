"""The functions of `ax.lax` that multiply and sum over axes, with arguments in JAX's form."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple, TypeAlias

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, repetition
from arrayx.numpy.contraction import contracted
from arrayx.numpy.promotion import as_array, as_type, promoted_arrays


class Precision(enum.Enum):
    """How exact a product is: DEFAULT (the dtype's own), HIGH or HIGHEST."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2


def _array(x: Any, function: str) -> Array:
    return as_array(x, f"lax.{function}", "operand")


def dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """The product that sums over axes and pairs others.

    `dimension_numbers` is ((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)).

    >>> import numpy as np
    >>> dot_general(np.ones((2, 3)), np.ones((3, 4)), (((1,), (0,)), ((), ()))).shape
    (2, 4)
    """
    x, y = promoted_arrays((lhs, rhs), "lax.dot_general", ("lhs", "rhs"))
    (cx, cy), (bx, by) = dimension_numbers
    contracting, batch = ((tuple(map(int, a)), tuple(map(int, b))) for a, b in ((cx, cy), (bx, by)))
    return contracted(x, y, contracting, batch, precision, preferred_element_type)


def dot(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The product of vectors and matrices, or `dot_general` with `dimension_numbers`."""
    if dimension_numbers is None:
        x = _array(lhs, "dot")
        dimension_numbers = (((x.ndim - 1,), (0,)), ((), ()))
    return dot_general(lhs, rhs, dimension_numbers, precision, preferred_element_type)


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Array:
    """Products of the matrices in the last two axes, paired over all others.

    >>> import numpy as np
    >>> batch_matmul(np.ones((5, 2, 3)), np.ones((5, 3, 4))).shape
    (5, 2, 4)
    """
    x = _array(lhs, "batch_matmul")
    n = x.ndim - 2
    paired = tuple(range(n))
    return dot_general(x, rhs, (((n + 1,), (n,)), (paired, paired)), precision)


# ----------------------------------------------------------------- precision by algorithm


class DotAlgorithm(NamedTuple):
    """How a product is to be computed: dtypes of the operands' parts and of the sums.

    A backend that has no choice computes in the full precision of the dtype.
    """

    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False


class DotAlgorithmPreset(enum.Enum):
    """Algorithms of products by name: dtypes of both operands, then of the sums."""

    DEFAULT = 1
    ANY_F8_ANY_F8_F32 = 2
    ANY_F8_ANY_F8_F32_FAST_ACCUM = 3
    ANY_F8_ANY_F8_ANY = 4
    ANY_F8_ANY_F8_ANY_FAST_ACCUM = 5
    F16_F16_F16 = 6
    F16_F16_F32 = 7
    BF16_BF16_BF16 = 8
    BF16_BF16_F32 = 9
    BF16_BF16_F32_X3 = 10
    BF16_BF16_F32_X6 = 11
    BF16_BF16_F32_X9 = 12
    TF32_TF32_F32 = 13
    TF32_TF32_F32_X3 = 14
    F32_F32_F32 = 15
    F64_F64_F64 = 16


PrecisionLike: TypeAlias = (
    str
    | Precision
    | tuple[str, str]
    | tuple[Precision, Precision]
    | DotAlgorithm
    | DotAlgorithmPreset
    | None
)


def scaled_dot(
    lhs: Any,
    rhs: Any,
    *,
    lhs_scale: Any = None,
    rhs_scale: Any = None,
    dimension_numbers: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """The product of operands that are given in blocks with a scale for each.

    A scale has the rank of its operand; along each axis a block is as long as the operand's
    length divided by the scale's.  Matrices are contracted as in `x @ y`, arrays of rank 3 with
    their first axis paired.  The result is bfloat16 unless another dtype is preferred.

    >>> import numpy as np
    >>> x, scale = np.ones((2, 4), np.float32), np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    >>> scaled_dot(x, x.T, lhs_scale=scale, preferred_element_type=np.float32).tolist()
    [[6.0, 6.0], [14.0, 14.0]]
    """
    x, y = _array(lhs, "scaled_dot"), _array(rhs, "scaled_dot")
    if dimension_numbers is None:
        if x.ndim not in (2, 3):
            raise errors.ArgumentError(
                f"lax.scaled_dot: say the dimension_numbers of operands of {x.ndim} dimensions"
            )
        n = x.ndim - 2
        paired = tuple(range(n))
        dimension_numbers = (((n + 1,), (n,)), (paired, paired))
    target = dtypes.as_dtype(
        "bfloat16" if preferred_element_type is None else preferred_element_type
    )
    computed = dtypes.accumulation_dtype(target)
    x, y = (
        _in_blocks(as_type(a, computed), scale, name)
        for a, scale, name in ((x, lhs_scale, "lhs_scale"), (y, rhs_scale, "rhs_scale"))
    )
    return as_type(dot_general(x, y, dimension_numbers), target)


def _in_blocks(x: Array, scale: Any, name: str) -> Array:
    """`x` times the scale of the block that each element is in."""
    if scale is None:
        return x
    factors = as_type(as_array(scale, "lax.scaled_dot", name), x.dtype)
    fits = factors.ndim == x.ndim and all(
        m and n % m == 0 for n, m in zip(x.shape, factors.shape, strict=True)
    )
    if not fits:
        raise errors.ShapeError(
            f"lax.scaled_dot: {name} of shape {factors.shape} does not divide an operand of shape "
            f"{x.shape} into blocks"
        )
    for axis, (n, m) in enumerate(zip(x.shape, factors.shape, strict=True)):
        factors = repetition.repeat(factors, n // m, axis=axis)
    return arithmetic.multiply(x, factors)
