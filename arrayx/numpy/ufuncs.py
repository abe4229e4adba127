"""Methods of elementwise functions: `add.reduce`, `multiply.outer`, …, and `frompyfunc`.

The functions themselves stay plain functions, which are called fastest; `functions.with_methods`
puts on them what finds the methods here.  Those that have a reduction of their own use it, all
others are folded.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from arrayx import dtypes, errors
from arrayx.api.arguments import check_callable, name_of
from arrayx.api.placement import behind
from arrayx.core.array import Array
from arrayx.lax.associative import associative_scan
from arrayx.lax.loops import scan
from arrayx.numpy import arithmetic, logic, reductions
from arrayx.numpy.creation import asarray, full_like
from arrayx.numpy.cumulative import cumprod, cumsum
from arrayx.numpy.functions import WITH_METHODS
from arrayx.numpy.index_parsing import out_of_bounds
from arrayx.numpy.mapping import vectorize
from arrayx.numpy.promotion import (
    as_array,
    as_type,
    broadcast_shapes,
    broadcast_to_shape,
    check_axes,
    check_axis,
)
from arrayx.numpy.ranges import arange
from arrayx.numpy.selection import take, where
from arrayx.numpy.shapes import concatenate, expand_dims, moveaxis, ravel, reshape, stack
from arrayx.primitives import cumulative

Function = Callable[..., Any]


class Fast(NamedTuple):
    """What a function has of its own: a reduction, running results, and an update in place."""

    reduce: Function | None = None
    accumulate: Function | None = None
    update: str = ""


class UfuncType(type):
    """The class of `anp.ufunc`: the functions that were given methods count as instances."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return isinstance(instance, Hashable) and instance in WITH_METHODS


