"""Arrays from values, shapes and ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from arrayx import dtypes, errors
from arrayx.api.arguments import ShapeDtypeStruct
from arrayx.api.placement import device_put, find_device
from arrayx.backend.dispatch import default_device
from arrayx.core.array import Array, typeof
from arrayx.core.aval import Aval, Shape
from arrayx.numpy.naming import named
from arrayx.numpy.nested import from_any
from arrayx.numpy.placing import placed
from arrayx.numpy.promotion import (
    LITERALS,
    SCALARS,
    as_array,
    as_type,
    broadcast_to_shape,
    placed_like,
    read,
    read_beside,
    scalar_array,
    staging,
)
from arrayx.numpy.shapes import broadcast_to, expand_dims
from arrayx.primitives.creation import fill


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
    are copied.  `device` says where the array is put.

    >>> import arrayx.numpy as anp
    >>> anp.array([[1, 2], [3, 4]]).dtype
    dtype('int32')
    """
    if device is not None:
        return placed(device, array, object, dtype, copy, order, ndmin)  # type: ignore[no-any-return]
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    result = from_any(object, wanted)
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

    NumPy arrays are copied, unless `copy` is False: then the memory is shared, which must not
    be written to any more, and what cannot be had without a copy raises.  `device` says where
    the array is put.

    >>> import arrayx.numpy as anp
    >>> anp.asarray([1.0, 2.0])
    Array([1., 2.], dtype=float32)
    """
    if device is not None:
        if copy is False and getattr(a, "device", None) is not find_device(device):
            _refuse_copy(f"it is not on the device {device}")
        return placed(device, asarray, a, dtype, order, copy=copy)  # type: ignore[no-any-return]
    if isinstance(a, Array) and (dtype is None or dtypes.as_dtype(dtype) is a.aval.dtype):
        return a
    if copy is False:
        return _shared(a, dtype)
    if dtype is None and type(a) in SCALARS:
        return scalar_array(a, dtypes.default_dtype(type(a)), type(a) is not bool)
    return array(a, dtype)


def beside(values: Any, reference: Array, function: str, argument: str) -> Array:
    """An argument as an array of the dtype of `reference` that lies where that one lies.

    Numbers get there directly: on the way through a default dtype they would lose digits.
    """
    target = reference.aval.dtype
    if not isinstance(values, list | tuple):
        values = read_beside((values, reference), function, (argument, ""))[0]
    if isinstance(values, Array):
        return as_type(values, target)
    with placed_like(reference):
        return asarray(values, target)


def _shared(a: Any, dtype: Any) -> Array:
    """An array on the memory of `a`, a NumPy array or what offers DLPack."""
    if isinstance(a, Array):
        _refuse_copy(f"its dtype is {dtypes.dtype_name(a.aval.dtype)}")
    if not isinstance(a, np.ndarray) and hasattr(a, "__dlpack__"):
        a = np.from_dlpack(a)
    if not isinstance(a, np.ndarray):
        _refuse_copy(f"it is of type {type(a).__name__}, which is no array")
    if dtype is not None and dtypes.as_dtype(dtype) != a.dtype:
        _refuse_copy(f"its dtype is {a.dtype}")
    if staging() is not None:
        _refuse_copy("a constant of a traced function is kept apart")
    device = default_device()
    aval = Aval(a.shape, dtypes.as_dtype(a.dtype))
    device.backend.check_dtype(aval)
    buffer = device.backend.share(a, device)
    if buffer is None:
        _refuse_copy(f"the backend {device.backend.name!r} keeps arrays in memory of its own")
    return device.array_type(buffer, aval)


def _refuse_copy(reason: str) -> NoReturn:
    raise errors.ArgumentError(
        f"asarray: with copy=False the array would have to be made without a copy, but {reason}; "
        "leave copy out to have it copied where it must be"
    )


def cast(x: Array, dtype: Any) -> Array:
    """`x` in another dtype, strong; a complex number loses its imaginary part."""
    return as_type(x, dtype)


# ----------------------------------------------------------------- one value


def _filled(shape: Any, value: Any, dtype: Any, function: str) -> Array:
    return fill(as_shape(shape, function), dtype, LITERALS[dtypes.kind(dtype)](value))  # type: ignore[no-any-return]


def zeros(shape: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """Zeros of a shape, float by default, on `device`.

    >>> import arrayx.numpy as anp
    >>> anp.zeros(2)
    Array([0., 0.], dtype=float32)
    """
    if device is not None:
        return placed(device, zeros, shape, dtype)  # type: ignore[no-any-return]
    return _filled(shape, 0, _dtype(dtype, dtypes.default_float()), "zeros")


def ones(shape: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """Ones of a shape, float by default, on `device`.

    >>> import arrayx.numpy as anp
    >>> anp.ones(2, int)
    Array([1, 1], dtype=int32)
    """
    if device is not None:
        return placed(device, ones, shape, dtype)  # type: ignore[no-any-return]
    return _filled(shape, 1, _dtype(dtype, dtypes.default_float()), "ones")


@named
def empty(shape: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """An array of a shape whose elements should not be read; they are zeros.

    >>> import arrayx.numpy as anp
    >>> anp.empty((2, 0)).shape
    (2, 0)
    """
    return zeros(shape, dtype, device=device)


@named
def full(shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """An array of a shape with every element `fill_value`, which is broadcast, on `device`.

    >>> import arrayx.numpy as anp
    >>> anp.full(2, 7)
    Array([7, 7], dtype=int32)
    """
    if device is not None:
        return placed(device, full, shape, fill_value, dtype)  # type: ignore[no-any-return]
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
    if not (hasattr(a, "dtype") and hasattr(a, "shape")) and type(a) not in SCALARS:
        a = read(a, "like", "a")
    aval = a if hasattr(a, "dtype") and hasattr(a, "shape") else typeof(a)
    return (
        tuple(aval.shape) if shape is None else as_shape(shape, "like"),
        dtypes.as_dtype(aval.dtype) if dtype is None else dtypes.as_dtype(dtype),
        bool(getattr(aval, "weak_type", False)) and dtype is None,
    )


@named
def zeros_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Array:
    """Zeros of the shape and dtype of `a`.

    >>> import arrayx.numpy as anp
    >>> anp.zeros_like(anp.asarray([1, 2]))
    Array([0, 0], dtype=int32)
    """
    return full_like(a, 0, dtype, shape, device=device)


@named
def ones_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Array:
    """Ones of the shape and dtype of `a`.

    >>> import arrayx.numpy as anp
    >>> anp.ones_like(anp.asarray([1, 2]))
    Array([1, 1], dtype=int32)
    """
    return full_like(a, 1, dtype, shape, device=device)


@named
def empty_like(
    prototype: Any, dtype: Any = None, shape: Any = None, *, device: Any = None
) -> Array:
    """An array of the shape and dtype of `prototype`; its elements are zeros.

    >>> import arrayx.numpy as anp
    >>> anp.empty_like(anp.asarray([1, 2])).shape
    (2,)
    """
    return full_like(prototype, 0, dtype, shape, device=device)


@named
def full_like(
    a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, *, device: Any = None
) -> Array:
    """An array of the shape and dtype of `a` with every element `fill_value`.

    It is made where `a` lives, or on `device`.

    >>> import arrayx.numpy as anp
    >>> anp.full_like(anp.asarray([1, 2]), 7)
    Array([7, 7], dtype=int32)
    """
    new_shape, new_dtype, weak = _like(a, dtype, shape)
    if device is not None:
        # Only the type of `a` counts: its elements stay where they are.
        like = ShapeDtypeStruct(new_shape, new_dtype, weak_type=weak)
        return placed(device, full_like, like, fill_value)  # type: ignore[no-any-return]
    if type(fill_value) in SCALARS:
        if type(fill_value) is int:
            dtypes.check_scalar(fill_value, new_dtype)
        kind = dtypes.kind(new_dtype)
        if kind in LITERALS and not (type(fill_value) is complex and kind != "complex"):
            with placed_like(a):
                return fill(new_shape, new_dtype, LITERALS[kind](fill_value), weak)  # type: ignore[no-any-return]
    return full(new_shape, fill_value, new_dtype)


# ----------------------------------------------------------------- ranges


# ----------------------------------------------------------------- matrices


def copy(a: Any, order: str | None = None) -> Array:
    """An array with the elements of `a`; arrays do not change, so it may be `a` itself.

    >>> import arrayx.numpy as anp
    >>> anp.copy(anp.asarray([1, 2])).tolist()
    [1, 2]
    """
    return as_array(a, "copy", "a")


@named
def astype(x: Any, dtype: Any, /, *, copy: bool = False, device: Any = None) -> Array:
    """`x` in another dtype, on `device`.  Complex numbers give their real part to real dtypes.

    >>> import arrayx.numpy as anp
    >>> anp.astype(anp.asarray([1.5]), int).tolist()
    [1]
    """
    array_ = as_array(x, "astype", "x")
    result = cast(array_, dtypes.default_float() if dtype is None else dtypes.as_dtype(dtype))
    return result if device is None else device_put(result, device)  # type: ignore[no-any-return]
