"""Products of matrices and convolutions, all by torch's batched product of matrices."""

from __future__ import annotations

from math import prod
from typing import Any

import torch

from arrayx_torch.kinds import NARROW, is_integer, signed
from arrayx_torch.structural import padded


def matrices(x: Any, batch: Any, rows: Any, columns: Any) -> Any:
    """An operand as one stack of matrices of these axes."""
    lengths = [prod(x.shape[i] for i in axes) for axes in (batch, rows, columns)]
    return x.permute((*batch, *rows, *columns)).reshape(lengths)


def product(x: Any, y: Any) -> Any:
    """The product of stacks of matrices, in a dtype that torch has it in and that holds sums."""
    dtype = x.dtype
    if dtype is torch.bool:
        return torch.bmm(x.float(), y.float()) != 0
    if dtype in NARROW:
        return torch.bmm(x.float(), y.float()).to(dtype)
    if not is_integer(dtype):
        return torch.bmm(x, y)
    if dtype.itemsize <= 2 and x.device.type != "mps":
        # Sums of so small products are exact; the last cast wraps around.
        return torch.bmm(x.double(), y.double()).to(torch.int64).to(dtype)
    if x.device.type == "cpu":
        return torch.bmm(x, y)
    return torch.sum(x[:, :, :, None] * y[:, None, :, :], dim=2, dtype=dtype)


@signed
def dot_general(x: Any, y: Any, *, contracting: Any, batch: Any, precision: Any) -> Any:
    left = [i for i in range(x.ndim) if i not in contracting[0] and i not in batch[0]]
    right = [i for i in range(y.ndim) if i not in contracting[1] and i not in batch[1]]
    shape = [x.shape[i] for i in (*batch[0], *left)] + [y.shape[i] for i in right]
    found = product(
        matrices(x, batch[0], left, contracting[0]), matrices(y, batch[1], contracting[1], right)
    )
    return found.reshape(shape)


def absorb_dot(x: Any, y: Any, *, contracting: Any, batch: Any, precision: Any) -> Any:
    """The product in which rows and columns of zeros give zeros."""
    params = {"contracting": contracting, "batch": batch, "precision": precision}
    found = dot_general(x, y, **params)
    if is_integer(found.dtype):
        return found
    left = (x != 0).any(contracting[0], keepdim=True).expand(x.shape) if contracting[0] else x != 0
    right = (y != 0).any(contracting[1], keepdim=True).expand(y.shape) if contracting[1] else y != 0
    some = dot_general(left.float(), right.float(), **params)
    return torch.where(some != 0, found, torch.zeros_like(found))


@signed
def conv_general_dilated(x: Any, y: Any, *, dims: Any, **p: Any) -> Any:
    """A product of windows and filters, which both have the groups as axes of their own."""
    h, g, n = p["batch_groups"], p["feature_groups"], len(dims[0]) - 2
    x, y = x.permute(dims[0]), y.permute(dims[1])
    dtype = x.dtype
    if dtype in NARROW:
        x, y = x.float(), y.float()
    before, after = zip((0, 0), (0, 0), *p["padding"], strict=True)
    x = padded(x, 0, before, after, (0, 0, *[d - 1 for d in p["lhs_dilation"]]))
    reach = [(k - 1) * d + 1 if k else 0 for k, d in zip(y.shape[2:], p["rhs_dilation"])]
    counts = [
        max(0, (m - r) // s + 1) for m, r, s in zip(x.shape[2:], reach, p["strides"], strict=True)
    ]
    (b, c), (o, _, *inner) = x.shape[:2], y.shape
    if 0 in (b, c, o, *counts, *inner):
        found = x.new_zeros((b // h, o, *counts))
    else:
        x = x.contiguous()
        lead, steps = x.stride()[:2], x.stride()[2:]
        x = x.as_strided(
            (b, c, *counts, *inner),
            (
                *lead,
                *[a * s for a, s in zip(steps, p["strides"])],
                *[a * d for a, d in zip(steps, p["rhs_dilation"])],
            ),
        )
        x = x.reshape(h, b // h, g, c // g, *counts, *inner)
        y = y.reshape(h, g, o // g // h, *y.shape[1:])
        places = range(4, 4 + n)
        left = matrices(x, (0, 2), (1, *places), (3, *range(4 + n, 4 + 2 * n)))
        right = matrices(y, (0, 1), (3, *range(4, 4 + n)), (2,))
        # (groups of the batch, groups, batch, places, features)
        found = product(left, right).reshape(h, g, b // h, *counts, o // g // h)
        found = found.permute((2, 0, 1, 3 + n, *range(3, 3 + n))).reshape(b // h, o, *counts)
    return found.to(dtype).permute([dims[2].index(i) for i in range(n + 2)])


CONTRACTION: dict[str, Any] = {
    "dot_general": dot_general,
    "absorb_dot": absorb_dot,
    "guarded_dot": dot_general,
    "conv_general_dilated": conv_general_dilated,
}
