"""Arrays from values, shapes and ranges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.backend.concrete import ConcreteArray
from arrayx.core.array import Array, typeof
from arrayx.core.aval import Shape
from arrayx.core.interpreter import Tracer
from arrayx.numpy import arithmetic
from arrayx.numpy.promotion import (
    LITERALS,
    SCALARS,
    as_array,
    as_type,
    broadcast_to_shape,
    host_array,
    placed_like,
    promoted_arrays,
    scalar_array,
)
from arrayx.numpy.shapes import broadcast_to, expand_dims, moveaxis, stack
from arrayx.primitives.arithmetic import add, eq, ge, select
from arrayx.primitives.creation import fill, iota
from arrayx.promotion import lattice_result


def as_shape(shape: Any, function: str) -> Shape:
    """A shape given as an integer or a sequence of them; negative lengths raise."""
    try:
        listed = tuple(shape) if isinstance(shape, Sequence | np.ndarray) else (shape,)
        result = tuple(int(n.__index__()) for n in listed)
    except AttributeError:
        raise errors.ArgumentError(
            f"{function}: a shape is an integer or a sequence of integers, got {shape!r}"
        ) from None
    if any(n < 0 for n in result):
        raise errors.ShapeError(f"{function}: a length is negative in the shape {result}")
    return result


def _dtype(dtype: Any, default: Any) -> Any:
    return default if dtype is None else dtypes.as_dtype(dtype)


def array(
    object: Any,
    dtype: Any = None,
    copy: bool = True,
    order: str | None = "K",
    ndmin: int = 0,
    *,
    device: Any = None,
) -> Array:
    """An array of the elements of `object`: a number, an array, or nested sequences of those.

    Without `dtype`, arrays keep theirs and Python numbers get the default dtypes.  NumPy arrays
    are copied.

    >>> array([[1, 2], [3, 4]]).dtype
    dtype('int32')
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    result = _from_any(object, wanted)
    if wanted is not None:
        result = cast(result, wanted)
    elif result.aval.weak_type:
        result = as_type(result, result.aval.dtype)
    if result.ndim < ndmin:
        result = expand_dims(result, tuple(range(ndmin - result.ndim)))
    return result


def asarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    device: Any = None,
) -> Array:
    """`a` as an array: itself if it is one of that dtype, else as `array` makes it.

    >>> asarray([1.0, 2.0])
    Array([1., 2.], dtype=float32)
    """
    if isinstance(a, Array) and (dtype is None or dtypes.as_dtype(dtype) is a.aval.dtype):
        return a
    if dtype is None and type(a) in SCALARS:
        return scalar_array(a, dtypes.default_dtype(type(a)), type(a) is not bool)
    return array(a, dtype)


def cast(x: Array, dtype: Any) -> Array:
    """`x` in another dtype, strong; a complex number loses its imaginary part."""
    return as_type(x, dtype)


def _from_any(value: Any, wanted: Any) -> Array:
    if isinstance(value, Array):
        return value
    if type(value) in SCALARS:
        default = dtypes.default_dtype(type(value))
        target = default if wanted is None else wanted
        if dtypes.kind(target) in ("key", "float0"):
            raise errors.DtypeError(f"array: numbers cannot be of dtype {target}")
        return host_array(_numbers(value, target))
    if isinstance(value, np.ndarray | np.generic):
        return host_array(value)
    if isinstance(value, list | tuple):
        return _from_sequence(value, wanted)
    convertible = getattr(value, "__arrayx_array__", None)
    if convertible is not None:
        return convertible()  # type: ignore[no-any-return]
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return host_array(np.asarray(value))
    if hasattr(value, "__dlpack__"):
        return host_array(np.from_dlpack(value))
    if isinstance(value, memoryview | bytearray) or hasattr(value, "__buffer__"):
        return host_array(np.array(value))
    if isinstance(value, int | float | complex):
        return _from_any(
            next(t for t in (int, float, complex) if isinstance(value, t))(value), wanted
        )
    raise errors.ArgumentError(
        f"array: cannot make an array of {value!r} of type {type(value).__name__}; it takes "
        "numbers, arrays, and nested lists or tuples of those"
    )


def _leaves(value: Any) -> Any:
    for item in value:
        if isinstance(item, list | tuple):
            yield from _leaves(item)
        else:
            yield item


