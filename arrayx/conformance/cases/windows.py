"""Rows for reductions over windows, and for the sums of what reaches their extremes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from arrayx.conformance.case import FLOATS, LOGICAL, NUMERIC, ORDERED, Case, Operand
from arrayx.conformance.cases.reduction import highest, lowest
from arrayx.primitives import windows


def counts(shape: Any, window: Any, strides: Any, padding: Any, base: Any, dilation: Any) -> Any:
    room = [
        ((n - 1) * b + 1 if n else 0) + low + high - ((k - 1) * d + 1)
        for n, k, (low, high), b, d in zip(shape, window, padding, base, dilation, strict=True)
    ]
    return tuple(r // s + 1 if r >= 0 else 0 for r, s in zip(room, strides, strict=True))


def elements(
    shape: Any, window: Any, strides: Any, padding: Any, base_dilation: Any, window_dilation: Any
) -> Iterator[tuple[Any, list[Any]]]:
    """For each window its place, and the indices of the elements in it."""
    per_axis = list(zip(shape, strides, padding, base_dilation, window_dilation, strict=True))
    for place in np.ndindex(
        *counts(shape, window, strides, padding, base_dilation, window_dilation)
    ):
        inside = []
        for at in np.ndindex(*window):
            index = []
            for p, k, (n, s, (low, _), b, d) in zip(place, at, per_axis, strict=True):
                i, between = divmod(p * s + k * d - low, b)
                if between or not 0 <= i < n:
                    break
                index.append(i)
            else:
                inside.append(tuple(index))
        yield place, inside


def reduced(ufunc: Any, unit: Any) -> Any:
    def reference(x: Any, **params: Any) -> Any:
        shape = counts(x.shape, *params.values())
        out = np.full(shape, unit(x), x.dtype)
        for place, inside in elements(x.shape, **params):
            for index in inside:
                out[place] = ufunc(out[place], x[index])
        return out

    return reference


def of_logic(name: str, unit: Any) -> Any:
    def reference(x: Any, **params: Any) -> Any:
        ufunc = getattr(np, f"{'logical' if x.dtype == bool else 'bitwise'}_{name}")
        return reduced(ufunc, unit)(x, **params)

    return reference


def all_bits(x: Any) -> Any:
    return True if x.dtype == bool else np.bitwise_not(np.zeros((), x.dtype))


def reached(to_elements: bool) -> Any:
    def reference(moving: Any, x: Any, best: Any, **params: Any) -> Any:
        out = np.zeros(x.shape if to_elements else best.shape)
        for place, inside in elements(x.shape, **params):
            for index in inside:
                if x[index] == best[place] or x[index] != x[index]:
                    if to_elements:
                        out[index] += moving[place]
                    else:
                        out[place] += moving[index]
        return out

    return reference


# label, shape, window, strides, padding, base_dilation, window_dilation
FORMS = (
    ("line", (5,), (2,), (1,), ((0, 0),), (1,), (1,)),
    ("side_by_side", (2, 5), (1, 2), (1, 2), ((0, 0), (1, 0)), (1, 1), (1, 1)),
    ("overlapping", (3, 4), (2, 3), (1, 2), ((1, 0), (1, 1)), (1, 1), (1, 1)),
    ("dilated", (3, 4), (2, 2), (2, 1), ((1, 1), (0, 2)), (2, 1), (1, 2)),
    ("cut", (5, 3), (2, 1), (2, 1), ((-1, 1), (-1, 0)), (1, 1), (1, 1)),
    ("whole", (2, 3, 2), (1, 3, 2), (1, 1, 1), ((0, 0),) * 3, (1,) * 3, (1,) * 3),
    ("long", (23,), (17,), (1,), ((8, 8),), (1,), (1,)),
    ("scalar", (), (), (), (), (), ()),
    ("no_room", (2, 2), (3, 1), (1, 1), ((0, 0), (0, 0)), (1, 1), (1, 1)),
)
# Windows that are all padding: their extremes are infinite, which differences cannot tell.
ROOMY = ("padding", (2,), (2,), (1,), ((2, 3),), (1,), (1,))
WIDE = ("float64", "complex128")

REDUCTIONS = (
    ("reduce_window_sum", reduced(np.add, lambda x: x.dtype.type(0)), NUMERIC),
    ("reduce_window_prod", reduced(np.multiply, lambda x: x.dtype.type(1)), NUMERIC),
    ("reduce_window_max", reduced(np.maximum, lowest), ORDERED),
    ("reduce_window_min", reduced(np.minimum, highest), ORDERED),
    ("reduce_window_and", of_logic("and", all_bits), LOGICAL),
    ("reduce_window_or", of_logic("or", lambda x: x.dtype.type(0)), LOGICAL),
)


def scale(name: str) -> Any:
    if name not in ("reduce_window_sum", "reduce_window_prod"):
        return None
    ufunc, unit = (np.add, 0.0) if "sum" in name else (np.multiply, 1.0)
    return lambda x, **params: (
        1 + reduced(ufunc, lambda a: a.dtype.type(unit))(np.abs(x).astype(np.float64), **params)
    )


def params_of(window: Any, strides: Any, padding: Any, base: Any, dilation: Any) -> dict[str, Any]:
    return {
        "window": window,
        "strides": strides,
        "padding": padding,
        "base_dilation": base,
        "window_dilation": dilation,
    }


#: Large windows that overlap: they are taken apart in another way.
LARGE = ("large", (11, 12), (8, 9), (1, 2), ((1, 2), (3, 0)), (1, 1), (1, 1))

CASES = (
    *(
        Case(
            name,
            getattr(windows, name),
            (shape,),
            params_of(*form),
            reference,
            tuple(d for d in kinds if d not in WIDE) if label == "padding" else kinds,
            # Products of many factors have huge second derivatives.
            (-2.0, 2.0) if "prod" in name else (-3.0, 3.0),
            scale=scale(name),
            special="prod" not in name,
            signed_zeros=False,
            label=label,
        )
        for name, reference, kinds in REDUCTIONS
        for label, shape, *form in (*FORMS, ROOMY)
        if not ("prod" in name and label == "long")
    ),
    *(
        Case(
            name,
            getattr(windows, name),
            (
                counts(shape, *form) if to_elements else shape,
                Operand(shape, dtype="int32", domain=(-1, 1)),
                Operand(counts(shape, *form), dtype="int32", domain=(-1, 1)),
            ),
            params_of(*form),
            reached(to_elements),
            FLOATS,
            ulps=8.0,
            scale=lambda moving, x, best, to_elements=to_elements, **params: (
                1 + reached(to_elements)(np.abs(moving), x, best, **params)
            ),
            special=False,
            signed_zeros=False,
            label=label,
        )
        for name, to_elements in (("window_reached_sum", False), ("reached_window_sum", True))
        for label, shape, *form in (*FORMS, LARGE)
        if label != "no_room"
    ),
)
