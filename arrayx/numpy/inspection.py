"""What can be told of an array without its elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.core.array import Array
from arrayx.numpy.promotion import as_array


def _plain(a: Any) -> Any:
    return a if hasattr(a, "shape") else np.asarray(a)


def shape(a: Any) -> tuple[int, ...]:
    """The length of every axis.

    >>> import arrayx.numpy as anp
    >>> anp.shape(2.0)
    ()
    """
    return tuple(_plain(a).shape)


def ndim(a: Any) -> int:
    """The number of axes.

    >>> import arrayx.numpy as anp
    >>> anp.ndim(anp.ones((2, 3)))
    2
    """
    return len(shape(a))


def size(a: Any, axis: int | None = None) -> int:
    """The number of elements, or the length of an axis.

    >>> import arrayx.numpy as anp
    >>> anp.size(anp.ones((2, 3))), anp.size(anp.ones((2, 3)), 1)
    (6, 3)
    """
    lengths = shape(a)
    return int(np.prod(lengths, dtype=np.int64)) if axis is None else lengths[axis]


def isscalar(element: Any) -> bool:
    """Whether `element` is a number or an array of rank 0.

    >>> import arrayx.numpy as anp
    >>> anp.isscalar(3.0), anp.isscalar(anp.ones(2))
    (True, False)
    """
    if isinstance(element, Array | np.ndarray):
        return element.ndim == 0
    return isinstance(element, bool | int | float | complex | np.generic)


def iterable(y: Any) -> bool:
    """Whether `y` can be iterated over.

    >>> import arrayx.numpy as anp
    >>> anp.iterable(anp.ones(2)), anp.iterable(3)
    (True, False)
    """
    return np.iterable(y)


def array_repr(arr: Any) -> str:
    """The array as its `repr` shows it.

    >>> import arrayx.numpy as anp
    >>> anp.array_repr(anp.array([1, 2]))
    'Array([1, 2], dtype=int32)'
    """
    return repr(as_array(arr))


def array_str(a: Any) -> str:
    """The array as its `str` shows it.

    >>> import arrayx.numpy as anp
    >>> anp.array_str(anp.array([1, 2]))
    '[1 2]'
    """
    return str(as_array(a))