class ufunc(metaclass=UfuncType):
    """An elementwise function with NumPy's methods: `reduce`, `accumulate`, `outer`, …

    Made by `anp.frompyfunc`; `anp.add` and its kin count as instances too.  `identity` is the
    value of a reduction of nothing, None where there is none.

    >>> import arrayx.numpy as anp
    >>> isinstance(anp.add, anp.ufunc), anp.add.identity, anp.add.nin
    (True, 0, 2)
    """

    __module__ = "arrayx.numpy"

    def __init__(
        self,
        function: Function,
        nin: int,
        nout: int,
        *,
        identity: Any = None,
        name: str = "",
        associative: bool = False,
        fast: Fast | None = None,
    ) -> None:
        self.function = function
        self.nin = nin
        self.nout = nout
        self.nargs = nin + nout
        self.identity = identity
        self.__name__ = name or name_of(function)
        self.__doc__ = function.__doc__
        self._associative = associative
        self._fast = fast or Fast()

    def __call__(self, *args: Any) -> Any:
        if len(args) != self.nin:
            raise errors.ArgumentError(
                f"{self.__name__} takes {self.nin} arguments, got {len(args)}"
            )
        return self.function(*args)

    def __repr__(self) -> str:
        return f"<arrayx.numpy.ufunc {self.__name__!r}>"

    # ------------------------------------------------------------- reductions

    def reduce(
        self,
        a: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Array:
        """All elements along `axis` combined, from left to right; None combines all.

        Args:
            a: the array.
            axis: one axis; several, or None for all of them.
            dtype: what the elements are converted to first.
            out: not used; arrays do not change.
            keepdims: keep the axis with length 1.
            initial: what the first element is combined with.
            where: booleans, which elements take part; needs an identity or `initial`.

        Raises:
            ArgumentError: there is nothing to combine and neither identity nor `initial`.

        >>> import arrayx.numpy as anp
        >>> anp.subtract.reduce(anp.array([10, 1, 2])).tolist()
        7
        """
        x = self._operand(a, "reduce", dtype)
        axes = check_axes(axis, x.ndim, f"{self.__name__}.reduce")
        if where is True:
            where = None
        if self._fast.reduce is not None:
            self._check_not_empty(x, axes, initial)
            if where is not None and initial is None:
                initial = self.identity
            result = self._fast.reduce(x, axes, keepdims=keepdims, initial=initial, where=where)
            return as_type(result, dtypes.as_dtype(dtype)) if dtype is not None else result  # type: ignore[no-any-return]
        in_front = _in_front(x, axes)
        mask = where
        if where is not None:
            given = as_array(where, f"{self.__name__}.reduce", "where")
            shape = broadcast_shapes(given.shape, x.shape)
            mask = _in_front(broadcast_to_shape(logic.truth(given), shape), axes)
        if initial is None and (mask is not None or not in_front.shape[0]):
            initial = self.identity
            if initial is None:
                raise errors.ArgumentError(
                    f"{self.__name__}.reduce of no elements, or of some (where=), needs initial=: "
                    "the function has no identity"
                )
        result = self._folded(in_front, initial, mask)
        if keepdims:
            shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
            result = reshape(result, shape)
        return result

    def _check_not_empty(self, x: Array, axes: Any, initial: Any) -> None:
        if self.identity is None and initial is None and not all(x.shape[i] for i in axes):
            raise errors.ArgumentError(
                f"{self.__name__}.reduce of no elements needs initial=: the function has no "
                f"identity, and the array has shape {x.shape}"
            )

    def accumulate(self, a: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Array:
        """The elements along `axis` up to each, combined from left to right.

        >>> import arrayx.numpy as anp
        >>> anp.maximum.accumulate(anp.array([1, 3, 2])).tolist()
        [1, 3, 3]
        """
        x = self._operand(a, "accumulate", dtype)
        i = check_axis(axis, x.ndim, f"{self.__name__}.accumulate")
        if self._fast.accumulate is not None:
            return self._fast.accumulate(x, i)  # type: ignore[no-any-return]
        if not x.shape[i]:
            return x
        x = moveaxis(self._settled(x), i, 0)
        if self._associative:
            return moveaxis(associative_scan(self.function, x), 0, i)

        def step(carry: Any, item: Any) -> tuple[Any, Any]:
            combined = self._kept(carry, item)
            return combined, combined

        rest = scan(step, x[0], x[1:])[1]
        return moveaxis(concatenate([x[:1], rest]), 0, i)

    def reduceat(
        self, a: Any, indices: Any, axis: int = 0, dtype: Any = None, out: None = None
    ) -> Array:
        """Reductions of slices along `axis`: number i is `a[indices[i]:indices[i + 1]]`.

        Where an index is not below the next one, it is the single element `a[indices[i]]`; the
        last slice goes to the end.

        >>> import arrayx.numpy as anp
        >>> anp.add.reduceat(anp.arange(5), anp.array([0, 3, 1])).tolist()
        [3, 3, 10]
        """
        x = self._operand(a, "reduceat", dtype)
        i = check_axis(axis, x.ndim, f"{self.__name__}.reduceat")
        x = moveaxis(x, i, 0)
        n = x.shape[0]
        index = asarray(indices)
        if index.ndim != 1 or not dtypes.is_integer(index.dtype):
            raise errors.ArgumentError(
                f"{self.__name__}.reduceat: the indices are a vector of integers, got {index.aval}"
            )
        concrete = behind(index)
        if isinstance(concrete, Array):
            known = concrete.host().tolist()  # type: ignore[attr-defined]
            for start in known:
                if not 0 <= start < n:
                    raise out_of_bounds(start, n, i)
            parts = [
                self.reduce(x[start:end] if start < end else x[start : start + 1])
                for start, end in zip(known, [*known[1:], n], strict=True)
            ]
            if not parts:
                return moveaxis(x[:0], 0, i)
            return moveaxis(stack(parts), 0, i)
        ends = concatenate([index[1:], full_like(index[:1], n)])
        shape = (index.shape[0],) + (1,) * (x.ndim - 1)

        def step(carry: Any, item: Any) -> tuple[Any, None]:
            place, element = item
            taken = reshape((index < place) & (place < ends), shape)
            return where(taken, self._kept(carry, element), carry), None

        x = self._settled(x)
        result, _ = scan(step, take(x, index, axis=0), (arange(n, dtype=index.dtype), x))
        return moveaxis(result, 0, i)

    # ------------------------------------------------------------- other methods

    def outer(self, A: Any, B: Any, /) -> Array:
        """The function of every pair: element `[i, j]` is that of `A[i]` and `B[j]`.

        >>> import arrayx.numpy as anp
        >>> anp.multiply.outer(anp.array([1, 2]), anp.array([3, 4])).tolist()
        [[3, 4], [6, 8]]
        """
        self._check_binary("outer")
        x, y = (
            as_array(A, f"{self.__name__}.outer", "A"),
            as_array(B, f"{self.__name__}.outer", "B"),
        )
        axes = tuple(range(x.ndim, x.ndim + y.ndim))
        left = expand_dims(x, axes) if axes else x
        return self.function(left, reshape(y, (1,) * x.ndim + y.shape))  # type: ignore[no-any-return]

    def at(self, a: Any, indices: Any, b: Any = None, /, *, inplace: bool = True) -> Array:
        """`a` with the function applied at `indices`, once for each time that one occurs.

        Arrays do not change, so `inplace=False` must be given, and the result used.

        >>> import arrayx.numpy as anp
        >>> anp.add.at(anp.zeros(3), anp.array([0, 0, 2]), 1.0, inplace=False).tolist()
        [2.0, 0.0, 1.0]
        """
        name = f"{self.__name__}.at"
        if inplace:
            raise errors.ImmutableArrayError(
                f"{name}: arrays do not change; give inplace=False and use the result"
            )
        x: Any = as_array(a, name, "a")
        if self.nin != (1 if b is None else 2) or self.nout != 1:
            raise errors.ArgumentError(f"{name}: {self.__name__} takes {self.nin} operands")
        if self._fast.update:
            return getattr(x.at[indices], self._fast.update)(b)  # type: ignore[no-any-return]
        places = ravel(reshape(arange(x.size), x.shape)[indices])
        selected = x[indices].shape
        flat: Any = ravel(x)
        operands = [places]
        if b is not None:
            operands.append(ravel(broadcast_to_shape(as_array(b, name, "b"), selected)))

        def step(carry: Any, item: Any) -> tuple[Any, None]:
            place, *values = item
            new = self.function(carry[place], *values)
            return carry.at[place].set(as_type(new, carry.dtype)), None

        return reshape(scan(step, flat, tuple(operands))[0], x.shape)

    # ------------------------------------------------------------- parts

    def _check_binary(self, method: str) -> None:
        if (self.nin, self.nout) != (2, 1):
            raise errors.ArgumentError(
                f"{self.__name__}.{method}: only a function of two operands with one result has "
                f"it, this one has {self.nin} and {self.nout}"
            )

    def _operand(self, a: Any, method: str, dtype: Any) -> Array:
        self._check_binary(method)
        x = as_array(a, f"{self.__name__}.{method}", "a")
        return x if dtype is None else as_type(x, dtypes.as_dtype(dtype))

    def _settled(self, x: Array) -> Array:
        """`x` in the dtype that the function gives for operands of it."""
        if not x.size:
            return x
        sample = ravel(x)[:1]
        return as_type(x, self.function(sample, sample).dtype)

    def _kept(self, x: Any, y: Any) -> Any:
        return as_type(self.function(x, y), x.dtype)

    def _started(self, x: Array, initial: Any) -> Array:
        """The first value of a fold of `x` along its first axis."""
        value = as_array(initial, f"{self.__name__}.reduce", "initial")
        return broadcast_to_shape(as_type(value, x.dtype), x.shape[1:])

    def _folded(self, x: Array, initial: Any, mask: Any) -> Array:
        """The elements along the first axis combined."""
        x = self._settled(x)
        if self._associative and mask is None:
            while x.shape[0] > 1:
                half = x.shape[0] // 2
                paired = self.function(x[0 : 2 * half : 2], x[1 : 2 * half : 2])
                x = concatenate([paired, x[2 * half :]]) if x.shape[0] % 2 else paired
            if not x.shape[0]:
                return self._started(x, initial)
            return x[0] if initial is None else self._kept(x[0], initial)
        if initial is None:
            first, x = x[0], x[1:]
        else:
            first = self._started(x, initial)

        def step(carry: Any, item: Any) -> tuple[Any, None]:
            if mask is None:
                return self._kept(carry, item), None
            taken, element = item
            return where(taken, self._kept(carry, element), carry), None

        return scan(step, first, x if mask is None else (mask, x))[0]  # type: ignore[no-any-return]


def _in_front(x: Array, axes: tuple[int, ...]) -> Array:
    """`x` with some axes as one, which is the first."""
    rest = tuple(n for i, n in enumerate(x.shape) if i not in axes)
    count = math.prod(x.shape[i] for i in axes)
    return reshape(moveaxis(x, axes, tuple(range(len(axes)))), (count, *rest))


def frompyfunc(func: Function, /, nin: int, nout: int, *, identity: Any = None) -> ufunc:
    """An elementwise function, with the methods of `ufunc`, from a function of numbers.

    Args:
        func: a function of `nin` scalars that gives one scalar, or a tuple of `nout`.
        nin: how many operands it takes.
        nout: how many results it has.
        identity: the value of a reduction of nothing.

    >>> import arrayx.numpy as anp
    >>> add = anp.frompyfunc(lambda x, y: x + y, 2, 1, identity=0)
    >>> add(anp.arange(3), 10).tolist(), add.reduce(anp.arange(4)).tolist()
    ([10, 11, 12], 6)
    """
    check_callable(func, "frompyfunc")
    for name, value in (("nin", nin), ("nout", nout)):
        if type(value) is not int or value < 1:
            raise errors.ArgumentError(f"frompyfunc: {name} is a positive integer, got {value!r}")

    def checked(*args: Any) -> Any:
        result = func(*args)
        made = len(result) if isinstance(result, tuple) else 1
        if made != nout:
            raise errors.ArgumentError(
                f"frompyfunc: {name_of(func)} returned {made} results, nout is {nout}"
            )
        return result

    mapped = vectorize(checked)
    mapped.__doc__ = func.__doc__
    return ufunc(mapped, nin, nout, identity=identity, name=name_of(func))


# ----------------------------------------------------------------- the functions with methods


def _logical(reduce: Function) -> Function:
    def apply(x: Array, axes: Any, *, keepdims: bool, initial: Any, where: Any) -> Any:
        result = reduce(x, axes, keepdims=keepdims, where=where)
        if initial is None:
            return result
        combine = logic.logical_and if reduce is reductions.all else logic.logical_or
        return combine(result, initial)

    return apply


def _running(primitive: Any) -> Function:
    return lambda x, axis: primitive(x, axis=axis, reverse=False)


def _summed(function: Function) -> Function:
    """Running sums or products in the dtype that those of all elements have."""
    return lambda x, axis: function(x, axis, dtype=_sum_dtype_of(x))


def _sum_dtype_of(x: Array) -> Any:
    return dtypes.default_int() if dtypes.kind(x.dtype) == "bool" else x.dtype


_FAST: dict[Any, Fast] = {
    arithmetic.add: Fast(reductions.sum, _summed(cumsum), "add"),
    arithmetic.multiply: Fast(reductions.prod, _summed(cumprod), "multiply"),
    arithmetic.maximum: Fast(reductions.max, _running(cumulative.cummax), "max"),
    arithmetic.minimum: Fast(reductions.min, _running(cumulative.cummin), "min"),
    logic.logical_and: Fast(_logical(reductions.all)),
    logic.logical_or: Fast(_logical(reductions.any)),
}


@functools.cache
def ufunc_of(function: Any) -> ufunc:
    """The methods of one of the functions that `functions.with_methods` was told of."""
    return ufunc(
        function,
        function.nin,
        1,
        identity=function.identity,
        name=function.__name__,
        associative=WITH_METHODS[function],
        fast=_FAST.get(function),
    )
