"""Activations and normalisations of neural networks, each with a gradient that stays finite."""

from __future__ import annotations

import math
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, logic, reductions, shapes, statistics, transcendental
from arrayx.numpy.creation import beside, full_like
from arrayx.numpy.functions import array_of
from arrayx.numpy.promotion import as_array, as_type, inexact, placed_like
from arrayx.numpy.selection import where as choose
from arrayx.primitives import combined, exponential, special
from arrayx.primitives.arithmetic import absorb_mul, select
from arrayx.primitives.creation import iota


def _float(x: Any, function: str) -> Array:
    return array_of(x, function, inexact)


def identity(x: Any) -> Array:
    """`x` itself."""
    return as_array(x, "identity", "x")


def relu(x: Any) -> Array:
    """max(x, 0); its slope at 0 is 0.

    >>> import numpy as np
    >>> relu(np.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    x = as_array(x, "relu", "x")
    return choose(logic.greater(x, 0), x, 0)  # type: ignore[no-any-return]


def relu6(x: Any) -> Array:
    """min(max(x, 0), 6)."""
    return arithmetic.minimum(relu(x), 6)


def sigmoid(x: Any) -> Array:
    """1 / (1 + exp(-x)).

    >>> float(sigmoid(0.0))
    0.5
    """
    return exponential.logistic(_float(x, "sigmoid"))  # type: ignore[no-any-return]


def softplus(x: Any) -> Array:
    """log(1 + exp(x)), without overflow."""
    return transcendental.logaddexp(x, 0)


def log_sigmoid(x: Any) -> Array:
    """log(sigmoid(x)), without overflow."""
    return arithmetic.negative(softplus(arithmetic.negative(_float(x, "log_sigmoid"))))


def soft_sign(x: Any) -> Array:
    """x / (1 + abs(x))."""
    x = _float(x, "soft_sign")
    return arithmetic.divide(x, arithmetic.add(arithmetic.abs(x), 1.0))


def silu(x: Any) -> Array:
    """x * sigmoid(x), also called swish."""
    x = _float(x, "silu")
    return absorb_mul(x, sigmoid(x))  # type: ignore[no-any-return]


swish = silu


def mish(x: Any) -> Array:
    """x * tanh(softplus(x))."""
    x = _float(x, "mish")
    return absorb_mul(x, transcendental.tanh(softplus(x)))  # type: ignore[no-any-return]


def elu(x: Any, alpha: Any = 1.0) -> Array:
    """x above 0, alpha * (exp(x) - 1) below."""
    x = _float(x, "elu")
    positive = logic.greater(x, 0.0)
    below = transcendental.expm1(choose(positive, 0.0, x))
    return choose(positive, x, arithmetic.multiply(alpha, below))  # type: ignore[no-any-return]


def celu(x: Any, alpha: Any = 1.0) -> Array:
    """x above 0, alpha * (exp(x / alpha) - 1) below."""
    x = _float(x, "celu")
    positive = logic.greater(x, 0.0)
    scaled = arithmetic.divide(choose(positive, 0.0, x), alpha)
    return choose(positive, x, arithmetic.multiply(alpha, transcendental.expm1(scaled)))  # type: ignore[no-any-return]


def selu(x: Any) -> Array:
    """The scaled elu that keeps mean 0 and variance 1 (Klambauer et al. 2017)."""
    return arithmetic.multiply(1.0507009873554805, elu(x, 1.6732632423543772))


def gelu(x: Any, approximate: bool = True) -> Array:
    """x times the normal distribution function at x, exactly or by tanh (Hendrycks 2016).

    >>> round(float(gelu(1.0)), 3)
    0.841
    """
    x = _float(x, "gelu")
    if approximate:
        cubic = arithmetic.multiply(arithmetic.multiply(x, x), x)
        inner = arithmetic.multiply(
            math.sqrt(2 / math.pi), arithmetic.add(x, arithmetic.multiply(0.044715, cubic))
        )
        gate = arithmetic.multiply(0.5, arithmetic.add(1.0, transcendental.tanh(inner)))
        return absorb_mul(x, gate)  # type: ignore[no-any-return]
    tail = special.erfc(arithmetic.multiply(x, -math.sqrt(0.5)))
    return absorb_mul(arithmetic.multiply(0.5, x), tail)  # type: ignore[no-any-return]


def glu(x: Any, axis: int = -1) -> Array:
    """The first half along an axis times the sigmoid of the second."""
    x = _float(x, "glu")
    n = x.shape[axis]
    if n % 2:
        raise errors.ShapeError(f"glu: axis {axis} of shape {x.shape} has no two halves")
    axis = axis % x.ndim
    first = shapes.take_range(x, 0, n // 2, axis)
    return arithmetic.multiply(first, sigmoid(shapes.take_range(x, n // 2, n, axis)))


def leaky_relu(x: Any, negative_slope: Any = 0.01) -> Array:
    """x above 0, a fraction of it below."""
    x = _float(x, "leaky_relu")
    return choose(logic.greater_equal(x, 0.0), x, arithmetic.multiply(negative_slope, x))  # type: ignore[no-any-return]


def hard_tanh(x: Any) -> Array:
    """`x` cut to [-1, 1]."""
    return arithmetic.clip(x, -1, 1)


def hard_sigmoid(x: Any) -> Array:
    """relu6(x + 3) / 6."""
    return arithmetic.divide(relu6(arithmetic.add(x, 3.0)), 6.0)


def hard_silu(x: Any) -> Array:
    """x * hard_sigmoid(x), also called hard swish."""
    x = _float(x, "hard_silu")
    return absorb_mul(x, hard_sigmoid(x))  # type: ignore[no-any-return]


hard_swish = hard_silu


def squareplus(x: Any, b: Any = 4) -> Array:
    """(x + sqrt(x² + b)) / 2."""
    x = _float(x, "squareplus")
    length = transcendental.sqrt(arithmetic.add(arithmetic.multiply(x, x), b))
    return arithmetic.divide(arithmetic.add(x, length), 2.0)


def sparse_plus(x: Any) -> Array:
    """0 below -1, x above 1, (x + 1)² / 4 between."""
    x = _float(x, "sparse_plus")
    inner = arithmetic.divide(arithmetic.square(arithmetic.add(x, 1.0)), 4.0)
    return choose(logic.less_equal(x, -1.0), 0.0, choose(logic.greater_equal(x, 1.0), x, inner))  # type: ignore[no-any-return]


def sparse_sigmoid(x: Any) -> Array:
    """(clip(x, -1, 1) + 1) / 2, the slope of sparse_plus."""
    return arithmetic.multiply(0.5, arithmetic.clip(arithmetic.add(x, 1.0), 0.0, 2.0))


# ----------------------------------------------------------------- over an axis


def _shift(x: Array, axis: Any, where: Any) -> Array:
    """The largest element over an axis, as a constant; 0 where it is not finite."""
    largest = _largest(x, axis, where)
    return select(logic.isfinite(largest), largest, 0.0)  # type: ignore[no-any-return]


def _largest(x: Array, axis: Any, where: Any) -> Array:
    """The largest element over an axis, as a constant; -inf where there is none."""
    largest = reductions.max(
        x, axis, keepdims=True, initial=None if where is None and x.size else -math.inf, where=where
    )
    return combined.stop_gradient(largest)  # type: ignore[no-any-return]


def softmax(x: Any, axis: Any = -1, where: Any = None) -> Array:
    """exp(x) divided by its sum over an axis; elements that `where` leaves out give 0.

    Where it leaves out all of them all are 0, and so are the slopes.

    >>> import numpy as np
    >>> softmax(np.zeros(4)).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    x = _float(x, "softmax")
    shifted = arithmetic.subtract(x, _shift(x, axis, where))
    weights = transcendental.exp(shifted)
    if where is not None:
        weights = choose(where, weights, 0.0)
    total = reductions.sum(weights, axis, keepdims=True)
    if where is not None:
        total = choose(total == 0.0, 1.0, total)
    return arithmetic.divide(weights, total)


