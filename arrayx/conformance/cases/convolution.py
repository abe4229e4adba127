"""Rows for convolution: strides, paddings, dilations, groups and layouts, one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import NUMERIC, Case
from arrayx.primitives import convolution


def convolved(
    x: Any,
    y: Any,
    strides: Any,
    padding: Any,
    lhs_dilation: Any,
    rhs_dilation: Any,
    dims: Any,
    feature_groups: int,
    batch_groups: int,
    precision: Any,
) -> Any:
    """By the definition: for each place, output feature and batch a sum of products."""
    x, y = np.transpose(x, dims[0]), np.transpose(y, dims[1])
    around, lengths = [], []
    for n, (low, high), d in zip(x.shape[2:], padding, lhs_dilation, strict=True):
        around.append([low + d * i for i in range(n)])
        lengths.append(((n - 1) * d + 1 if n else 0) + low + high)
    room = [
        n - ((k - 1) * d + 1) for n, k, d in zip(lengths, y.shape[2:], rhs_dilation, strict=True)
    ]
    counts = [r // s + 1 if r >= 0 else 0 for r, s in zip(room, strides, strict=True)]
    batch, outs, ins = x.shape[0] // batch_groups, y.shape[0], y.shape[1]
    out = np.zeros((batch, outs, *counts), x.dtype)
    for b, o, *place in np.ndindex(*out.shape):
        group = o // (outs // (feature_groups * batch_groups))
        image = x[b + (batch * group if batch_groups > 1 else 0)]
        for i, *at in np.ndindex(*y.shape[1:]):
            where = [
                p * s + k * d for p, s, k, d in zip(place, strides, at, rhs_dilation, strict=True)
            ]
            if all(w in a for w, a in zip(where, around, strict=True)):
                feature = i + (ins * group if feature_groups > 1 else 0)
                source = tuple(a.index(w) for w, a in zip(where, around, strict=True))
                out[(b, o, *place)] += image[(feature, *source)] * y[(o, i, *at)]
    return np.transpose(out, np.argsort(dims[2]))


def sizes(x: Any, y: Any, **params: Any) -> Any:
    return convolved(np.abs(x), np.abs(y), **params)


def plain(rank: int) -> tuple[Any, Any, Any]:
    axes = tuple(range(rank))
    return axes, axes, axes


# Channels behind: the layouts NHWC, HWIO, NHWC.
BEHIND = ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
ONES = (1, 1, 1)
MIXED = ((1, 2, 0), (2, 0, 1), (2, 1, 0))

# label, lhs, rhs, strides, padding, lhs_dilation, rhs_dilation, dims, groups of features, of batch
FORMS = (
    ("plain", (2, 2, 4), (3, 2, 2), (1,), ((0, 0),), (1,), (1,), plain(3), 1, 1),
    ("strided", (2, 2, 5), (2, 2, 2), (2,), ((1, 2),), (1,), (1,), plain(3), 1, 1),
    ("left_over", (1, 2, 6), (2, 2, 2), (3,), ((0, 0),), (1,), (1,), plain(3), 1, 1),
    ("dilated", (1, 2, 3), (2, 2, 2), (1,), ((2, 1),), (2,), (3,), plain(3), 1, 1),
    ("cut", (2, 1, 5), (2, 1, 2), (1,), ((-1, -1),), (1,), (1,), plain(3), 1, 1),
    ("cut_dilated", (1, 2, 4), (1, 2, 2), (2,), ((-2, 3),), (3,), (2,), plain(3), 1, 1),
    ("image", (1, 2, 3, 3), (2, 2, 2, 2), (1, 2), ((1, 0), (0, 1)), (1, 1), (1, 1), plain(4), 1, 1),
    ("behind", (1, 3, 3, 2), (2, 2, 2, 3), (2, 1), ((1, 1), (0, 1)), (1, 2), (1, 1), BEHIND, 1, 1),
    ("mixed", (3, 2, 2), (2, 2, 3), (1,), ((1, 1),), (1,), (1,), MIXED, 1, 1),
    ("groups", (2, 4, 3), (6, 2, 2), (1,), ((0, 1),), (1,), (1,), plain(3), 2, 1),
    ("depthwise", (2, 3, 4), (3, 1, 2), (2,), ((1, 1),), (1,), (1,), plain(3), 3, 1),
    ("multiplied", (1, 2, 4), (4, 1, 2), (1,), ((0, 0),), (1,), (2,), plain(3), 2, 1),
    ("groups_mixed", (3, 2, 4), (2, 2, 4), (1,), ((1, 0),), (2,), (1,), MIXED, 2, 1),
    ("batch_groups", (4, 2, 3), (4, 2, 2), (1,), ((1, 0),), (1,), (1,), plain(3), 1, 2),
    ("batch_groups_mixed", (3, 4, 2), (2, 2, 4), (2,), ((0, 1),), (1,), (1,), MIXED, 1, 2),
    ("no_axes", (2, 3), (2, 3), (), (), (), (), plain(2), 1, 1),
    (
        "volume",
        (1, 1, 2, 2, 2),
        (2, 1, 2, 1, 2),
        ONES,
        ((0, 1),) * 3,
        ONES,
        ONES,
        plain(5),
        1,
        1,
    ),
    ("no_room", (1, 2, 2), (2, 2, 3), (1,), ((0, 0),), (1,), (1,), plain(3), 1, 1),
    ("no_features", (2, 0, 3), (2, 0, 2), (1,), ((0, 0),), (1,), (1,), plain(3), 1, 1),
)

CASES = tuple(
    Case(
        "conv_general_dilated",
        convolution.conv_general_dilated,
        (x, y),
        {
            "strides": strides,
            "padding": padding,
            "lhs_dilation": base,
            "rhs_dilation": dilation,
            "dims": dims,
            "feature_groups": groups,
            "batch_groups": batch,
            "precision": None,
        },
        convolved,
        NUMERIC,
        scale=sizes,
        special=False,
        signed_zeros=False,
        label=label,
    )
    for label, x, y, strides, padding, base, dilation, dims, groups, batch in FORMS
)
