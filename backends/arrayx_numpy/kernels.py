"""The readable definition of every core primitive, as a NumPy function.

A kernel takes arrays (Python scalars for literals) and the primitive's params, and returns
a new array, a view of an operand, or a NumPy scalar for rank 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def absorb_mul(x: Any, y: Any) -> Any:
    """Product in which zeros absorb."""
    product = np.multiply(x, y)
    # nan marks every place where 0 met inf or nan: no further work where there is none.
    # A sum of squares is nan only if an element is, and BLAS finds it fastest.
    if product.dtype.char in "fdFD":
        total = np.vdot(product, product)
    else:
        total = np.minimum.reduce(product, axis=None, initial=0)
    if total == total:
        return product
    return np.where((np.asarray(x) == 0) | (np.asarray(y) == 0), product.dtype.type(0), product)


def select(which: Any, x: Any, y: Any) -> Any:
    return np.where(which, x, y)


def full(*, shape: Any, dtype: Any, value: Any, weak_type: bool) -> Any:
    return np.full(shape, value, dtype) if shape else dtype.type(value)


def iota(*, shape: Any, dtype: Any, axis: int) -> Any:
    counts = np.arange(shape[axis]).astype(dtype)
    return np.broadcast_to(counts.reshape([-1 if i == axis else 1 for i in range(len(shape))]), shape)


def broadcast_in_dim(x: Any, *, shape: Any, dims: Any) -> Any:
    x = np.asarray(x)
    inner = [1] * len(shape)
    for n, d in zip(x.shape, dims, strict=True):
        inner[d] = n
    return np.broadcast_to(x.reshape(inner), shape)


def reduce_sum(x: Any, *, axes: Any) -> Any:
    return np.add.reduce(x, axis=axes, dtype=x.dtype)


def reshape(x: Any, *, shape: Any) -> Any:
    return np.reshape(x, shape)


def transpose(x: Any, *, perm: Any) -> Any:
    return np.transpose(x, perm)


def dot_general(x: Any, y: Any, *, contracting: Any, batch: Any, precision: Any) -> Any:
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    xs = [next(letters) for _ in range(np.ndim(x))]
    ys = [next(letters) for _ in range(np.ndim(y))]
    for pairs in (contracting, batch):
        for i, j in zip(*pairs, strict=True):
            ys[j] = xs[i]
    out = [xs[i] for i in batch[0]]
    out += [c for i, c in enumerate(xs) if i not in contracting[0] and i not in batch[0]]
    out += [c for j, c in enumerate(ys) if j not in contracting[1] and j not in batch[1]]
    return np.einsum(f"{''.join(xs)},{''.join(ys)}->{''.join(out)}", x, y)


KERNELS: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "neg": np.negative,
    "absorb_mul": absorb_mul,
    "select": select,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "eq": np.equal,
    "gt": np.greater,
    "full": full,
    "iota": iota,
    "broadcast_in_dim": broadcast_in_dim,
    "reduce_sum": reduce_sum,
    "reshape": reshape,
    "transpose": transpose,
    "dot_general": dot_general,
}