def _from_sequence(value: Any, wanted: Any) -> Array:
    leaves = list(_leaves(value))
    plain = all(
        type(leaf) in SCALARS or isinstance(leaf, np.ndarray | np.generic) for leaf in leaves
    )
    if not plain and any(isinstance(leaf, Tracer) for leaf in leaves):
        return _stacked(value, wanted)
    hosts = [leaf.host() if isinstance(leaf, ConcreteArray) else leaf for leaf in leaves]
    kinds = {type(leaf) for leaf in hosts}
    if wanted is None:
        if not leaves:
            wanted = dtypes.default_float()
        else:
            wanted, _ = lattice_result(
                {(typeof(h).dtype, typeof(h).weak_type) for h in map(_number, hosts)}
            )
    if kinds <= SCALARS:
        return host_array(_numbers(value, wanted), leaves)
    try:
        return host_array(np.array(_hosted(value)).astype(wanted), leaves)
    except ValueError as error:
        raise errors.ShapeError(f"array: {error}") from None


def _number(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic) or type(value) in SCALARS:
        return value
    for scalar in (int, float, complex):
        if isinstance(value, scalar):
            return scalar(value)
    if hasattr(value, "__array__"):
        return np.asarray(value)
    raise errors.ArgumentError(
        f"array: {value!r} of type {type(value).__name__} is not a number or an array"
    )


def _hosted(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_hosted(item) for item in value]
    return value.host() if isinstance(value, ConcreteArray) else value


def _numbers(value: Any, dtype: Any) -> np.ndarray:
    """Python numbers as a NumPy array of a dtype; integers out of its range raise."""
    try:
        raw = np.array(value)
    except ValueError as error:
        raise errors.ShapeError(
            f"array: the nested sequences have different lengths ({error})"
        ) from None
    if raw.dtype.kind in "iuO" and raw.size and dtypes.is_integer(dtype):
        if raw.dtype.kind == "O":
            for item in raw.ravel():
                dtypes.check_scalar(item, dtype)
        else:
            dtypes.check_scalar(int(raw.min()), dtype)
            dtypes.check_scalar(int(raw.max()), dtype)
    with np.errstate(all="ignore"):
        return np.asarray(raw.astype(dtype))


def _stacked(value: Any, wanted: Any) -> Array:
    if isinstance(value, list | tuple):
        return stack([_stacked(item, wanted) for item in value])
    made = _from_any(value, wanted)
    if wanted is not None:
        return as_type(made, wanted)
    return as_array(value) if type(value) in SCALARS else made


# ----------------------------------------------------------------- one value


def _filled(shape: Any, value: Any, dtype: Any, function: str) -> Array:
    return fill(as_shape(shape, function), dtype, LITERALS[dtypes.kind(dtype)](value))  # type: ignore[no-any-return]


