"""Reads and writes at places inside, against NumPy's own indexing."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import NUMERIC, Case, Operand

_PLACES = np.array([[2, 0], [-1, 1]])
_TWICE = np.array([1, 1, 0])


def _read(name: str, index: Any, shape: tuple[int, ...] = (3, 4)) -> Case:
    return Case(
        name,
        lambda x: x[index],
        (shape,),
        reference=lambda x: x[index],
        dtypes=NUMERIC,
    )


def _written(how: str) -> Case:
    """Writes to rows of which one comes twice."""
    ufunc = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}[how]

    def plain(x: Any, y: Any) -> Any:
        x = np.array(x)
        ufunc.at(x, _TWICE, y)
        return x

    return Case(
        f"at_{how}",
        lambda x, y: getattr(x.at[_TWICE], how)(y),
        ((3, 2), (3, 2)),
        reference=plain,
        dtypes=("float32", "float64", "int32"),
        special=False,
    )


def _replaced(x: Any, y: Any) -> Any:
    x = np.array(x)
    x[::-2] = y
    return x


CASES = (
    _read("read_integer", 1),
    _read("read_negative", (slice(None), -2)),
    _read("read_slice", (slice(None, None, -1), slice(1, None, 2))),
    _read("read_new_axis", (Ellipsis, None, slice(0, 2))),
    _read("read_nothing", (slice(2, 1),)),
    _read("read_places", _PLACES),
    _read("read_pairs", (_PLACES, _PLACES[0])),
    _read("read_apart", (_PLACES, None, slice(None), _PLACES), (3, 2, 4)),
    _read("read_mask", np.array([True, False, True])),
    _read("read_rank_0", (), ()),
    Case(
        "at_set",
        lambda x, y: x.at[::-2].set(y),
        ((3, 2), (2, 2)),
        reference=_replaced,
        dtypes=NUMERIC,
        special=False,
    ),
    *(_written(how) for how in ("add", "multiply", "min", "max")),
    Case(
        "read_at_operand",
        lambda x, i: x[i],
        ((4, 2), Operand((3,), dtype="int32", values=(0, 3, -1))),
        reference=lambda x, i: x[i],
        dtypes=("float32", "float64", "int32"),
    ),
)
