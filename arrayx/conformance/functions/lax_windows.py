"""Rows of convolutions and of reductions by any function, over axes and over windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import lax
from arrayx.conformance.case import FLOATS, INEXACT, NUMERIC, Case
from arrayx.conformance.cases.convolution import convolved
from arrayx.conformance.cases.windows import elements
from arrayx.conformance.public import public

PLAIN = (tuple(range(3)),) * 3
BEHIND = ((0, 2, 1), (2, 1, 0), (0, 2, 1))


def by_hand(
    strides: Any = (1,),
    padding: Any = ((0, 0),),
    lhs_dilation: Any = (1,),
    rhs_dilation: Any = (1,),
    dims: Any = PLAIN,
    groups: int = 1,
    turned: bool = False,
) -> Any:
    """The convolution with these params, whatever the public function was told."""

    def reference(x: Any, y: Any, **params: Any) -> Any:
        if turned:  # the window of HIO, its features swapped
            y = np.swapaxes(y[::-1], 1, 2)
        return convolved(x, y, strides, padding, lhs_dilation, rhs_dilation, dims, groups, 1, None)

    return reference


def row(name: str, operands: Any, params: Any, reference: Any, label: str = "") -> Case:
    return public(
        f"lax.{name}",
        operands,
        params,
        reference,
        INEXACT,
        sums=True,
        special=False,
        signed_zeros=False,
        label=label,
    )


def patches(x: Any, **params: Any) -> Any:
    """A window of 2 of three places, features first."""
    return np.stack([x[:, c, k : k + 3] for c in range(2) for k in range(2)], 1)


def local(x: Any, y: Any, **params: Any) -> Any:
    return np.einsum("bip,oip->bop", patches(x), y)


def pooled(combine: Any, start: float, **facts: Any) -> Any:
    def reference(x: Any, **params: Any) -> Any:
        window = {
            "window": (2, 3),
            "strides": (1, 2),
            "padding": ((0, 0), (1, 1)),
            "base_dilation": (1, 1),
            "window_dilation": (1, 1),
        }
        found = list(elements(x.shape, **window))
        shape = tuple(np.max([p for p, _ in found], 0) + 1)
        out = np.full(shape, start, x.dtype)
        for place, inside in found:
            for index in inside:
                out[place] = combine(out[place], x[index])
        return out

    return reference


WINDOW = {"window_dimensions": (2, 3), "window_strides": (1, 2), "padding": ((0, 0), (1, 1))}


def pool(name: str, computation: Any, combine: Any, start: Any, **facts: Any) -> Case:
    params = {"init_value": start, "computation": computation, **WINDOW}
    return public(
        "lax.reduce_window",
        ((3, 4),),
        params,
        pooled(combine, start),
        special=False,
        signed_zeros=False,
        label=name,
        **facts,
    )


def length(x: Any, y: Any) -> Any:
    """An associative function that no primitive knows."""
    return lax.sqrt(lax.add(lax.mul(x, x), lax.mul(y, y)))


def both(a: Any, b: Any) -> Any:
    """Two reductions at a time."""
    return lax.add(a[0], b[0]), lax.mul(a[1], b[1])


def magnitudes(x: Any, **params: Any) -> Any:
    return 1 + np.full((2, 2), np.sum(np.abs(x)))


CASES = (
    row(
        "conv",
        ((2, 2, 4), (3, 2, 2)),
        {"window_strides": (1,), "padding": "SAME"},
        by_hand(padding=((0, 1),)),
    ),
    row(
        "conv_general_dilated",
        ((2, 5, 4), (2, 2, 4)),
        {
            "window_strides": (2,),
            "padding": [(1, 2)],
            "rhs_dilation": (2,),
            "dimension_numbers": ("NHC", "HIO", "NHC"),
            "feature_group_count": 2,
        },
        by_hand((2,), ((1, 2),), rhs_dilation=(2,), dims=BEHIND, groups=2),
    ),
    row(
        "conv_with_general_padding",
        ((1, 2, 4), (2, 2, 2)),
        {"window_strides": (1,), "padding": [(2, 1)], "lhs_dilation": (2,), "rhs_dilation": (2,)},
        by_hand(padding=((2, 1),), lhs_dilation=(2,), rhs_dilation=(2,)),
    ),
    row(
        "conv_transpose",
        ((1, 3, 2), (3, 2, 2)),
        {"strides": (2,), "padding": "SAME"},
        by_hand(padding=((2, 1),), lhs_dilation=(2,), dims=BEHIND),
    ),
    row(
        "conv_transpose",
        ((1, 3, 2), (3, 1, 2)),
        {"strides": (2,), "padding": "VALID", "transpose_kernel": True},
        by_hand(padding=((2, 2),), lhs_dilation=(2,), dims=BEHIND, turned=True),
        "turned",
    ),
    public(
        "lax.conv_general_dilated_patches",
        ((2, 2, 4),),
        {"filter_shape": (2,), "window_strides": (1,), "padding": "VALID"},
        patches,
        NUMERIC,
    ),
    row(
        "conv_general_dilated_local",
        ((2, 2, 4), (3, 4, 3)),
        {"window_strides": (1,), "padding": "VALID", "filter_shape": (2,)},
        local,
    ),
    pool("sum", lax.add, np.add, 0.0, scale=magnitudes),
    pool("begun", lax.add, np.add, 2.0, scale=magnitudes),
    pool("max", lax.max, np.maximum, -np.inf),
    pool("product", lax.mul, np.multiply, 1.0, ulps=16.0, domain=(-2.0, 2.0)),
    pool("length", length, np.hypot, 0.0, scale=magnitudes),
    public(
        "lax.reduce",
        ((2, 3),),
        {"init_values": 0.0, "computation": lax.add, "dimensions": (1,)},
        lambda x, **_: np.sum(x, 1),
        FLOATS,
        sums=True,
        signed_zeros=False,
    ),
    public(
        "lax.reduce",
        ((2, 3, 2),),
        {"init_values": 0.0, "computation": length, "dimensions": (0, 1)},
        lambda x, **_: np.sqrt(np.sum(x * x, (0, 1))),
        FLOATS,
        ulps=16.0,
        special=False,
        label="length",
    ),
    public(
        "lax.reduce",
        ((3, 2), (3, 2)),
        {"init_values": (0.0, 1.0), "computation": both, "dimensions": (0,)},
        lambda xs, **_: (np.sum(xs[0], 0), np.prod(xs[1], 0)),
        FLOATS,
        form=lambda f, x, y, **params: f((x, y), **params),
        ulps=16.0,
        scale=lambda x, y, **_: (np.sum(np.abs(x), 0), np.prod(np.abs(y), 0)),
        special=False,
        label="both",
    ),
)
