"""Discrete Fourier transforms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.aval import Aval, Shape
from arrayx.primitives.arithmetic import add, eq, mul, select
from arrayx.primitives.axes import move_batch_dim
from arrayx.primitives.bitwise import bitwise_or
from arrayx.primitives.complex import conj, real
from arrayx.primitives.creation import iota
from arrayx.primitives.families import Linear
from arrayx.primitives.slicing import padded

KINDS = ("fft", "ifft", "rfft", "irfft")
INDEX = np.dtype(np.int32)


class FFT(Linear):
    """The discrete Fourier transform over the last `len(lengths)` axes, at most three.

    `kind` is "fft", "ifft" (the inverse, divided by the number of elements), "rfft" (of real
    numbers: the last axis keeps its first n // 2 + 1 frequencies) or "irfft" (the inverse of
    "rfft").  `lengths` are those of the transformed axes, of the longer side for the last two.
    """

    name = "fft"
    optional = True

    def flops(self, avals: tuple[Any, ...], results: tuple[Aval, ...], /, **params: Any) -> int:
        size: int = math.prod(params["lengths"])
        batch: int = math.prod(avals[0].shape[: avals[0].ndim - len(params["lengths"])])
        return 5 * batch * size * max(size - 1, 0).bit_length()

    def type_rule(self, x: Aval, *, kind: str, lengths: Shape) -> Aval:
        if kind not in KINDS:
            raise errors.ArgumentError(f"fft: kind is one of {', '.join(KINDS)}, got {kind!r}")
        wanted = "float" if kind == "rfft" else "complex"
        if dtypes.kind(x.dtype) != wanted or x.dtype.itemsize < 4:
            raise errors.DtypeError(f"fft: {kind} takes {wanted} numbers of 32 bits or more: {x}")
        if not 1 <= len(lengths) <= min(3, x.ndim):
            raise errors.AxisError(f"fft: {len(lengths)} lengths for {x}; there are 1 to 3 axes")
        short = (*lengths[:-1], lengths[-1] // 2 + 1)
        given = x.shape[x.ndim - len(lengths) :]
        if given != (short if kind == "irfft" else lengths) or 0 in lengths:
            raise errors.ShapeError(f"fft: {kind} with lengths {lengths} cannot take {x}")
        batch = x.shape[: x.ndim - len(lengths)]
        shape = (*batch, *(short if kind == "rfft" else lengths))
        dtype = x.dtype
        if kind == "rfft":
            dtype = dtypes.complex_dtype(dtype)
        elif kind == "irfft":
            dtype = dtypes.real_dtype(dtype)
        return x.update(shape=shape, dtype=dtype, weak_type=False)

    def transpose(self, ct: Any, x: Any, *, kind: str, lengths: Shape) -> Any:
        if kind in ("fft", "ifft"):  # symmetric matrices
            return (self(ct, kind=kind, lengths=lengths),)
        axis, n = x.aval.ndim - 1, lengths[-1]
        if kind == "rfft":
            # The frequencies that were left out have the cotangent 0.
            whole = padded(ct, axis, 0, n - (n // 2 + 1), 0j)
            return (real(self(whole, kind="fft", lengths=lengths)),)
        # Every frequency counts twice, for itself and its conjugate, but for the first and the
        # middle one, which are their own.
        half = conj(self(ct, kind="rfft", lengths=lengths))
        counts = iota(shape=half.aval.shape, dtype=INDEX, axis=axis)
        once = eq(counts, 0)
        if n % 2 == 0:
            once = bitwise_or(once, eq(counts, n // 2))
        scaled = mul(half, complex(1.0 / math.prod(lengths)))
        return (select(once, scaled, add(scaled, scaled)),)

    def vmap(self, size: int, args: Any, dims: Any, **params: Any) -> Any:
        return self(move_batch_dim(size, args[0], dims[0], 0), **params), 0


fft = FFT()
