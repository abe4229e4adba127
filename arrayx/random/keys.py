"""Making, splitting and unwrapping random keys.

Keys are arrays of the dtype `key<threefry2x32>`.  The older form, an array of uint32 with a
last axis of length 2, is accepted everywhere and given back by `split` and `fold_in`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.config import config
from arrayx.core.array import Array
from arrayx.numpy.promotion import as_type, host_array, read, scalar_array
from arrayx.primitives.creation import fill
from arrayx.primitives.random import (
    KEY,
    UINT32,
    random_fold_in,
    random_seed,
    random_split,
    random_unwrap,
    random_wrap,
)
from arrayx.random.arguments import checked_shape, value

IMPLEMENTATION = "threefry2x32"


def key(seed: Any, *, impl: str | None = None, dtype: Any = None) -> Array:
    """A random key from an integer `seed`: an array of shape `()` and of a key dtype.

    Seeds have 64 bits where `config.default_dtype_bits` is 64, else only the low 32 bits
    count.  `impl` is "threefry2x32", the one generator there is; `dtype` its key dtype.

    Raises `ArgumentError` for a seed that is no integer or not a scalar, `OverflowError` for
    one beyond 64 bits.

    >>> import arrayx as ax
    >>> ax.random.key_data(ax.random.key(42))
    Array([ 0, 42], dtype=uint32)
    """
    return seeded("key", seed, impl, dtype)


def PRNGKey(seed: Any, *, impl: str | None = None) -> Array:
    """A random key in the older form, an array of two uint32; see `key`.

    >>> import arrayx as ax
    >>> ax.random.PRNGKey(42)
    Array([ 0, 42], dtype=uint32)
    """
    return random_unwrap(seeded("PRNGKey", seed, impl, None))  # type: ignore[no-any-return]


def seeded(function: str, seed: Any, impl: Any, dtype: Any) -> Array:
    """The key of a seed; messages name `function`."""
    check_implementation(function, impl, dtype)
    words_of_64_bits = config.default_dtype_bits == 64
    if isinstance(seed, int):  # a bool is one
        dtypes.check_scalar(int(seed), np.int64)
        if words_of_64_bits:
            return random_seed(fill((), np.dtype(np.int64), int(seed)))  # type: ignore[no-any-return]
        return random_seed(fill((), UINT32, int(seed) & 0xFFFFFFFF))  # type: ignore[no-any-return]
    if isinstance(seed, Array | np.ndarray | np.generic):
        seed = read(seed, function, "seed")
        if dtypes.kind(seed.dtype) == "bool":
            seed = as_type(seed, UINT32)
    if not isinstance(seed, Array) or not dtypes.is_integer(seed.dtype):
        raise errors.ArgumentError(
            f"{function}: a seed must be an integer, got {seed!r}; pass {function}(0), or "
            "convert the number to an integer first"
        )
    if seed.shape != ():
        raise errors.ArgumentError(
            f"{function}: a seed must be a scalar, got an array of shape {seed.shape}; for many "
            f"keys use ax.vmap(ax.random.{function}), or ax.random.split"
        )
    if seed.dtype.itemsize == 8 and not words_of_64_bits:
        seed = as_type(seed, UINT32)
    return random_seed(seed)  # type: ignore[no-any-return]


def check_implementation(function: str, impl: Any, dtype: Any) -> None:
    """Raises for a generator that is not there."""
    if impl is not None and dtype is not None:
        raise errors.ArgumentError(f"{function}: give impl or dtype, not both")
    if dtype is not None and not isinstance(dtype, dtypes.KeyDtype):
        raise errors.DtypeError(f"{function}: {dtype!r} is not a dtype of random keys")
    if impl is not None and impl != IMPLEMENTATION:
        raise errors.ArgumentError(
            f"{function}: no random generator {impl!r}; there is {IMPLEMENTATION!r}"
        )


def as_keys(function: str, keys: Any) -> tuple[Array, bool]:
    """Keys from either form, and whether they came as uint32."""
    if isinstance(keys, np.ndarray):
        keys = host_array(keys)
    if isinstance(keys, Array):
        if isinstance(keys.aval.dtype, dtypes.KeyDtype):
            return keys, False
        if keys.aval.dtype is UINT32 and keys.aval.shape[-1:] == (2,):
            return random_wrap(keys), True
        got = f"an array of type {keys.aval}"
    else:
        got = f"{keys!r} of type {type(keys).__name__}"
    raise errors.ArgumentError(
        f"{function}: the first argument must be a random key, got {got}; make one with "
        "ax.random.key(0), and split it for every use"
    )


def one_key(function: str, keys: Any) -> tuple[Array, bool]:
    """One key from either form; raises for an array of several."""
    made, was_raw = as_keys(function, keys)
    if made.aval.shape != ():
        raise errors.ArgumentError(
            f"{function}: takes one key, got an array of keys of shape {made.aval.shape}; use "
            f"ax.vmap over the keys, or pick one: keys[0]"
        )
    return made, was_raw


def key_data(keys: Any) -> Array:
    """The uint32 words of `keys`, along a new last axis of length 2.

    >>> import arrayx as ax
    >>> ax.random.key_data(ax.random.key(7))
    Array([0, 7], dtype=uint32)
    """
    made, was_raw = as_keys("key_data", keys)
    return keys if was_raw and isinstance(keys, Array) else random_unwrap(made)


def wrap_key_data(key_bits_array: Any, *, impl: str | None = None, dtype: Any = None) -> Array:
    """Keys from their words: uint32 with a last axis of length 2, which the result drops.

    >>> import arrayx as ax
    >>> ax.random.wrap_key_data(ax.random.key_data(ax.random.key(7))).dtype
    key<threefry2x32>
    """
    check_implementation("wrap_key_data", impl, dtype)
    words = read(key_bits_array, "wrap_key_data", "key_bits_array")
    if not isinstance(words, Array) or words.aval.dtype is not UINT32:
        raise errors.ArgumentError(
            f"wrap_key_data: key data must be an array of uint32, got {key_bits_array!r}"
        )
    if words.aval.shape[-1:] != (2,):
        raise errors.ArgumentError(
            "wrap_key_data: the last axis of key data must have length 2, got the shape "
            f"{words.aval.shape}"
        )
    return random_wrap(words)  # type: ignore[no-any-return]


def key_impl(keys: Any) -> str:
    """The name of the generator that `keys` belong to.

    >>> import arrayx as ax
    >>> ax.random.key_impl(ax.random.key(0))
    'threefry2x32'
    """
    made, _ = as_keys("key_impl", keys)
    return str(made.aval.dtype.impl)


def key_dtype(impl_spec: Any = None) -> Any:
    """The dtype of keys of a generator, the default one for None.

    >>> import arrayx as ax
    >>> ax.random.key_dtype()
    key<threefry2x32>
    """
    check_implementation("key_dtype", impl_spec, None)
    return KEY


def split(key: Any, num: int | tuple[int, ...] = 2) -> Array:
    """`num` new keys (an array of that shape, if it is a tuple) that are independent of each other.

    Do not use the old key afterwards.

    >>> import arrayx as ax
    >>> first, second = ax.random.split(ax.random.key(0))
    >>> first.dtype, ax.random.split(ax.random.key(0), (2, 3)).shape
    (key<threefry2x32>, (2, 3))
    """
    one, was_raw = one_key("split", key)
    made = random_split(one, shape=checked_shape("split", num))
    return random_unwrap(made) if was_raw else made  # type: ignore[no-any-return]


def fold_in(key: Any, data: Any) -> Array:
    """A new key from a key and a number: for a stream of keys by a counter, such as a step.

    `data` is an integer scalar, of which 32 bits count; a Python integer must be in
    `[0, 2**32)`.  `fold_in(key, i)` is `split(key, n)[i]`: use one or the other on a key.

    >>> import arrayx as ax
    >>> ax.random.key_data(ax.random.fold_in(ax.random.key(0), 1))
    Array([ 928981903, 3453687069], dtype=uint32)
    """
    one, was_raw = one_key("fold_in", key)
    if isinstance(data, int):
        number = scalar_array(int(data), UINT32, False, (one,))
    else:
        number = value(data, "fold_in", "data", one)
        if not isinstance(number, Array) or dtypes.kind(number.dtype) not in (
            "int",
            "uint",
            "bool",
        ):
            raise errors.ArgumentError(f"fold_in: data must be an integer, got {data!r}")
        if number.shape != ():
            raise errors.ArgumentError(
                f"fold_in: data must be a scalar, got an array of shape {number.shape}; use "
                "ax.vmap over it"
            )
        number = as_type(number, UINT32)
    made = random_fold_in(one, number)
    return random_unwrap(made) if was_raw else made  # type: ignore[no-any-return]


def integral(x: Array) -> bool:
    """True for arrays of integers or booleans."""
    return dtypes.kind(x.aval.dtype) in ("int", "uint", "bool")


def clone(key: Any) -> Array:
    """The same keys once more, to say that using them again is meant.

    >>> import arrayx as ax
    >>> bool(ax.random.clone(ax.random.key(3)) == ax.random.key(3))
    True
    """
    made, was_raw = as_keys("clone", key)
    return key if was_raw else made