def log_softmax(x: Any, axis: Any = -1, where: Any = None) -> Array:
    """log(softmax(x)), without underflow.

    >>> import numpy as np
    >>> round(float(log_softmax(np.zeros(2))[0]), 4)
    -0.6931
    """
    x = _float(x, "log_softmax")
    shifted = arithmetic.subtract(x, _shift(x, axis, where))
    total = reductions.sum(transcendental.exp(shifted), axis, keepdims=True, where=where)
    result = arithmetic.subtract(shifted, transcendental.log(total))
    return result if where is None else choose(where, result, -math.inf)


def logsumexp(
    a: Any,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: Any = None,
) -> Any:
    """log(Σ b·exp(a)) over axes, without overflow; with `return_sign` also the sum's sign.

    Without `return_sign` a negative sum gives nan.  Slopes are right where `b` is 0, and finite
    where all of `a` is -inf.

    >>> import numpy as np
    >>> float(logsumexp(np.array([-np.inf, 2.0])))
    2.0
    """
    x = _float(a, "logsumexp")
    counted = where
    if b is not None:
        b, x = shapes.broadcast_arrays(beside(b, x, "logsumexp", "b"), x)
        counted = logic.not_equal(b, 0)
        counted = counted if where is None else logic.logical_and(counted, where)
    shift = _largest(x, axis, counted)
    shift = choose(logic.equal(shift, -math.inf), 0.0, shift)
    weights = transcendental.exp(combined.distance(*shapes.broadcast_arrays(x, shift)))
    if b is not None:
        # An element with a weight of 0 counts for nothing, however large it is.
        weights = absorb_mul(b, weights)
    total = reductions.sum(weights, axis, keepdims=keepdims, where=where)
    if not keepdims:
        shift = shapes.reshape(shift, total.shape) if shift.size == total.size else shift
        if shift.shape != total.shape:
            shift = shapes.squeeze(shift, axis)
    if not return_sign:
        return arithmetic.add(transcendental.log(total), shift)
    sign = arithmetic.sign(total)
    return arithmetic.add(transcendental.log(arithmetic.abs(total)), shift), sign


