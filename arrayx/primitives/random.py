"""Random keys and the bits made from them: Threefry-2x32, a function of key and counter.

The generator is that of Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as
1, 2, 3" (SC 2011).  A key is a pair of uint32; element i of an array of random bits is the
cipher of the 64-bit number i under the key, so it depends on nothing but the key and i.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.aval import Aval, Shape
from arrayx.primitives.arithmetic import add
from arrayx.primitives.axes import broadcast_in_dim, move_batch_dim, reshape
from arrayx.primitives.bitwise import (
    bitwise_or,
    bitwise_xor,
    shift_left,
    shift_right_logical,
)
from arrayx.primitives.conversion import convert
from arrayx.primitives.creation import fill, iota
from arrayx.primitives.families import (
    INTEGER,
    NonDifferentiable,
    aligned,
    array_avals,
    handed,
    same_type,
)
from arrayx.primitives.slicing import concatenate, slice

UINT32 = np.dtype(np.uint32)
KEY = dtypes.KeyDtype()
UINTS = {8 * dtype.itemsize: dtype for dtype in dtypes.UINTS}
WORD = 0xFFFFFFFF

# The rotations of Threefry-2x32 in two groups of four rounds, which alternate, and the
# constant that makes the third word of the key schedule.
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA


def uint32s(value: int, shape: Shape) -> Any:
    """One number repeated, without memory for more than itself where a backend can."""
    return broadcast_in_dim(fill((), UINT32, value), shape=shape, dims=())


def words_of(pairs: Any) -> tuple[Any, Any]:
    """The two halves of an array whose last axis has length 2, without that axis."""
    shape = pairs.aval.shape[:-1]
    zeros, ones = (0,) * len(shape), (1,) * (len(shape) + 1)
    first = slice(pairs, starts=(*zeros, 0), limits=(*shape, 1), strides=ones)
    second = slice(pairs, starts=(*zeros, 1), limits=(*shape, 2), strides=ones)
    return reshape(first, shape=shape), reshape(second, shape=shape)


def paired(first: Any, second: Any) -> Any:
    """Two arrays as one with a last axis of length 2."""
    shape = (*first.aval.shape, 1)
    return concatenate(
        reshape(first, shape=shape), reshape(second, shape=shape), axis=len(shape) - 1
    )


def counters(shape: Shape) -> tuple[Any, Any]:
    """High and low words of 0, 1, 2, … counted over an array of `shape` in row-major order."""
    size = math.prod(shape)
    if size <= WORD:
        low = iota(shape=(size,), dtype=UINT32, axis=0)
        return uint32s(0, shape), reshape(low, shape=shape)
    count = reshape(iota(shape=(size,), dtype=UINTS[64], axis=0), shape=shape)
    high = shift_right_logical(count, 32)
    return convert(high, dtype=UINT32, weak_type=False), convert(
        count, dtype=UINT32, weak_type=False
    )


def encrypted_counters(words: Any, shape: Shape) -> tuple[Any, Any]:
    """The cipher's two words for every key in `words` and every element of `shape`."""
    batch = words.aval.shape[:-1]
    whole = (*batch, *shape)
    outer, inner = tuple(range(len(batch))), tuple(range(len(batch), len(whole)))
    keys = [broadcast_in_dim(w, shape=whole, dims=outer) for w in words_of(words)]
    counts = counters(shape)
    if batch:
        counts = tuple(broadcast_in_dim(c, shape=whole, dims=inner) for c in counts)
    return threefry2x32(*keys, *counts)  # type: ignore[no-any-return]


