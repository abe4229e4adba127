"""Random bits from a counter, without the keys of `ax.random`."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import shapes
from arrayx.numpy.naming import at_home
from arrayx.numpy.promotion import as_array, as_type, promoted_arrays
from arrayx.numpy.ranges import arange
from arrayx.primitives import arithmetic, bitwise
from arrayx.primitives.random import threefry2x32
from arrayx.random.keys import key as new_key
from arrayx.random.uniform import uniform

UINT32, UINT64 = np.dtype(np.uint32), np.dtype(np.uint64)


class RandomAlgorithm(enum.Enum):
    """Which generator makes the bits."""

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2


@at_home
def rng_bit_generator(
    key: Any,
    shape: Sequence[int],
    dtype: Any = np.uint32,
    algorithm: Any = RandomAlgorithm.RNG_DEFAULT,
    *,
    out_sharding: Any = None,
) -> tuple[Array, Array]:
    """The state of a generator after a draw, and the random bits drawn.

    `key` is the state: four uint32, or two uint64, whose first half is the key of a Threefry
    2x32 generator and whose second half counts.  `dtype` is an unsigned one.  The bits are those
    of XLA's RNG_THREE_FRY, which is the default here; RNG_PHILOX is not there.

    Raises `UnsupportedError` for RNG_PHILOX, `ArgumentError` for a key of another form.

    >>> state, bits = rng_bit_generator(np.array([1, 2, 3, 4], np.uint32), (2,))
    >>> bits.tolist(), state.tolist()
    ([1576285164, 2249660814], [1, 2, 4, 4])
    """
    function = "lax.rng_bit_generator"
    if RandomAlgorithm(getattr(algorithm, "value", algorithm)) is RandomAlgorithm.RNG_PHILOX:
        raise errors.UnsupportedError(f"{function}: there is no RNG_PHILOX; use RNG_THREE_FRY")
    state = as_array(key, function, "key")
    if (state.shape, state.dtype) not in (((4,), UINT32), ((2,), UINT64)):
        raise errors.ArgumentError(
            f"{function}: key must be four uint32 or two uint64, got {state.aval}"
        )
    kind = dtypes.as_dtype(dtype)
    if dtypes.kind(kind) != "uint":
        raise errors.DtypeError(f"{function}: bits are drawn as unsigned integers, not as {kind}")
    if state.dtype == UINT64:
        low, high = as_type(state, UINT32), as_type(bitwise.shift_right_logical(state, 32), UINT32)
        first, second = ((low[i], high[i]) for i in range(2))
    else:
        first, second = (state[0], state[1]), (state[2], state[3])
    shape = tuple(int(n) for n in shape)
    if kind.itemsize == 8:
        count = math.prod(shape)
        words = _blocks(first, second, count)
        bits = arithmetic.add(
            as_type(words[0], kind), bitwise.shift_left(as_type(words[1], kind), 32)
        )
        drawn = shapes.reshape(bits, shape)
    else:
        drawn, count = _interleaved(first, second, shape)
        drawn = as_type(drawn, kind)
    moved = _advanced(second, np.uint64(count))
    if state.dtype == UINT64:
        pairs = [
            arithmetic.add(as_type(a, UINT64), bitwise.shift_left(as_type(b, UINT64), 32))
            for a, b in (first, moved)
        ]
        return shapes.stack(pairs), drawn
    return shapes.stack([*first, *moved]), drawn


def _advanced(counter: tuple[Any, Any], steps: Any) -> tuple[Any, Any]:
    """A counter of 64 bits, in two words, some steps later."""
    low = arithmetic.add(counter[0], as_array(np.asarray(steps & 0xFFFFFFFF, UINT32)))
    carry = as_type(arithmetic.lt(low, counter[0]), UINT32)
    high = arithmetic.add(counter[1], as_array(np.asarray(steps >> np.uint64(32), UINT32)))
    return low, arithmetic.add(high, carry)


def _blocks(key: Any, counter: Any, count: int) -> tuple[Any, Any]:
    """The two words of each of so many blocks."""
    steps = as_type(arange(count), UINT32)
    start, above, *words = (
        shapes.broadcast_to(v, (count,)) for v in (counter[0], counter[1], *key)
    )
    low = arithmetic.add(start, steps)
    high = arithmetic.add(above, as_type(arithmetic.lt(low, start), UINT32))
    return threefry2x32(words[0], words[1], low, high)  # type: ignore[no-any-return]


def _interleaved(key: Any, counter: Any, shape: tuple[int, ...]) -> tuple[Array, int]:
    """Words laid out in pairs along the first even axis, or the longest one, made even."""
    lengths = shape or (1,)
    axis = next((i for i, n in enumerate(lengths) if n % 2 == 0), int(np.argmax(lengths)))
    half = (*lengths[:axis], -(-lengths[axis] // 2), *lengths[axis + 1 :])
    count = math.prod(half)
    words = [shapes.reshape(w, half) for w in _blocks(key, counter, count)]
    whole = (*half[:axis], 2 * half[axis], *half[axis + 1 :])
    bits = shapes.reshape(shapes.stack(words, axis=axis + 1), whole)
    bits = bits[(slice(None),) * axis + (slice(0, lengths[axis]),)]
    return shapes.reshape(bits, shape), count


def rng_uniform(a: Any, b: Any, shape: Sequence[int]) -> Array:
    """Uniform numbers between `a` and `b`, others at each call; `ax.random.uniform` has a key.

    A program that is compiled draws its seed once, when it is staged.

    >>> x = rng_uniform(1.0, 2.0, (3,))
    >>> bool(((x >= 1) & (x < 2)).all())
    True
    """
    low, high = promoted_arrays((a, b), "lax.rng_uniform", ("a", "b"))
    seed = int(np.random.default_rng().integers(2**31))
    return uniform(new_key(seed), tuple(shape), low.dtype, low, high)
