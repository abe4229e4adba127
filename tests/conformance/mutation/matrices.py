"""Wrong kernels of products, windows, factorisations, transforms, random bits; of making arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx_numpy import structural
from arrayx_numpy.random import BLOCK
from arrayx_numpy.structural import wide
from tests.conformance.mutation.mutant import Mutant, kernel

Kernel = Callable[..., Any]


def narrow_dot(right: Kernel) -> Kernel:
    """16-bit products are added up in 16 bits."""

    def kernel(x: Any, y: Any, *, contracting: Any, batch: Any, precision: Any) -> Any:
        if wide(x.dtype) == x.dtype or len(contracting[0]) != 1 or batch[0]:
            return right(x, y, contracting=contracting, batch=batch, precision=precision)
        (i,), (j,) = contracting
        total: Any = None
        for k in range(x.shape[i]):
            part = np.multiply.outer(np.take(x, k, i), np.take(y, k, j)).astype(x.dtype)
            total = part if total is None else (total + part).astype(x.dtype)
        if total is None:
            return right(x, y, contracting=contracting, batch=batch, precision=precision)
        return total

    return kernel


def conjugating_dot(right: Kernel) -> Kernel:
    return lambda x, y, **params: right(np.conj(x) if x.dtype.kind == "c" else x, y, **params)


def dot_of_nothing(right: Kernel) -> Kernel:
    """A sum of no products is whatever was in memory."""

    def kernel(x: Any, y: Any, *, contracting: Any, **params: Any) -> Any:
        result = np.array(right(x, y, contracting=contracting, **params))
        if result.size and any(x.shape[i] == 0 for i in contracting[0]):
            result[...] = 1
        return result

    return kernel


def second_pair_first(right: Kernel) -> Kernel:
    """Of two contracted axes of equal length, the second of x goes with the first of y."""

    def kernel(x: Any, y: Any, *, contracting: Any, **params: Any) -> Any:
        (*_,), axes = contracting
        if len(axes) == 2 and y.shape[axes[0]] == y.shape[axes[1]]:
            contracting = contracting[0], axes[::-1]
        return right(x, y, contracting=contracting, **params)

    return kernel


def flipped_window(right: Kernel) -> Kernel:
    def kernel(x: Any, y: Any, *, dims: Any, **params: Any) -> Any:
        return right(x, np.flip(y, dims[1][2:]), dims=dims, **params)

    return kernel


def undilated(right: Kernel) -> Kernel:
    """Dilation of the window is ignored, where the result has the same shape."""

    def kernel(x: Any, y: Any, *, rhs_dilation: Any, padding: Any, dims: Any, **params: Any) -> Any:
        moved = []
        for (a, b), d, axis in zip(padding, rhs_dilation, dims[1][2:], strict=True):
            moved.append((a, b - (d - 1) * (y.shape[axis] - 1)))
        ones = tuple(1 for _ in rhs_dilation)
        return right(x, y, rhs_dilation=ones, padding=tuple(moved), dims=dims, **params)

    return kernel


def regrouped(right: Kernel) -> Kernel:
    """Groups of output features are taken in the opposite order."""

    def kernel(x: Any, y: Any, *, feature_groups: int, dims: Any, **params: Any) -> Any:
        if feature_groups > 1:
            parts = np.split(y, feature_groups, dims[1][0])
            y = np.concatenate(parts[::-1], dims[1][0])
        return right(x, y, feature_groups=feature_groups, dims=dims, **params)

    return kernel


def later_blocks(right: Kernel) -> Kernel:
    """Blocks after the first repeat its words."""

    def kernel(*words: Any) -> Any:
        first, second = (np.array(w) for w in right(*words))
        for result in (first.reshape(-1), second.reshape(-1)):
            if result.size > BLOCK:
                n = min(BLOCK, result.size - BLOCK)
                result[BLOCK : BLOCK + n] = result[:n]
        return first, second

    return kernel


PRODUCTS: tuple[Mutant, ...] = (
    kernel("dot_general", "narrow", "16-bit products are added up in 16 bits", narrow_dot),
    kernel("dot_general", "conjugates", "the left operand is conjugated", conjugating_dot),
    kernel("dot_general", "of-nothing", "sums of no products are not written", dot_of_nothing),
    kernel("dot_general", "pairs", "contracted axes are paired wrongly", second_pair_first),
    kernel("absorb_dot", "plain", "zeros do not absorb", lambda k: structural.dot_general),
    kernel("conv_general_dilated", "flips", "the window is turned around", flipped_window),
    kernel("conv_general_dilated", "dilation", "dilation of the window is ignored", undilated),
    kernel("conv_general_dilated", "groups", "groups of features are mixed up", regrouped),
    kernel(
        "reduce_window_max",
        "padding",
        "padding counts as 0",
        lambda k: (
            lambda x, **p: (
                np.maximum(k(x, **p), x.dtype.type(0)) if any(map(any, p["padding"])) else k(x, **p)
            )
        ),
    ),
    kernel(
        "reduce_window_sum",
        "dilation",
        "dilation of the window is ignored",
        lambda k: (
            lambda x, **p: k(
                x,
                **{
                    **p,
                    "window_dilation": tuple(1 for _ in p["window"]),
                    "padding": tuple(
                        (a, b - (d - 1) * (w - 1))
                        for (a, b), d, w in zip(
                            p["padding"], p["window_dilation"], p["window"], strict=True
                        )
                    ),
                },
            )
        ),
    ),
    kernel(
        "iota",
        "from-one",
        "it counts from 1",
        lambda k: lambda **p: (k(**p) + 1).astype(p["dtype"]),
    ),
    kernel(
        "iota",
        "axis",
        "along the last axis",
        lambda k: lambda shape, dtype, axis: k(shape=shape, dtype=dtype, axis=len(shape) - 1),
    ),
    kernel(
        "full",
        "integer",
        "the value is made an integer",
        lambda k: (
            lambda shape, dtype, value, weak_type: k(
                shape=shape,
                dtype=dtype,
                value=int(value) if np.isfinite(value) and dtype.kind == "f" else value,
                weak_type=weak_type,
            )
        ),
    ),
    kernel(
        "reshape",
        "columns",
        "elements are taken column by column",
        lambda k: lambda x, shape: np.reshape(x, shape, order="F"),
    ),
    kernel(
        "transpose",
        "inverse",
        "the permutation is inverted",
        lambda k: lambda x, perm: np.transpose(x, np.argsort(perm)),
    ),
    kernel(
        "triangular_solve",
        "diagonal",
        "the diagonal is always read",
        lambda k: lambda a, b, unit_diagonal, **p: k(a, b, unit_diagonal=False, **p),
    ),
    kernel(
        "triangular_solve",
        "adjoint",
        "the adjoint is the transpose",
        lambda k: (
            lambda a, b, transpose_a, **p: k(
                a, b, transpose_a="transpose" if transpose_a == "adjoint" else transpose_a, **p
            )
        ),
    ),
    kernel(
        "cholesky",
        "upper",
        "the upper triangle is read",
        lambda k: lambda x: k(np.conj(np.swapaxes(x, -1, -2))),
    ),
    kernel(
        "lu", "pivots", "pivots count from 1", lambda k: lambda x: (k(x)[0], k(x)[1] + np.int32(1))
    ),
    kernel(
        "eigh",
        "descends",
        "eigenvalues descend",
        lambda k: lambda x, vectors: tuple(np.flip(r, -1) for r in k(x, vectors=vectors)),
    ),
    kernel(
        "svd",
        "transposed",
        "right vectors are columns",
        lambda k: (
            lambda x, **p: tuple(
                np.swapaxes(r, -1, -2) if i == 2 and r.shape[-1] == r.shape[-2] else r
                for i, r in enumerate(k(x, **p))
            )
        ),
    ),
    kernel(
        "fft",
        "unscaled",
        "the inverse is not scaled",
        lambda k: (
            lambda x, kind, lengths: (
                (k(x, kind=kind, lengths=lengths) * np.prod(lengths)).astype(np.result_type(x))
                if kind == "ifft"
                else k(x, kind=kind, lengths=lengths)
            )
        ),
    ),
    kernel(
        "threefry2x32",
        "keys",
        "the words of the key are swapped",
        lambda k: lambda a, b, x, y: k(b, a, x, y),
        "random_bits",
    ),
    kernel(
        "threefry2x32", "blocks", "words repeat after the first block", later_blocks, "random_bits"
    ),
)