class Threefry2x32(NonDifferentiable):
    """The words `x0, x1` enciphered under the key `k0, k1`, in 20 rounds; all uint32."""

    name = "threefry2x32"
    multiple = True

    def type_rule(self, *avals: Aval) -> tuple[Aval, Aval]:
        aval = same_type(self.name, avals, frozenset({"uint"}))
        if aval.dtype != UINT32 or len(array_avals(avals)) != 4:
            raise errors.DtypeError(f"threefry2x32 needs four arrays of uint32, got {avals}")
        return aval.strong(), aval.strong()

    def vmap(self, size: int, args: Any, dims: Any) -> Any:
        args, dim = aligned(size, args, dims)
        return self(*args), (dim, dim)

    def expand(self, k0: Any, k1: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
        schedule = k0, k1, bitwise_xor(bitwise_xor(k0, k1), PARITY)
        x0, x1 = add(x0, k0), add(x1, k1)
        for group in range(5):
            for distance in ROTATIONS[group % 2]:
                x0 = add(x0, x1)
                turned = bitwise_or(
                    shift_left(x1, distance), shift_right_logical(x1, 32 - distance)
                )
                x1 = bitwise_xor(x0, turned)
            x0 = add(x0, schedule[(group + 1) % 3])
            x1 = add(add(x1, schedule[(group + 2) % 3]), group + 1)
        return x0, x1


class RandomSeed(NonDifferentiable):
    """The key made of each integer of `seed`: the two words of its 64 bits.

    An integer of 32 bits or fewer fills the second word alone.
    """

    name = "random_seed"

    def type_rule(self, seed: Aval) -> Aval:
        if dtypes.kind(seed.dtype) not in INTEGER:
            raise errors.DtypeError(f"random_seed needs integers, got {seed}")
        return seed.update(dtype=KEY, weak_type=False)

    def vmap(self, size: int, args: Any, dims: Any) -> Any:
        return self(args[0]), dims[0]

    def on_keys(self, avals: Any, seed: Any) -> Any:
        low = convert(seed, dtype=UINT32, weak_type=False)
        if seed.aval.dtype.itemsize < 8:
            return paired(uint32s(0, seed.aval.shape), low)
        high = convert(shift_right_logical(seed, 32), dtype=UINT32, weak_type=False)
        return paired(high, low)


class RandomWrap(NonDifferentiable):
    """The keys whose words are the last axis of `words`, an array of uint32."""

    name = "random_wrap"
    cheap = True

    def type_rule(self, words: Aval) -> Aval:
        if words.dtype != UINT32 or words.shape[-1:] != (2,):
            raise errors.DtypeError(
                f"key data must be uint32 with a last axis of length 2, got {words}"
            )
        return words.update(shape=words.shape[:-1], dtype=KEY, weak_type=False)

    def vmap(self, size: int, args: Any, dims: Any) -> Any:
        return self(move_batch_dim(size, args[0], dims[0], 0)), 0

    def on_keys(self, avals: Any, words: Any) -> Any:
        return words


class RandomUnwrap(NonDifferentiable):
    """The words of keys, along a new last axis of length 2."""

    name = "random_unwrap"
    cheap = True

    def type_rule(self, key: Aval) -> Aval:
        check_key(self.name, key)
        return key.update(shape=(*key.shape, 2), dtype=UINT32)

    def vmap(self, size: int, args: Any, dims: Any) -> Any:
        return self(args[0]), dims[0]

    def on_keys(self, avals: Any, words: Any) -> Any:
        return words


class RandomSplit(NonDifferentiable):
    """For each key an array of `shape` of new keys: the ciphers of 0, 1, 2, …

    The axes of `shape` follow those of `key`.
    """

    name = "random_split"

    def type_rule(self, key: Aval, *, shape: Shape) -> Aval:
        check_key(self.name, key)
        return key.update(shape=(*key.shape, *shape))

    def vmap(self, size: int, args: Any, dims: Any, *, shape: Shape) -> Any:
        return self(move_batch_dim(size, args[0], dims[0], 0), shape=shape), 0

    def on_keys(self, avals: Any, words: Any, *, shape: Shape) -> Any:
        return paired(*encrypted_counters(words, shape))


class RandomFoldIn(NonDifferentiable):
    """A new key from each key and number of `data`, uint32 of the same shape."""

    name = "random_fold_in"

    def type_rule(self, key: Aval, data: Aval) -> Aval:
        check_key(self.name, key)
        if data.dtype != UINT32 or data.shape != key.shape:
            raise errors.DtypeError(
                f"random_fold_in needs uint32 numbers of shape {key.shape}, got {data}"
            )
        return key

    def vmap(self, size: int, args: Any, dims: Any) -> Any:
        args, dim = aligned(size, args, dims)
        return self(*args), dim

    def on_keys(self, avals: Any, words: Any, data: Any) -> Any:
        zeros = uint32s(0, data.aval.shape)
        return paired(*threefry2x32(*words_of(words), zeros, data))


class RandomBits(NonDifferentiable):
    """For each key an array of `shape` of unsigned integers of `width` random bits.

    The axes of `shape` follow those of `key`.  `width` is 8, 16, 32 or 64.
    """

    name = "random_bits"

    def type_rule(self, key: Aval, *, shape: Shape, width: int) -> Aval:
        check_key(self.name, key)
        if width not in UINTS:
            raise errors.DtypeError(f"random_bits makes 8, 16, 32 or 64 bits, not {width}")
        return key.update(shape=(*key.shape, *shape), dtype=UINTS[width])

    def vmap(self, size: int, args: Any, dims: Any, *, shape: Shape, width: int) -> Any:
        key = move_batch_dim(size, args[0], dims[0], 0)
        return self(key, shape=shape, width=width), 0

    def on_keys(self, avals: Any, words: Any, *, shape: Shape, width: int) -> Any:
        high, low = encrypted_counters(words, shape)
        if width == 64:
            high, low = (convert(w, dtype=UINTS[64], weak_type=False) for w in (high, low))
            return bitwise_or(shift_left(high, 32), low)
        bits = bitwise_xor(high, low)
        return bits if width == 32 else convert(bits, dtype=UINTS[width], weak_type=False)


def check_key(name: str, key: Any) -> None:
    """Raises where the operand of a random primitive is not an array of keys."""
    if type(key) is not Aval or not isinstance(key.dtype, dtypes.KeyDtype):
        raise errors.DtypeError(f"{name} needs random keys, got {key}")


threefry2x32 = Threefry2x32()
random_seed = RandomSeed()
random_wrap = RandomWrap()
random_unwrap = RandomUnwrap()
random_split = RandomSplit()
random_fold_in = RandomFoldIn()
random_bits = RandomBits()

handed.words_of = words_of