def zeros(shape: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """Zeros of a shape, float by default.

    >>> zeros(2)
    Array([0., 0.], dtype=float32)
    """
    return _filled(shape, 0, _dtype(dtype, dtypes.default_float()), "zeros")


def ones(shape: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """Ones of a shape, float by default.

    >>> ones(2, int)
    Array([1, 1], dtype=int32)
    """
    return _filled(shape, 1, _dtype(dtype, dtypes.default_float()), "ones")


def empty(shape: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """An array of a shape whose elements should not be read; they are zeros.

    >>> empty((2, 0)).shape
    (2, 0)
    """
    return zeros(shape, dtype)


def full(shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """An array of a shape with every element `fill_value`, which is broadcast.

    >>> full(2, 7)
    Array([7, 7], dtype=int32)
    """
    shape = as_shape(shape, "full")
    if type(fill_value) in SCALARS:
        target = _dtype(dtype, dtypes.default_dtype(type(fill_value)))
        if type(fill_value) is complex and dtypes.kind(target) != "complex":
            return broadcast_to_shape(array(fill_value, target), shape)
        if dtypes.is_integer(target) and type(fill_value) is float:
            return broadcast_to_shape(array(fill_value, target), shape)
        dtypes.check_scalar(fill_value, target)
        return _filled(shape, fill_value, target, "full")
    value = as_array(fill_value, "full", "fill_value")
    weak = value.aval.weak_type and dtype is None
    return broadcast_to(as_type(value, _dtype(dtype, value.dtype), weak), shape)


def _like(a: Any, dtype: Any, shape: Any) -> tuple[Shape, Any, bool]:
    aval = a if hasattr(a, "dtype") and hasattr(a, "shape") else typeof(a)
    return (
        tuple(aval.shape) if shape is None else as_shape(shape, "like"),
        dtypes.as_dtype(aval.dtype) if dtype is None else dtypes.as_dtype(dtype),
        bool(getattr(aval, "weak_type", False)) and dtype is None,
    )


def zeros_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Array:
    """Zeros of the shape and dtype of `a`.

    >>> zeros_like(asarray([1, 2]))
    Array([0, 0], dtype=int32)
    """
    return full_like(a, 0, dtype, shape)


def ones_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Array:
    """Ones of the shape and dtype of `a`.

    >>> ones_like(asarray([1, 2]))
    Array([1, 1], dtype=int32)
    """
    return full_like(a, 1, dtype, shape)


def empty_like(
    prototype: Any, dtype: Any = None, shape: Any = None, *, device: Any = None
) -> Array:
    """An array of the shape and dtype of `prototype`; its elements are zeros.

    >>> empty_like(asarray([1, 2])).shape
    (2,)
    """
    return full_like(prototype, 0, dtype, shape)


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, *, device: Any = None
) -> Array:
    """An array of the shape and dtype of `a` with every element `fill_value`.

    >>> full_like(asarray([1, 2]), 7)
    Array([7, 7], dtype=int32)
    """
    new_shape, new_dtype, weak = _like(a, dtype, shape)
    if type(fill_value) in SCALARS:
        if type(fill_value) is int:
            dtypes.check_scalar(fill_value, new_dtype)
        kind = dtypes.kind(new_dtype)
        if kind in LITERALS and not (type(fill_value) is complex and kind != "complex"):
            with placed_like(a):
                return fill(new_shape, new_dtype, LITERALS[kind](fill_value), weak)  # type: ignore[no-any-return]
    return full(new_shape, fill_value, new_dtype)


# ----------------------------------------------------------------- ranges


def arange(
    start: Any, stop: Any = None, step: Any = None, dtype: Any = None, *, device: Any = None
) -> Array:
    """The numbers from `start` up to, not including, `stop`, `step` apart.

    With one argument it is `stop` and the range starts at 0.  The arguments must be concrete:
    they decide the shape.

    >>> arange(3), arange(1.0, 2.0, 0.5)
    (Array([0, 1, 2], dtype=int32), Array([1. , 1.5], dtype=float32))
    """
    given = [concrete_number(v, "arange") for v in (start, stop, step) if v is not None]
    target = dtypes.as_dtype(dtype) if dtype is not None else None
    if target is None:
        target, _ = lattice_result({(typeof(v).dtype, typeof(v).weak_type) for v in given})
    values = [v.item() if isinstance(v, np.ndarray | np.generic) else v for v in given]
    if stop is None and step is None:
        first, last, by = 0, values[0], 1
    elif stop is None:
        first, last, by = 0, values[0], values[1]
    else:
        first, last, by = values[0], values[1], (values[2] if len(values) > 2 else 1)
    if by == 0:
        raise errors.ArgumentError("arange: the step is 0")
    count = max(0, math.ceil((last - first) / by))
    if isinstance(first, int) and isinstance(last, int) and isinstance(by, int):
        count = len(range(first, last, by))
    if dtypes.is_integer(target) and count:
        for value in (int(first), int(first + (count - 1) * by)):
            dtypes.check_scalar(value, target)
    if first == 0 and by == 1 and dtypes.kind(target) != "bool":
        return iota(shape=(count,), dtype=target, axis=0)  # type: ignore[no-any-return]
    return host_array(np.asarray(first + np.arange(count) * by).astype(target))


def concrete_number(value: Any, function: str) -> Any:
    """A number that is known now: a Python number, or the NumPy value of an array."""
    if isinstance(value, Tracer):
        value = value.concrete(f"{function}()")
    if isinstance(value, ConcreteArray):
        return value.host()
    if isinstance(value, np.ndarray | np.generic | int | float | complex):
        return value
    if hasattr(value, "__index__"):
        return value.__index__()
    raise errors.ArgumentError(f"{function}: {value!r} is not a number")


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """`num` numbers at equal distances from `start` to `stop`, which is the last if `endpoint`.

    `start` and `stop` may be arrays; the numbers then go along `axis`.  With `retstep` also the
    distance.

    >>> linspace(0.0, 1.0, 5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    num = concrete_index(num, "linspace", "num")
    if num < 0:
        raise errors.ArgumentError(f"linspace: the number of samples is negative: {num}")

    def floating(d: Any, weak: bool) -> tuple[Any, bool]:
        return dtypes.float_for(d), False

    first, last = promoted_arrays((start, stop), "linspace", ("start", "stop"), floating)
    working = first.dtype
    shape = arithmetic.add(first, last).shape
    first, last = broadcast_to_shape(first, shape), broadcast_to_shape(last, shape)
    gaps = num - 1 if endpoint else num
    real = dtypes.real_dtype(working)
    step = (
        arithmetic.divide(arithmetic.subtract(last, first), float(gaps))
        if gaps > 0
        else (full_like(first, math.nan))
    )
    if num == 0:
        values = zeros((0, *shape), working)
    elif gaps == 0:
        values = expand_dims(first, 0)
    else:
        with placed_like(first):
            counts = iota(shape=(num,), dtype=real, axis=0)
        weights = arithmetic.divide(counts, float(gaps)).reshape((num,) + (1,) * len(shape))
        values = arithmetic.add(
            arithmetic.multiply(first, arithmetic.subtract(1.0, weights)),
            arithmetic.multiply(last, weights),
        )
        if endpoint:
            # The last number is exact, as in NumPy.
            at_end = broadcast_to_shape(
                eq(as_type(counts, real), float(num - 1)).reshape((num,) + (1,) * len(shape)),
                values.shape,
            )
            values = select(at_end, broadcast_to_shape(last, values.shape), values)
    result = moveaxis(values, 0, axis)
    if dtype is not None:
        target = dtypes.as_dtype(dtype)
        if dtypes.is_integer(target):
            result = arithmetic.floor(result)
        result = as_type(result, target)
    return (result, step) if retstep else result


def concrete_index(value: Any, function: str, argument: str) -> int:
    """An integer that must be known now, because a shape depends on it."""
    if isinstance(value, Tracer):
        value = value.concrete(f"the argument {argument} of {function}")
    try:
        return int(value.__index__())
    except (AttributeError, TypeError):
        raise errors.ArgumentError(
            f"{function}: {argument} must be an integer, got {value!r}"
        ) from None


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Array:
    """Numbers from `base**start` to `base**stop` whose logarithms are at equal distances.

    >>> [round(v) for v in logspace(0, 2, 3).tolist()]
    [1, 10, 100]
    """
    result = arithmetic.power(base, linspace(start, stop, num, endpoint, axis=axis))
    return result if dtype is None else as_type(result, dtypes.as_dtype(dtype))


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Array:
    """Numbers from `start` to `stop` with a constant ratio.

    >>> [round(v) for v in geomspace(1.0, 100.0, 3).tolist()]
    [1, 10, 100]
    """
    first, ratio = as_array(start), arithmetic.divide(stop, start)
    result = arithmetic.multiply(
        first, arithmetic.power(ratio, linspace(0.0, 1.0, num, endpoint, axis=axis))
    )
    return result if dtype is None else as_type(result, dtypes.as_dtype(dtype))


# ----------------------------------------------------------------- matrices


def diagonal_mask(shape: Shape, k: int) -> Array:
    """Booleans: true where the column is the row plus `k`, over the last two axes."""
    rows = iota(shape=shape, dtype=np.dtype(np.int32), axis=len(shape) - 2)
    columns = iota(shape=shape, dtype=np.dtype(np.int32), axis=len(shape) - 1)
    return eq(columns, add(rows, k))  # type: ignore[no-any-return]


def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = None, *, device: Any = None
) -> Array:
    """A matrix with ones on the diagonal number `k` and zeros elsewhere.

    >>> eye(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    rows = concrete_index(N, "eye", "N")
    shape = rows, rows if M is None else concrete_index(M, "eye", "M")
    as_shape(shape, "eye")
    return as_type(diagonal_mask(shape, int(k)), _dtype(dtype, dtypes.default_float()))


def identity(n: int, dtype: Any = None) -> Array:
    """The square matrix with ones on its diagonal.

    >>> identity(2, int).tolist()
    [[1, 0], [0, 1]]
    """
    return eye(n, dtype=dtype)


def triangle_mask(shape: Shape, k: int) -> Array:
    """Booleans: true where the column is at most the row plus `k`, over the last two axes."""
    rows = iota(shape=shape, dtype=np.dtype(np.int32), axis=len(shape) - 2)
    columns = iota(shape=shape, dtype=np.dtype(np.int32), axis=len(shape) - 1)
    return ge(add(rows, k), columns)  # type: ignore[no-any-return]


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Array:
    """Ones at and below the diagonal number `k`, zeros above it.

    >>> tri(2).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    shape = int(N), int(N if M is None else M)
    return as_type(triangle_mask(shape, k), _dtype(dtype, dtypes.default_float()))


def tril(m: Any, k: int = 0) -> Array:
    """`m` with zeros above the diagonal number `k`, over the last two axes.

    >>> tril(ones((2, 2))).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    return _triangle(m, k, "tril", True)


def triu(m: Any, k: int = 0) -> Array:
    """`m` with zeros below the diagonal number `k`, over the last two axes.

    >>> triu(ones((2, 2))).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    return _triangle(m, k - 1, "triu", False)


def _triangle(m: Any, k: int, function: str, lower: bool) -> Array:
    x = as_array(m, function, "m")
    if x.ndim < 2:
        raise errors.ShapeError(f"{function} needs at least 2 dimensions, got shape {x.shape}")
    zero = LITERALS[dtypes.kind(x.dtype)](0)
    with placed_like(x):
        mask = triangle_mask(x.shape, k)
    return select(mask, x, zero) if lower else select(mask, zero, x)  # type: ignore[no-any-return]


def meshgrid(
    *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> list[Array]:
    """Grids of the coordinates of vectors: the i-th varies along its own axis only.

    With `indexing="xy"` the first two axes are exchanged; `sparse` keeps length 1 elsewhere.

    >>> [g.tolist() for g in meshgrid(asarray([1, 2]), asarray([3]))]
    [[[1, 2]], [[3, 3]]]
    """
    if indexing not in ("xy", "ij"):
        raise errors.ArgumentError(f"meshgrid: indexing is 'xy' or 'ij', not {indexing!r}")
    vectors = [as_array(x, "meshgrid", f"xi[{i}]").reshape(-1) for i, x in enumerate(xi)]
    order = list(range(len(vectors)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = 1, 0
    shape = tuple(vectors[i].size for i in order)
    grids = []
    for i, v in enumerate(vectors):
        axis = order.index(i)
        grid = v.reshape(tuple(v.size if j == axis else 1 for j in range(len(shape))))
        grids.append(grid if sparse else broadcast_to_shape(grid, shape))
    return grids


def indices(dimensions: Sequence[int], dtype: Any = None, sparse: bool = False) -> Any:
    """For each axis of a grid the index along it, stacked; a tuple of them if `sparse`.

    >>> indices((1, 2)).tolist()
    [[[0, 0]], [[0, 1]]]
    """
    shape = as_shape(dimensions, "indices")
    target = _dtype(dtype, dtypes.default_int())
    if sparse:
        return tuple(
            iota(shape=(n,), dtype=target, axis=0).reshape(
                tuple(n if j == i else 1 for j in range(len(shape)))
            )
            for i, n in enumerate(shape)
        )
    if not shape:
        return zeros((0,), target)
    return stack([iota(shape=shape, dtype=target, axis=i) for i in range(len(shape))])


def copy(a: Any, order: str | None = None) -> Array:
    """An array with the elements of `a`; arrays do not change, so it may be `a` itself.

    >>> copy(asarray([1, 2])).tolist()
    [1, 2]
    """
    return as_array(a, "copy", "a")


def astype(x: Any, dtype: Any, /, *, copy: bool = False, device: Any = None) -> Array:
    """`x` in another dtype.  Complex numbers give their real part to real dtypes.

    >>> astype(asarray([1.5]), int).tolist()
    [1]
    """
    array_ = as_array(x, "astype", "x")
    return cast(array_, dtypes.default_float() if dtype is None else dtypes.as_dtype(dtype))


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Array:
    """The matrix of powers of `x`, one row for each element.

    >>> vander(asarray([2, 3]), 3).tolist()
    [[4, 2, 1], [9, 3, 1]]
    """
    v = as_array(x, "vander", "x")
    count = v.size if N is None else N
    exponents = arange(count) if increasing else arange(count - 1, -1, -1)
    return arithmetic.power(expand_dims(v, 1), expand_dims(exponents, 0))
