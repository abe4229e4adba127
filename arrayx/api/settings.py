"""Settings as context managers under JAX's names: promotion, 64 bits, checks, compilations."""

from __future__ import annotations

from contextlib import AbstractContextManager

from arrayx.api.retraces import log_recompiles
from arrayx.config import config


def numpy_dtype_promotion(new_val: str) -> AbstractContextManager[None]:
    """Inside the block operands of different dtypes are promoted ("standard") or not ("strict").

    Strict, only Python numbers adapt to the arrays beside them, and only upwards (an integer to
    any number, a float to floats); all else raises `TypePromotionError`.

    >>> import arrayx.numpy as anp
    >>> with numpy_dtype_promotion("strict"):
    ...     (anp.ones(2) * 3).tolist()
    [3.0, 3.0]
    """
    return config(numpy_dtype_promotion=new_val)


def numpy_rank_promotion(new_val: str) -> AbstractContextManager[None]:
    """Inside the block operands of different ranks are broadcast ("allow"), with a "warn", or not.

    "raise" makes an elementwise operation on arrays of different numbers of axes a `ShapeError`;
    scalars are free.

    >>> import arrayx.numpy as anp
    >>> with numpy_rank_promotion("raise"):
    ...     (anp.ones((2, 2)) * 3).tolist()
    [[3.0, 3.0], [3.0, 3.0]]
    """
    return config(numpy_rank_promotion=new_val)


def enable_x64(new_val: bool = True) -> AbstractContextManager[None]:
    """Inside the block values without a dtype are of 64 bits (or of 32, if False).

    >>> import arrayx.numpy as anp
    >>> with enable_x64():
    ...     anp.zeros(2).dtype
    dtype('float64')
    """
    return config(default_dtype_bits=64 if new_val else 32)


def enable_checks(new_val: bool = True) -> AbstractContextManager[None]:
    """Inside the block the types of every graph that a transformation makes are checked.

    >>> import arrayx as ax
    >>> with enable_checks():
    ...     ax.config.check_graphs
    True
    """
    return config(check_graphs=new_val)


def log_compiles(new_val: bool = True) -> AbstractContextManager[None]:
    """JAX's name of `log_recompiles`: every trace of a jitted function, its line and its reason.

    >>> with log_compiles(False):
    ...     pass
    """
    return log_recompiles(new_val)


def explain_cache_misses(new_val: bool = True) -> AbstractContextManager[None]:
    """The same as `log_compiles`, which gives the reasons.

    >>> with explain_cache_misses(False):
    ...     pass
    """
    return log_recompiles(new_val)
