"""First values of weights: functions of a key, a shape and a dtype.

`variance_scaling` and what rests on it choose the variance by the number of inputs or outputs
that a weight has (LeCun 1998; Glorot and Bengio 2010; He et al. 2015).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, Protocol

from arrayx import dtypes, errors, random
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, creation
from arrayx.numpy.padding import pad
from arrayx.numpy.promotion import check_axes
from arrayx.numpy.shapes import moveaxis, reshape

__all__ = [
    "Initializer",
    "constant",
    "delta_orthogonal",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "kaiming_normal",
    "kaiming_uniform",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "truncated_normal",
    "uniform",
    "variance_scaling",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
]

Axes = int | Sequence[int]
Mode = Literal["fan_in", "fan_out", "fan_avg", "fan_geo_avg"]
Distribution = Literal["truncated_normal", "normal", "uniform"]
# The deviation of a normal number cut off at two deviations.
_DEVIATION_WITHIN_2 = 0.87962566103423978


class Initializer(Protocol):
    """A function that makes weights of a shape and dtype from a key."""

    def __call__(self, key: Any, shape: Sequence[int], dtype: Any = None) -> Array:
        """The weights."""
        ...


def zeros(key: Any, shape: Sequence[int], dtype: Any = None) -> Array:
    """Zeros; the key is not used.

    >>> zeros(None, (2,)).tolist()
    [0.0, 0.0]
    """
    return creation.zeros(shape, dtype)


def ones(key: Any, shape: Sequence[int], dtype: Any = None) -> Array:
    """Ones; the key is not used.

    >>> ones(None, (2,)).tolist()
    [1.0, 1.0]
    """
    return creation.ones(shape, dtype)


def _dtype(given: Any, default: Any) -> Any:
    return dtypes.as_dtype(default if given is None else given) if given or default else None


def constant(value: Any, dtype: Any = None) -> Initializer:
    """Weights that all are `value`, or are broadcast from it.

    >>> constant(2.0)(None, (2,)).tolist()
    [2.0, 2.0]
    """

    def init(key: Any, shape: Sequence[int], given: Any = None) -> Array:
        target = _dtype(given, dtype) or dtypes.default_float()
        return creation.full(shape, value, target)

    return _named(init)


def _named(init: Any) -> Initializer:
    """The function with `dtype` as the name of its third argument."""

    def initializer(key: Any, shape: Sequence[int], dtype: Any = None) -> Array:
        return init(key, tuple(shape), dtype)  # type: ignore[no-any-return]

    return initializer


def normal(stddev: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Normal weights with this deviation.

    >>> import arrayx as ax
    >>> normal(0.1)(ax.random.key(0), (2, 3)).shape
    (2, 3)
    """

    def init(key: Any, shape: Sequence[int], given: Any) -> Array:
        draws = random.normal(key, shape, _dtype(given, dtype))
        return arithmetic.multiply(draws, stddev)

    return _named(init)


