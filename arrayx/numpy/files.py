"""Arrays from and to files, buffers and other libraries, and how arrays are shown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.backend.concrete import ConcreteArray
from arrayx.core.array import Array
from arrayx.core.interpreter import Tracer
from arrayx.numpy.creation import asarray

get_printoptions = np.get_printoptions
printoptions = np.printoptions
set_printoptions = np.set_printoptions


def _host(x: Any, function: str) -> np.ndarray:
    if isinstance(x, Tracer):
        x = x.concrete(f"{function}()")
    host = x.host() if isinstance(x, ConcreteArray) else np.asarray(x)
    if host.dtype.kind == "V":
        raise errors.DtypeError(
            f"{function}: NumPy's format does not hold {host.dtype}, only its bytes; save the bits "
            "as unsigned integers, with ax.lax.bitcast_convert_type"
        )
    return host


def _bare(dtype: Any) -> Any:
    """A dtype for NumPy; `float` and `int` are of the default width."""
    return None if dtype is None else dtypes.as_dtype(dtype)


def save(file: Any, arr: Any) -> None:
    """Writes an array to a file in NumPy's format.

    >>> import io
    >>> import arrayx.numpy as anp
    >>> file = io.BytesIO()
    >>> anp.save(file, anp.arange(2))
    """
    np.save(file, _host(arr, "save"), allow_pickle=False)


def savez(file: Any, *args: Any, **kwds: Any) -> None:
    """Writes several arrays to one file in NumPy's format, named by keyword or arr_0, arr_1, …

    >>> import io
    >>> import arrayx.numpy as anp
    >>> anp.savez(io.BytesIO(), weights=anp.arange(2))
    """
    arrays = {name: _host(a, "savez") for name, a in kwds.items()}
    np.savez(file, *(_host(a, "savez") for a in args), **arrays)  # type: ignore[arg-type]


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """The array in a file of NumPy's format; a mapping of NumPy arrays for one of several.

    More arguments are those of `np.load`.

    >>> import io
    >>> import arrayx.numpy as anp
    >>> file = io.BytesIO()
    >>> anp.save(file, anp.arange(2))
    >>> _ = file.seek(0)
    >>> anp.load(file)
    Array([0, 1], dtype=int32)
    """
    found = np.load(file, *args, **kwargs)
    return asarray(found) if isinstance(found, np.ndarray) else found


def fromfile(
    file: Any, dtype: Any = float, count: int = -1, sep: str = "", offset: int = 0
) -> Array:
    """The numbers in a file as a vector: all, or `count` of them, from byte `offset` on.

    They are bytes, or with `sep` text.

    >>> import tempfile, numpy as np
    >>> import arrayx.numpy as anp
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     np.float32([1, 2]).tofile(file.name)
    ...     anp.fromfile(file.name, dtype=anp.float32).tolist()
    [1.0, 2.0]
    """
    return asarray(np.fromfile(file, _bare(dtype), count, sep, offset))


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Array:
    """The numbers in a buffer (bytes, a memory view, …) as a vector.

    >>> import arrayx.numpy as anp
    >>> anp.frombuffer(bytes([1, 2]), anp.uint8).tolist()
    [1, 2]
    """
    return asarray(np.frombuffer(buffer, dtype=_bare(dtype), count=count, offset=offset))


def fromiter(iter: Iterable[Any], dtype: Any, count: int = -1) -> Array:
    """The numbers that an iterable gives, as a vector.

    >>> import arrayx.numpy as anp
    >>> anp.fromiter(range(3), int).tolist()
    [0, 1, 2]
    """
    return asarray(np.fromiter(iter, dtype=_bare(dtype), count=count))


def fromstring(string: str, dtype: Any = float, count: int = -1, *, sep: str) -> Array:
    """The numbers in a text, which `sep` separates, as a vector.

    >>> import arrayx.numpy as anp
    >>> anp.fromstring("1, 2", int, sep=",").tolist()
    [1, 2]
    """
    return asarray(np.fromstring(string, dtype=_bare(dtype), count=count, sep=sep))


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """An array of another library that offers DLPack, in the memory of the host.

    Its elements are copied, since arrays here never change, unless `copy` is False, which
    promises that the other library will not change them.  `device` says where the result is put;
    an array of ours stays where it is without it.

    >>> import numpy as np
    >>> import arrayx.numpy as anp
    >>> anp.from_dlpack(np.arange(2.0)).dtype.name
    'float64'
    """
    if isinstance(x, Array):
        return asarray(x, device=device, copy=copy)
    if not hasattr(x, "__dlpack__"):
        raise errors.ArgumentError(f"from_dlpack: {type(x).__name__} does not offer __dlpack__")
    return asarray(np.from_dlpack(x), device=device, copy=copy)
