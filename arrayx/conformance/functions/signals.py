"""Rows of convolution, interpolation, windows and phases."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import FLOATS, NUMERIC, Case, Operand
from arrayx.conformance.public import public, rows

MODES: dict[str, dict[str, Any]] = {m: {"mode": m} for m in ("full", "same", "valid")}
SMALL = (-2.0, 2.0)
KNOTS = Operand((4,), values=(-1.0, 0.0, 1.5, 2.0))
INSIDE = Operand((2, 3), domain=(-1.0, 2.0))
OUTSIDE = Operand((6,), values=(-3.0, -1.0, 0.25, 1.75, 2.0, 4.0))
PHASES = Operand((2, 4), values=(0.0, 3.0, -2.5, 1.0, 6.0, 0.5, 6.5, 13.0))
WINDOWS = ("bartlett", "blackman", "hamming", "hanning")


def made(function: Any, **params: Any) -> Any:
    """A form of call: there is no operand, and what is made is of the default dtype."""
    return function(**params)


def _interpolated(x: Any, xp: Any, fp: Any, **params: Any) -> Any:
    return np.interp(x, xp, fp, **params)


def _of_values(x: Any, xp: Any, fp: Any, **params: Any) -> Any:
    # The part of the way is rounded relatively to the distances, on a slope of the values.
    return 8 * np.max(np.abs(fp)) * np.max(np.abs(xp))


CASES: tuple[Case, ...] = (
    *rows(
        "numpy", "convolve correlate", ((5,), (3,)), MODES, dtypes=NUMERIC, sums=True, domain=SMALL
    ),
    *rows(
        "numpy",
        "convolve correlate",
        ((2,), (5,)),
        {f"short_{k}": v for k, v in MODES.items()},
        dtypes=("float64", "complex64"),
        sums=True,
        domain=SMALL,
    ),
    *rows(
        "numpy",
        "convolve correlate",
        ((4,), (4,)),
        {f"even_{k}": v for k, v in MODES.items()},
        sums=True,
        domain=SMALL,
        dtypes=("float64",),
    ),
    *rows("numpy", "convolve correlate", ((4,), (3,)), {"": {}}, sums=True, domain=SMALL),
    # --------------------------------------------------------- interpolation
    *rows("numpy", "interp", (INSIDE, KNOTS, (4,)), dtypes=FLOATS, scale=_of_values, special=False),
    *rows(
        "numpy",
        "interp",
        (OUTSIDE, KNOTS, (4,)),
        {"outside": {}, "sides": {"left": -7.0, "right": 9.0}},
        dtypes=FLOATS,
        scale=_of_values,
        special=False,
        differentiable=(2,),
    ),
    *rows(
        "numpy",
        "interp",
        (Operand((5,), values=(-4, -0.7, 0.3, 1.1, 7.9)), KNOTS, (4,)),
        {"period": {"period": 3.5}},
        scale=_of_values,
        special=False,
        dtypes=("float64",),
    ),
    *rows(
        "numpy",
        "interp",
        (Operand((4,), values=(0, 1, 3, 5)), Operand((3,), values=(1, 2, 4)), (3,)),
        {"integers": {}},
        dtypes=("int32", "int64", "uint8"),
        promotes=True,
    ),
    # --------------------------------------------------------- phases
    *rows("numpy", "unwrap", (PHASES,), dtypes=FLOATS, scale=lambda p: 16.0, special=False),
    *rows(
        "numpy",
        "unwrap",
        (PHASES,),
        {"axis": {"axis": 0}, "discont": {"discont": 4.0}, "period": {"period": 4.5}},
        dtypes=FLOATS,
        scale=lambda p, **_: 16.0,
        special=False,
    ),
    *rows(
        "numpy",
        "unwrap",
        (Operand((5,), values=(0, 2, 1, 3, 0)),),
        {"integers": {"period": 4}},
        dtypes=("int32", "int8", "int64"),
    ),
    *rows(
        "numpy",
        "angle",
        ((2, 3),),
        {"": {}, "degrees": {"deg": True}},
        dtypes=NUMERIC,
        promotes=True,
    ),
    # --------------------------------------------------------- windows
    *(
        public(
            f"numpy.{name}",
            (),
            {"M": n},
            getattr(np, name),
            ("float32",),
            form=made,
            label=label,
            scale=lambda **_: 1.0,
        )
        for name in WINDOWS
        for n, label in ((5, ""), (4, "even"), (1, "one"), (0, "none"))
    ),
    *(
        public(
            "numpy.kaiser",
            (),
            {"M": n, "beta": 5.0},
            np.kaiser,
            ("float32",),
            form=made,
            label=label,
            scale=lambda **_: 1.0,
        )
        for n, label in ((5, ""), (4, "even"), (1, "one"), (0, "none"))
    ),
)