def uniform(scale: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Uniform weights from 0 up to `scale`.

    >>> import arrayx as ax
    >>> bool((uniform(0.1)(ax.random.key(0), (9,)) < 0.1).all())
    True
    """

    def init(key: Any, shape: Sequence[int], given: Any) -> Array:
        draws = random.uniform(key, shape, _dtype(given, dtype))
        return arithmetic.multiply(draws, scale)

    return _named(init)


def truncated_normal(
    stddev: Any = 1e-2, dtype: Any = None, lower: Any = -2.0, upper: Any = 2.0
) -> Initializer:
    """Normal weights between `lower` and `upper`, times `stddev`.

    >>> import arrayx as ax
    >>> bool((abs(truncated_normal(1.0)(ax.random.key(0), (9,))) < 2).all())
    True
    """

    def init(key: Any, shape: Sequence[int], given: Any) -> Array:
        draws = random.truncated_normal(key, lower, upper, shape, _dtype(given, dtype))
        return arithmetic.multiply(draws, stddev)

    return _named(init)


def _fans(
    shape: Sequence[int], in_axis: Axes, out_axis: Axes, batch_axis: Axes
) -> tuple[float, float]:
    """How many inputs and outputs the weights of a shape connect."""
    if len(shape) <= 1:
        raise errors.ShapeError(
            f"variance_scaling: weights of shape {tuple(shape)} have no inputs and outputs; at "
            "least 2 dimensions are needed"
        )

    def length(axes: Axes) -> int:
        return math.prod(shape[i] for i in check_axes(axes, len(shape), "variance_scaling"))

    inputs, outputs = length(in_axis), length(out_axis)
    field = math.prod(shape) / inputs / outputs / length(batch_axis)
    return inputs * field, outputs * field


def variance_scaling(
    scale: Any,
    mode: Mode,
    distribution: Distribution,
    in_axis: Axes = -2,
    out_axis: Axes = -1,
    batch_axis: Axes = (),
    dtype: Any = None,
) -> Initializer:
    """Weights whose variance is `scale` divided by how many of them meet.

    Args:
        scale: the variance of a sum of weights.
        mode: what to divide by: the number of inputs ("fan_in") or outputs ("fan_out"), their
            mean ("fan_avg") or geometric mean ("fan_geo_avg").
        distribution: "truncated_normal", "normal" or "uniform".
        in_axis, out_axis: the axes of inputs and of outputs; -2 and -1 by default.
        batch_axis: axes along which weights are independent; all others are a field of both.
        dtype: the dtype if the initializer is called without one.

    >>> import arrayx as ax
    >>> init = variance_scaling(1.0, "fan_in", "uniform")
    >>> init(ax.random.key(0), (5, 2)).shape
    (5, 2)
    """
    modes = ("fan_in", "fan_out", "fan_avg", "fan_geo_avg")
    kinds = ("truncated_normal", "normal", "uniform")
    if mode not in modes:
        raise errors.ArgumentError(f"variance_scaling: mode is one of {modes}, not {mode!r}")
    if distribution not in kinds:
        raise errors.ArgumentError(
            f"variance_scaling: distribution is one of {kinds}, not {distribution!r}"
        )

    def init(key: Any, shape: Sequence[int], given: Any) -> Array:
        target = _dtype(given, dtype)
        fan_in, fan_out = _fans(shape, in_axis, out_axis, batch_axis)
        count = {
            "fan_in": fan_in,
            "fan_out": fan_out,
            "fan_avg": (fan_in + fan_out) / 2,
            "fan_geo_avg": math.sqrt(fan_in * fan_out),
        }[mode]
        deviation = math.sqrt(scale / count) if count else 0.0
        if distribution == "uniform":
            draws = random.uniform(key, shape, target, -1.0, 1.0)
            return arithmetic.multiply(draws, math.sqrt(3.0) * deviation)
        if distribution == "normal":
            return arithmetic.multiply(random.normal(key, shape, target), deviation)
        draws = random.truncated_normal(key, -2.0, 2.0, shape, target)
        return arithmetic.multiply(draws, deviation / _DEVIATION_WITHIN_2)

    return _named(init)


def glorot_uniform(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """Uniform weights of variance 2 / (inputs + outputs); also `xavier_uniform`.

    >>> import arrayx as ax
    >>> glorot_uniform()(ax.random.key(0), (5, 2)).shape
    (5, 2)
    """
    return variance_scaling(1.0, "fan_avg", "uniform", in_axis, out_axis, batch_axis, dtype)


def glorot_normal(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """Normal weights, cut off, of variance 2 / (inputs + outputs); also `xavier_normal`.

    >>> import arrayx as ax
    >>> glorot_normal()(ax.random.key(0), (5, 2)).shape
    (5, 2)
    """
    return variance_scaling(
        1.0, "fan_avg", "truncated_normal", in_axis, out_axis, batch_axis, dtype
    )


def lecun_uniform(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """Uniform weights of variance 1 / inputs.

    >>> import arrayx as ax
    >>> lecun_uniform()(ax.random.key(0), (5, 2)).shape
    (5, 2)
    """
    return variance_scaling(1.0, "fan_in", "uniform", in_axis, out_axis, batch_axis, dtype)


def lecun_normal(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """Normal weights, cut off, of variance 1 / inputs.

    >>> import arrayx as ax
    >>> lecun_normal()(ax.random.key(0), (5, 2)).shape
    (5, 2)
    """
    return variance_scaling(1.0, "fan_in", "truncated_normal", in_axis, out_axis, batch_axis, dtype)


def he_uniform(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """Uniform weights of variance 2 / inputs; also `kaiming_uniform`.

    >>> import arrayx as ax
    >>> he_uniform()(ax.random.key(0), (5, 2)).shape
    (5, 2)
    """
    return variance_scaling(2.0, "fan_in", "uniform", in_axis, out_axis, batch_axis, dtype)


def he_normal(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """Normal weights, cut off, of variance 2 / inputs; also `kaiming_normal`.

    >>> import arrayx as ax
    >>> he_normal()(ax.random.key(0), (5, 2)).shape
    (5, 2)
    """
    return variance_scaling(2.0, "fan_in", "truncated_normal", in_axis, out_axis, batch_axis, dtype)


def orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Weights whose rows or columns, whichever are fewer, are orthonormal, times `scale`.

    The columns are along `column_axis`, all other axes together are the rows (Saxe, McClelland
    and Ganguli, 2014).

    >>> import arrayx as ax
    >>> orthogonal()(ax.random.key(0), (5, 2)).shape
    (5, 2)
    """

    def init(key: Any, shape: Sequence[int], given: Any) -> Array:
        if len(shape) < 2:
            raise errors.ShapeError(
                f"orthogonal: weights of shape {tuple(shape)} have no rows and columns; at least 2 "
                "dimensions are needed"
            )
        (axis,) = check_axes(column_axis, len(shape), "orthogonal")
        columns = shape[axis]
        rows = math.prod(shape[:axis]) * math.prod(shape[axis + 1 :])
        target = _dtype(given, dtype)
        # The product of a square orthogonal matrix and a part of the unit matrix.
        matrix = random.orthogonal(key, rows, (), target, columns)
        others = (*shape[:axis], *shape[axis + 1 :])
        return arithmetic.multiply(moveaxis(reshape(matrix, (*others, columns)), -1, axis), scale)

    return _named(init)


def delta_orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Weights of convolutions that are 0 but in the middle, and orthogonal there (Xiao et al.,
    2018).

    Shapes have 3 to 5 axes: those of space, then inputs and outputs; no fewer outputs than inputs.

    >>> import arrayx as ax
    >>> delta_orthogonal()(ax.random.key(0), (3, 3, 2, 4)).shape
    (3, 3, 2, 4)
    """

    def init(key: Any, shape: Sequence[int], given: Any) -> Array:
        if len(shape) not in (3, 4, 5):
            raise errors.ShapeError(
                "delta_orthogonal: weights must have 3 to 5 dimensions (space, inputs, outputs), "
                f"got shape {tuple(shape)}"
            )
        if shape[-1] < shape[-2]:
            raise errors.ShapeError(
                f"delta_orthogonal: weights of shape {tuple(shape)} have fewer outputs than inputs"
            )
        matrix = orthogonal(scale, column_axis, dtype)(key, tuple(shape[-2:]), given)
        space = [slice((n - 1) // 2, (n - 1) // 2 + 1) for n in shape[:-2]]
        low = [(s.start, n - s.stop) for s, n in zip(space, shape[:-2], strict=True)]
        middle = reshape(matrix, (*(1 for _ in space), *shape[-2:]))
        return pad(middle, [*low, (0, 0), (0, 0)])

    return _named(init)


xavier_uniform, xavier_normal = glorot_uniform, glorot_normal
kaiming_uniform, kaiming_normal = he_uniform, he_normal