def logmeanexp(a: Any, axis: Any = None, where: Any = None, keepdims: bool = False) -> Array:
    """log of the mean of exp over axes."""
    x = _float(a, "logmeanexp")
    ones = full_like(x, 1.0)
    count = reductions.sum(ones, axis, keepdims=keepdims, where=where)
    return arithmetic.subtract(
        logsumexp(x, axis, keepdims=keepdims, where=where), transcendental.log(count)
    )


def log1mexp(x: Any) -> Array:
    """log(1 - exp(-x)) for x > 0, exact at both ends (Mächler 2012)."""
    x = _float(x, "log1mexp")
    near = logic.less(x, math.log(2.0))
    small, large = choose(near, x, 1.0), choose(near, 1.0, x)
    return choose(  # type: ignore[no-any-return]
        near,
        transcendental.log(arithmetic.negative(transcendental.expm1(arithmetic.negative(small)))),
        transcendental.log1p(arithmetic.negative(transcendental.exp(arithmetic.negative(large)))),
    )


def standardize(
    x: Any,
    axis: Any = -1,
    mean: Any = None,
    variance: Any = None,
    epsilon: Any = 1e-05,
    where: Any = None,
    *,
    algorithm: str = "fast",
) -> Array:
    """`x` minus its mean, divided by the root of its variance plus `epsilon`.

    The variance is taken of what the mean leaves, whatever `algorithm` says.
    """
    x = _float(x, "standardize")
    if mean is None:
        mean = statistics.mean(x, axis, keepdims=True, where=where)
    if variance is None:
        variance = statistics.var(x, axis, keepdims=True, where=where)
    scale = exponential.rsqrt(arithmetic.add(variance, epsilon))
    return arithmetic.multiply(arithmetic.subtract(x, mean), scale)


def one_hot(x: Any, num_classes: int, *, dtype: Any = None, axis: Any = -1) -> Array:
    """For each integer a vector with 1 at its place; an integer out of range gives zeros.

    >>> import numpy as np
    >>> one_hot(np.array([1, 0]), 2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    x = as_array(x, "one_hot", "x")
    place = axis % (x.ndim + 1)
    with placed_like(x):
        classes = iota(shape=(num_classes,), dtype=dtypes.index_dtype(num_classes), axis=0)
    classes = shapes.reshape(classes, (num_classes,) + (1,) * (x.ndim - place))
    hits = logic.equal(shapes.expand_dims(x, place), classes)
    return as_type(hits, dtypes.default_float() if dtype is None else dtypes.as_dtype(dtype))
